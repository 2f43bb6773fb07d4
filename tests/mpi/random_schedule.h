/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Schedules of random_p2p.c: drawn at random, the same in all ranks, of messages in communicators
 * of all kinds. random_p2p.c describes how a schedule avoids deadlocks.
 */
#ifndef TESTS_MPI_RANDOM_SCHEDULE_H
#define TESTS_MPI_RANDOM_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "expect.h"
#include "random_comms.h"

#define THREADS_MAX 2
#define TAGS 3
#define TAG_UNSENT 77
#define OPS_MAX 1024
#define STEPS_MAX 2048
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

static inline bool mode_receives(int m)
{
	return m >= RECV;
}

static inline bool mode_blocks(int m)
{
	return m <= RSEND || (m >= RECV && m <= CANCELLED) || m >= SENDRECV;
}

static inline bool mode_persists(int m)
{
	return (m >= SEND_INIT && m <= RSEND_INIT) || m == RECV_INIT;
}

static inline bool mode_exchanges(int m)
{
	return m >= SENDRECV;
}

struct op {
	/* from and to are ranks in MPI_COMM_WORLD. */
	int mode, comm, from, to, tag, bytes, any_source, any_tag;
	/* SENDRECV: from sends to to, and receives from source. */
	int source;
	bool asked; /* its status is requested */
	bool freed; /* its request is freed, and nobody waits for it */
	bool known; /* the calls alone determine the message */
	bool open;
	int before; /* number of earlier sends (or receives) of its class */

	/* In this rank only: what MPI needs for it, and the result. */
	MPI_Comm handle;
	int dest, src, match; /* ranks and tag, or wildcards */
	MPI_Request req;
	char *out, *in;
	unsigned long long before_ns, after_ns; /* clock before and after the call that posted it */
	int place;
	bool pending;
};

struct step {
	enum { POST, FINISH, FINISH_ALL, BARRIER } what;
	int op, cnt; /* cnt: persistent requests started by one call */
};

/*
 * A class is the messages that the same receives may take: of one sender and tag, or of any of
 * these.
 */
enum shape { EXACT, ANY_SOURCE, ANY_TAG, ANY };
struct class
{
	int sent, received;
	int ready; /* receives posted before all ranks met */
	struct op like;
};

struct worker {
	int number, tid, epochs, serial;
	uint64_t same, own; /* dice states: same on all ranks, own of this one */
	FILE *truth;
	struct comms comms;
	enum shape shape[COMMS_MAX];
	struct class class[COMMS_MAX][RANKS_MAX][RANKS_MAX][TAGS];
	struct op op[OPS_MAX];
	struct step step[STEPS_MAX];
	int nops, nsteps;
	struct op idle[IDLE_MAX]; /* persistent requests */
	int nidle;
};

static inline int dice(uint64_t *state, int n)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)((*state >> 33) % (uint64_t)n);
}

static int any_of(struct worker *w, int n)
{
	return dice(&w->same, n);
}

/* Returns the rank that makes the call. */
static int op_rank(const struct op *op)
{
	return mode_receives(op->mode) && !mode_exchanges(op->mode) ? op->to : op->from;
}

/* ---- classes ---- */

static struct class *class_of(struct worker *w, const struct op *op)
{
	enum shape s = w->shape[op->comm];
	int from = s == ANY || s == ANY_SOURCE ? 0 : op->from;
	int tag = s == ANY || s == ANY_TAG ? 0 : op->tag;

	return &w->class[op->comm][op->to][from][tag];
}

/* Draws sender, receiver, communicator and tag. who takes part in it; -1: anyone. */
static struct op lane_draw(struct worker *w, int who)
{
	struct op op = {.known = true};

	do {
		op.comm = any_of(w, w->comms.cnt);
		op.from = any_of(w, size);
		op.to = any_of(w, size);
	} while (!may_talk(&w->comms.comm[op.comm], op.from, op.to) ||
		 (who >= 0 && op.from != who && op.to != who));
	op.tag = any_of(w, TAGS);
	op.any_source = w->shape[op.comm] == ANY || w->shape[op.comm] == ANY_SOURCE;
	op.any_tag = w->shape[op.comm] == ANY || w->shape[op.comm] == ANY_TAG;
	op.asked = w->shape[op.comm] != EXACT || any_of(w, 2);
	op.bytes = HEAD_BYTES + any_of(w, SMALL_MAX - HEAD_BYTES);
	return op;
}

static void step_add(struct worker *w, struct step s)
{
	MUST(w->nsteps < STEPS_MAX);
	w->step[w->nsteps++] = s;
}

/* Counts an operation and stores it. */
static int op_add(struct worker *w, struct op op)
{
	struct class *c = class_of(w, &op);

	MUST(w->nops < OPS_MAX);
	c->like = op;
	op.before = mode_receives(op.mode) ? c->received++ : c->sent++;
	op.open = !mode_blocks(op.mode);
	w->op[w->nops] = op;
	return w->nops++;
}

static void post(struct worker *w, struct op op)
{
	step_add(w, (struct step){POST, op_add(w, op), 1});
}

/* ---- steps ---- */

static void send_draw(struct worker *w)
{
	struct op op = lane_draw(w, -1);
	struct class *c = class_of(w, &op);
	bool exact = w->shape[op.comm] == EXACT;

	op.mode = ISEND + any_of(w, 3);
	if (exact && c->sent < c->ready && any_of(w, 2))
		op.mode = any_of(w, 2) ? RSEND : IRSEND;
	else if (exact && c->sent < c->received && any_of(w, 2))
		op.mode = any_of(w, 2) ? SEND : SSEND;
	else if (!any_of(w, 6))
		op.mode = BSEND;
	if (op.mode != BSEND && op.mode != IBSEND && !any_of(w, 32))
		op.bytes = MESSAGE_MAX;
	op.freed = (op.mode == ISEND || op.mode == ISSEND) && !any_of(w, 8);
	post(w, op);
}

static void recv_draw(struct worker *w)
{
	struct op op = lane_draw(w, -1);
	struct class *c = class_of(w, &op);

	op.mode = IRECV;
	if (c->sent > c->received)
		op.mode = RECV + any_of(w, IRECV - RECV);
	if (op.mode == CANCEL_RECV)
		op.asked = true;
	if (op.mode != CANCELLED)
		post(w, op);
}

/* Draws several persistent requests that one rank starts by one call. */
static void group_draw(struct worker *w)
{
	int who = any_of(w, size), n = 1 + any_of(w, GROUP_MAX), first = w->nops;

	for (int i = 0; i < n; i++) {
		struct op op = lane_draw(w, who);
		bool sends = op.from == who && (op.to != who || any_of(w, 2));

		/* few sizes, so that requests are reused */
		op.bytes = HEAD_BYTES + any_of(w, 3) * 100;
		op.mode = sends ? SEND_INIT + any_of(w, 3) : RECV_INIT;
		op_add(w, op);
	}
	step_add(w, (struct step){POST, first, n});
}

/*
 * Draws a ring of ranks, possibly of a single one, each of which sends and receives at the same
 * time.
 */
static void exchange_draw(struct worker *w)
{
	struct op op = lane_draw(w, -1);
	const struct comm *c = &w->comms.comm[op.comm];
	int member[RANKS_MAX], n = 0;
	bool even = true;

	for (int i = 0; i < size && !c->inter; i++)
		if (may_talk(c, op.from, i) && any_of(w, 4))
			member[n++] = i;
	for (int i = 0; i < n; i++) {
		struct op leg = op;

		leg.from = member[i];
		leg.to = member[(i + 1) % n];
		even &= class_of(w, &leg)->sent == class_of(w, &leg)->received;
	}
	if (w->shape[op.comm] != EXACT || !even)
		return;
	op.mode = any_of(w, 2) ? SENDRECV : SENDRECV_REPLACE;
	for (int i = 0; i < n; i++) {
		op.from = member[i];
		op.to = member[(i + 1) % n];
		class_of(w, &op)->sent++;
		post(w, op);
		w->op[w->nops - 1].source = member[(i + n - 1) % n];
	}
}

/* Draws a send and a receive that both block and need each other. */
static void meeting_draw(struct worker *w)
{
	struct op op = lane_draw(w, -1);
	struct class *c = class_of(w, &op);

	if (w->shape[op.comm] != EXACT || op.from == op.to || c->sent != c->received)
		return;
	op.mode = any_of(w, 2) ? SEND : SSEND;
	post(w, op);
	op.mode = any_of(w, 3) ? RECV : PROBE_RECV;
	post(w, op);
}

static void cancelled_draw(struct worker *w)
{
	struct op op = lane_draw(w, -1);

	if (w->shape[op.comm] != EXACT)
		return;
	op.tag = TAG_UNSENT;
	op.asked |= w->number == 0; /* an unobserved cancellation makes later matches uncertain */
	op.mode = CANCELLED;
	step_add(w, (struct step){POST, w->nops, 1});
	w->op[w->nops++] = op;
}

/* Finishes an operation if it can be complete by now in any timing of the ranks. */
static void finish_draw(struct worker *w)
{
	int i = w->nops ? any_of(w, w->nops) : 0;
	struct op *op = &w->op[i];
	struct class *c = class_of(w, op);
	bool may = i < w->nops && op->open;

	if (mode_receives(op->mode))
		may &= c->sent > op->before;
	else
		may &= w->shape[op->comm] == EXACT && c->received > op->before;
	if (!may)
		return;
	op->open = false;
	step_add(w, (struct step){FINISH, i, 1});
}

/* ---- epochs ---- */

static void schedule_begin(struct worker *w)
{
	memset(w->class, 0, sizeof(w->class));
	w->nops = w->nsteps = 0;
	for (int i = 0; i < w->comms.cnt; i++)
		w->shape[i] = any_of(w, 2) ? EXACT : any_of(w, ANY + 1);
}

/* Posts receives for ready sends. */
static void schedule_ready(struct worker *w)
{
	for (int i = 0; i < 12; i++) {
		struct op op = lane_draw(w, -1);

		if (w->shape[op.comm] != EXACT)
			continue;
		op.mode = IRECV;
		post(w, op);
		class_of(w, &op)->ready = class_of(w, &op)->received;
	}
	step_add(w, (struct step){.what = BARRIER});
}

static void class_even(struct worker *w, struct class *c)
{
	struct op op = c->like;

	op.asked = true;
	op.freed = false;
	op.mode = c->sent < c->received ? ISEND : IRECV;
	while (c->sent != c->received)
		post(w, op);
}

static void schedule_end(struct worker *w)
{
	struct class *c = &w->class[0][0][0][0];

	for (size_t i = 0; i < sizeof(w->class) / sizeof(*c); i++)
		class_even(w, &c[i]);
	step_add(w, (struct step){.what = FINISH_ALL});
	step_add(w, (struct step){.what = BARRIER});
}

static void schedule_epoch(struct worker *w)
{
	static void (*const draw[])(struct worker * w) = {
		send_draw,  send_draw,	   recv_draw,	 recv_draw,	 finish_draw,
		group_draw, exchange_draw, meeting_draw, cancelled_draw, finish_draw,
	};

	schedule_begin(w);
	schedule_ready(w);
	for (int i = 0; i < 400; i++)
		draw[any_of(w, sizeof(draw) / sizeof(*draw))](w);
	schedule_end(w);
}

/*
 * One rank receives messages from any source, possibly with any tag, and requests no status. All
 * messages arrive before. Their identity is only known if one sender, with one tag, sent them all.
 */
static void schedule_blind(struct worker *w)
{
	int to = any_of(w, size), n = 1 + any_of(w, 4);
	bool tags = any_of(w, 2), known = true;
	struct op op = {.to = to, .any_source = true, .any_tag = tags};

	schedule_begin(w);
	w->shape[0] = tags ? ANY : ANY_SOURCE;
	for (int i = 0; i < n; i++) {
		op.mode = any_of(w, 2) ? ISEND : BSEND;
		op.bytes = HEAD_BYTES + any_of(w, SMALL_MAX - HEAD_BYTES);
		op.from = any_of(w, size);
		op.tag = tags ? any_of(w, TAGS) : 0;
		post(w, op);
		known &= op.from == w->op[0].from && op.tag == w->op[0].tag;
	}
	step_add(w, (struct step){.what = BARRIER});
	op.mode = RECV;
	for (int i = 0; i < n; i++)
		post(w, op);
	for (int i = 0; i < w->nops; i++)
		w->op[i].known = known;
	schedule_end(w);
}

#endif
