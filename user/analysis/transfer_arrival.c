/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds when the data of receives had arrived: see transfer_start.h. */
#include <stdlib.h>

#include "analysis/transfer_settle.h"

static int arrival_compare(const void *va, const void *vb)
{
	const struct transfer_arrival *a = va, *b = vb;

	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

static bool is_named(const struct transfer_arrival *v)
{
	return v->message || v->has_envelope;
}

/*
 * Every layer that data pass through sees them arrive. Only arrivals that name their receive are
 * kept. If there are none, those of the layers that count are kept.
 */
void transfer_arrivals_choose(struct transfer_start *a, const struct model *m, uint32_t process)
{
	const struct model_process *self = model_process_get(m, process);
	struct transfer_process *p = a->process[process];
	bool named = false;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->narrival; i++)
		named |= is_named(&p->arrival[i]);
	for (uint32_t i = 0; i < p->narrival; i++) {
		struct transfer_arrival *v = &p->arrival[i];
		const struct traffic_layer *l = traffic_layer_find(a->traffic, process, v->carrier,
								   v->layer);

		if (named ? !is_named(v) : !l || !l->arrivals_count)
			continue;
		v->peer = ends_find(&a->traffic->ends, m, v->end, self,
				    (enum post_carrier)v->carrier);
		p->arrival[kept++] = *v;
	}
	p->narrival = kept;
	if (kept)
		qsort(p->arrival, kept, sizeof(*p->arrival), arrival_compare);
}

static bool is_of(const struct transfer_op *op, const struct transfer_arrival *v)
{
	if (v->message)
		return v->message == op->request;
	if (v->has_envelope)
		return !op->envelope_doubtful && v->source >= 0 && v->source == op->source &&
		       v->tag >= 0 && v->tag == op->tag;
	return !op->doubtful && (v->peer < 0 || op->peer < 0 || v->peer == op->peer);
}

static uint32_t first_from(const struct transfer_process *p, uint64_t ns)
{
	uint32_t low = 0, high = p->narrival;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (p->arrival[middle].ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t transfer_arrived_ns(const struct transfer_process *p, const struct transfer_op *op)
{
	int64_t left = op->bytes;

	if (!op->receives || op->sends || op->bytes <= 0)
		return 0;
	for (uint32_t i = first_from(p, op->begin_ns); i < p->narrival; i++) {
		const struct transfer_arrival *v = &p->arrival[i];

		if (v->ns > op->end_ns)
			break;
		if (!is_of(op, v))
			continue;
		if (v->bytes < 0)
			return 0;
		left -= v->bytes;
		if (left <= 0)
			return v->ns;
	}
	return 0;
}
