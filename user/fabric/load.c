/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Merges flows, routes each pair of ends once, and adds the flows to the links on their path. Then
 * sorts and sums half links for the tables.
 */
#include "fabric/load.h"

#include "lib/log.h"
#include "lib/table.h"

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
	*table_append(l->context, l->ncontext) = xstrdup(name);
	return i;
}

static void flow_append(struct fabric_load *l, const struct fabric_flow *flow)
{
	*table_append(l->flow, l->nflow) = *flow;
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
	flow_append(l, flow);
}

TABLE_ORDER(by_ends, struct fabric_flow, table_compare(a->context, b->context),
	    table_compare(a->from, b->from), table_compare(a->lid, b->lid))

static void flows_merge(struct fabric_load *l)
{
	uint32_t n = 0;

	table_sort(l->flow, l->nflow, by_ends);
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

/* Adds every flow once more to context 0, the sum of all contexts. */
static void flows_sum_all(struct fabric_load *l)
{
	uint32_t n = l->nflow;

	for (uint32_t i = 0; i < n; i++) {
		struct fabric_flow f = l->flow[i];

		if (!f.context)
			continue;
		f.context = 0;
		flow_append(l, &f);
	}
}

static struct fabric_half *half_of_port(struct fabric_load *l, uint32_t context, uint32_t port)
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
		struct fabric_half *h = half_of_port(l, flow->context, r.out[i]);

		h->bytes += flow->bytes;
		h->flows++;
	}
	return true;
}

void fabric_load_finish(struct fabric_load *l)
{
	uint32_t n = 0;

	flows_sum_all(l);
	flows_merge(l);
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

/* ---- tables ---- */

static const struct fabric_node *node_at(const struct fabric *f, uint32_t link, int end)
{
	return fabric_port_node(f, f->link[link].port[end]);
}

static bool between_switches(const struct fabric *f, uint32_t link)
{
	return node_at(f, link, 0)->kind == FABRIC_SWITCH &&
	       node_at(f, link, 1)->kind == FABRIC_SWITCH;
}

static int by_place(const struct fabric_hot *x, const struct fabric_hot *y)
{
	if (x->link != y->link)
		return x->link < y->link ? -1 : 1;
	return x->direction - y->direction;
}

TABLE_ORDER(by_bytes, struct fabric_hot, table_compare(b->sum.bytes, a->sum.bytes), by_place(a, b))

TABLE_ORDER(by_flow_cnt, struct fabric_hot, table_compare(b->sum.flows, a->sum.flows),
	    by_bytes(a, b))

struct fabric_hot *fabric_hottest(const struct fabric_load *l, uint32_t context, bool by_flows,
				  uint32_t *n)
{
	const struct fabric *f = l->fabric;
	struct fabric_hot *hot = xcalloc(2 * (size_t)f->nlink + 1, sizeof(*hot));

	*n = 0;
	for (uint32_t i = 0; i < 2 * f->nlink; i++) {
		const struct fabric_hot h = {.link = i / 2,
					     .direction = (int)(i & 1),
					     .sum = *fabric_load_half(l, context, i / 2,
								      (int)(i & 1))};

		if (h.sum.flows && (!by_flows || between_switches(f, h.link)))
			hot[(*n)++] = h;
	}
	if (*n)
		qsort(hot, *n, sizeof(*hot), by_flows ? by_flow_cnt : by_bytes);
	return hot;
}

static struct fabric_level *level_of(struct fabric_level **rows, uint32_t *n, uint32_t subnet,
				     int from, int to)
{
	struct fabric_level *r;

	for (uint32_t i = 0; i < *n; i++) {
		r = &(*rows)[i];
		if (r->subnet == subnet && r->from == from && r->to == to)
			return r;
	}
	r = table_append(*rows, *n);
	*r = (struct fabric_level){
		.subnet = subnet, .from = from, .to = to, .min_bytes = UINT64_MAX};
	return r;
}

TABLE_ORDER(by_level, struct fabric_level, table_compare(a->subnet, b->subnet),
	    table_compare(a->from, b->from), table_compare(a->to, b->to))

struct fabric_level *fabric_levels(const struct fabric_load *l, uint32_t context, uint32_t *n)
{
	const struct fabric *f = l->fabric;
	struct fabric_level *rows = NULL;

	*n = 0;
	for (uint32_t i = 0; i < 2 * f->nlink; i++) {
		int d = (int)(i & 1);
		uint64_t bytes = fabric_load_half(l, context, i / 2, d)->bytes;
		struct fabric_level *r = level_of(&rows, n, f->port[f->link[i / 2].port[0]].subnet,
						  node_at(f, i / 2, d)->level,
						  node_at(f, i / 2, !d)->level);

		r->links++;
		r->used += bytes > 0;
		r->bytes += bytes;
		if (bytes > r->max_bytes)
			r->max_bytes = bytes;
		if (bytes < r->min_bytes)
			r->min_bytes = bytes;
	}
	if (*n)
		qsort(rows, *n, sizeof(*rows), by_level);
	return rows;
}

struct fabric_conflicts fabric_conflicts_of(const struct fabric_load *l, uint32_t context)
{
	struct fabric_conflicts c = {0};

	for (uint32_t i = 0; i < 2 * l->fabric->nlink; i++) {
		uint32_t flows = fabric_load_half(l, context, i / 2, (int)(i & 1))->flows;

		if (!flows || !between_switches(l->fabric, i / 2))
			continue;
		c.used++;
		c.shared += flows > 1;
		if (flows > c.most)
			c.most = flows;
	}
	return c;
}

uint64_t fabric_flows_sum(const struct fabric_load *l, uint32_t context, uint32_t *flows)
{
	uint64_t sum = 0;

	*flows = 0;
	for (uint32_t i = 0; i < l->nflow; i++) {
		if (l->flow[i].context != context)
			continue;
		sum += l->flow[i].bytes;
		++*flows;
	}
	return sum;
}
