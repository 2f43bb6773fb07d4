/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * random_p2p SEED THREADS EPOCHS: random messages by all functions that MPI has for them, and the
 * truth about their receivers.
 *
 * All ranks draw the same schedule from the seed: a list of steps in one order. Each rank runs its
 * own steps in that order. A step that may block only needs what earlier steps have posted, so
 * there are no deadlocks. A class is the messages of one sender and tag, or whatever a wildcard
 * takes. A receive of a class waits only if more messages of the class have been sent than receives
 * were posted before it. In an epoch, all receives of a class are alike, and at its end everything
 * has been received. Each thread has separate communicators and a separate schedule.
 *
 * Each rank writes a line for each end of a message to $POV_EXPECT/random.<rank>: send or recv,
 * rank, thread, clock before and after the call that posted it, its place among those that this
 * call started, the message (sender, its thread, number), whether the calls alone determine the
 * message, and how the communicator was created.
 */
#include "random_schedule.h"

#include <stddef.h>
#include <sys/syscall.h>

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
	if (mode_receives(op->mode))
		op->in = malloc(MESSAGE_MAX);
	if (!mode_receives(op->mode) || mode_exchanges(op->mode))
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

static void irecv(struct op *op)
{
	TIMED(op,
	      MPI_Irecv(op->in, MESSAGE_MAX, MPI_BYTE, op->src, op->match, op->handle, &op->req));
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

	if (op->mode == IRECV || op->mode == CANCELLED || op->mode == CANCEL_RECV)
		irecv(op);
	else if (op->mode == RECV)
		recv(op, op->src, op->match, status);
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

static void persistent_put(struct worker *w, struct op *op)
{
	if (w->nidle == IDLE_MAX) {
		MPI_Request_free(&op->req);
		return;
	}
	w->idle[w->nidle++] = *op;
	op->in = op->out = NULL;
}

/* Starts n persistent requests by one call. */
static void persistent_start(struct worker *w, struct op *op, int n)
{
	MPI_Request req[GROUP_MAX];
	struct op t;

	for (int i = 0; i < n; i++) {
		persistent_get(w, &op[i]);
		if (op[i].out)
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
		op[i].pending = true;
		if (op[i].out)
			truth_report(w, "send", &op[i], op[i].out);
	}
}

/* ---- completion ---- */

static void completed(struct worker *w, struct op *op)
{
	op->pending = false;
	if (mode_receives(op->mode))
		truth_report(w, "recv", op, op->in);
	if (mode_persists(op->mode))
		persistent_put(w, op);
}

/* Completes an operation in one of many ways. */
static void finish(struct worker *w, struct op *op)
{
	MPI_Status st, *status = op->asked ? &st : MPI_STATUS_IGNORE;
	MPI_Status *statuses = op->asked ? &st : MPI_STATUSES_IGNORE;
	int way = dice(&w->own, 5), done = 0, at;

	if (op->freed) /* no call will complete it */
		MPI_Request_free(&op->req);
	else if (way == 0)
		while (!done)
			MPI_Test(&op->req, &done, status);
	else if (way == 1)
		MPI_Waitall(1, &op->req, statuses);
	else if (way == 2)
		MPI_Waitany(1, &op->req, &done, status);
	else if (way == 3)
		MPI_Waitsome(1, &op->req, &done, &at, statuses);
	else
		MPI_Wait(&op->req, status);
	completed(w, op);
}

/* Completes all of this rank's operations together. */
static void finish_all(struct worker *w)
{
	static __thread MPI_Request req[OPS_MAX];
	static __thread MPI_Status st[OPS_MAX];
	static __thread struct op *which[OPS_MAX];
	static __thread int at[OPS_MAX];
	int way = dice(&w->own, 4), n = 0, cnt = 0;

	for (struct op *op = w->op; op < w->op + w->nops; op++)
		if (op->pending) {
			req[n] = op->req;
			which[n++] = op;
		}
	for (int left = n; way < 2 && left > 0; left -= cnt) {
		cnt = 1;
		if (way)
			MPI_Waitsome(n, req, &cnt, at, st);
		else
			MPI_Waitany(n, req, at, st);
		for (int i = 0; i < cnt; i++) {
			req[at[i]] = MPI_REQUEST_NULL; /* persistent requests may be freed now */
			completed(w, which[at[i]]);
		}
	}
	while (way == 2 && n && !cnt)
		MPI_Testall(n, req, &cnt, st);
	if (way == 3)
		MPI_Waitall(n, req, st);
	for (int i = 0; way >= 2 && i < n; i++)
		completed(w, which[i]);
}

/* ---- a rank's part ---- */

static void post_do(struct worker *w, struct op *op, int n)
{
	if (mode_persists(op->mode)) {
		persistent_start(w, op, n);
		return;
	}
	op_begin(w, op);
	(mode_exchanges(op->mode) ? exchange :
	 mode_receives(op->mode)  ? recv_post :
				    send_post)(w, op);
	op->pending = !mode_blocks(op->mode);
}

static void step_do(struct worker *w, const struct step *s)
{
	struct op *op = &w->op[s->op];

	if (s->what == BARRIER)
		MPI_Barrier(w->comms.meet);
	else if (s->what == FINISH_ALL)
		finish_all(w);
	else if (op_rank(op) == rank && s->what == FINISH)
		finish(w, op);
	else if (op_rank(op) == rank)
		post_do(w, op, s->cnt);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = (int)syscall(SYS_gettid);
	for (int i = 0; i < w->epochs; i++) {
		(i % 8 == 7 ? schedule_blind : schedule_epoch)(w);
		for (int k = 0; k < w->nsteps; k++)
			step_do(w, &w->step[k]);
		for (int k = 0; k < w->nops; k++)
			op_end(&w->op[k]);
	}
	while (w->nidle) {
		struct op *op = &w->idle[--w->nidle];

		MPI_Request_free(&op->req);
		op_end(op);
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
