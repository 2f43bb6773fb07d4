/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See migrations.h. */
#include "analysis/migrations.h"

#include <stdlib.h>

#include "analysis/find.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"
#include "trace/trace_read.h"

static struct migrations_thread *row_of(struct migrations *a, const struct model_thread *t)
{
	return table_row(a->thread, a->nthread, t->idx);
}

static uint64_t idle_until(const struct migrations_core *c, uint64_t ts_ns)
{
	return c->idle_ns +
	       (c->idle_since_ns && c->idle_since_ns < ts_ns ? ts_ns - c->idle_since_ns : 0);
}

static void wants_set(struct migrations *a, const struct model_thread *t, uint64_t ts_ns,
		      uint16_t cpu, bool woken)
{
	struct migrations_thread *row = row_of(a, t);

	row->wants_ns = ts_ns;
	row->wants_cpu = cpu;
	row->wants_idle_ns = idle_until(table_row(a->core, a->ncore, cpu), ts_ns);
	row->wants_woken = woken;
}

static void on_waking(void *ctx, const struct model_waking *w)
{
	if (!w->target->proc->is_rank || w->target->state != THREAD_RUNNABLE)
		return;
	row_of(ctx, w->target)->woken_ns = w->ts_ns;
	wants_set(ctx, w->target, w->ts_ns, w->target->cpu, true);
}

/* Adds the wake-up of a thread that runs now. */
static void woken_add(struct migrations *a, const struct model_switch *s, uint64_t woken_ns,
		      uint64_t idle_since_ns)
{
	struct migrations_process *p = table_row(a->process, a->nprocess, s->next->proc->idx);
	uint64_t ns = s->ts_ns - woken_ns;

	histogram_add(&p->wakeups, ns);
	if (ns < WAKEUP_SLOW_NS || !idle_since_ns || idle_since_ns > woken_ns)
		return;
	p->slow++;
	p->slow_ns += ns;
	if (ns <= p->worst_ns)
		return;
	p->worst_ns = ns;
	p->worst_from_ns = woken_ns;
	p->worst_cpu = s->cpu;
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	struct migrations *a = ctx;
	struct migrations_core *core = table_row(a->core, a->ncore, s->cpu);
	struct migrations_thread *row;

	if (s->next->proc->is_rank) {
		row = row_of(a, s->next);
		if (row->woken_ns)
			woken_add(a, s, row->woken_ns, core->idle_since_ns);
		row->woken_ns = 0;
	}
	core->idle_ns = idle_until(core, s->ts_ns);
	core->idle_since_ns = s->next->idle ? s->ts_ns : 0;
	if (s->prev->proc->is_rank)
		wants_set(a, s->prev, s->ts_ns, s->cpu, false);
}

/* Counts the thread's wait from wants_ns to to_ns if the thread was held back in it. */
static void held_back_add(struct migrations *a, const struct model_thread *t, uint64_t to_ns)
{
	struct migrations_process *p = table_row(a->process, a->nprocess, t->proc->idx);
	const struct migrations_thread *row = row_of(a, t);
	uint64_t ns = idle_until(&a->core[row->wants_cpu], to_ns) - row->wants_idle_ns;

	if (ns < HELD_BACK_NS)
		return;
	*(row->wants_woken ? &p->held_back_woken : &p->held_back) += 1;
	*(row->wants_woken ? &p->held_back_woken_ns : &p->held_back_ns) += ns;
	if (row->wants_woken || ns <= p->held_worst_ns)
		return;
	p->held_worst_ns = ns;
	p->held_worst_from_ns = row->wants_ns;
	p->held_worst_cpu = row->wants_cpu;
}

static void on_migrate(void *ctx, const struct model_migrate *g)
{
	struct migrations_thread *row;

	if (!g->thread->proc->is_rank || g->orig_cpu == g->dest_cpu)
		return;
	row = row_of(ctx, g->thread);
	if (row->wants_ns && g->thread->state == THREAD_RUNNABLE &&
	    g->thread->since_ns == row->wants_ns)
		held_back_add(ctx, g->thread, g->ts_ns);
	row->wants_ns = 0;
	row->back += row->migrations && row->from_cpu == g->dest_cpu;
	row->migrations++;
	row->from_cpu = g->orig_cpu;
	row->moved = true;
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct migrations_thread *row;
	uint64_t ns = to_ns - from_ns;

	if (s != THREAD_RUNNABLE || !t->proc->is_rank)
		return;
	row = row_of(ctx, t);
	if (row->wants_ns && row->wants_ns == from_ns)
		held_back_add(ctx, t, to_ns);
	if (!row->moved)
		return;
	row->moved = false;
	row->migrations_wait_ns += ns;
	if (ns <= row->worst_ns)
		return;
	row->worst_ns = ns;
	row->worst_from_ns = from_ns;
}

static void on_finish(void *ctx, const struct model *m)
{
	struct migrations *a = ctx;

	/* make all rows valid */
	(void)table_row(a->thread, a->nthread, model_thread_count(m));
	(void)table_row(a->process, a->nprocess, model_process_count(m));
}

void migrations_init(struct migrations *a)
{
	*a = (struct migrations){
		.sink = {.ctx = a,
			 .on_switch = on_switch,
			 .waking = on_waking,
			 .migrate = on_migrate,
			 .state = on_state,
			 .finish = on_finish},
	};
}

void migrations_release(struct migrations *a)
{
	for (uint32_t i = 0; i < a->nprocess; i++)
		histogram_release(&a->process[i].wakeups);
	free(a->process);
	free(a->thread);
	free(a->core);
}

/*
 * Finds threads that moved between CPUs all the time, and processes whose threads woke late though
 * their core was idle (analysis/migrations.h).
 */

#define MIGRATIONS_MIN 100   /* migrations of a thread */
#define MIGRATIONS_PER_S 100 /* migrations per second that the thread ran or wanted to run */

static char *migrations_text(const struct findings *f, const struct model_thread *t,
			     const struct migrations_thread *row, double seconds)
{
	return xasprintf(
		"%s: thread %u was moved to another CPU %s, %.0f times a second that it ran or "
		"wanted to; %s back to where it was moved from last; meanwhile it waited for a "
		"core for %s (most %s%s); the cost of cold caches is not counted",
		phrase_process(f, t->proc).text, t->tid,
		phrase_count(row->migrations, "time", "times").text,
		(double)row->migrations / seconds, phrase_count(row->back, "time", "times").text,
		phrase_ns(row->migrations_wait_ns).text, phrase_ns(row->worst_ns).text,
		phrase_when(f, row->worst_from_ns).text);
}

static char *migrations_advice(const struct findings *f)
{
	char *text = advice_cores(f, "each rank", 1);

	return words(text ? text : xstrdup("bind it to a CPU (taskset -pc)"),
		     "; threads of OpenMP: OMP_PROC_BIND=close OMP_PLACES=cores");
}

static void migrations_find(struct findings *f, const struct model_thread *t)
{
	const struct migrations_thread *row = &f->migrations.thread[t->idx];
	double seconds = (double)(t->times.ns[THREAD_RUNNING] + t->times.ns[THREAD_RUNNABLE]) / 1e9;

	if (row->migrations < MIGRATIONS_MIN ||
	    (double)row->migrations < MIGRATIONS_PER_S * seconds)
		return;
	finding_add(f, &(struct finding){
			       .kind = "ping_pong_migration",
			       .cost_ns = row->migrations_wait_ns,
			       .text = migrations_text(f, t, row, seconds),
			       .advice = migrations_advice(f),
			       .process = t->proc->idx,
			       .from_ns = row->worst_from_ns,
			       .to_ns = row->worst_from_ns + row->worst_ns,
		       });
}

static char *wakeups_text(const struct findings *f, const struct model_process *p,
			  const struct migrations_process *row)
{
	return xasprintf(
		"%s was woken %s and ran late though the core was idle, for %s (most %s%s on cpu "
		"%s); of all %s half took up to %s, 99 %% up to %s, the longest %s",
		phrase_process(f, p).text, phrase_count(row->slow, "time", "times").text,
		phrase_ns(row->slow_ns).text, phrase_ns(row->worst_ns).text,
		phrase_when(f, row->worst_from_ns).text, phrase_cpu(f, row->worst_cpu).text,
		phrase_count(row->wakeups.cnt, "wake-up", "wake-ups").text,
		phrase_ns(histogram_quantile(&row->wakeups, 50)).text,
		phrase_ns(histogram_quantile(&row->wakeups, 99)).text,
		phrase_ns(row->wakeups.max).text);
}

static void wakeups_find(struct findings *f, const struct model_process *p)
{
	const struct migrations_process *row = &f->migrations.process[p->idx];

	/* A CPU time limit explains why a throttled process wakes late. */
	if (!row->slow || row->held_back || f->limited[p->idx])
		return;
	finding_add(f, &(struct finding){
			       .kind = "slow_wakeups",
			       .cost_ns = row->slow_ns,
			       .text = wakeups_text(f, p, row),
			       .advice = xstrdup(
				       "keep idle cores awake (a request on "
				       "/dev/cpu_dma_latency), or poll instead of sleeping; in a "
				       "virtual machine its host decides"),
			       .process = p->idx,
			       .from_ns = row->worst_from_ns,
			       .to_ns = row->worst_from_ns + row->worst_ns,
		       });
}

void find_migrations(struct findings *f)
{
	for (uint32_t i = 0; i < model_thread_count(f->model); i++) {
		const struct model_thread *t = model_thread_get(f->model, i);

		if (finding_counts(f, t->proc))
			migrations_find(f, t);
	}
	for (uint32_t i = 0; i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);

		if (finding_counts(f, p))
			wakeups_find(f, p);
	}
}

/*
 * Finds ranks that a CPU time limit throttled. The evidence is the kernel's statistics of the
 * control group, which the recorder has read. Without them, it is behaviour that only such a limit
 * causes (analysis/migrations.h).
 */

#define GROUP_CHARS 60

static char *limit_advice(void)
{
	return xstrdup(
		"a limit of CPU time holds it back: raise cpu.max or cpu.cfs_quota_us of its "
		"cgroup (CPUQuota= of systemd's units, cpu limits of containers)");
}

/* Returns the row with the longer time that a core was idle. */
static const struct migrations_process *longer_idle(const struct migrations_process *a,
						    const struct migrations_process *b)
{
	return !a || b->held_worst_ns > a->held_worst_ns ? b : a;
}

static char *words_idle(const struct findings *f, char *text, const struct migrations_process *row)
{
	return words(text, ", most %s%s on cpu %s", phrase_ns(row->held_worst_ns).text,
		     phrase_when(f, row->held_worst_from_ns).text,
		     phrase_cpu(f, row->held_worst_cpu).text);
}

/* ---- by the kernel's statistics ---- */

struct group {
	const json_t *meta;
	uint32_t n; /* number of its ranks whose losses count */
	const struct model_process *first;
	const struct migrations_process *worst;
	uint64_t idle_ns;
	char *names; /* owned */
};

/* A pid may be reused: picks the process that lived while the group was watched. */
static const struct model_process *member_of(const struct findings *f, const json_t *meta,
					     const json_t *pid)
{
	uint64_t from_ns = json_get_u64(meta, "ts_ns"), to_ns = json_get_u64(meta, "to_ns");

	for (uint32_t i = 0; i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);

		if (finding_counts(f, p) && p->pid == json_integer_value(pid) &&
		    p->start_ns <= to_ns && p->end_ns >= from_ns)
			return p;
	}
	return NULL;
}

static void member_add(struct findings *f, struct group *g, const struct model_process *p)
{
	const struct migrations_process *row = &f->migrations.process[p->idx];

	f->limited[p->idx] = true;
	g->first = g->first ?: p;
	g->worst = longer_idle(g->worst, row);
	g->idle_ns += row->held_back_ns + row->held_back_woken_ns;
	if (g->n++ < NAMED)
		g->names = words_process(f, words(g->names, g->n > 1 ? ", " : ""), p);
}

static char *group_text(const struct findings *f, struct group *g)
{
	char *text = words_more(g->names, g->n), *name, periods[HUMAN_BYTES];

	name = text_printable(json_get_text(g->meta, "cgroup"), GROUP_CHARS);
	text = words(
		text,
		" %s held back by a limit of CPU time (%s in each %s, cgroup %s) for %s, in %s "
		"of %s, as the kernel reports",
		g->n > 1 ? "were" : "was", phrase_ns(json_get_u64(g->meta, "quota_us") * 1000).text,
		phrase_ns(json_get_u64(g->meta, "period_us") * 1000).text, name,
		phrase_ns(json_get_u64(g->meta, "throttled_ns")).text,
		human_count(periods, sizeof(periods), json_get_u64(g->meta, "throttled")),
		phrase_count(json_get_u64(g->meta, "periods"), "period", "periods").text);
	free(name);
	if (!g->idle_ns)
		return text;
	text = words_ns(text, "; a core was idle meanwhile for ", g->idle_ns, "");
	return words_idle(f, text, g->worst);
}

static void group_find(struct findings *f, const json_t *meta)
{
	struct group g = {.meta = meta, .names = xstrdup("")};
	const struct model_process *p;
	const json_t *pid;
	size_t i;

	json_array_foreach(json_object_get(meta, "pids"), i, pid)
	{
		p = member_of(f, meta, pid);
		if (p)
			member_add(f, &g, p);
	}
	if (!g.n) {
		free(g.names);
		return;
	}
	finding_add(f, &(struct finding){
			       .kind = "cpu_quota",
			       .cost_ns = json_get_u64(meta, "throttled_ns"),
			       .text = group_text(f, &g),
			       .advice = limit_advice(),
			       .process = g.n > 1 ? FINDING_NOBODY : g.first->idx,
			       .from_ns = g.worst->held_worst_from_ns,
			       .to_ns = g.worst->held_worst_from_ns + g.worst->held_worst_ns,
		       });
}

/* ---- by behaviour ---- */

static void held_back_find(struct findings *f, const struct model_process *p)
{
	const struct migrations_process *row = &f->migrations.process[p->idx];
	uint64_t ns = row->held_back_ns + row->held_back_woken_ns;
	char *text = xasprintf(
		"%s could have run, and its core was idle, for %s (%s", phrase_process(f, p).text,
		phrase_ns(ns).text,
		phrase_count(row->held_back + row->held_back_woken, "time", "times").text);

	text = words(words_idle(f, text, row), ")");
	finding_add(f, &(struct finding){
			       .kind = "cpu_quota",
			       .cost_ns = ns,
			       .text = text,
			       .advice = limit_advice(),
			       .process = p->idx,
			       .from_ns = row->held_worst_from_ns,
			       .to_ns = row->held_worst_from_ns + row->held_worst_ns,
		       });
}

void find_limits(struct findings *f)
{
	const struct trace *t = model_get_trace(f->model);

	f->limited = xcalloc(model_process_count(f->model) + 1, sizeof(*f->limited));
	for (size_t i = 0; i < trace_meta_count(t); i++) {
		const json_t *meta = trace_meta_get(t, i);

		if (json_is_type(meta, "cpu_limit") && json_get_u64(meta, "throttled"))
			group_find(f, meta);
	}
	for (uint32_t i = 0; i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);

		if (finding_counts(f, p) && !f->limited[i] && f->migrations.process[i].held_back)
			held_back_find(f, p);
	}
}
