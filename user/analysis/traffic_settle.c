/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A layer is chosen for each process and carrier. The choice is made separately for what the
 * process moves itself and for what it sees arrive: the layer that knows one need not know the
 * other.
 */
#include "analysis/traffic.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/table.h"
#include "trace/trace_join.h"

/* ---- layers ---- */

TABLE_ORDER(layer_compare, struct traffic_layer, u64_compare(a->process, b->process),
	    u64_compare(a->carrier, b->carrier), u64_compare(a->layer, b->layer))

static void layers_make(struct traffic *a)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < a->nrow; i++) {
		const struct traffic_row *r = &a->row[i];
		struct traffic_layer *l = table_row(a->layer, a->layers_cap, i);

		l->process = r->key.process;
		l->carrier = r->key.carrier;
		l->layer = r->key.layer;
		l->nearness = a->nearness[r->key.layer];
		l->posts = r->posts;
	}
	table_sort(a->layer, a->nrow, layer_compare);
	for (uint32_t i = 0; i < a->nrow; i++) {
		if (kept && !layer_compare(&a->layer[kept - 1], &a->layer[i]))
			table_row_add(&a->layer[kept - 1].posts, &a->layer[i].posts, cnt);
		else
			a->layer[kept++] = a->layer[i];
	}
	a->nlayer = kept;
}

static uint64_t data_posts(const struct traffic_posts *p)
{
	return p->cnt[POST_SEND] + p->cnt[POST_WRITE] + p->cnt[POST_READ] + p->cnt[POST_ATOMIC];
}

static uint64_t posts_relevant(const struct traffic_layer *l, bool arrivals)
{
	return arrivals ? l->posts.cnt[POST_ARRIVAL] : data_posts(&l->posts);
}

/* Of two equally near layers, the one that posts more is better: neither lies above the other. */
static bool is_better(const struct traffic_layer *l, const struct traffic_layer *than,
		      bool arrivals)
{
	if (!than || l->nearness != than->nearness)
		return !than || l->nearness > than->nearness;
	return posts_relevant(l, arrivals) > posts_relevant(than, arrivals);
}

static struct traffic_layer *best_of(struct traffic_layer *from, const struct traffic_layer *end,
				     bool arrivals)
{
	struct traffic_layer *best = NULL;

	for (struct traffic_layer *l = from; l < end; l++) {
		if (posts_relevant(l, arrivals) && is_better(l, best, arrivals))
			best = l;
	}
	return best;
}

/*
 * Chooses one layer per carrier of a process. Layers of unknown carriers come first, and count only
 * if there are no others.
 */
static void process_choose(struct traffic_layer *from, struct traffic_layer *end, bool arrivals)
{
	struct traffic_layer *next, *best, *unknown = NULL;
	bool any = false;

	for (; from < end; from = next) {
		for (next = from; next < end && next->carrier == from->carrier;)
			next++;
		best = best_of(from, next, arrivals);
		if (from->carrier == CARRIER_UNKNOWN)
			unknown = best;
		if (!best || from->carrier == CARRIER_UNKNOWN)
			continue;
		any = true;
		*(arrivals ? &best->arrivals_count : &best->counts) = true;
	}
	if (unknown && !any)
		*(arrivals ? &unknown->arrivals_count : &unknown->counts) = true;
}

static void layers_choose(struct traffic *a)
{
	struct traffic_layer *l = a->layer;

	for (uint32_t from = 0, next; from < a->nlayer; from = next) {
		for (next = from; next < a->nlayer && l[next].process == l[from].process;)
			next++;
		process_choose(l + from, l + next, false);
		process_choose(l + from, l + next, true);
	}
}

const struct traffic_layer *traffic_layer_find(const struct traffic *a, uint32_t process,
					       uint32_t carrier, uint32_t layer)
{
	struct traffic_layer key = {.process = process, .carrier = carrier, .layer = layer};

	return a->nlayer ? bsearch(&key, a->layer, a->nlayer, sizeof(key), layer_compare) : NULL;
}

static void rows_mark(struct traffic *a)
{
	for (uint32_t i = 0; i < a->nrow; i++) {
		struct traffic_row *r = &a->row[i];
		const struct traffic_layer *l = traffic_layer_find(a, r->key.process,
								   r->key.carrier, r->key.layer);

		r->counts = l->counts;
		r->arrivals_count = l->arrivals_count;
	}
}

/* ---- received bytes ---- */

/*
 * Finds the processes and carriers for which arrivals count, so that what is sent to them is
 * already included.
 */
static bool *arrivals_seen(const struct traffic *a, uint32_t nprocess)
{
	bool *seen = xcalloc((size_t)nprocess * CARRIER_CNT, sizeof(*seen));

	for (uint32_t i = 0; i < a->nlayer; i++) {
		const struct traffic_layer *l = &a->layer[i];

		if (!l->arrivals_count)
			continue;
		seen[l->process * CARRIER_CNT + l->carrier] = true;
		/* one side may not know the other's carrier; rather count too little than twice */
		seen[l->process * CARRIER_CNT + CARRIER_UNKNOWN] = true;
		for (int c = 0; l->carrier == CARRIER_UNKNOWN && c < CARRIER_CNT; c++)
			seen[l->process * CARRIER_CNT + (uint32_t)c] = true;
	}
	return seen;
}

static void row_receive(struct traffic *a, const struct traffic_row *r, const bool *seen)
{
	const struct traffic_posts *p = &r->posts;
	struct traffic_received *own = &a->received[r->key.process], *to;

	if (r->arrivals_count) {
		own->arrived_bytes += p->bytes[POST_ARRIVAL];
		own->unknown += p->unknown[POST_ARRIVAL];
	}
	if (!r->counts)
		return;
	own->read_bytes += p->bytes[POST_READ] + p->bytes[POST_ATOMIC];
	own->unknown += p->unknown[POST_READ] + p->unknown[POST_ATOMIC];
	if (r->key.peer < 0)
		return;
	to = &a->received[r->key.peer];
	to->written_bytes += p->bytes[POST_WRITE] + p->bytes[POST_ATOMIC];
	to->unknown += p->unknown[POST_WRITE] + p->unknown[POST_ATOMIC];
	if (seen[(uint32_t)r->key.peer * CARRIER_CNT + r->key.carrier])
		return;
	to->sent_bytes += p->bytes[POST_SEND];
	to->unknown += p->unknown[POST_SEND];
}

static void received_make(struct traffic *a, const struct model *m)
{
	uint32_t n = model_process_count(m);
	bool *seen = arrivals_seen(a, n);

	a->received = xcalloc(n, sizeof(*a->received));
	for (uint32_t i = 0; i < a->nrow; i++)
		row_receive(a, &a->row[i], seen);
	for (uint32_t i = 0; i < n; i++) {
		struct traffic_received *r = &a->received[i];

		r->total_bytes = r->read_bytes + r->arrived_bytes + r->sent_bytes +
				 r->written_bytes;
	}
	free(seen);
}

void traffic_settle(struct traffic *a, const struct model *m)
{
	ends_close(&a->ends, m, &a->names);
	for (uint32_t i = 0; i < a->nrow; i++) {
		struct traffic_key *k = &a->row[i].key;

		k->peer = ends_find(&a->ends, m, k->remote_end, model_process_get(m, k->process),
				    (enum post_carrier)k->carrier);
	}
	layers_make(a);
	layers_choose(a);
	rows_mark(a);
	received_make(a, m);
}

/*
 * A sorted list of pairs. Addresses such as 127.0.0.1 exist on every machine: if an end has several
 * owners, the one on the same machine is taken.
 */

void ends_own(struct ends *e, uint32_t end, uint32_t process)
{
	uint64_t key = map_pair(end, process);

	if (!end || map_get(&e->known, key))
		return;
	map_set(&e->known, key, e);
	*table_append(e->owner, e->n) = (struct end_owner){end, process};
}

TABLE_ORDER(owner_compare, struct end_owner, u64_compare(a->end, b->end),
	    u64_compare(a->process, b->process))

void ends_close(struct ends *e, const struct model *m, struct names *names)
{
	const struct model_process *p;
	char text[64];
	uint32_t host;

	for (uint32_t i = 0; i < model_process_count(m); i++) {
		p = model_process_get(m, i);
		if (!p->pid)
			continue;
		host = trace_host_of(p->pid);
		snprintf(text, sizeof(text), host ? "pid %u on host %u" : "pid %u", p->host_pid,
			 host);
		ends_own(e, names_id(names, text), i);
	}
	table_sort(e->owner, e->n, owner_compare);
}

int32_t ends_find(const struct ends *e, const struct model *m, uint32_t end,
		  const struct model_process *from, enum post_carrier carrier)
{
	bool same_machine = carrier == CARRIER_CMA || carrier == CARRIER_SHM;
	int32_t found = -1, here = -1;
	uint32_t cnt = 0, here_cnt = 0;
	size_t i = table_first(0, e->n, k, e->owner[k].end >= end);

	for (; end && i < e->n && e->owner[i].end == end; i++) {
		found = (int32_t)e->owner[i].process;
		cnt++;
		if (model_process_get(m, e->owner[i].process)->host_idx != from->host_idx)
			continue;
		here = found;
		here_cnt++;
	}
	if (here_cnt)
		return here_cnt == 1 ? here : -1;
	return cnt == 1 && !same_machine ? found : -1;
}

void ends_release(struct ends *e)
{
	map_release(&e->known);
	free(e->owner);
}
