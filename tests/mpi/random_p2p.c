/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * random_p2p SEED THREADS EPOCHS: random messages by all functions that MPI has for them, and the
 * truth about their receivers.
 *
 * All ranks draw the same operations from the seed, in the same order, and each makes the calls of
 * its own as they are drawn. A call that may block only needs what was drawn before, so there are
 * no deadlocks. A class is the messages that the same receives may take: of one sender and tag, or
 * whatever a wildcard takes. A receive of a class waits only if more messages of the class have
 * been sent than receives were posted before it. In an epoch, all receives of a class are alike,
 * and at its end everything has been received. Each thread has separate communicators and separate
 * dice.
 *
 * Each rank writes a line for each end of a message to $POV_EXPECT/random.<rank>: send or recv,
 * rank, thread, clock before and after the call that posted it, its place among those that this
 * call started, the message (sender, its thread, number), whether the calls alone determine the
 * message, and how the communicator was created.
 */
#include "random_comms.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define THREADS_MAX 2
#define TAGS 3
#define TAG_UNSENT 77
#define OPS_MAX 1024
#define GROUP_MAX 4
#define IDLE_MAX 24
#define BLIND_MAX 4
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
	/* Ranks are those in MPI_COMM_WORLD. Persistent requests that agree in these are alike. */
	int mode, comm, from, to, tag, bytes, any_source, any_tag;
	int source; /* an exchange goes from from to to, and comes from source */
	bool asked; /* its status is requested */
	bool freed; /* its request is freed, and nobody waits for it */
	bool known; /* the calls alone determine the message */
	int before; /* number of earlier sends (or receives) of its class */

	/* What MPI needs for it, and the result. */
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
	uint64_t same, own; /* dice: alike on all ranks, own of this one */
	FILE *truth;
	struct comms comms;
	enum shape shape[COMMS_MAX];
	struct class class[COMMS_MAX][RANKS_MAX][RANKS_MAX][TAGS];
	struct op op[OPS_MAX],
		idle[IDLE_MAX]; /* of this rank: in progress; persistent ones that rest */
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

/* Counts an operation, on all ranks. */
static void op_count(struct worker *w, struct op *op)
{
	struct class *c = class_of(w, op);

	c->like = *op;
	op->before = mode_receives(op->mode) ? c->received++ : c->sent++;
}

static void post(struct worker *w, struct op op)
{
	bool sends = !mode_receives(op.mode) || mode_exchanges(op.mode);

	op_count(w, &op);
	if ((sends ? op.from : op.to) == rank)
		op_make(w, op);
}

/* ---- what is drawn ---- */

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
	int who = any_of(w, size), n = 1 + any_of(w, GROUP_MAX);
	struct op group[GROUP_MAX];

	for (struct op *op = group; op < group + n; op++) {
		*op = lane_draw(w, who);
		op->bytes = HEAD_BYTES + any_of(w, 3) * 100; /* few sizes, to reuse requests */
		op->mode = RECV_INIT;
		if (op->from == who && (op->to != who || any_of(w, 2)))
			op->mode = SEND_INIT + any_of(w, 3);
		op_count(w, op);
	}
	if (who == rank)
		persistent_start(w, group, n);
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
		op.source = member[(i + n - 1) % n];
		class_of(w, &op)->sent++;
		post(w, op);
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

	op.tag = TAG_UNSENT;
	op.asked |= w->number == 0; /* an unobserved cancellation makes later matches uncertain */
	op.mode = CANCELLED;
	if (w->shape[op.comm] == EXACT && op.to == rank)
		op_make(w, op);
}

/* Each rank finishes one of its own if it can be complete by now in any timing of the ranks. */
static void finish_draw(struct worker *w)
{
	struct op *last = &w->op[w->nops - 1], op;
	int at = w->nops ? dice(&w->own, w->nops) : 0;
	struct class *c;

	if (!w->nops)
		return;
	op = w->op[at];
	c = class_of(w, &op);
	if (mode_receives(op.mode) ? c->sent <= op.before :
				     w->shape[op.comm] != EXACT || c->received <= op.before)
		return;
	w->op[at] = *last;
	*last = op;
	finish(w, 1);
}

/* ---- epochs ---- */

static void epoch_begin(struct worker *w)
{
	memset(w->class, 0, sizeof(w->class));
	for (int i = 0; i < w->comms.cnt; i++)
		w->shape[i] = any_of(w, 2) ? EXACT : any_of(w, ANY + 1);
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

static void epoch_end(struct worker *w)
{
	struct class *c = &w->class[0][0][0][0];

	for (size_t i = 0; i < sizeof(w->class) / sizeof(*c); i++)
		class_even(w, &c[i]);
	finish(w, w->nops);
	MPI_Barrier(w->comms.meet);
}

static void epoch(struct worker *w)
{
	static void (*const draw[])(struct worker * w) = {
		send_draw,  send_draw,	   recv_draw,	 recv_draw,	 finish_draw,
		group_draw, exchange_draw, meeting_draw, cancelled_draw,
	};

	epoch_begin(w);
	for (int i = 0; i < 12; i++) { /* for ready sends */
		struct op op = lane_draw(w, -1);

		if (w->shape[op.comm] != EXACT)
			continue;
		op.mode = IRECV;
		post(w, op);
		class_of(w, &op)->ready = class_of(w, &op)->received;
	}
	MPI_Barrier(w->comms.meet);
	for (int i = 0; i < 400; i++)
		draw[any_of(w, ARRAY_SIZE(draw))](w);
	epoch_end(w);
}

/*
 * One rank receives messages from any source, possibly with any tag, and requests no status. All
 * messages arrive before. Their identity is only known if one sender, with one tag, sent them all.
 */
static void epoch_blind(struct worker *w)
{
	int to = any_of(w, size), n = 1 + any_of(w, BLIND_MAX);
	bool tags = any_of(w, 2), known = true;
	struct op op[BLIND_MAX];

	epoch_begin(w);
	w->shape[0] = tags ? ANY : ANY_SOURCE;
	for (int i = 0; i < n; i++) {
		op[i] = (struct op){.to = to, .any_source = true, .any_tag = tags};
		op[i].mode = any_of(w, 2) ? ISEND : BSEND;
		op[i].bytes = HEAD_BYTES + any_of(w, SMALL_MAX - HEAD_BYTES);
		op[i].from = any_of(w, size);
		op[i].tag = tags ? any_of(w, TAGS) : 0;
		known &= op[i].from == op[0].from && op[i].tag == op[0].tag;
	}
	for (int i = 0; i < n; i++) {
		op[i].known = known;
		post(w, op[i]);
	}
	MPI_Barrier(w->comms.meet);
	for (int i = 0; i < n; i++) {
		op[i].mode = RECV;
		post(w, op[i]);
	}
	epoch_end(w);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = (int)syscall(SYS_gettid);
	for (int i = 0; i < w->epochs; i++)
		(i % 8 == 7 ? epoch_blind : epoch)(w);
	while (w->nidle)
		persistent_free(&w->idle[--w->nidle]);
	return NULL;
}

static void worker_open(struct worker *w, int number, uint64_t seed, int epochs)
{
	char name[32];

	w->number = number;
	w->epochs = epochs;
	w->same = seed * 1000003 + (uint64_t)number + 1;
	w->own = w->same * 31 + (uint64_t)rank;
	comms_make(&w->comms, !number, true);
	snprintf(name, sizeof(name), "random.%d", rank);
	w->truth = expect_open_plain(name, number);
}

int main(int argc, char **argv)
{
	static struct worker worker[THREADS_MAX];
	int n = argc > 2 ? atoi(argv[2]) : 1, bytes;
	static char buffer[1 << 24];
	pthread_t thread[THREADS_MAX];
	void *old;

	expect_init_thread(&argc, &argv, n > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
	MUST(argc == 4 && n >= 1 && n <= THREADS_MAX && size >= 2 && size <= RANKS_MAX);
	MPI_Buffer_attach(buffer, sizeof(buffer));
	for (int i = 0; i < n; i++)
		worker_open(&worker[i], i, strtoull(argv[1], NULL, 0), atoi(argv[3]));
	for (int i = 1; i < n; i++)
		MUST(!pthread_create(&thread[i], NULL, work, &worker[i]));
	work(&worker[0]);
	for (int i = 1; i < n; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < n; i++)
		MUST(!fclose(worker[i].truth));
	MPI_Buffer_detach(&old, &bytes);
	MPI_Finalize();
	return 0;
}
