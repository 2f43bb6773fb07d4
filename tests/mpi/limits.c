/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A rank with threads that have little memory. When MPI runs and all threads have called it, it
 * prints the process's address space, to derive a limit from it. Usage: limits THREADS CALLS HOW
 * [STACK-BYTES]
 *
 *	together	all threads live at once
 *	turns		one thread after the other
 *	detached	only a counter waits for the threads
 *	files		together, with all descriptors in use
 *	locked		together, with all mapped memory locked (mlockall)
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "expect.h"

#define FILES 256

static int thread_cnt, calls;
static unsigned int ended;
static pthread_barrier_t all;

static void talk(int tag)
{
	int in;

	for (int i = 0; i < calls; i++)
		CALL(MPI_Sendrecv, 0, 4, 4, &tag, 1, MPI_INT, 0, tag, &in, 1, MPI_INT, 0, tag,
		     MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MUST(in == tag);
}

static void *worker(void *arg)
{
	talk((int)(long)arg);
	return NULL;
}

static void *worker_together(void *arg)
{
	pthread_barrier_wait(&all);
	talk((int)(long)arg);
	pthread_barrier_wait(&all);
	return NULL;
}

static void *worker_detached(void *arg)
{
	talk((int)(long)arg);
	__atomic_add_fetch(&ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void together(char **args)
{
	pthread_barrier_init(&all, NULL, (unsigned int)thread_cnt);
	threads_run(thread_cnt, worker_together, 1);
}

static void turns(char **args)
{
	for (int i = 0; i < thread_cnt; i++)
		threads_run(1, worker, i + 1);
}

/* At most eight are alive, so that stacks do not accumulate by chance. */
static void detached(char **args)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_getattr_default_np(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (unsigned int i = 0; i < (unsigned int)thread_cnt; i++) {
		while (i > 8 + __atomic_load_n(&ended, __ATOMIC_ACQUIRE))
			sched_yield();
		MUST(!pthread_create(&t, &attr, worker_detached, (void *)(long)(i + 1)));
	}
	while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < (unsigned int)thread_cnt)
		sched_yield();
}

/* Takes all descriptors meanwhile. poll() needs a limit that is no lower than the number in use. */
static void files(char **args)
{
	struct rlimit few;
	int taken[FILES];

	getrlimit(RLIMIT_NOFILE, &few);
	few.rlim_cur = FILES;
	MUST(!setrlimit(RLIMIT_NOFILE, &few));
	for (int i = 0; i < FILES; i++)
		taken[i] = dup(STDOUT_FILENO);
	MUST(taken[FILES - 1] < 0);
	together(args);
	for (int i = 0; i < FILES; i++)
		if (taken[i] >= 0)
			close(taken[i]);
}

static void locked(char **args)
{
	MUST(!mlockall(MCL_CURRENT | MCL_FUTURE));
	together(args);
}

static long space_kib(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	MUST(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kib = atol(line + strlen(name));
	fclose(f);
	return kib;
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {{"together", together},
					    {"turns", turns},
					    {"detached", detached},
					    {"files", files},
					    {"locked", locked}};
	pthread_attr_t attr;

	MUST(argc > 3);
	thread_cnt = atoi(argv[1]);
	calls = atoi(argv[2]);
	expect_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
	pthread_attr_init(&attr);
	MUST(!pthread_attr_setstacksize(&attr, argc > 4 ? (size_t)atol(argv[4]) : 1 << 17) &&
	     !pthread_setattr_default_np(&attr));
	MODE_RUN(modes, argv + 3);
	if (getenv("LIMITS_SPACE"))
		printf("%ld\n", space_kib("VmPeak:"));
	expect_finish();
	return 0;
}
