/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * random_p2p SEED THREADS EPOCHS: messages at random, by all that MPI has for them, and the truth about who got which.
 *
 * All ranks draw the same schedule from the seed, a list of steps in one order, and each does its own in that order. A step that
 * may block needs only what steps before it have posted, so that nothing can deadlock: a receive that some kind of message may
 * satisfy (a class: those of one sender and tag, or whatever a wildcard takes) waits only if more of these have been sent than
 * receives were posted before it. In an epoch, all receives of a class look alike, and at its end all is received. Each
 * thread has communicators and a schedule of its own.
 *
 * Every rank writes a line for each end of a message to $POV_EXPECT/random.<rank>: send or recv, rank, thread, clock before and
 * after the call that posted it, its place among those that this call started, the message (sender, its thread, number),
 * whether anybody could tell from the calls alone which it was, and how the communicator was made.
 */
#include "random_schedule.h"

#include <sys/syscall.h>

/* ---- the truth ---- */

static void truth_say(struct worker *w, const char *end, const struct op *op, const struct live *l,
		      const int *head)
{
	fprintf(w->truth, "%s\t%d\t%d\t%llu\t%llu\t%d\t%d.%d.%d\t%d\t%s\n", end, rank, w->tid,
		l->before_ns, l->after_ns, l->place, head[0], head[1], head[2], op->known,
		w->comms.comm[op->comm].made);
}

static void received(struct worker *w, const struct op *op, const struct live *l)
{
	truth_say(w, "recv", op, l, (const int *)l->in);
}

/* ---- one call ---- */

#define TIMED(l, call)                       \
	do {                                 \
		(l)->before_ns = now_ns();   \
		MUST((call) == MPI_SUCCESS); \
		(l)->after_ns = now_ns();    \
	} while (0)

static int place_of(const struct worker *w, const struct op *op, int who)
{
	return w->comms.comm[op->comm].place[who];
}

static char *room(char *had)
{
	return had ? had : malloc(MESSAGE_MAX);
}

static void fill(struct worker *w, struct live *l)
{
	int head[3] = {rank, w->number, w->serial++};

	l->out = room(l->out);
	memcpy(l->out, head, sizeof(head));
}

static int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {
	[SEND] = MPI_Send, [SSEND] = MPI_Ssend, [BSEND] = MPI_Bsend, [RSEND] = MPI_Rsend};
static int (*const isends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
	[ISEND] = MPI_Isend,	       [ISSEND] = MPI_Issend,	     [IBSEND] = MPI_Ibsend,
	[IRSEND] = MPI_Irsend,	       [SEND_INIT] = MPI_Send_init,  [SSEND_INIT] = MPI_Ssend_init,
	[BSEND_INIT] = MPI_Bsend_init, [RSEND_INIT] = MPI_Rsend_init};

static void send_post(struct worker *w, const struct op *op, struct live *l)
{
	MPI_Comm comm = w->comms.comm[op->comm].handle;
	int to = place_of(w, op, op->to);

	fill(w, l);
	if (mode_blocks(op->mode))
		TIMED(l, sends[op->mode](l->out, op->bytes, MPI_BYTE, to, op->tag, comm));
	else
		TIMED(l, isends[op->mode](l->out, op->bytes, MPI_BYTE, to, op->tag, comm, &l->req));
	truth_say(w, "send", op, l, (const int *)l->out);
}

/* A receive that was to be cancelled and was is posted again. */
static void recv_again(struct worker *w, const struct op *op, struct live *l, int from, int tag)
{
	MPI_Comm comm = w->comms.comm[op->comm].handle;
	MPI_Status st;
	int cancelled;

	TIMED(l, MPI_Irecv(l->in, MESSAGE_MAX, MPI_BYTE, from, tag, comm, &l->req));
	MPI_Cancel(&l->req);
	MPI_Wait(&l->req, &st);
	MPI_Test_cancelled(&st, &cancelled);
	if (cancelled)
		TIMED(l, MPI_Recv(l->in, MESSAGE_MAX, MPI_BYTE, from, tag, comm, &st));
}

static void recv_probed(struct worker *w, const struct op *op, struct live *l, int from, int tag)
{
	MPI_Comm comm = w->comms.comm[op->comm].handle;
	MPI_Status st, *status = op->asked ? &st : MPI_STATUS_IGNORE;
	MPI_Message message;
	int found = 0;

	if (op->mode == PROBE_RECV)
		MPI_Probe(from, tag, comm, &st);
	while (op->mode == IPROBE_RECV && !found)
		MPI_Iprobe(from, tag, comm, &found, &st);
	if (op->mode == MPROBE_MRECV || op->mode == MPROBE_IMRECV)
		MPI_Mprobe(from, tag, comm, &message, status);
	while (op->mode == IMPROBE_MRECV && !found)
		MPI_Improbe(from, tag, comm, &found, &message, status);
	if (op->mode <= IPROBE_RECV)
		TIMED(l, MPI_Recv(l->in, MESSAGE_MAX, MPI_BYTE, st.MPI_SOURCE, st.MPI_TAG, comm,
				  status));
	else if (op->mode == MPROBE_IMRECV)
		TIMED(l, MPI_Imrecv(l->in, MESSAGE_MAX, MPI_BYTE, &message, &l->req));
	else
		TIMED(l, MPI_Mrecv(l->in, MESSAGE_MAX, MPI_BYTE, &message, status));
}

static void recv_post(struct worker *w, const struct op *op, struct live *l)
{
	int from = op->any_source ? MPI_ANY_SOURCE : place_of(w, op, op->from);
	int tag = op->any_tag ? MPI_ANY_TAG : op->tag;
	MPI_Comm comm = w->comms.comm[op->comm].handle;
	MPI_Status st;

	l->in = room(l->in);
	if (op->mode == IRECV || op->mode == CANCELLED)
		TIMED(l, MPI_Irecv(l->in, MESSAGE_MAX, MPI_BYTE, from, tag, comm, &l->req));
	else if (op->mode == RECV)
		TIMED(l, MPI_Recv(l->in, MESSAGE_MAX, MPI_BYTE, from, tag, comm,
				  op->asked ? &st : MPI_STATUS_IGNORE));
	else if (op->mode == CANCEL_RECV)
		recv_again(w, op, l, from, tag);
	else
		recv_probed(w, op, l, from, tag);
	if (op->mode == CANCELLED) {
		MPI_Cancel(&l->req);
		MPI_Wait(&l->req, op->asked ? &st : MPI_STATUS_IGNORE);
	} else if (mode_blocks(op->mode)) {
		received(w, op, l);
	}
}

static void exchange(struct worker *w, const struct op *op, struct live *l)
{
	int to = place_of(w, op, op->to), from = place_of(w, op, op->source);
	MPI_Comm comm = w->comms.comm[op->comm].handle;
	MPI_Status st, *status = op->asked ? &st : MPI_STATUS_IGNORE;
	int head[3];

	fill(w, l);
	memcpy(head, l->out, sizeof(head));
	l->in = room(l->in);
	if (op->mode == SENDRECV) {
		TIMED(l, MPI_Sendrecv(l->out, op->bytes, MPI_BYTE, to, op->tag, l->in, MESSAGE_MAX,
				      MPI_BYTE, from, op->tag, comm, status));
	} else { /* in place: all of a ring have as much */
		TIMED(l, MPI_Sendrecv_replace(l->out, op->bytes, MPI_BYTE, to, op->tag, from,
					      op->tag, comm, status));
		memcpy(l->in, l->out, sizeof(head));
	}
	truth_say(w, "send", op, l, head);
	received(w, op, l);
}

/* ---- persistent ones ---- */

static bool same_request(const struct op *a, const struct op *b)
{
	return a->mode == b->mode && a->comm == b->comm && a->from == b->from && a->to == b->to &&
	       a->tag == b->tag && a->bytes == b->bytes && a->any_source == b->any_source &&
	       a->any_tag == b->any_tag;
}

static void persistent_make(struct worker *w, const struct op *op, struct live *l)
{
	MPI_Comm comm = w->comms.comm[op->comm].handle;
	int to = place_of(w, op, op->to), from = place_of(w, op, op->from);

	if (op->mode == RECV_INIT) {
		l->in = room(NULL);
		MPI_Recv_init(l->in, MESSAGE_MAX, MPI_BYTE, op->any_source ? MPI_ANY_SOURCE : from,
			      op->any_tag ? MPI_ANY_TAG : op->tag, comm, &l->req);
		return;
	}
	l->out = room(NULL);
	isends[op->mode](l->out, op->bytes, MPI_BYTE, to, op->tag, comm, &l->req);
}

static void persistent_get(struct worker *w, const struct op *op, struct live *l)
{
	for (int i = 0; i < w->nidle; i++) {
		struct idle *old = &w->idle[i];

		if (!same_request(&old->op, op))
			continue;
		*l = old->live;
		*old = w->idle[--w->nidle];
		return;
	}
	persistent_make(w, op, l);
}

static void persistent_put(struct worker *w, const struct op *op, struct live *l)
{
	if (w->nidle == IDLE_MAX) {
		MPI_Request_free(&l->req);
		return;
	}
	w->idle[w->nidle++] = (struct idle){*op, *l};
	*l = (struct live){0};
}

/* n of them by one call. */
static void persistent_start(struct worker *w, const struct step *s)
{
	MPI_Request req[GROUP_MAX];
	struct live *l, t;

	for (int i = 0; i < s->cnt; i++) {
		const struct op *op = &w->op[s->op + i];

		l = &w->live[s->op + i];
		persistent_get(w, op, l);
		if (l->out)
			fill(w, l);
		req[i] = l->req;
	}
	if (s->cnt == 1 && w->serial % 2)
		TIMED(&t, MPI_Start(req));
	else
		TIMED(&t, MPI_Startall(s->cnt, req));
	for (int i = 0; i < s->cnt; i++) {
		const struct op *op = &w->op[s->op + i];

		l = &w->live[s->op + i];
		l->req = req[i];
		l->before_ns = t.before_ns;
		l->after_ns = t.after_ns;
		l->place = i;
		l->open = true;
		if (l->out)
			truth_say(w, "send", op, l, (const int *)l->out);
	}
}

/* ---- completion ---- */

static void completed(struct worker *w, int i)
{
	const struct op *op = &w->op[i];
	struct live *l = &w->live[i];

	l->open = false;
	if (mode_receives(op->mode))
		received(w, op, l);
	if (mode_persists(op->mode))
		persistent_put(w, op, l);
}

/* One, in one of many ways. */
static void finish(struct worker *w, int i)
{
	const struct op *op = &w->op[i];
	struct live *l = &w->live[i];
	MPI_Status st, *status = op->asked ? &st : MPI_STATUS_IGNORE;
	int done = 0, at;

	switch (op->freed ? -1 : dice(&w->own, 5)) {
	case -1: /* nobody is told when it is over */
		MPI_Request_free(&l->req);
		break;
	case 0:
		while (!done)
			MPI_Test(&l->req, &done, status);
		break;
	case 1:
		MPI_Waitall(1, &l->req, op->asked ? &st : MPI_STATUSES_IGNORE);
		break;
	case 2:
		MPI_Waitany(1, &l->req, &done, status);
		break;
	case 3:
		MPI_Waitsome(1, &l->req, &done, &at, op->asked ? &st : MPI_STATUSES_IGNORE);
		break;
	default:
		MPI_Wait(&l->req, status);
	}
	completed(w, i);
}

/* All of a rank's own, together. */
static void finish_all(struct worker *w)
{
	static __thread MPI_Request req[OPS_MAX];
	static __thread MPI_Status st[OPS_MAX];
	static __thread int which[OPS_MAX], at[OPS_MAX];
	int n = 0, cnt = 0, left;

	for (int i = 0; i < w->nops; i++) {
		if (!w->live[i].open)
			continue;
		req[n] = w->live[i].req;
		which[n++] = i;
	}
	left = n;
	switch (dice(&w->own, 4)) {
	case 0:
		for (; left > 0; left--) {
			MPI_Waitany(n, req, at, st);
			req[at[0]] = MPI_REQUEST_NULL; /* persistent ones may be freed now */
			completed(w, which[at[0]]);
		}
		return;
	case 1:
		for (; left > 0; left -= cnt) {
			MPI_Waitsome(n, req, &cnt, at, st);
			for (int i = 0; i < cnt; i++) {
				req[at[i]] = MPI_REQUEST_NULL;
				completed(w, which[at[i]]);
			}
		}
		return;
	case 2:
		while (n && !cnt)
			MPI_Testall(n, req, &cnt, st);
		break;
	default:
		MPI_Waitall(n, req, st);
	}
	for (int i = 0; i < n; i++)
		completed(w, which[i]);
}

/* ---- a rank's part ---- */

static void step_do(struct worker *w, const struct step *s)
{
	const struct op *op = &w->op[s->op];
	struct live *l = &w->live[s->op];

	if (s->what == BARRIER)
		MPI_Barrier(w->comms.meet);
	else if (s->what == FINISH_ALL)
		finish_all(w);
	else if (op_rank(op) != rank)
		return;
	else if (s->what == FINISH)
		finish(w, s->op);
	else if (mode_persists(op->mode))
		persistent_start(w, s);
	else if (op->mode == SENDRECV || op->mode == SENDRECV_REPLACE)
		exchange(w, op, l);
	else if (mode_receives(op->mode))
		recv_post(w, op, l);
	else
		send_post(w, op, l);
	if (s->what == POST && op_rank(op) == rank && !mode_persists(op->mode))
		l->open = !mode_blocks(op->mode);
}

static void epoch_do(struct worker *w)
{
	memset(w->live, 0, sizeof(w->live));
	for (int i = 0; i < w->nsteps; i++)
		step_do(w, &w->step[i]);
	for (int i = 0; i < w->nops; i++) {
		free(w->live[i].in);
		free(w->live[i].out);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = (int)syscall(SYS_gettid);
	for (int i = 0; i < w->epochs; i++) {
		(i % 8 == 7 ? schedule_blind : schedule_epoch)(w);
		epoch_do(w);
	}
	while (w->nidle) {
		struct live *l = &w->idle[--w->nidle].live;

		MPI_Request_free(&l->req);
		free(l->in);
		free(l->out);
	}
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
