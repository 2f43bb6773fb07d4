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
#include <time.h>

/* ---- the truth ---- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void truth_say(struct worker *w, const char *end, const struct op *op, const struct live *l,
		      const int *head)
{
	fprintf(w->truth, "%s\t%d\t%d\t%llu\t%llu\t%d\t%d.%d.%d\t%d\t%s\n", end, w->me, w->tid,
		(unsigned long long)l->before_ns, (unsigned long long)l->after_ns, l->place,
		head[0], head[1], head[2], op->known, w->comms.comm[op->comm].made);
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

static void fill(struct worker *w, struct live *l)
{
	int head[3] = {w->me, w->number, w->serial++};

	l->out = l->out ? l->out : malloc(MESSAGE_MAX);
	memcpy(l->out, head, sizeof(head));
}

static void send_post(struct worker *w, const struct op *op, struct live *l)
{
	MPI_Comm comm = w->comms.comm[op->comm].handle;
	int to = place_of(w, op, op->to), n = op->bytes;

	fill(w, l);
	switch (op->mode) {
	case SEND:
		TIMED(l, MPI_Send(l->out, n, MPI_BYTE, to, op->tag, comm));
		break;
	case SSEND:
		TIMED(l, MPI_Ssend(l->out, n, MPI_BYTE, to, op->tag, comm));
		break;
	case BSEND:
		TIMED(l, MPI_Bsend(l->out, n, MPI_BYTE, to, op->tag, comm));
		break;
	case RSEND:
		TIMED(l, MPI_Rsend(l->out, n, MPI_BYTE, to, op->tag, comm));
		break;
	case ISSEND:
		TIMED(l, MPI_Issend(l->out, n, MPI_BYTE, to, op->tag, comm, &l->req));
		break;
	case IBSEND:
		TIMED(l, MPI_Ibsend(l->out, n, MPI_BYTE, to, op->tag, comm, &l->req));
		break;
	case IRSEND:
		TIMED(l, MPI_Irsend(l->out, n, MPI_BYTE, to, op->tag, comm, &l->req));
		break;
	default:
		TIMED(l, MPI_Isend(l->out, n, MPI_BYTE, to, op->tag, comm, &l->req));
	}
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

	switch (op->mode) {
	case PROBE_RECV:
		MPI_Probe(from, tag, comm, &st);
		TIMED(l, MPI_Recv(l->in, MESSAGE_MAX, MPI_BYTE, st.MPI_SOURCE, st.MPI_TAG, comm,
				  status));
		break;
	case IPROBE_RECV:
		while (!found)
			MPI_Iprobe(from, tag, comm, &found, &st);
		TIMED(l, MPI_Recv(l->in, MESSAGE_MAX, MPI_BYTE, st.MPI_SOURCE, st.MPI_TAG, comm,
				  status));
		break;
	case MPROBE_MRECV:
		MPI_Mprobe(from, tag, comm, &message, status);
		TIMED(l, MPI_Mrecv(l->in, MESSAGE_MAX, MPI_BYTE, &message, status));
		break;
	case IMPROBE_MRECV:
		while (!found)
			MPI_Improbe(from, tag, comm, &found, &message, status);
		TIMED(l, MPI_Mrecv(l->in, MESSAGE_MAX, MPI_BYTE, &message, status));
		break;
	default:
		MPI_Mprobe(from, tag, comm, &message, status);
		TIMED(l, MPI_Imrecv(l->in, MESSAGE_MAX, MPI_BYTE, &message, &l->req));
	}
}

static void recv_post(struct worker *w, const struct op *op, struct live *l)
{
	int from = op->any_source ? MPI_ANY_SOURCE : place_of(w, op, op->from);
	int tag = op->any_tag ? MPI_ANY_TAG : op->tag;
	MPI_Comm comm = w->comms.comm[op->comm].handle;
	MPI_Status st;

	l->in = l->in ? l->in : malloc(MESSAGE_MAX);
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
	l->in = l->in ? l->in : malloc(MESSAGE_MAX);
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
		l->in = malloc(MESSAGE_MAX);
		MPI_Recv_init(l->in, MESSAGE_MAX, MPI_BYTE, op->any_source ? MPI_ANY_SOURCE : from,
			      op->any_tag ? MPI_ANY_TAG : op->tag, comm, &l->req);
		return;
	}
	l->out = malloc(MESSAGE_MAX);
	(op->mode == SEND_INIT	? MPI_Send_init :
	 op->mode == SSEND_INIT ? MPI_Ssend_init :
	 op->mode == BSEND_INIT ? MPI_Bsend_init :
				  MPI_Rsend_init)(l->out, op->bytes, MPI_BYTE, to, op->tag, comm,
						  &l->req);
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
	else if (op_rank(op) != w->me)
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
	if (s->what == POST && op_rank(op) == w->me && !mode_persists(op->mode))
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

int main(int argc, char **argv)
{
	static struct worker worker[THREADS_MAX];
	int got, me, size, n = argc > 2 ? atoi(argv[2]) : 1;
	static char buffer[1 << 24];
	pthread_t thread[THREADS_MAX];
	char path[4096];
	void *old;

	MPI_Init_thread(&argc, &argv, n > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &got);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MUST(argc == 4 && n >= 1 && n <= THREADS_MAX && size >= 2 && size <= RANKS_MAX);
	MUST(n == 1 || got == MPI_THREAD_MULTIPLE);
	MPI_Buffer_attach(buffer, sizeof(buffer));
	for (int i = 0; i < n; i++) {
		struct worker *w = &worker[i];

		w->me = me;
		w->size = size;
		w->number = i;
		w->epochs = atoi(argv[3]);
		w->same = strtoull(argv[1], NULL, 0) * 1000003 + (uint64_t)i + 1;
		w->own = w->same * 31 + (uint64_t)me;
		comms_make(&w->comms, me, size, !w->number);
		snprintf(path, sizeof(path), "%s/random.%d.%d", getenv("POV_EXPECT"), me, i);
		w->truth = fopen(path, "w");
		MUST(w->truth);
	}
	for (int i = 1; i < n; i++)
		MUST(!pthread_create(&thread[i], NULL, work, &worker[i]));
	work(&worker[0]);
	for (int i = 1; i < n; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < n; i++)
		MUST(!fclose(worker[i].truth));
	MPI_Buffer_detach(&old, &got);
	MPI_Finalize();
	return 0;
}
