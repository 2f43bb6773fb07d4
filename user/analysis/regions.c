/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An MPI call belongs to the regions that its thread entered before the call began, and has not
 * left when the call is reported.
 */
#include "analysis/regions.h"

#include <stdlib.h>

#include "lib/table.h"

/* ---- phases ---- */

/*
 * Keeps a ring of changes per process, which is searched from the newest one on.
 */

#define CHANGES_KEPT 256

struct thread_phases {
	uint32_t open[PHASE_LEVELS]; /* numbers of names by level; 0: none */
	bool any;		     /* the thread ever had a phase */
};

struct phase_change {
	uint64_t ts_ns;
	uint32_t thread_idx;
	uint32_t innermost; /* innermost phase from then on */
};

struct process_phases {
	/* ring of the last changes */
	struct phase_change change[CHANGES_KEPT];
	uint64_t n; /* number of changes ever made */
};

static void change_add(struct phases *a, const struct model_thread *t, uint64_t ts_ns,
		       uint32_t innermost)
{
	struct process_phases **p = table_row(a->process, a->nprocess, t->proc->idx);

	if (!*p)
		*p = xcalloc(1, sizeof(**p));
	(*p)->change[(*p)->n++ % CHANGES_KEPT] = (struct phase_change){ts_ns, t->idx, innermost};
}

void phases_set(struct phases *a, const struct model_thread *t, uint64_t ts_ns, uint32_t level,
		uint32_t name)
{
	struct thread_phases *p = table_row(a->thread, a->nthread, t->idx);
	uint32_t innermost = 0;

	if (level >= PHASE_LEVELS)
		return;
	p->any = true;
	memset(&p->open[level], 0, (PHASE_LEVELS - level) * sizeof(*p->open));
	p->open[level] = name;
	for (uint32_t l = 0; l < PHASE_LEVELS; l++)
		innermost = p->open[l] ? p->open[l] : innermost;
	change_add(a, t, ts_ns, innermost);
}

uint32_t phases_at(struct phases *a, const struct model_thread *t, uint64_t ts_ns)
{
	const struct process_phases *p = t->proc->idx < a->nprocess ? a->process[t->proc->idx] :
								      NULL;
	bool own = t->idx < a->nthread && a->thread[t->idx].any;
	const struct phase_change *c;
	uint64_t i;

	if (!p)
		return 0;
	for (i = p->n; i > 0 && i + CHANGES_KEPT > p->n; i--) {
		c = &p->change[(i - 1) % CHANGES_KEPT];
		if (c->ts_ns <= ts_ns && (!own || c->thread_idx == t->idx))
			return c->innermost;
	}
	return i ? names_id(a->names, "?") : 0;
}

void phases_init(struct phases *a, struct names *names)
{
	*a = (struct phases){.names = names};
}

void phases_release(struct phases *a)
{
	for (uint32_t i = 0; i < a->nprocess; i++)
		free(a->process[i]);
	free(a->process);
	free(a->thread);
}

/* ---- regions ---- */

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
	uint64_t at = (uint64_t)process_idx * a->nregion + region;

	return table_get(a->row, a->nrow, at);
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
