/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Threads that first call MPI when the process is no longer as it was when MPI began. Usage: late_thread HOW
 *	plain	as it was
 *	files	it may open no file more
 *	title	its environment is written over, as by programs that have a title of their own
 *	signals	they are interrupted every 0.1 ms; system calls are restarted
 */
#include "expect.h"

#include <signal.h>
#include <sys/resource.h>

#define THREADS 10
#define CALLS 1000

static volatile int done;

static void on_signal(int sig)
{
	(void)sig;
}

static void *calls_make(void *arg)
{
	for (int i = 0; i < CALLS; i++)
		DO(MPI_Barrier, MPI_COMM_SELF);
	done = 1;
	return arg;
}

static void files_allow(int more)
{
	struct rlimit l;

	MUST(!getrlimit(RLIMIT_NOFILE, &l));
	l.rlim_cur = more ? l.rlim_max : 3;
	MUST(!setrlimit(RLIMIT_NOFILE, &l));
}

/* Of POVTRACE_PRELOAD: more of it other libraries would miss. */
static void title_set(void)
{
	char *value = getenv("POVTRACE_PRELOAD");

	if (value)
		memset(value, '-', strlen(value));
}

static void thread_run(int us)
{
	pthread_t thread;

	done = 0;
	MUST(!pthread_create(&thread, NULL, calls_make, NULL));
	while (us && !done) {
		usleep(us);
		pthread_kill(thread, SIGPROF);
	}
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "plain";
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	int rank, provided;

	DO(MPI_Init_thread, &argc, &argv, MPI_THREAD_SERIALIZED, &provided);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	MUST(provided >= MPI_THREAD_SERIALIZED);
	MUST(!sigaction(SIGPROF, &act, NULL));
	DO(MPI_Barrier, MPI_COMM_WORLD);
	if (!strcmp(how, "files"))
		files_allow(0);
	if (!strcmp(how, "title"))
		title_set();
	for (int i = 0; i < THREADS; i++)
		thread_run(strcmp(how, "signals") ? 0 : 100);
	if (!strcmp(how, "files"))
		files_allow(1);
	expect_finish();
	return 0;
}
