/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Several ranks on a core (place.h). Ranks are dealt out to the cores one by one, so that ranks whose numbers differ by
 * no multiple of the number of cores are on different cores: neighbours can be chosen to be elsewhere. Which of a node's
 * cores is which, is the communicator's business.
 */
#include "core/place.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_DONE = 0x3de1, TAG_CNT, TAG_SAMPLES };
/* A sleeper looks this often whether it is over: a few µs of CPU time each, less than a thousandth. */
#define REST_NS 5000000

void place_wake(struct comm *c, int rank)
{
	struct comm_msg nothing = {.buf = NULL, .bytes = 0};

	c->ops->send(c, &nothing, rank, TAG_DONE);
}

void place_rest(struct comm *c)
{
	struct comm_msg nothing = {.buf = NULL, .bytes = 0};
	struct comm_request done = {0};

	c->ops->irecv(c, &nothing, 0, TAG_DONE, &done);
	while (!c->ops->test(c, &done))
		c->ops->sleep(c, REST_NS);
}

void place_run(struct bench_run *run, struct place place,
	       void (*fn)(struct bench_run *run, struct place place, void *ctx), void *ctx)
{
	struct comm *c = run->comm, *few = c->ops->first(c, place.ranks);
	struct bench_run sub = *run;
	int rank;

	if (!few) {
		place_rest(c);
		return;
	}
	sub.comm = few;
	few->ops->pin(few, few->rank % place.cores / place.nodes);
	fn(&sub, place, ctx);
	few->ops->pin(few, -1);
	few->ops->free(few);
	for (rank = place.ranks; c->rank == 0 && rank < c->size; rank++)
		place_wake(c, rank);
}

int place_core_cnt(struct comm *c)
{
	return c->ops->pin(c, -1);
}

double place_span_ns(struct comm *c, const struct node_clock *clock, uint64_t start_ns,
		     uint64_t end_ns)
{
	uint64_t *start = xcalloc((size_t)c->size, sizeof(*start));
	uint64_t *end = xcalloc((size_t)c->size, sizeof(*end));
	uint64_t first_ns = start_ns, last_ns = end_ns;
	int i;

	comm_collect(c, node_clock_first(clock, start_ns), start);
	comm_collect(c, node_clock_first(clock, end_ns), end);
	for (i = 0; c->rank == 0 && i < c->size; i++) {
		first_ns = start[i] < first_ns ? start[i] : first_ns;
		last_ns = end[i] > last_ns ? end[i] : last_ns;
	}
	free(start);
	free(end);
	return (double)(last_ns - first_ns);
}

double place_sum(struct comm *c, uint64_t value)
{
	uint64_t *all = xcalloc((size_t)c->size, sizeof(*all));
	double sum = 0;
	int i;

	comm_collect(c, value, all);
	for (i = 0; c->rank == 0 && i < c->size; i++)
		sum += (double)all[i];
	free(all);
	return sum;
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
	uint64_t cnt, i;
	struct comm_msg head = {.buf = &cnt, .bytes = sizeof(cnt)}, body;
	double *value;

	c->ops->recv(c, &head, rank, TAG_CNT);
	value = xcalloc(cnt + 1, sizeof(double));
	body = (struct comm_msg){.buf = value, .bytes = cnt * sizeof(double)};
	c->ops->recv(c, &body, rank, TAG_SAMPLES);
	for (i = 0; i < cnt; i++)
		samples_add(out, value[i]);
	free(value);
}

static void samples_append(struct samples *to, const struct samples *from)
{
	size_t i;

	for (i = 0; i < from->cnt; i++)
		samples_add(to, from->value[i]);
}

void place_fetch(struct comm *c, const struct samples *own, int rank, struct samples *out)
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

void place_gather(struct comm *c, const struct samples *own, struct samples *out)
{
	int rank;

	if (c->rank != 0) {
		samples_send(c, own);
		return;
	}
	samples_clear(out);
	samples_append(out, own);
	for (rank = 1; rank < c->size; rank++)
		samples_recv(c, rank, out);
}
