/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See time_split.h. */
#include "analysis/time_split.h"

#include <stdlib.h>

#include "lib/table.h"

static struct time_row *thread_row(struct time_split *a, const struct model_thread *t)
{
	return table_row(a->thread, a->nthread, t->idx);
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct time_row *r = thread_row(ctx, c->thread);

	if (!func_is_top(c->func))
		return;
	/*
	 * Outer calls come first, so a nested call that waits inside another call that waits does
	 * not count twice.
	 */
	if (c->func->waits && c->begin_ns >= r->waits_until_ns) {
		r->polling_ns += c->split.ns[THREAD_RUNNING];
		r->waits_until_ns = c->end_ns;
	}
	if (c->nested) {
		r->nested_calls++;
		return;
	}
	r->calls++;
	r->open_calls += c->open;
	r->unwound_calls += c->unwound && !c->open;
	r->call_ns += c->end_ns - c->begin_ns;
	r->mpi_ns += c->end_ns - c->begin_ns;
	table_row_add(&r->call_split, &c->split, ns);
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	struct time_row *r = thread_row(ctx, s->thread);
	const struct time_split *a = ctx;
	struct poll_times times;

	if (!func_is_top(s->func[0].func))
		return;
	r->polls += s->cnt;
	r->spins++;
	if (s->begin_ns >= r->waits_until_ns)
		r->polling_ns += s->running_ns;
	if (s->nested)
		return;
	r->spin_ns += s->busy_ns;
	r->mpi_ns += s->busy_ns;
	times = poll_times_of(s, &a->poll_cost);
	table_row_add(&r->poll, &times, polls);
}

static void on_counted(void *ctx, const struct model_counted *c)
{
	struct time_row *r = thread_row(ctx, c->thread);

	if (!func_is_top(c->func))
		return;
	r->nested_calls += c->nested ? c->calls : 0;
	r->counted += c->nested ? 0 : c->calls;
	r->counted_ns += c->nested ? 0 : c->busy_ns;
	r->mpi_ns += c->nested ? 0 : c->busy_ns;
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	struct switch_row *r = &thread_row(ctx, s->prev)->switches;

	r->switches++;
	r->involuntary += s->preempted;
	r->voluntary += !s->preempted;
}

static void on_migrate(void *ctx, const struct model_migrate *g)
{
	thread_row(ctx, g->thread)->switches.migrations += g->orig_cpu != g->dest_cpu;
}

static void on_waking(void *ctx, const struct model_waking *w)
{
	thread_row(ctx, w->target)->switches.wakeups++;
}

static void on_start(void *ctx, const struct model *m)
{
	struct time_split *a = ctx;

	a->poll_cost = poll_cost_read(model_get_trace(m));
}

void time_row_add(struct time_row *to, const struct time_row *from)
{
	to->wall_ns = u64_max(to->wall_ns, from->wall_ns);
	table_row_add(to, from, walls_ns);
}

static void on_finish(void *ctx, const struct model *m)
{
	struct time_split *a = ctx;

	for (uint32_t i = 0; i < model_thread_count(m); i++) {
		const struct model_thread *t = model_thread_get(m, i);
		struct time_row *r = thread_row(a, t);

		r->threads = 1;
		r->wall_ns = r->walls_ns = r->thread_ns = t->end_ns - t->start_ns;
		r->times = t->times;
		time_row_add(table_row(a->process, a->nprocess, t->proc->idx), r);
	}
	for (uint32_t i = 0; i < model_process_count(m); i++) {
		const struct model_process *p = model_process_get(m, i);
		struct time_row *r = table_row(a->process, a->nprocess, i);

		r->wall_ns = r->walls_ns = p->end_ns - p->start_ns;
	}
}

void time_split_init(struct time_split *a)
{
	*a = (struct time_split){
		.sink = {.ctx = a,
			 .start = on_start,
			 .call = on_call,
			 .spin = on_spin,
			 .counted = on_counted,
			 .on_switch = on_switch,
			 .migrate = on_migrate,
			 .waking = on_waking,
			 .finish = on_finish},
	};
}

void time_split_release(struct time_split *a)
{
	free(a->process);
	free(a->thread);
}

/*
 * The record of a spin has its span, the number of its polls and the sum of their durations. The
 * calibration has the cost of one poll.
 */
struct poll_times poll_times_of(const struct model_spin *s, const struct poll_cost *cost)
{
	struct poll_times t = {.polls = s->cnt, .runs = 1, .span_ns = s->end_ns - s->begin_ns};
	double cost_ns = (double)s->cnt * poll_cost_ns(cost, s);
	uint64_t rest_ns;

	t.inside_ns = u64_min(s->busy_ns, t.span_ns);
	rest_ns = t.span_ns - t.inside_ns;
	t.probes_ns = cost_ns < (double)rest_ns ? (uint64_t)cost_ns : rest_ns;
	t.between_ns = rest_ns - t.probes_ns;
	return t;
}
