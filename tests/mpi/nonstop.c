/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Three threads that call MPI without a pause, one call within another, until SIGTERM: at any moment most of them
 * are in a call, so that whatever is wrong about the beginning or the end of a recording shows at once.
 *
 * Prints "nonstop PID" when it is under way.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define THREADS 3

static volatile sig_atomic_t over;
static MPI_Op op;

static void on_signal(int sig)
{
	(void)sig;
	over = 1;
}

/* A program's own operation: calls MPI from within MPI. */
static void combine(void *in, void *inout, int *len, MPI_Datatype *type)
{
	int bytes;

	for (int i = 0; i < *len; i++)
		((double *)inout)[i] += ((double *)in)[i];
	MPI_Type_size(*type, &bytes);
}

static void *call(void *arg)
{
	double a[211] = {0}, b[211] = {0};

	while (!over)
		MPI_Reduce_local(a, b, 211, MPI_DOUBLE, op);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	int got;

	signal(SIGTERM, on_signal);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
	MPI_Op_create(combine, 1, &op);
	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, call, NULL))
			return 1;
	printf("nonstop %d\n", (int)getpid());
	fflush(stdout);
	call(NULL);
	for (int i = 1; i < THREADS; i++)
		pthread_join(t[i], NULL);
	MPI_Op_free(&op);
	MPI_Finalize();
	return 0;
}
