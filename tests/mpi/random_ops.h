/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Operations by all functions that MPI has for messages: how they are started and completed, and
 * what each rank writes down about them (random_p2p.c).
 */
#ifndef TESTS_MPI_RANDOM_OPS_H
#define TESTS_MPI_RANDOM_OPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "random_comms.h"

#define TAGS 3
#define OPS_MAX 1024
#define GROUP_MAX 4
#define IDLE_MAX 24
#define HEAD_BYTES 12
#define SMALL_MAX 1000
#define MESSAGE_MAX 70000

/* Modes: blocking, nonblocking and persistent sends; … */
enum { SEND, SSEND, BSEND, RSEND };
enum { ISEND = 4, ISSEND, IBSEND, IRSEND };
enum { SEND_INIT = 8, SSEND_INIT, BSEND_INIT, RSEND_INIT };
/*
 * … blocking receives: CANCEL_RECV is posted again if it was cancelled, CANCELLED is for a message
 * that nobody sends; …
 */
enum { RECV = 12, PROBE_RECV, IPROBE_RECV, MPROBE_MRECV, IMPROBE_MRECV, CANCEL_RECV, CANCELLED };
/* … nonblocking and persistent receives; and exchanges. */
enum { MPROBE_IMRECV = 19, IRECV, RECV_INIT, SENDRECV, SENDRECV_REPLACE };

struct op {
	/*
	 * Ranks are those in MPI_COMM_WORLD. A persistent request can be started again for an
	 * operation with the same values of these members.
	 */
	int mode, comm, from, to, tag, bytes, any_source, any_tag;
	int source; /* of an exchange: `from` sends to `to`, and receives from `source` */
	bool asked; /* its status is requested */
	bool freed; /* its request is freed, and nobody waits for it */
	bool known; /* the calls alone determine the message */
	int before; /* number of earlier sends (or receives) of its class */

	/* The arguments of the MPI call, and its results. */
	MPI_Comm handle;
	int dest, src, match; /* ranks and tag, or wildcards */
	MPI_Request req;
	char *out, *in;
	unsigned long long before_ns, after_ns; /* clock before and after the call that posted it */
	int place;
};

enum shape { EXACT, ANY_SOURCE, ANY_TAG, ANY };
struct class
{
	int sent, received;
	int ready; /* receives posted before all ranks met */
	struct op like;
};

struct worker {
	int number, tid, epochs, serial;
	uint64_t same, own; /* states of random numbers: equal on all ranks; of this rank alone */
	FILE *truth;
	struct comms comms;
	enum shape shape[COMMS_MAX];
	struct class class[COMMS_MAX][RANKS_MAX][RANKS_MAX][TAGS];
	struct op op[OPS_MAX],
		idle[IDLE_MAX]; /* this rank's operations in progress; inactive persistent ones */
	int nops, nidle;
};

static bool mode_receives(int m)
{
	return m >= RECV;
}

static bool mode_blocks(int m)
{
	return m <= RSEND || (m >= RECV && m <= CANCELLED) || m >= SENDRECV;
}

static bool mode_persists(int m)
{
	return (m >= SEND_INIT && m <= RSEND_INIT) || m == RECV_INIT;
}

static bool mode_exchanges(int m)
{
	return m >= SENDRECV;
}

static int dice(uint64_t *state, int n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)((*state >> 33) % (uint64_t)n);
}

static int any_of(struct worker *w, int n)
{
	return dice(&w->same, n);
}

static void truth_report(struct worker *w, const char *end, const struct op *op,
			 const char *message)
{
	const int *head = (const int *)message;

	fprintf(w->truth, "%s\t%d\t%d\t%llu\t%llu\t%d\t%d.%d.%d\t%d\t%s\n", end, rank, w->tid,
		op->before_ns, op->after_ns, op->place, head[0], head[1], head[2], op->known,
		w->comms.comm[op->comm].made);
}

/* ---- one call ---- */

#define TIMED(op, call)                      \
	do {                                 \
		(op)->before_ns = now_ns();  \
		MUST((call) == MPI_SUCCESS); \
		(op)->after_ns = now_ns();   \
	} while (0)

/* Sets up an operation's peers and memory. */
static void op_begin(struct worker *w, struct op *op)
{
	const struct comm *c = &w->comms.comm[op->comm];

	op->handle = c->handle;
	op->dest = c->place[op->to];
	op->src = op->any_source ? MPI_ANY_SOURCE :
				   c->place[mode_exchanges(op->mode) ? op->source : op->from];
	op->match = op->any_tag ? MPI_ANY_TAG : op->tag;
	op->in = malloc(MESSAGE_MAX);
	op->out = malloc(MESSAGE_MAX);
}

static void op_end(struct op *op)
{
	free(op->in);
	free(op->out);
}

static void fill(struct worker *w, struct op *op)
{
	int head[3] = {rank, w->number, w->serial++};

	memcpy(op->out, head, sizeof(head));
}

static int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {
	[SEND] = MPI_Send, [SSEND] = MPI_Ssend, [BSEND] = MPI_Bsend, [RSEND] = MPI_Rsend};
static int (*const isends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
	[ISEND] = MPI_Isend,	       [ISSEND] = MPI_Issend,	     [IBSEND] = MPI_Ibsend,
	[IRSEND] = MPI_Irsend,	       [SEND_INIT] = MPI_Send_init,  [SSEND_INIT] = MPI_Ssend_init,
	[BSEND_INIT] = MPI_Bsend_init, [RSEND_INIT] = MPI_Rsend_init};

static int send_start(struct op *op)
{
	return isends[op->mode](op->out, op->bytes, MPI_BYTE, op->dest, op->tag, op->handle,
				&op->req);
}

static void send_post(struct worker *w, struct op *op)
{
	fill(w, op);
	if (mode_blocks(op->mode))
		TIMED(op,
		      sends[op->mode](op->out, op->bytes, MPI_BYTE, op->dest, op->tag, op->handle));
	else
		TIMED(op, send_start(op));
	truth_report(w, "send", op, op->out);
}

static void recv(struct op *op, int from, int tag, MPI_Status *status)
{
	TIMED(op, MPI_Recv(op->in, MESSAGE_MAX, MPI_BYTE, from, tag, op->handle, status));
}

static void recv_probed(struct op *op, MPI_Status *status)
{
	MPI_Message message;
	MPI_Status st;
	int found = 0;

	if (op->mode == PROBE_RECV)
		MPI_Probe(op->src, op->match, op->handle, &st);
	while (op->mode == IPROBE_RECV && !found)
		MPI_Iprobe(op->src, op->match, op->handle, &found, &st);
	if (op->mode == MPROBE_MRECV || op->mode == MPROBE_IMRECV)
		MPI_Mprobe(op->src, op->match, op->handle, &message, status);
	while (op->mode == IMPROBE_MRECV && !found)
		MPI_Improbe(op->src, op->match, op->handle, &found, &message, status);
	if (op->mode <= IPROBE_RECV)
		recv(op, st.MPI_SOURCE, st.MPI_TAG, status);
	else if (op->mode == MPROBE_IMRECV)
		TIMED(op, MPI_Imrecv(op->in, MESSAGE_MAX, MPI_BYTE, &message, &op->req));
	else
		TIMED(op, MPI_Mrecv(op->in, MESSAGE_MAX, MPI_BYTE, &message, status));
}

static void recv_post(struct worker *w, struct op *op)
{
	MPI_Status st, *status = op->asked ? &st : MPI_STATUS_IGNORE;
	int cancelled = 1;

	if (op->mode == RECV)
		recv(op, op->src, op->match, status);
	else if (op->mode == IRECV || op->mode == CANCELLED || op->mode == CANCEL_RECV)
		TIMED(op, MPI_Irecv(op->in, MESSAGE_MAX, MPI_BYTE, op->src, op->match, op->handle,
				    &op->req));
	else
		recv_probed(op, status);
	if (op->mode == CANCELLED || op->mode == CANCEL_RECV) {
		MPI_Cancel(&op->req);
		MPI_Wait(&op->req, status);
	}
	if (op->mode == CANCEL_RECV) {
		MPI_Test_cancelled(status, &cancelled);
		if (cancelled)
			recv(op, op->src, op->match, status);
	}
	if (mode_blocks(op->mode) && op->mode != CANCELLED)
		truth_report(w, "recv", op, op->in);
}

static void exchange(struct worker *w, struct op *op)
{
	MPI_Status st, *status = op->asked ? &st : MPI_STATUS_IGNORE;
	char head[HEAD_BYTES];

	fill(w, op);
	memcpy(head, op->out, sizeof(head));
	if (op->mode == SENDRECV) {
		TIMED(op,
		      MPI_Sendrecv(op->out, op->bytes, MPI_BYTE, op->dest, op->tag, op->in,
				   MESSAGE_MAX, MPI_BYTE, op->src, op->tag, op->handle, status));
	} else { /* in place: all messages of a ring have the same size */
		TIMED(op, MPI_Sendrecv_replace(op->out, op->bytes, MPI_BYTE, op->dest, op->tag,
					       op->src, op->tag, op->handle, status));
		memcpy(op->in, op->out, sizeof(head));
	}
	truth_report(w, "send", op, head);
	truth_report(w, "recv", op, op->in);
}

/* Remembers an operation that must be completed. */
static void op_keep(struct worker *w, const struct op *op)
{
	MUST(w->nops < OPS_MAX);
	w->op[w->nops++] = *op;
}

static void op_make(struct worker *w, struct op op)
{
	op_begin(w, &op);
	if (mode_exchanges(op.mode))
		exchange(w, &op);
	else if (mode_receives(op.mode))
		recv_post(w, &op);
	else
		send_post(w, &op);
	if (mode_blocks(op.mode))
		op_end(&op);
	else
		op_keep(w, &op);
}

/* ---- persistent requests ---- */

/* Gets a request that was used before, or a new one. */
static void persistent_get(struct worker *w, struct op *op)
{
	for (int i = 0; i < w->nidle; i++) {
		struct op *old = &w->idle[i];

		if (memcmp(old, op, offsetof(struct op, source)))
			continue;
		op->req = old->req;
		op->in = old->in;
		op->out = old->out;
		*old = w->idle[--w->nidle];
		return;
	}
	op_begin(w, op);
	if (op->mode == RECV_INIT)
		MPI_Recv_init(op->in, MESSAGE_MAX, MPI_BYTE, op->src, op->match, op->handle,
			      &op->req);
	else
		send_start(op);
}

static void persistent_free(struct op *op)
{
	MPI_Request_free(&op->req);
	op_end(op);
}

static void persistent_put(struct worker *w, struct op *op)
{
	if (w->nidle == IDLE_MAX)
		persistent_free(op);
	else
		w->idle[w->nidle++] = *op;
}

/* Starts n persistent requests by one call. */
static void persistent_start(struct worker *w, struct op *op, int n)
{
	MPI_Request req[GROUP_MAX];
	struct op t;

	for (int i = 0; i < n; i++) {
		persistent_get(w, &op[i]);
		if (!mode_receives(op[i].mode))
			fill(w, &op[i]);
		req[i] = op[i].req;
	}
	if (n == 1 && w->serial % 2)
		TIMED(&t, MPI_Start(req));
	else
		TIMED(&t, MPI_Startall(n, req));
	for (int i = 0; i < n; i++) {
		op[i].req = req[i];
		op[i].before_ns = t.before_ns;
		op[i].after_ns = t.after_ns;
		op[i].place = i;
		if (!mode_receives(op[i].mode))
			truth_report(w, "send", &op[i], op[i].out);
		op_keep(w, &op[i]);
	}
}

/* ---- completion ---- */

/* The library may still send from the memory of a freed request, so that is left alone. */
static void completed(struct worker *w, struct op *op)
{
	if (mode_receives(op->mode))
		truth_report(w, "recv", op, op->in);
	if (mode_persists(op->mode))
		persistent_put(w, op);
	else if (!op->freed)
		op_end(op);
}

/* Completes the last n operations of this rank in one of many ways. */
static void finish(struct worker *w, int n)
{
	static __thread MPI_Request req[OPS_MAX];
	static __thread MPI_Status st[OPS_MAX];
	static __thread int at[OPS_MAX];
	struct op *op = &w->op[w->nops - n];
	MPI_Status *status = n == 1 && !op->asked ? MPI_STATUSES_IGNORE : st;
	int way = dice(&w->own, n == 1 ? 6 : 4), left = n, cnt = 0;

	for (int i = 0; i < n; i++)
		req[i] = op[i].req;
	if (n == 1 && op->freed) { /* no call will complete it */
		MPI_Request_free(req);
		way = -1;
	}
	for (; (way == 0 || way == 1) && left > 0; left -= cnt) {
		cnt = 1;
		if (way)
			MPI_Waitsome(n, req, &cnt, at, status);
		else
			MPI_Waitany(n, req, at, status);
		for (int i = 0; i < cnt; i++) {
			req[at[i]] = MPI_REQUEST_NULL; /* persistent requests may be freed now */
			completed(w, &op[at[i]]);
		}
	}
	while (way == 2 && n && !cnt)
		MPI_Testall(n, req, &cnt, status);
	if (way == 3)
		MPI_Waitall(n, req, status);
	if (way == 4)
		MPI_Wait(req, op->asked ? st : MPI_STATUS_IGNORE);
	while (way == 5 && !cnt)
		MPI_Test(req, &cnt, op->asked ? st : MPI_STATUS_IGNORE);
	for (int i = 0; left == n && i < n; i++)
		completed(w, &op[i]);
	w->nops -= n;
}

#endif
