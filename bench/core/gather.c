/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "core/gather.h"

#include "lib/log.h"

#include <math.h>
#include <stdlib.h>

enum { TAG_CNT = 0x3de2, TAG_SAMPLES };

double gather_span_ns(struct comm *c, const struct node_clock *clock, uint64_t start_ns,
		      uint64_t end_ns)
{
	uint64_t first_ns = comm_least(c, node_clock_first(clock, start_ns));

	return (double)(comm_most(c, node_clock_first(clock, end_ns)) - first_ns);
}

static void samples_send(struct comm *c, const struct samples *own)
{
	uint64_t cnt = own->cnt;
	struct comm_msg head = {.buf = &cnt, .bytes = sizeof(cnt)};
	struct comm_msg body = {.buf = own->value, .bytes = own->cnt * sizeof(double)};

	c->ops->send(c, &head, 0, TAG_CNT);
	c->ops->send(c, &body, 0, TAG_SAMPLES);
}

static void samples_recv(struct comm *c, int rank, struct samples *out)
{
	uint64_t cnt;
	struct comm_msg head = {.buf = &cnt, .bytes = sizeof(cnt)}, body;
	double *value;

	c->ops->recv(c, &head, rank, TAG_CNT);
	value = xcalloc(cnt + 1, sizeof(double));
	body = (struct comm_msg){.buf = value, .bytes = cnt * sizeof(double)};
	c->ops->recv(c, &body, rank, TAG_SAMPLES);
	for (uint64_t i = 0; i < cnt; i++)
		samples_add(out, value[i]);
	free(value);
}

void gather_samples_of(struct comm *c, const struct samples *own, int rank, struct samples *out)
{
	if (c->rank == 0)
		samples_clear(out);
	if (c->rank == 0 && rank == 0)
		samples_append(out, own);
	else if (c->rank == 0)
		samples_recv(c, rank, out);
	else if (c->rank == rank)
		samples_send(c, own);
}

void gather_samples(struct comm *c, const struct samples *own, struct samples *out)
{
	if (c->rank != 0) {
		samples_send(c, own);
		return;
	}
	samples_clear(out);
	samples_append(out, own);
	for (int rank = 1; rank < c->size; rank++)
		samples_recv(c, rank, out);
}

/* ---- clocks of several nodes ---- */

/*
 * Rank 0 asks each rank of another node in turn for its time, ASK_CNT times. Clocks that a time
 * service disciplines drift by some µs per second, and the drift changes. So the drift is that of
 * the last minute or two.
 */

#define ASK_CNT 40
#define TAG_CLOCK 32004
#define OLD_NS_MIN 10000000ull
#define OLD_NS_MAX 1000000000ull
/* Shortest time between two measurements of a drift; below it their errors dominate. */
#define DRIFT_NS_MIN 50000000ull
#define DRIFT_NS_MAX 60000000000ull

static void word_send(struct comm *c, int rank, uint64_t word)
{
	struct comm_msg m = {&word, sizeof(word), COMM_CONTIGUOUS};

	c->ops->send(c, &m, rank, TAG_CLOCK);
}

static uint64_t word_recv(struct comm *c, int rank)
{
	uint64_t word = 0;
	struct comm_msg m = {&word, sizeof(word), COMM_CONTIGUOUS};

	c->ops->recv(c, &m, rank, TAG_CLOCK);
	return word;
}

struct answer {
	int64_t ns;
	uint64_t error_ns, at_ns;
};

/* On rank 0: the clock offset from the shortest of ASK_CNT round trips. */
static struct answer clock_ask(struct comm *c, int rank)
{
	struct answer best = {0, UINT64_MAX, 0};
	uint64_t begin, there, end;

	for (int i = 0; i < ASK_CNT; i++) {
		begin = c->ops->now_ns(c);
		word_send(c, rank, 0);
		there = word_recv(c, rank);
		end = c->ops->now_ns(c);
		if ((end - begin) / 2 >= best.error_ns)
			continue;
		best.error_ns = (end - begin) / 2;
		best.at_ns = begin + best.error_ns;
		best.ns = (int64_t)(there - best.at_ns);
	}
	return best;
}

static struct answer clock_answer(struct comm *c)
{
	struct answer a;

	for (int i = 0; i < ASK_CNT; i++) {
		word_recv(c, 0);
		word_send(c, 0, c->ops->now_ns(c));
	}
	a.ns = (int64_t)word_recv(c, 0);
	a.error_ns = word_recv(c, 0);
	a.at_ns = word_recv(c, 0);
	return a;
}

static void clock_set(struct node_clock *k, const struct answer *a)
{
	if (!k->at_ns || a->at_ns - k->first_at_ns > DRIFT_NS_MAX) {
		/* Keep the drift until the next measurement. */
		k->first_ns = k->at_ns ? k->ns : a->ns;
		k->first_at_ns = k->at_ns ? k->at_ns : a->at_ns;
	}
	k->ns = a->ns;
	k->at_ns = a->at_ns;
	k->error_ns = a->error_ns;
	if (k->at_ns - k->first_at_ns >= DRIFT_NS_MIN)
		k->drift = (double)(k->ns - k->first_ns) / (double)(k->at_ns - k->first_at_ns);
}

/* Only updates the time of the measurement, on rank 0 and on ranks that share its clock. */
static void clock_touch(struct comm *c, struct node_clock *k)
{
	const struct answer same = {0, 0, c->ops->now_ns(c)};

	clock_set(k, &same);
}

void node_clock_measure(struct comm *c, struct node_clock *k)
{
	uint64_t node = comm_tell(c, (uint64_t)c->ops->node(c));
	bool far = (uint64_t)c->ops->node(c) != node;
	struct answer a;

	for (int rank = 1; c->rank == 0 && rank < c->size; rank++) {
		if (!word_recv(c, rank))
			continue;
		a = clock_ask(c, rank);
		word_send(c, rank, (uint64_t)a.ns);
		word_send(c, rank, a.error_ns);
		word_send(c, rank, a.at_ns);
	}
	if (c->rank)
		word_send(c, 0, far);
	if (far) {
		a = clock_answer(c);
		clock_set(k, &a);
	} else {
		clock_touch(c, k);
	}
}

/* The first measurements follow each other sooner, so that the drift is known early. */
bool node_clock_is_old(struct comm *c, const struct node_clock *k)
{
	uint64_t known_ns = k->at_ns - k->first_at_ns, limit_ns = known_ns;

	if (limit_ns < OLD_NS_MIN)
		limit_ns = OLD_NS_MIN;
	if (limit_ns > OLD_NS_MAX)
		limit_ns = OLD_NS_MAX;
	return c->ops->now_ns(c) - k->at_ns > limit_ns;
}

uint64_t node_clock_own(const struct node_clock *k, uint64_t first_ns)
{
	double since = (double)(int64_t)(first_ns - k->at_ns);

	return first_ns + (uint64_t)(k->ns + llround(k->drift * since));
}

uint64_t node_clock_first(const struct node_clock *k, uint64_t own_ns)
{
	/* The drift during `since` itself is negligible. */
	double since = (double)(int64_t)(own_ns - (uint64_t)k->ns - k->at_ns);

	return own_ns - (uint64_t)(k->ns + llround(k->drift / (1 + k->drift) * since));
}
