/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A request's handle is reused before the call that completed it has returned. One thread waits for
 * a receive and then a generalized request. That request's free function is called inside the
 * Waitall, when the receive's handle is already free. It lets the other thread start a send, to
 * which the library gives the same handle. If the library admits no other thread meanwhile, the
 * test does not wait for it; the books are the same.
 */
#include "expect.h"

#define ROUNDS 23
#define WAIT_NS 50000000
#define TAG_WAITER 1
#define TAG_OTHER 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int asked, answered, inside;

static int query(void *extra, MPI_Status *st)
{
	MPI_Status_set_elements(st, MPI_BYTE, 0);
	MPI_Status_set_cancelled(st, 0);
	st->MPI_SOURCE = MPI_UNDEFINED;
	st->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

static int let_in(void *extra)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += WAIT_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	asked++;
	pthread_cond_broadcast(&moved);
	while (answered < asked)
		if (pthread_cond_timedwait(&moved, &lock, &until) == ETIMEDOUT)
			break;
	inside += answered == asked;
	pthread_mutex_unlock(&lock);
	return MPI_SUCCESS;
}

static int cancel(void *extra, int done)
{
	return MPI_SUCCESS;
}

static void *waiter(void *arg)
{
	char out[7] = "", in[7];
	MPI_Request reqs[2];
	MPI_Status st[2];

	for (int i = 0; i < ROUNDS; i++) {
		CALL(MPI_Irecv, rank, 0, 7, in, 7, MPI_CHAR, rank, TAG_WAITER, MPI_COMM_WORLD,
		     &reqs[0]);
		CALL(MPI_Send, rank, 7, 0, out, 7, MPI_CHAR, rank, TAG_WAITER, MPI_COMM_WORLD);
		DO(MPI_Grequest_start, query, let_in, cancel, NULL, &reqs[1]);
		DO(MPI_Grequest_complete, reqs[1]);
		DO(MPI_Waitall, 2, reqs, st);
		MUST(asked == i + 1);
	}
	return NULL;
}

static void *other(void *arg)
{
	char out[13] = "", in[13];
	MPI_Request reqs[2];
	MPI_Status st[2];

	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		while (asked <= i)
			pthread_cond_wait(&moved, &lock);
		pthread_mutex_unlock(&lock);
		CALL(MPI_Isend, rank, 13, 0, out, 13, MPI_CHAR, rank, TAG_OTHER, MPI_COMM_WORLD,
		     &reqs[0]);
		pthread_mutex_lock(&lock);
		answered = i + 1;
		pthread_cond_broadcast(&moved);
		pthread_mutex_unlock(&lock);
		CALL(MPI_Irecv, rank, 0, 13, in, 13, MPI_CHAR, rank, TAG_OTHER, MPI_COMM_WORLD,
		     &reqs[1]);
		DO(MPI_Waitall, 2, reqs, st);
	}
	return NULL;
}

static void *waiter_or_other(void *arg)
{
	return (arg ? other : waiter)(arg);
}

int main(int argc, char **argv)
{
	expect_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
	threads_run(2, waiter_or_other, 0);
	fprintf(stderr, "reuse: rank %d: %d of %d handles were free inside the Waitall\n", rank,
		inside, ROUNDS);
	expect_finish();
	return 0;
}
