/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Threads that call MPI.
 *
 *	threads		five on each of two ranks at once (MPI_THREAD_MULTIPLE), each 211 times with
 *			its own tag. Then generations of short-lived ones, more than are alive at
 *			any time, make three calls each. Then, where root may choose tids, some
 *			whose tid equals the main thread's modulo 1024
 *	threads leave	how threads end: on each rank one ends early, one computes and one sleeps
 *			until the process ends
 *	threads HOW	threads that first call MPI after the process has changed. HOW:
 *		title	its environment is overwritten, as by programs that set their title
 *		signals	they are interrupted every 0.1 ms; system calls are restarted
 */
#include <fcntl.h>
#include <signal.h>

#include "planted.h"

#define THREADS 5
#define GENERATIONS 61
#define LIKE_MODULO 1024
#define LIKE_TRIES 29
#define LATE 10
#define LATE_CALLS 1000

static int other;

/* ---- many ---- */

static void *worker(void *arg)
{
	int tag = (int)(long)arg;
	char out[256], in[256];

	REPEAT(211, CALL(MPI_Sendrecv, other, 101, 101, out, 101, MPI_CHAR, other, tag, in, 101,
			 MPI_CHAR, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	return NULL;
}

static void *mayfly(void *arg)
{
	int tag = (int)(long)arg;
	MPI_Request req;
	char out = 0, in;

	CALL(MPI_Irecv, rank, 0, 1, &in, 1, MPI_CHAR, rank, tag, MPI_COMM_WORLD, &req);
	CALL(MPI_Send, rank, 1, 0, &out, 1, MPI_CHAR, rank, tag, MPI_COMM_WORLD);
	DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	return NULL;
}

/*
 * Requests a tid for the next thread on this machine, which it gets if nobody else creates one
 * first.
 */
static int next_tid(int tid)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY), n;

	if (fd < 0)
		return -1;
	n = dprintf(fd, "%d", tid - 1);
	close(fd);
	return n > 0 ? 0 : -1;
}

static void *like(void *arg)
{
	*(int *)arg = gettid() % LIKE_MODULO == getpid() % LIKE_MODULO;
	return mayfly((void *)300);
}

static void run_like(void)
{
	int was_like, hits = 0, self = getpid();

	for (int i = 1; i <= LIKE_TRIES; i++) {
		if (next_tid(self % LIKE_MODULO +
			     LIKE_MODULO * (1 + (self / LIKE_MODULO + i) % 30)))
			return;
		threads_run(1, like, (long)&was_like);
		hits += was_like;
	}
	MUST(hits > 0);
}

static void many(void)
{
	MUST(size == 2);
	other = 1 - rank;
	threads_run(THREADS, worker, 100);
	for (int i = 0; i < GENERATIONS; i++)
		threads_run(THREADS, mayfly, 200);
	if (rank == 0)
		run_like();
}

/* ---- leave ---- */

static void *early(void *arg)
{
	sleep_ms(50);
	return arg;
}

static void *compute(void *arg)
{
	for (;;)
		work();
	return arg;
}

static void *doze(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void leave(void)
{
	static void *(*const bodies[])(void *) = {early, compute, doze};
	pthread_t t;

	for (int i = 0; i < 3; i++)
		MUST(!pthread_create(&t, NULL, bodies[i], NULL));
	sleep_ms(300);
	DO(MPI_Barrier, MPI_COMM_WORLD);
}

/* ---- late ---- */

static volatile int done;

static void on_signal(int sig)
{
}

static void *calls_make(void *arg)
{
	REPEAT(LATE_CALLS, DO(MPI_Barrier, MPI_COMM_SELF));
	done = 1;
	return arg;
}

static void late(const char *how)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	int signals = !strcmp(how, "signals");
	char *value = getenv("LD_PRELOAD");
	pthread_t thread;

	MUST(!sigaction(SIGPROF, &act, NULL));
	DO(MPI_Barrier, MPI_COMM_WORLD);
	if (!strcmp(how, "title") && value) /* other libraries would miss more of it */
		memset(value, '-', strlen(value));
	for (int i = 0; i < LATE; i++) {
		done = 0;
		MUST(!pthread_create(&thread, NULL, calls_make, NULL));
		while (signals && !done) {
			usleep(100);
			pthread_kill(thread, SIGPROF);
		}
		pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "many";
	int leaves = !strcmp(how, "leave");

	expect_init_thread(&argc, &argv,
			   argc < 2 ? MPI_THREAD_MULTIPLE :
			   leaves   ? MPI_THREAD_FUNNELED :
				      MPI_THREAD_SERIALIZED);
	if (argc < 2)
		many();
	else if (leaves)
		leave();
	else
		late(how);
	expect_finish();
	return 0;
}
