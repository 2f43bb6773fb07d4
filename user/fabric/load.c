/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Flows are merged, routed once for each pair of ends, and added to the links on their way. */
#include "fabric/load.h"

#include "lib/log.h"
#include "fabric/route.h"

#include <stdlib.h>
#include <string.h>

void fabric_load_begin(struct fabric_load *l, const struct fabric *f)
{
	*l = (struct fabric_load){.fabric = f};
	fabric_load_context(l, "all");
}

uint32_t fabric_load_context(struct fabric_load *l, const char *name)
{
	uint32_t i;

	for (i = 0; i < l->ncontext; i++) {
		if (!strcmp(l->context[i], name))
			return i;
	}
	l->context = xrealloc(l->context, (i + 1) * sizeof(*l->context));
	l->context[i] = xstrdup(name);
	l->ncontext++;
	return i;
}

static void append(struct fabric_load *l, const struct fabric_flow *flow)
{
	if (l->nflow == l->room) {
		l->room = l->room ? 2 * l->room : 256;
		l->flow = xrealloc(l->flow, l->room * sizeof(*l->flow));
	}
	l->flow[l->nflow++] = *flow;
}

void fabric_load_flow(struct fabric_load *l, const struct fabric_flow *flow)
{
	const struct fabric *f = l->fabric;

	if (!flow->bytes)
		return;
	if (flow->to != FABRIC_NONE && f->port[flow->from].node == f->port[flow->to].node) {
		l->local.bytes += flow->bytes;
		l->local.flows++;
		return;
	}
	append(l, flow);
}

static int by_ends(const void *a, const void *b)
{
	const struct fabric_flow *x = a, *y = b;

	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (int)x->lid - (int)y->lid;
}

static void merge(struct fabric_load *l)
{
	uint32_t n = 0;

	if (l->nflow)
		qsort(l->flow, l->nflow, sizeof(*l->flow), by_ends);
	for (uint32_t i = 0; i < l->nflow; i++) {
		const struct fabric_flow *f = &l->flow[i];

		if (n && !by_ends(&l->flow[n - 1], f)) {
			l->flow[n - 1].bytes += f->bytes;
			l->flow[n - 1].messages += f->messages;
		} else {
			l->flow[n++] = *f;
		}
	}
	l->nflow = n;
}

/* The sum of all contexts: every flow once more, without its own. */
static void sum_of_all(struct fabric_load *l)
{
	uint32_t n = l->nflow;

	for (uint32_t i = 0; i < n; i++) {
		struct fabric_flow f = l->flow[i];

		if (!f.context)
			continue;
		f.context = 0;
		append(l, &f);
	}
}

static struct fabric_half *half_of(struct fabric_load *l, uint32_t context, uint32_t port)
{
	const struct fabric *f = l->fabric;

	return &l->half[((uint64_t)context * f->nlink + f->port[port].link) * 2 +
			(uint32_t)fabric_direction(f, port)];
}

static bool route_add(struct fabric_load *l, const struct fabric_flow *flow)
{
	struct fabric_route r;

	fabric_route_find(l->fabric, flow->from, flow->lid, &r);
	if (r.end != ROUTE_ARRIVED)
		return false;
	for (uint32_t i = 0; i < r.n; i++) {
		struct fabric_half *h = half_of(l, flow->context, r.out[i]);

		h->bytes += flow->bytes;
		h->flows++;
	}
	return true;
}

void fabric_load_finish(struct fabric_load *l)
{
	uint32_t n = 0;

	sum_of_all(l);
	merge(l);
	l->half = xcalloc(2 * (size_t)l->ncontext * l->fabric->nlink + 1, sizeof(*l->half));
	for (uint32_t i = 0; i < l->nflow; i++) {
		if (route_add(l, &l->flow[i])) {
			l->flow[n++] = l->flow[i];
		} else if (!l->flow[i].context) {
			l->unrouted.bytes += l->flow[i].bytes;
			l->unrouted.flows++;
		}
	}
	l->nflow = n;
}

void fabric_load_release(struct fabric_load *l)
{
	for (uint32_t i = 0; i < l->ncontext; i++)
		free(l->context[i]);
	free(l->context);
	free(l->flow);
	free(l->half);
	*l = (struct fabric_load){0};
}
