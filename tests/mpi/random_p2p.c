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
#include "random_ops.h"

#define THREADS_MAX 2
#define TAG_UNSENT 77
#define BLIND_MAX 4

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
