/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Five threads of each rank call MPI at once (MPI_THREAD_MULTIPLE), each 211 times with its own tag;
 * then generations of short-lived threads, more than stay alive at any time, make three calls each.
 */
#include "expect.h"

#define PROG "threads"
#define THREADS 5
#define GENERATIONS 61

static int rank, size, other;

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

int main(int argc, char **argv)
{
	int got;

	DO(MPI_Init_thread, &argc, &argv, MPI_THREAD_MULTIPLE, &got);
	if (got < MPI_THREAD_MULTIPLE) {
		fprintf(stderr, "%s: this MPI has no MPI_THREAD_MULTIPLE\n", PROG);
		MPI_Finalize();
		return 77;
	}
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	DO(MPI_Comm_size, MPI_COMM_WORLD, &size);
	MUST(size == 2);
	other = 1 - rank;
	run(worker, 100);
	for (int i = 0; i < GENERATIONS; i++)
		run(mayfly, 200);
	expect_finish(PROG, rank);
	return 0;
}
