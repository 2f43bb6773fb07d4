/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Point-to-point in all its forms between ranks 0 and 1, each in its own prime number: blocking,
 * nonblocking, synchronous, buffered, ready, combined, probed, matched, persistent, cancelled, to
 * nobody. Polls are counted as found and empty. More ranks only take part in the barriers.
 */
#include "expect.h"

#define BYTES_MAX 8192
#define NREQ 5
#define PROG "p2p"

static char buf[NREQ][BYTES_MAX], in[NREQ][BYTES_MAX];
static int rank, size, other;

static void barrier(void)
{
	DO(MPI_Barrier, MPI_COMM_WORLD);
}

static void blocking(void)
{
	MPI_Status st;

	for (int i = 0; i < 101; i++) {
		if (rank == 0) {
			CALL(MPI_Send, 1, 1009, 0, buf[0], 1009, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
		} else {
			/* offers more than arrives; the status tells what came from whom */
			CALL(MPI_Recv, 0, 0, 1009, in[0], 1021, MPI_CHAR, MPI_ANY_SOURCE,
			     MPI_ANY_TAG, MPI_COMM_WORLD, &st);
			MUST(st.MPI_SOURCE == 0 && st.MPI_TAG == 7);
		}
	}
	for (int i = 0; i < 61; i++) {
		if (rank == 0)
			CALL(MPI_Ssend, 1, 257 * 8, 0, buf[0], 257, MPI_DOUBLE, 1, 11,
			     MPI_COMM_WORLD);
		else
			CALL(MPI_Recv, 0, 0, 257 * 8, in[0], 257, MPI_DOUBLE, 0, 11, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	}
}

static void buffered_and_ready(void)
{
	static char room[32 * (131 + MPI_BSEND_OVERHEAD)];
	MPI_Request req;
	void *back;
	int n;

	if (rank == 0) {
		DO(MPI_Buffer_attach, room, sizeof(room));
		for (int i = 0; i < 31; i++)
			CALL(MPI_Bsend, 1, 131, 0, buf[0], 131, MPI_BYTE, 1, 13, MPI_COMM_WORLD);
		DO(MPI_Buffer_detach, &back, &n);
	} else {
		for (int i = 0; i < 31; i++)
			CALL(MPI_Recv, 0, 0, 131, in[0], 131, MPI_BYTE, 0, 13, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < 23; i++) {
		if (rank == 1)
			CALL(MPI_Irecv, 0, 0, 127, in[0], 127, MPI_BYTE, 0, 17, MPI_COMM_WORLD,
			     &req);
		CALL(MPI_Sendrecv, other, 1, 1, buf[1], 1, MPI_BYTE, other, 18, in[1], 1, MPI_BYTE,
		     other, 18, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 0)
			CALL(MPI_Rsend, 1, 127, 0, buf[0], 127, MPI_BYTE, 1, 17, MPI_COMM_WORLD);
		else
			DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	}
}

static void nonblocking(void)
{
	MPI_Request req;
	MPI_Status st;

	for (int i = 0; i < 103; i++) {
		if (rank == 0)
			CALL(MPI_Isend, 1, 499 * 4, 0, buf[0], 499, MPI_INT, 1, 19, MPI_COMM_WORLD,
			     &req);
		else
			CALL(MPI_Irecv, 0, 0, 499 * 4, in[0], 499, MPI_INT, 0, 19, MPI_COMM_WORLD,
			     &req);
		DO(MPI_Wait, &req, &st);
	}
	for (int i = 0; i < 41; i++) {
		if (rank == 0)
			CALL(MPI_Issend, 1, 67, 0, buf[0], 67, MPI_CHAR, 1, 23, MPI_COMM_WORLD,
			     &req);
		else
			CALL(MPI_Irecv, NO_PEER, 0, 67, in[0], 67, MPI_CHAR, MPI_ANY_SOURCE, 23,
			     MPI_COMM_WORLD, &req);
		DO(MPI_Wait, &req, MPI_STATUS_IGNORE);
	}
}

static void combined(void)
{
	for (int i = 0; i < 37; i++)
		CALL(MPI_Sendrecv, other, 331, 331, buf[0], 331, MPI_CHAR, other, 29, in[0], 331,
		     MPI_CHAR, other, 29, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < 19; i++)
		CALL(MPI_Sendrecv_replace, other, 89, 89, buf[0], 89, MPI_CHAR, other, 31, other,
		     31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < 29; i++) {
		CALL(MPI_Send, MPI_PROC_NULL, 0, 0, buf[0], 97, MPI_CHAR, MPI_PROC_NULL, 37,
		     MPI_COMM_WORLD);
		CALL(MPI_Recv, MPI_PROC_NULL, 0, 0, in[0], 97, MPI_CHAR, MPI_PROC_NULL, 37,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* The sender dawdles, so that the receiver's polls find nothing many times first. */
static void probed(void)
{
	MPI_Message msg;
	MPI_Status st;
	int flag;

	for (int i = 0; i < 13; i++) {
		if (rank == 0) {
			usleep(2000);
			CALL(MPI_Send, 1, 139, 0, buf[0], 139, MPI_CHAR, 1, 41, MPI_COMM_WORLD);
			continue;
		}
		do
			POLL(MPI_Iprobe, flag, 0, 41, MPI_COMM_WORLD, &flag, &st);
		while (!flag);
		CALL(MPI_Recv, 0, 0, 139, in[0], 139, MPI_CHAR, 0, 41, MPI_COMM_WORLD, &st);
	}
	for (int i = 0; i < 17; i++) {
		if (rank == 0) {
			CALL(MPI_Send, 1, 149, 0, buf[0], 149, MPI_CHAR, 1, 43, MPI_COMM_WORLD);
			continue;
		}
		CALL(MPI_Probe, NO_PEER, 0, 0, MPI_ANY_SOURCE, 43, MPI_COMM_WORLD, &st);
		CALL(MPI_Recv, 0, 0, 149, in[0], 149, MPI_CHAR, 0, 43, MPI_COMM_WORLD, &st);
	}
	for (int i = 0; i < 11; i++) {
		if (rank == 0) {
			usleep(1000);
			CALL(MPI_Send, 1, 151, 0, buf[0], 151, MPI_CHAR, 1, 47, MPI_COMM_WORLD);
			continue;
		}
		do
			POLL(MPI_Improbe, flag, 0, 47, MPI_COMM_WORLD, &flag, &msg, &st);
		while (!flag);
		MOVE(MPI_Mrecv, 0, 151, in[0], 151, MPI_CHAR, &msg, &st);
	}
	for (int i = 0; i < 7; i++) {
		MPI_Request req;

		if (rank == 0) {
			CALL(MPI_Send, 1, 157, 0, buf[0], 157, MPI_CHAR, 1, 53, MPI_COMM_WORLD);
			continue;
		}
		CALL(MPI_Mprobe, 0, 0, 0, 0, 53, MPI_COMM_WORLD, &msg, &st);
		MOVE(MPI_Imrecv, 0, 157, in[0], 157, MPI_CHAR, &msg, &req);
		DO(MPI_Wait, &req, &st);
	}
}

/* Posts NREQ operations of 163 bytes each, tags base … base + NREQ − 1. */
static void post(MPI_Request *req, int base)
{
	for (int i = 0; i < NREQ; i++)
		if (rank == 0)
			CALL(MPI_Isend, 1, 163, 0, buf[i], 163, MPI_CHAR, 1, base + i,
			     MPI_COMM_WORLD, &req[i]);
		else
			CALL(MPI_Irecv, 0, 0, 163, in[i], 163, MPI_CHAR, 0, base + i,
			     MPI_COMM_WORLD, &req[i]);
}

static void completed_together(void)
{
	MPI_Request req[NREQ];
	MPI_Status st[NREQ];
	int idx[NREQ], n, flag;

	for (int i = 0; i < 53; i++) {
		post(req, 100);
		DO(MPI_Waitall, NREQ, req, st);
	}
	for (int i = 0; i < 43; i++) {
		post(req, 200);
		DO(MPI_Waitall, NREQ, req, MPI_STATUSES_IGNORE);
	}
	for (int i = 0; i < 11; i++) {
		post(req, 300);
		do
			POLL(MPI_Testall, flag, NREQ, req, &flag, st);
		while (!flag);
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
		for (int k = 0; k < NREQ; k++)
			DO(MPI_Waitany, NREQ, req, &which, &st[0]);
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
			do
				POLL(MPI_Test, flag, &req[k], &flag, &st[0]);
			while (!flag);
	}
}

static void persistent(void)
{
	MPI_Request req[2];

	for (int i = 0; i < 2; i++)
		if (rank == 0)
			CALL(MPI_Send_init, 1, 0, 0, buf[i], 173, MPI_CHAR, 1, 900 + i,
			     MPI_COMM_WORLD, &req[i]);
		else
			CALL(MPI_Recv_init, 0, 0, 0, in[i], 173, MPI_CHAR, 0, 900 + i,
			     MPI_COMM_WORLD, &req[i]);
	for (int i = 0; i < 29; i++) {
		MOVE(MPI_Start, rank ? 0 : 173, rank ? 173 : 0, &req[0]);
		DO(MPI_Wait, &req[0], MPI_STATUS_IGNORE);
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
		CALL(MPI_Irecv, other, 0, 179, in[0], 179, MPI_CHAR, other, 999, MPI_COMM_WORLD,
		     &req);
		DO(MPI_Cancel, &req);
		DO(MPI_Wait, &req, &st);
		DO(MPI_Test_cancelled, &st, &flag);
		MUST(flag);
	}
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv, &rank, &size);
	MUST(size >= 2);
	other = 1 - rank;
	barrier();
	if (rank < 2) {
		blocking();
		buffered_and_ready();
		nonblocking();
		combined();
		probed();
		completed_together();
		completed_singly();
		persistent();
		cancelled();
	}
	barrier();
	expect_finish(PROG, rank);
	return 0;
}
