/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An MPI call belongs to the regions that its thread entered before the call began, and has not
 * left when the call is reported.
 */
#include "analysis/regions.h"

#include <stdlib.h>

#include "analysis/table.h"

static struct region_row *row_of(struct regions *a, const struct model_thread *t, uint32_t region)
{
	return table_row(a->row, a->nrow, t->proc->idx * a->nregion + region);
}

/* Sets the begin of a thread's outermost call of a region, or 0 once that call has ended. */
static void since_set(struct regions *a, const struct model_region *r, uint64_t since_ns)
{
	uint64_t **since = table_row(a->thread_since, a->nthread, r->thread->idx);

	if (!*since)
		*since = xcalloc(a->nregion, sizeof(**since));
	(*since)[r->region] = since_ns;
}

static void on_region(void *ctx, const struct model_region *r)
{
	struct regions *a = ctx;
	struct region_row *row = row_of(a, r->thread, r->region);

	if (r->ended == REGION_UNDER_WAY) {
		row->calls++;
		row->nested += r->recursive;
		if (!r->recursive)
			since_set(a, r, r->begin_ns);
		return;
	}
	row->open += r->ended == REGION_OPEN;
	row->unwound += r->ended == REGION_UNWOUND;
	if (r->recursive)
		return;
	since_set(a, r, 0);
	row->wall_ns += r->end_ns - r->begin_ns;
	table_row_add(&row->split, &r->split, ns);
}

static void mpi_add(struct regions *a, const struct model_thread *t, uint64_t begin_ns, uint64_t ns)
{
	const uint64_t *since = t->idx < a->nthread ? a->thread_since[t->idx] : NULL;

	for (uint32_t i = 0; since && i < a->nregion; i++)
		if (since[i] && since[i] <= begin_ns)
			row_of(a, t, i)->mpi_ns += ns;
}

static void on_call(void *ctx, const struct model_call *c)
{
	if (func_is_top(c->func) && !c->nested)
		mpi_add(ctx, c->thread, c->begin_ns, c->end_ns - c->begin_ns);
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	if (func_is_top(s->func[0].func) && !s->nested)
		mpi_add(ctx, s->thread, s->begin_ns, s->busy_ns);
}

static void on_start(void *ctx, const struct model *m)
{
	struct regions *a = ctx;

	a->nregion = model_region_count(m);
}

void regions_init(struct regions *a)
{
	*a = (struct regions){
		.sink = {.ctx = a,
			 .start = on_start,
			 .region = on_region,
			 .call = on_call,
			 .spin = on_spin},
	};
}

void regions_release(struct regions *a)
{
	for (uint32_t i = 0; i < a->nthread; i++)
		free(a->thread_since[i]);
	free(a->thread_since);
	free(a->row);
}

/* Row of a process and region; zeros if the process was never in the region. */
static const struct region_row *regions_row(const struct regions *a, uint32_t process_idx,
					    uint32_t region)
{
	static const struct region_row none;
	uint64_t at = (uint64_t)process_idx * a->nregion + region;

	return at < a->nrow ? &a->row[at] : &none;
}

uint32_t regions_sum(const struct regions *a, uint32_t region, const bool *wanted, uint32_t n,
		     struct region_row *out)
{
	const struct region_row *row;
	uint32_t used = 0;

	*out = (struct region_row){0};
	for (uint32_t i = 0; i < n; i++) {
		row = regions_row(a, i, region);
		if (!wanted[i] || !row->calls)
			continue;
		used++;
		table_row_add(out, row, calls);
	}
	return used;
}
