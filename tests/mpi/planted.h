/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by the programs with planted problems: scenes, messages, and the notes that each rank
 * takes of itself.
 */
#ifndef TESTS_MPI_PLANTED_H
#define TESTS_MPI_PLANTED_H

#include <sys/syscall.h>

#include "expect.h"

struct scene {
	const char *name;
	void (*run)(void);
	int arg;
};

static FILE *notes;
static const struct scene *scene; /* the scene that runs */

static inline void sleep_ms(double ms)
{
	usleep((unsigned int)(ms * 1000));
}

static inline void work(void)
{
	volatile double x = 1;

	for (int i = 0; i < 20000; i++)
		x = x * 1.0000001 + 1e-9;
}

/* Returns how long a thread of this process has waited for a CPU, by the kernel's account. */
static inline unsigned long long schedstat_wait_ns(int tid)
{
	unsigned long long run_ns, wait_ns;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	f = fopen(path, "r");
	MUST(f && fscanf(f, "%llu %llu", &run_ns, &wait_ns) == 2);
	fclose(f);
	return wait_ns;
}

static char message[1 << 12];

static inline void send_to(int to, int bytes, int tag)
{
	CALL(MPI_Send, to, bytes, 0, message, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

static inline void recv_from(int from, int bytes, int tag)
{
	CALL(MPI_Recv, from, 0, bytes, message, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD,
	     MPI_STATUS_IGNORE);
}

static inline void pass(int from, int to, int bytes)
{
	if (rank == from)
		send_to(to, bytes, 5);
	if (rank == to)
		recv_from(from, bytes, 5);
}

/* Whether a comma-separated list contains a word. */
static inline int list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at++)
		if ((at == list || at[-1] == ',') && (at[len] == ',' || !at[len]))
			return 1;
	return 0;
}

/* Runs the scenes that a list names, each after a barrier and through `play`. */
#define SCENES_RUN(scenes, list, play) scenes_run(scenes, ARRAY_SIZE(scenes), list, play)
static inline void scenes_run(const struct scene *s, size_t cnt, const char *list,
			      void (*play)(void))
{
	for (scene = s; scene < s + cnt; scene++) {
		if (!list_has(list, scene->name))
			continue;
		DO(MPI_Barrier, MPI_COMM_WORLD);
		(play ? play : scene->run)();
	}
	expect_close(notes);
}

#endif
