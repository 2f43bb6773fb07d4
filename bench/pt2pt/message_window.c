/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Windows of messages (message_window.h). Requests are prepared before; the clock is read around all rounds of a sample. */
#include "pt2pt/message_window.h"

#include "lib/log.h"
#include "core/rounds.h"

#include <stdlib.h>

#define WINDOW_DEFAULT 64 /* OSU's */

enum { TAG_DATA = 1, TAG_ACK };

static const struct comm_msg nothing = {.buf = NULL, .bytes = 0, .layout = COMM_CONTIGUOUS};

struct message_window {
	struct comm_msg out, in;
	struct comm_request *send, *recv; /* cnt of each; recv is behind send */
	int cnt, pairs;
	int peer; /* -1: this rank is of no pair */
	bool sends, receives;
};

/* Messages in flight of a pair, one way. */
static int message_window_cnt(const struct bench_run *run)
{
	return run->opt->window ? (int)run->opt->window : WINDOW_DEFAULT;
}

uint64_t message_window_messages(const struct bench_run *run, size_t bytes)
{
	(void)bytes;
	return (uint64_t)message_window_cnt(run);
}

void message_window_params(const struct bench_run *run, size_t bytes, struct result_point *p)
{
	(void)bytes;
	result_param(p, "window", (uint64_t)message_window_cnt(run));
}

/* ---- what is timed ---- */

static void send_rounds(struct comm *c, struct message_window *w, uint64_t rounds)
{
	int i;

	while (rounds--) {
		for (i = 0; i < w->cnt; i++)
			c->ops->isend(c, &w->out, w->peer, TAG_DATA, &w->send[i]);
		c->ops->waitall(c, w->send, w->cnt);
		c->ops->recv(c, &nothing, w->peer, TAG_ACK);
	}
}

static void recv_rounds(struct comm *c, struct message_window *w, uint64_t rounds)
{
	int i;

	while (rounds--) {
		for (i = 0; i < w->cnt; i++)
			c->ops->irecv(c, &w->in, w->peer, TAG_DATA, &w->recv[i]);
		c->ops->waitall(c, w->recv, w->cnt);
		c->ops->send(c, &nothing, w->peer, TAG_ACK);
	}
}

static void both_rounds(struct comm *c, struct message_window *w, uint64_t rounds)
{
	int i;

	while (rounds--) {
		for (i = 0; i < w->cnt; i++)
			c->ops->irecv(c, &w->in, w->peer, TAG_DATA, &w->recv[i]);
		for (i = 0; i < w->cnt; i++)
			c->ops->isend(c, &w->out, w->peer, TAG_DATA, &w->send[i]);
		c->ops->waitall(c, w->send, w->cnt);
		c->ops->waitall(c, w->recv, w->cnt);
	}
}

/* ---- a sample ---- */

static uint32_t seed_of(int rank)
{
	return (uint32_t)rank * 1009 + 11;
}

static void check(const struct message_window *w)
{
	bench_buffer_check(w->in.buf, w->in.bytes, w->in.layout, seed_of(w->peer));
	bench_buffer_fill(w->in.buf, w->in.bytes, w->in.layout, ~seed_of(w->peer));
}

/* The pairs' first ranks are 0 … pairs - 1; on rank 0 the mean of their times. */
static double mean_of_pairs(struct comm *c, const struct message_window *w, uint64_t own_ns)
{
	uint64_t *all = c->rank ? NULL : xcalloc((size_t)c->size, sizeof(*all));
	double sum = 0;
	int i;

	comm_collect(c, own_ns, all);
	for (i = 0; all && i < w->pairs; i++)
		sum += (double)all[i];
	free(all);
	return sum / w->pairs;
}

static double message_window_rounds(struct bench_run *run, void *ctx, uint64_t rounds)
{
	struct comm *c = run->comm;
	struct message_window *w = ctx;
	uint64_t start_ns = c->ops->now_ns(c), end_ns;

	if (w->sends && w->receives)
		both_rounds(c, w, rounds);
	else if (w->sends)
		send_rounds(c, w, rounds);
	else if (w->receives)
		recv_rounds(c, w, rounds);
	end_ns = c->ops->now_ns(c);
	if (run->opt->validate && w->receives)
		check(w);
	return w->pairs > 1 ? mean_of_pairs(c, w, end_ns - start_ns) : (double)(end_ns - start_ns);
}

/* ---- a size ---- */

static void message_window_init(struct message_window *w, struct bench_run *run, size_t bytes,
				int pairs, bool both_ways)
{
	struct comm *c = run->comm;
	bool first = c->rank < pairs, paired = c->rank < 2 * pairs;

	*w = (struct message_window){.cnt = message_window_cnt(run), .pairs = pairs};
	w->peer = !paired ? -1 : first ? c->rank + pairs : c->rank - pairs;
	w->sends = paired && (first || both_ways);
	w->receives = paired && (!first || both_ways);
	w->out = (struct comm_msg){bench_buffer_new(bytes, COMM_CONTIGUOUS), bytes,
				   COMM_CONTIGUOUS};
	w->in = (struct comm_msg){bench_buffer_new(bytes, COMM_CONTIGUOUS), bytes, COMM_CONTIGUOUS};
	bench_buffer_fill(w->out.buf, bytes, COMM_CONTIGUOUS, seed_of(c->rank));
	bench_buffer_fill(w->in.buf, bytes, COMM_CONTIGUOUS, ~seed_of(w->peer));
	w->send = xcalloc(2 * (size_t)w->cnt, sizeof(*w->send));
	w->recv = w->send + w->cnt;
	c->ops->requests_prepare(c, w->send, 2 * w->cnt);
}

static void message_window_release(struct comm *c, struct message_window *w)
{
	c->ops->requests_release(c, w->send, 2 * w->cnt);
	free(w->send);
	free(w->in.buf);
	free(w->out.buf);
}

void message_window_measure(struct bench_run *run, size_t bytes, int pairs, bool both_ways,
			    struct samples *out)
{
	struct message_window w;

	message_window_init(&w, run, bytes, pairs, both_ways);
	rounds_measure(run, message_window_rounds, &w, (both_ways ? 2.0 : 1.0) * w.cnt * pairs,
		       out);
	message_window_release(run->comm, &w);
}
