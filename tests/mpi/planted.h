/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What the programs with planted troubles share: clocks, and the notes that each rank takes of itself. */
#ifndef TESTS_MPI_PLANTED_H
#define TESTS_MPI_PLANTED_H

#include <time.h>

#include "expect.h"

static inline unsigned long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static inline unsigned long long now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline void sleep_ms(double ms)
{
	usleep((unsigned int)(ms * 1000));
}

/* Uses so much CPU time of this thread. */
static inline void compute_ms(double ms)
{
	unsigned long long until = clock_ns(CLOCK_THREAD_CPUTIME_ID) +
				   (unsigned long long)(ms * 1e6);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

/* How long a thread of this process has waited for a CPU, by the kernel's account. */
static inline unsigned long long waited_ns(int tid)
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

static inline void notes_close(FILE *notes)
{
	if (notes != stdout)
		fclose(notes);
}

/* Whether a list with commas has a word. */
static inline int list_has(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at++)
		if ((at == list || at[-1] == ',') && (at[len] == ',' || !at[len]))
			return 1;
	return 0;
}

#endif
