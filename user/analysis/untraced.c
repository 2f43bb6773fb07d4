/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See untraced.h. */
#include "analysis/untraced.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/coverage.h"
#include "analysis/whatif_internal.h"
#include "lib/log.h"
#include "lib/table.h"

/* Calls after which a part is replayed. */
#define PART_CALLS 50000
/*
 * A part is not replayed if tracing took less than this share of its time, summed over all threads.
 */
#define SHARE_LEAST 0.005
/*
 * Share of a recorded call's cost that lies in the measured time of the call: looking up its
 * function and storing the arguments. The rest comes after its end and before its begin.
 */
#define INSIDE 0.33

struct untraced_thread {
	int64_t lead_ns;  /* how much earlier the thread would be at the end of the last part */
	double nested_ns; /* cost of calls inside the call that is still open */
	uint64_t last_ns; /* end of the last call */
	bool has_calls;
};

static struct untraced_thread *row_of(struct untraced *u, const struct model_thread *t)
{
	return table_row(u->thread, u->nthread, t->idx);
}

static bool in_window(const struct untraced *u, const struct model_thread *t, uint64_t ts_ns)
{
	return windows_has(&u->app->windows, t->proc, ts_ns);
}

/* ---- costs ---- */

static void other_add(struct untraced *u, const struct model_thread *t, uint64_t from_ns,
		      uint64_t to_ns, double ns)
{
	if (!in_window(u, t, to_ns) || ns < 1)
		return;
	*table_add(u->other, u->nother,
		   u->other_room) = (struct whatif_spared){from_ns, to_ns, (int64_t)ns, t->idx};
}

/* Adds to the tracing cost of the thread's outermost call that was reported last. */
static void cost_add(struct untraced *u, const struct model_thread *t, double ns)
{
	struct whatif_line *l = t->idx < u->whatif->nline ? &u->whatif->line[t->idx] : NULL;

	if (l && l->ncall)
		l->call[l->ncall - 1].traced_ns += (float)ns;
}

/* ---- the stretches of a part ---- */

struct part {
	struct untraced *u;
	struct whatif_spared *spared; /* owned */
	size_t n;
	size_t *first; /* by idx of threads: its first entry; owned */
	uint32_t nthread;
};

/* Number of calls that end before ts_ns. */
static uint32_t calls_ended(const struct whatif_line *l, uint64_t ts_ns)
{
	return (uint32_t)table_first(0, l->ncall, i, l->call[i].end_ns >= ts_ns);
}

/* Divides the cost of an entry of `other` among the gaps after the calls that end in its time. */
static void other_share(const struct untraced *u, const struct whatif_spared *o, double *after_ns)
{
	const struct whatif_line *l = &u->whatif->line[o->thread];
	uint32_t from = calls_ended(l, o->from_ns), to = calls_ended(l, o->to_ns);

	/* no call ends in its time: takes the gap after the previous call */
	from -= from && from == to;
	to += from == to;
	for (uint32_t i = from; i < to && i < l->ncall; i++)
		after_ns[i] += (double)o->ns / (to - from);
}

static void spared_add(struct part *p, uint32_t thread, uint64_t from_ns, uint64_t to_ns, double ns)
{
	if (ns >= 0.5 && from_ns < to_ns)
		p->spared[p->n++] = (struct whatif_spared){from_ns, to_ns, (int64_t)(ns + 0.5),
							   thread};
}

/* One part of a call's cost lies at its begin, the other in the gap after its end. */
static void line_spare(struct part *p, uint32_t thread, const double *after_ns)
{
	const struct whatif_line *l = &p->u->whatif->line[thread];

	for (uint32_t i = 0; i < l->ncall; i++) {
		const struct whatif_call *c = &l->call[i];
		uint64_t begun_ns = c->begin_ns + (uint64_t)(INSIDE * c->traced_ns);
		uint64_t next_ns = i + 1 < l->ncall ? l->call[i + 1].begin_ns :
						      c->end_ns + (uint64_t)after_ns[i] + 1;

		spared_add(p, thread, c->begin_ns, begun_ns < c->end_ns ? begun_ns : c->end_ns,
			   INSIDE * c->traced_ns);
		spared_add(p, thread, c->end_ns, next_ns, after_ns[i]);
	}
}

static void part_make(struct part *p)
{
	const struct whatif *w = p->u->whatif;
	size_t calls = 0, *offset;
	double *after_ns;

	p->nthread = model_thread_count(p->u->model);
	p->first = xcalloc(p->nthread + 1, sizeof(*p->first));
	offset = xcalloc(w->nline + 1, sizeof(*offset));
	for (uint32_t i = 0; i < w->nline; i++) {
		offset[i] = calls;
		calls += w->line[i].ncall;
	}
	p->spared = xcalloc(2 * calls + 1, sizeof(*p->spared));
	after_ns = xcalloc(calls + 1, sizeof(*after_ns));
	for (uint32_t i = 0; i < w->nline; i++)
		for (uint32_t k = 0; k < w->line[i].ncall; k++)
			after_ns[offset[i] + k] = (1 - INSIDE) * w->line[i].call[k].traced_ns;
	for (size_t i = 0; i < p->u->nother; i++)
		if (p->u->other[i].thread < w->nline)
			other_share(p->u, &p->u->other[i],
				    after_ns + offset[p->u->other[i].thread]);
	for (uint32_t i = 0; i < p->nthread; i++) {
		p->first[i] = p->n;
		if (i < w->nline)
			line_spare(p, i, after_ns + offset[i]);
	}
	p->first[p->nthread] = p->n;
	free(after_ns);
	free(offset);
}

static void part_release(struct part *p)
{
	free(p->spared);
	free(p->first);
}

/* Time that a thread is spared within a stretch. */
static uint64_t spared_within(const struct part *p, uint32_t thread, uint64_t from_ns,
			      uint64_t to_ns)
{
	size_t end = p->first[thread + 1];
	size_t i = table_first(p->first[thread], end, k, p->spared[k].to_ns > from_ns);
	uint64_t ns = 0;

	for (; i < end && p->spared[i].from_ns < to_ns; i++)
		ns += (uint64_t)p->spared[i].ns;
	return ns;
}

/* How much earlier a thread would get the core that it waited for. */
static uint64_t core_give(void *ctx, const struct whatif_no_core *n)
{
	const struct part *p = ctx;
	const struct model_thread *t = model_thread_get(p->u->model, n->thread);

	if (n->holder == UINT32_MAX || !in_window(p->u, t, n->to_ns))
		return 0;
	if (model_thread_records(p->u->model, model_thread_get(p->u->model, n->holder)))
		return n->to_ns - n->from_ns;
	return n->holder < p->nthread ? spared_within(p, n->holder, n->from_ns, n->to_ns) : 0;
}

/* ---- replaying a part ---- */

static bool tracing_matters(const struct part *p, uint64_t ends_ns)
{
	const struct whatif *w = p->u->whatif;
	double ns = 0;

	for (size_t i = 0; i < p->n; i++)
		ns += (double)p->spared[i].ns;
	for (size_t i = 0; i < w->nno_core; i++)
		ns += (double)core_give((void *)(uintptr_t)p, &w->no_core[i]);
	return ns >= SHARE_LEAST * (double)(ends_ns - p->u->begun_ns);
}

static void part_replay(struct untraced *u, uint64_t ends_ns)
{
	struct part p = {.u = u};
	struct whatif_change change = {.give_core = core_give, .with_others = true, .ctx = &p};

	part_make(&p);
	if (tracing_matters(&p, ends_ns)) {
		change.spared = p.spared;
		change.nspared = p.n;
		change.lead_ns = xcalloc(p.nthread + 1, sizeof(*change.lead_ns));
		(void)table_row(u->thread, u->nthread, p.nthread);
		for (uint32_t i = 0; i < p.nthread; i++)
			change.lead_ns[i] = u->thread[i].lead_ns;
		(void)whatif_run(u->whatif, &change);
		for (uint32_t i = 0; i < p.nthread; i++)
			u->thread[i].lead_ns = change.lead_ns[i];
		free(change.lead_ns);
	}
	part_release(&p);
	whatif_forget(u->whatif);
	u->nother = 0;
	u->calls = 0;
	u->begun_ns = ends_ns;
}

/* ---- records ---- */

static void call_end(struct untraced *u, const struct model_thread *t, uint64_t end_ns)
{
	struct untraced_thread *row = row_of(u, t);

	row->last_ns = end_ns;
	row->has_calls = true;
	if (++u->calls >= PART_CALLS)
		part_replay(u, end_ns);
}

static void on_call(void *ctx, const struct model_call *c)
{
	const struct coverage_made made = {c->func, c->lib, c->preloaded, .calls = 1};
	struct untraced *u = ctx;
	struct untraced_thread *row = row_of(u, c->thread);
	double ns = 0;

	if (u->app->coverage && in_window(u, c->thread, c->end_ns))
		ns = coverage_made_cost(u->app->coverage, &made);
	if (c->nested || !func_is_top(c->func)) {
		row->nested_ns += ns;
		return;
	}
	whatif_sink(u->whatif)->call(u->whatif, c);
	cost_add(u, c->thread, ns + row->nested_ns);
	row->nested_ns = 0;
	call_end(u, c->thread, c->end_ns);
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	struct untraced *u = ctx;
	double ns = 0;

	for (uint32_t i = 0; i < s->nfuncs && s->computes && u->app->coverage; i++)
		ns += coverage_made_cost(u->app->coverage,
					 &(struct coverage_made){s->func[i].func, s->func[i].lib,
								 s->preloaded,
								 .polls = s->func[i].cnt});
	if (s->nested || !func_is_top(s->func[0].func)) {
		row_of(u, s->thread)->nested_ns += ns;
		return;
	}
	whatif_sink(u->whatif)->spin(u->whatif, s);
	cost_add(u, s->thread, in_window(u, s->thread, s->end_ns) ? ns : 0);
	call_end(u, s->thread, s->end_ns);
}

static void on_counted(void *ctx, const struct model_counted *c)
{
	const struct coverage_made made = {c->func, c->lib, c->preloaded, .counted = c->calls};
	struct untraced *u = ctx;

	if (u->app->coverage)
		other_add(u, c->thread, c->begin_ns, c->end_ns,
			  coverage_made_cost(u->app->coverage, &made));
}

static void on_room(void *ctx, const struct model_room *r)
{
	other_add(ctx, r->thread, r->begin_ns, r->end_ns, (double)(r->end_ns - r->begin_ns));
}

/* ---- cores ---- */

static void cpu_use(struct untraced *u, uint16_t cpu)
{
	bool *used = table_row(u->cpu_used, u->ncpu, cpu);

	u->cpus_used += !*used;
	*used = true;
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct untraced *u = ctx;

	if (s != THREAD_RUNNING)
		return;
	if (t->proc->is_rank && in_window(u, t, to_ns)) {
		u->in_mpi = t->proc;
		cpu_use(u, cpu);
	} else if (u->in_mpi && windows_has(&u->app->windows, u->in_mpi, to_ns) &&
		   model_thread_records(u->model, t)) {
		u->recorder_ns += to_ns - from_ns;
	}
}

/*
 * The share of the ranks' cores that tracing took while threads waited for cores. If no thread
 * waited, a core may have been idle instead.
 */
static double cores_share(const struct untraced *u)
{
	uint64_t from_ns = UINT64_MAX, to_ns = 0, waited_ns = 0;
	double tracing_ns = (double)u->recorder_ns, whole_ns, waited;

	for (uint32_t i = 0; i < model_thread_count(u->model) && i < u->app->nthread; i++) {
		const struct app_thread *a = &u->app->thread[i];

		if (!model_thread_get(u->model, i)->proc->is_rank || !a->window_ns)
			continue;
		from_ns = a->from_ns < from_ns ? a->from_ns : from_ns;
		to_ns = a->to_ns > to_ns ? a->to_ns : to_ns;
		tracing_ns += a->recorded_ns;
		waited_ns += a->no_core_ns + a->taken_ns;
	}
	if (to_ns <= from_ns || !u->cpus_used)
		return 0;
	whole_ns = (double)(to_ns - from_ns);
	waited = (double)waited_ns / whole_ns;
	return (waited < 1 ? waited : 1) * tracing_ns / whole_ns / u->cpus_used;
}

static void on_start(void *ctx, const struct model *m)
{
	struct untraced *u = ctx;

	u->model = u->whatif->model = m;
	u->begun_ns = model_get_info(m)->start_ns;
}

/* ---- the result ---- */

/* How much earlier the last call of a job would end; *whole_ns: its time in MPI's window. */
static uint64_t job_gain(const struct untraced *u, int job, uint64_t *whole_ns)
{
	uint64_t from_ns = UINT64_MAX, to_ns = 0, last_ns = 0;
	int64_t moved_ns = 0;

	for (uint32_t i = 0; i < u->nthread && i < model_thread_count(u->model); i++) {
		const struct model_thread *t = model_thread_get(u->model, i);
		const struct app_thread *a = i < u->app->nthread ? &u->app->thread[i] : NULL;
		const struct untraced_thread *row = &u->thread[i];
		int64_t own_ns = (int64_t)row->last_ns - row->lead_ns;

		if (!row->has_calls || !a || !t->proc->is_rank || t->proc->job_idx != job)
			continue;
		from_ns = a->from_ns < from_ns ? a->from_ns : from_ns;
		to_ns = a->to_ns > to_ns ? a->to_ns : to_ns;
		last_ns = row->last_ns > last_ns ? row->last_ns : last_ns;
		moved_ns = own_ns > moved_ns ? own_ns : moved_ns;
	}
	*whole_ns = to_ns > from_ns ? to_ns - from_ns : 0;
	return (int64_t)last_ns > moved_ns ? last_ns - (uint64_t)moved_ns : 0;
}

static void on_finish(void *ctx, const struct model *m)
{
	struct untraced *u = ctx;
	uint64_t gain_ns, whole_ns;

	part_replay(u, model_get_info(m)->end_ns);
	for (uint32_t job = 0; job < model_get_info(m)->njobs; job++) {
		gain_ns = job_gain(u, (int)job, &whole_ns);
		gain_ns = gain_ns < whole_ns ? gain_ns : whole_ns;
		if (!whole_ns || (double)gain_ns <= u->share * (double)whole_ns)
			continue;
		u->gain_ns = gain_ns;
		u->share = (double)gain_ns / (double)whole_ns;
	}
	u->cores_share = cores_share(u);
}

void untraced_init(struct untraced *u, const struct app_time *app, struct late_pairs *late,
		   struct arrivals *arrivals, struct holders *holders)
{
	*u = (struct untraced){
		.sink = {.ctx = u,
			 .start = on_start,
			 .state = on_state,
			 .call = on_call,
			 .spin = on_spin,
			 .counted = on_counted,
			 .room = on_room,
			 .finish = on_finish},
		.whatif = whatif_new(NULL),
		.app = app,
	};
	whatif_attach(u->whatif, late, arrivals, holders);
}

void untraced_release(struct untraced *u)
{
	whatif_free(u->whatif);
	free(u->thread);
	free(u->other);
	free(u->cpu_used);
}

/* ---- what to say of it ---- */

static void name_process(const struct model *m, const struct model_process *p, char *buf,
			 size_t bytes)
{
	if (p->rank < 0)
		snprintf(buf, bytes, "process %u", p->host_pid);
	else if (model_get_info(m)->njobs > 1)
		snprintf(buf, bytes, "rank %d:%d", p->job_idx, p->rank);
	else
		snprintf(buf, bytes, "rank %d", p->rank);
}

static double pct_of(uint64_t span_ns, uint64_t ns)
{
	return span_ns ? 100.0 * (double)ns / (double)span_ns : 0;
}

const struct model_process *distorted_find(const struct coverage *a, const struct untraced *u,
					   const struct account *account, const struct model *m,
					   struct distortion *out)
{
	const struct model_process *worst = NULL;

	*out = (struct distortion){
		.run_pct = 100 * (u->share > u->cores_share ? u->share : u->cores_share),
		.by_cores = u->cores_share > u->share,
	};
	for (uint32_t i = 0; i < account->nrank; i++) {
		const struct account_rank *rank = &account->rank[i];
		const struct app_thread *t = &u->app->thread[rank->thread];
		uint64_t span_ns = account_total_ns(&rank->row);
		double pct = pct_of(span_ns, t->tracing_ns);

		out->above += pct > DISTORTION_PCT;
		if (pct <= out->pct)
			continue;
		out->pct = pct;
		out->core_pct = pct_of(span_ns, t->taken_ns);
		out->room_pct = pct_of(span_ns, t->room_ns);
		out->switches_pct = pct_of(span_ns, t->switches_ns);
		worst = model_process_get(m, rank->process);
	}
	if (!worst)
		return NULL;
	out->low = a->lost_cnt[POV_CLASS_CALL] || a->lost_cnt[POV_CLASS_SPIN];
	name_process(m, worst, out->who, sizeof(out->who));
	/* without polls that found nothing: their callers would have waited anyway */
	for (uint32_t i = 0; i < model_func_count(m); i++) {
		const struct func_info *f = model_func_get(m, i);

		if (f->id < a->nfunc)
			distortion_add_func(out, f->name,
					    coverage_cost(a, &a->func[f->id]) -
						    coverage_poll_cost(a, &a->func[f->id]));
	}
	return worst;
}
