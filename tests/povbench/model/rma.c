/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One-sided communication of the model; model.h has the cost of puts and gets. No CPU moves the
 * data, so computation does not delay them.
 */
#include "model/sim.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

/* The state that a window's ranks share. */
struct window {
	struct window *next;
	uint64_t context;
	int users; /* ranks that created it and have not freed it */
	struct {
		char *memory; /* owned */
		size_t bytes;
	} of[];
};

/* A rank's side of a window. */
struct comm_window {
	struct window *all;
	int pending;	/* incomplete puts and gets */
	double free_ns; /* when its link becomes free, if it is shared */
};

struct access {
	struct comm_window *window;
	struct rank *origin;
	char *to;
	const char *from;
	size_t bytes;
};

static struct model_comm *model_comm_of(struct comm *c)
{
	return c->impl;
}

static struct window *window_find(struct sim *sim, uint64_t context, int ranks)
{
	struct window *w;

	for (w = sim->windows; w && w->context != context; w = w->next)
		;
	if (w)
		return w;
	w = xcalloc(1, sizeof(*w) + (size_t)ranks * sizeof(w->of[0]));
	w->context = context;
	w->next = sim->windows;
	sim->windows = w;
	return w;
}

static void window_drop(struct sim *sim, struct window *w, int ranks)
{
	struct window **at = &sim->windows;
	int i;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	for (i = 0; i < ranks; i++)
		free(w->of[i].memory);
	free(w);
}

struct comm_window *rma_window_new(struct comm *c, size_t bytes, void **memory)
{
	struct model_comm *mc = model_comm_of(c);
	struct comm_window *w = xcalloc(1, sizeof(*w));

	w->all = window_find(mc->rank->sim, model_context_next(mc), c->size);
	w->all->users++;
	w->all->of[c->rank].memory = xcalloc(1, bytes ? bytes : 1);
	w->all->of[c->rank].bytes = bytes;
	*memory = w->all->of[c->rank].memory;
	c->ops->coll(c, COMM_BARRIER, NULL, NULL, 0, 0);
	return w;
}

void rma_window_free(struct comm *c, struct comm_window *w)
{
	c->ops->coll(c, COMM_BARRIER, NULL, NULL, 0, 0);
	if (!--w->all->users)
		window_drop(model_comm_of(c)->rank->sim, w->all, c->size);
	free(w);
}

/* Shared locks exclude no other rank. */
void rma_lock(struct comm *c, struct comm_window *w, int target)
{
}

void rma_unlock(struct comm *c, struct comm_window *w, int target)
{
	rma_flush(c, w, target);
}

static void access_done(struct sim *sim, void *arg, uint64_t generation)
{
	struct access *a = arg;

	if (a->bytes)
		memcpy(a->to, a->from, a->bytes);
	a->window->pending--;
	rank_wake(a->origin);
	free(a);
}

static void access_begin(struct comm *c, struct comm_window *w, const struct comm_msg *m,
			 int target, size_t at_bytes, bool put)
{
	struct rank *rank = model_comm_of(c)->rank;
	struct sim *sim = rank->sim;
	struct access *a = xmalloc(sizeof(*a));
	char *there = w->all->of[target].memory + at_bytes;
	double data_ns = (double)m->bytes * sim->set.byte_ns, start_ns;

	if (at_bytes + m->bytes > w->all->of[target].bytes)
		die("model: rank %d's window ends before byte %zu", target, at_bytes + m->bytes);
	*a = (struct access){w, rank, put ? there : m->buf, put ? m->buf : there, m->bytes};
	core_use(sim, sim->set.send_ns);
	start_ns = sim->now_ns;
	if (sim->set.shared_link && w->free_ns > start_ns)
		start_ns = w->free_ns;
	w->free_ns = start_ns + data_ns;
	w->pending++;
	sim_at(sim, start_ns + data_ns + 2 * model_link_ns(&sim->set, c->rank, target), access_done,
	       a, 0);
}

void rma_put(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes)
{
	access_begin(c, w, m, target, at_bytes, true);
}

void rma_get(struct comm *c, struct comm_window *w, const struct comm_msg *m, int target,
	     size_t at_bytes)
{
	access_begin(c, w, m, target, at_bytes, false);
}

void rma_flush(struct comm *c, struct comm_window *w, int target)
{
	struct sim *sim = model_comm_of(c)->rank->sim;

	if (!w->pending)
		return;
	core_leave(sim);
	while (w->pending)
		task_block(sim);
	core_enter(sim);
}
