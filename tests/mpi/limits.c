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

#define THREADS_MAX 701
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

static void thread_begin(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), long tag)
{
	int err = pthread_create(t, attr, fn, (void *)tag);

	if (!err)
		return;
	printf("thread %ld: %s\n", tag, strerror(err));
	exit(3);
}

static void run_together(const pthread_attr_t *attr)
{
	static pthread_t t[THREADS_MAX];

	pthread_barrier_init(&all, NULL, (unsigned int)thread_cnt);
	for (int i = 0; i < thread_cnt; i++)
		thread_begin(&t[i], attr, worker_together, i + 1);
	for (int i = 0; i < thread_cnt; i++)
		pthread_join(t[i], NULL);
}

static void run_turns(const pthread_attr_t *attr)
{
	pthread_t t;

	for (int i = 0; i < thread_cnt; i++) {
		thread_begin(&t, attr, worker, i + 1);
		pthread_join(t, NULL);
	}
}

/* At most eight are alive, so that stacks do not accumulate by chance. */
static void run_detached(pthread_attr_t *attr)
{
	pthread_t t;

	pthread_attr_setdetachstate(attr, PTHREAD_CREATE_DETACHED);
	for (unsigned int i = 0; i < (unsigned int)thread_cnt; i++) {
		while (i > 8 + __atomic_load_n(&ended, __ATOMIC_ACQUIRE))
			sched_yield();
		thread_begin(&t, attr, worker_detached, i + 1);
	}
	while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < (unsigned int)thread_cnt)
		sched_yield();
}

/*
 * Takes all descriptors of the process. poll() needs a limit that is no lower than the number in
 * use.
 */
static void files_take(int taken[FILES])
{
	struct rlimit few;

	getrlimit(RLIMIT_NOFILE, &few);
	few.rlim_cur = FILES;
	MUST(!setrlimit(RLIMIT_NOFILE, &few));
	for (int i = 0; i < FILES; i++)
		taken[i] = dup(STDOUT_FILENO);
	MUST(taken[FILES - 1] < 0);
}

static void files_give_back(const int taken[FILES])
{
	for (int i = 0; i < FILES; i++)
		if (taken[i] >= 0)
			close(taken[i]);
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

static void run(const char *how, pthread_attr_t *attr)
{
	int taken[FILES], few_files = !strcmp(how, "files");

	if (few_files)
		files_take(taken);
	if (!strcmp(how, "locked"))
		MUST(!mlockall(MCL_CURRENT | MCL_FUTURE));
	if (!strcmp(how, "turns"))
		run_turns(attr);
	else if (!strcmp(how, "detached"))
		run_detached(attr);
	else
		run_together(attr);
	if (few_files)
		files_give_back(taken);
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;

	MUST(argc > 3);
	thread_cnt = atoi(argv[1]);
	calls = atoi(argv[2]);
	MUST(thread_cnt <= THREADS_MAX || !strcmp(argv[3], "turns") ||
	     !strcmp(argv[3], "detached"));
	expect_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
	pthread_attr_init(&attr);
	MUST(!pthread_attr_setstacksize(&attr, argc > 4 ? (size_t)atol(argv[4]) : 1 << 17));
	run(argv[3], &attr);
	if (getenv("LIMITS_SPACE"))
		printf("%ld\n", space_kib("VmPeak:"));
	expect_finish();
	return 0;
}
