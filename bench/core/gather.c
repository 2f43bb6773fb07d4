/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "core/gather.h"

#include "lib/log.h"

#include <stdlib.h>

enum { TAG_CNT = 0x3de2, TAG_SAMPLES };

double gather_span_ns(struct comm *c, const struct node_clock *clock, uint64_t start_ns,
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

double gather_sum(struct comm *c, uint64_t value)
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
