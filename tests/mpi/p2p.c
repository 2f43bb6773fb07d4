/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Point-to-point communication in all forms between ranks 0 and 1, each with its own prime number
 * of calls: blocking, nonblocking, synchronous, buffered, ready, combined, probed, matched,
 * persistent, cancelled, to MPI_PROC_NULL. Polls are counted as successful and empty. Further ranks
 * only take part in the barriers.
 */
#include "expect.h"

#define BYTES_MAX 8192
#define NREQ 5
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static char buf[NREQ][BYTES_MAX], in[NREQ][BYTES_MAX];
static int other;

/* Rank 0 sends and rank 1 receives; other arguments follow the communicator. */
#define SEND(fn, cnt, type, bytes, tag, ...) \
	CALL(fn, 1, bytes, 0, buf[0], cnt, type, 1, tag, WORLD, ##__VA_ARGS__)
#define RECV(fn, cnt, type, bytes, tag, ...) \
	CALL(fn, 0, 0, bytes, in[0], cnt, type, 0, tag, WORLD, ##__VA_ARGS__)

static void blocking(void)
{
	MPI_Status st;

	for (int i = 0; i < 101; i++) {
		if (rank == 0) {
			SEND(MPI_Send, 1009, MPI_CHAR, 1009, 7);
			continue;
		}
		/* offers more than arrives; the status has size and source */
		CALL(MPI_Recv, 0, 0, 1009, in[0], 1021, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG,
		     WORLD, &st);
		MUST(st.MPI_SOURCE == 0 && st.MPI_TAG == 7);
	}
	REPEAT(61, rank ? RECV(MPI_Recv, 257, MPI_DOUBLE, 257 * 8, 11, IGNORE) :
			  SEND(MPI_Ssend, 257, MPI_DOUBLE, 257 * 8, 11));
}

static void buffered_and_ready(void)
{
	static char room[32 * (131 + MPI_BSEND_OVERHEAD)];
	MPI_Request req;
	void *back;
	int n;

	if (rank == 0)
		DO(MPI_Buffer_attach, room, sizeof(room));
	REPEAT(31, rank ? RECV(MPI_Recv, 131, MPI_BYTE, 131, 13, IGNORE) :
			  SEND(MPI_Bsend, 131, MPI_BYTE, 131, 13));
	if (rank == 0)
		DO(MPI_Buffer_detach, &back, &n);
	for (int i = 0; i < 23; i++) {
		if (rank == 1)
			RECV(MPI_Irecv, 127, MPI_BYTE, 127, 17, &req);
		CALL(MPI_Sendrecv, other, 1, 1, buf[1], 1, MPI_BYTE, other, 18, in[1], 1, MPI_BYTE,
		     other, 18, WORLD, IGNORE);
		if (rank == 0)
			SEND(MPI_Rsend, 127, MPI_BYTE, 127, 17);
		else
			DO(MPI_Wait, &req, IGNORE);
	}
}

static void nonblocking(void)
{
	MPI_Request req;
	MPI_Status st;

	for (int i = 0; i < 103; i++) {
		if (rank == 0)
			SEND(MPI_Isend, 499, MPI_INT, 499 * 4, 19, &req);
		else
			RECV(MPI_Irecv, 499, MPI_INT, 499 * 4, 19, &req);
		DO(MPI_Wait, &req, &st);
	}
	for (int i = 0; i < 41; i++) {
		if (rank == 0)
			SEND(MPI_Issend, 67, MPI_CHAR, 67, 23, &req);
		else
			MOVE(MPI_Irecv, 0, 67, in[0], 67, MPI_CHAR, MPI_ANY_SOURCE, 23, WORLD,
			     &req);
		DO(MPI_Wait, &req, IGNORE);
	}
}

static void combined(void)
{
	REPEAT(37, CALL(MPI_Sendrecv, other, 331, 331, buf[0], 331, MPI_CHAR, other, 29, in[0], 331,
			MPI_CHAR, other, 29, WORLD, IGNORE));
	REPEAT(19, CALL(MPI_Sendrecv_replace, other, 89, 89, buf[0], 89, MPI_CHAR, other, 31, other,
			31, WORLD, IGNORE));
	for (int i = 0; i < 29; i++) {
		CALL(MPI_Send, MPI_PROC_NULL, 0, 0, buf[0], 97, MPI_CHAR, MPI_PROC_NULL, 37, WORLD);
		CALL(MPI_Recv, MPI_PROC_NULL, 0, 0, in[0], 97, MPI_CHAR, MPI_PROC_NULL, 37, WORLD,
		     IGNORE);
	}
}

/* Rank 0 sends after a delay, so that the receiver's polls find nothing many times first. */
static int sends(int us, int bytes, int tag)
{
	if (rank)
		return 0;
	usleep(us);
	SEND(MPI_Send, bytes, MPI_CHAR, bytes, tag);
	return 1;
}

static void probed(void)
{
	MPI_Message msg;
	MPI_Request req;
	MPI_Status st;
	int flag;

	for (int i = 0; i < 13; i++) {
		if (sends(2000, 139, 41))
			continue;
		POLL_UNTIL(MPI_Iprobe, flag, 0, 41, WORLD, &flag, &st);
		RECV(MPI_Recv, 139, MPI_CHAR, 139, 41, &st);
	}
	for (int i = 0; i < 17; i++) {
		if (sends(0, 149, 43))
			continue;
		DO(MPI_Probe, MPI_ANY_SOURCE, 43, WORLD, &st);
		RECV(MPI_Recv, 149, MPI_CHAR, 149, 43, &st);
	}
	for (int i = 0; i < 11; i++) {
		if (sends(1000, 151, 47))
			continue;
		POLL_UNTIL(MPI_Improbe, flag, 0, 47, WORLD, &flag, &msg, &st);
		MOVE(MPI_Mrecv, 0, 151, in[0], 151, MPI_CHAR, &msg, &st);
	}
	for (int i = 0; i < 7; i++) {
		if (sends(0, 157, 53))
			continue;
		CALL(MPI_Mprobe, 0, 0, 0, 0, 53, WORLD, &msg, &st);
		MOVE(MPI_Imrecv, 0, 157, in[0], 157, MPI_CHAR, &msg, &req);
		DO(MPI_Wait, &req, &st);
	}
}

/* Posts NREQ operations of 163 bytes each, tags base … base + NREQ − 1. */
static void post(MPI_Request *req, int base)
{
	for (int i = 0; i < NREQ; i++)
		if (rank == 0)
			CALL(MPI_Isend, 1, 163, 0, buf[i], 163, MPI_CHAR, 1, base + i, WORLD,
			     &req[i]);
		else
			CALL(MPI_Irecv, 0, 0, 163, in[i], 163, MPI_CHAR, 0, base + i, WORLD,
			     &req[i]);
}

static void completed_together(void)
{
	MPI_Request req[NREQ];
	MPI_Status st[NREQ];
	int idx[NREQ], n, flag;

	for (int i = 0; i < 96; i++) {
		post(req, 100);
		DO(MPI_Waitall, NREQ, req, i < 53 ? st : MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < 11; i++) {
		post(req, 300);
		POLL_UNTIL(MPI_Testall, flag, NREQ, req, &flag, st);
	}
	for (int i = 0; i < 13; i++) {
		post(req, 400);
		do
			DO(MPI_Waitsome, NREQ, req, &n, idx, st);
		while (n != MPI_UNDEFINED);
	}
}

static void completed_singly(void)
{
	MPI_Request req[NREQ];
	MPI_Status st[NREQ];
	int idx[NREQ], n, which, flag, left;

	for (int i = 0; i < 17; i++) {
		post(req, 500);
		REPEAT(NREQ, DO(MPI_Waitany, NREQ, req, &which, &st[0]));
	}
	for (int i = 0; i < 19; i++) {
		post(req, 600);
		for (left = NREQ; left > 0; left -= n)
			POLL(MPI_Testsome, n > 0, NREQ, req, &n, idx, st);
	}
	for (int i = 0; i < 7; i++) {
		post(req, 700);
		for (left = NREQ; left > 0; left -= flag)
			POLL(MPI_Testany, flag, NREQ, req, &which, &flag, &st[0]);
	}
	for (int i = 0; i < 11; i++) {
		if (rank == 0)
			usleep(1000);
		post(req, 800);
		for (int k = 0; k < NREQ; k++)
			POLL_UNTIL(MPI_Test, flag, &req[k], &flag, &st[0]);
	}
}

static void persistent(void)
{
	MPI_Request req[2];

	for (int i = 0; i < 2; i++)
		if (rank == 0)
			CALL(MPI_Send_init, 1, 0, 0, buf[i], 173, MPI_CHAR, 1, 900 + i, WORLD,
			     &req[i]);
		else
			CALL(MPI_Recv_init, 0, 0, 0, in[i], 173, MPI_CHAR, 0, 900 + i, WORLD,
			     &req[i]);
	for (int i = 0; i < 29; i++) {
		MOVE(MPI_Start, rank ? 0 : 173, rank ? 173 : 0, &req[0]);
		DO(MPI_Wait, &req[0], IGNORE);
	}
	for (int i = 0; i < 23; i++) {
		MOVE(MPI_Startall, rank ? 0 : 346, rank ? 346 : 0, 2, req);
		DO(MPI_Waitall, 2, req, MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < 2; i++)
		DO(MPI_Request_free, &req[i]);
}

static void cancelled(void)
{
	MPI_Request req;
	MPI_Status st;
	int flag;

	for (int i = 0; i < 3; i++) {
		CALL(MPI_Irecv, other, 0, 179, in[0], 179, MPI_CHAR, other, 999, WORLD, &req);
		DO(MPI_Cancel, &req);
		DO(MPI_Wait, &req, &st);
		DO(MPI_Test_cancelled, &st, &flag);
		MUST(flag);
	}
}

int main(int argc, char **argv)
{
	static void (*const parts[])(
		void) = {blocking,	     buffered_and_ready, nonblocking, combined, probed,
			 completed_together, completed_singly,	 persistent,  cancelled};

	expect_init(&argc, &argv);
	MUST(size >= 2);
	other = 1 - rank;
	DO(MPI_Barrier, WORLD);
	for (size_t i = 0; rank < 2 && i < ARRAY_SIZE(parts); i++)
		parts[i]();
	DO(MPI_Barrier, WORLD);
	expect_finish();
	return 0;
}
