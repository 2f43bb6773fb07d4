/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Five threads of each rank call MPI at once (MPI_THREAD_MULTIPLE), each 211 times with its own tag;
 * then generations of short-lived threads, more than stay alive at any time, make three calls each; then,
 * where root may choose them, threads whose numbers equal the main thread's modulo 1024.
 */
#include "expect.h"

#include <fcntl.h>

#define THREADS 5
#define GENERATIONS 61
#define LIKE_MODULO 1024
#define LIKE_TRIES 29

static int other;

static void *worker(void *arg)
{
	int tag = (int)(long)arg;
	char out[256], in[256];

	for (int i = 0; i < 211; i++)
		CALL(MPI_Sendrecv, other, 101, 101, out, 101, MPI_CHAR, other, tag, in, 101,
		     MPI_CHAR, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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

static void run(void *(*body)(void *), int base)
{
	pthread_t t[THREADS];

	for (long i = 0; i < THREADS; i++)
		MUST(!pthread_create(&t[i], NULL, body, (void *)(base + i)));
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

/* The next thread made on this machine, if nobody else makes one first, has the given number. */
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
	pthread_t t;

	for (int i = 1; i <= LIKE_TRIES; i++) {
		if (next_tid(self % LIKE_MODULO +
			     LIKE_MODULO * (1 + (self / LIKE_MODULO + i) % 30)))
			return;
		MUST(!pthread_create(&t, NULL, like, &was_like));
		pthread_join(t, NULL);
		hits += was_like;
	}
	MUST(hits > 0);
}

int main(int argc, char **argv)
{
	expect_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
	MUST(size == 2);
	other = 1 - rank;
	run(worker, 100);
	for (int i = 0; i < GENERATIONS; i++)
		run(mayfly, 200);
	if (rank == 0)
		run_like();
	expect_finish();
	return 0;
}
