/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See efficiency.h. */
#include "analysis/efficiency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/whatif.h"
#include "analysis/table.h"
#include "lib/log.h"

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

/* The path may lead through all threads of the job. It ends only in ranks' main threads. */
static struct whatif_part *whole_make(const struct account *a, const struct account_job *j,
				      const struct app_time *app, const struct model *m,
				      struct whatif_stretch *window)
{
	uint32_t n = model_thread_count(m);
	struct whatif_part *part = xcalloc(n + 1, sizeof(*part));

	for (uint32_t i = 0; i < n && i < app->nthread; i++) {
		const struct account_rank *r = account_of_job(a, j,
							      model_thread_get(m, i)->proc->idx);

		window[i] = (struct whatif_stretch){app->thread[i].from_ns, app->thread[i].to_ns};
		if (r && app->thread[i].window_ns)
			part[i] = (struct whatif_part){&window[i], 1, true, i == r->thread};
	}
	return part;
}

/*
 * The path consists of calls, while U is what remains of the time besides tracing. So they differ a
 * little, and the path is clamped.
 */
static void path_factors(struct efficiency *e, double most_ns, double longest_ns)
{
	double span_ns = (double)e->span_ns, ideal_ns = longest_ns;

	ideal_ns = ideal_ns < most_ns ? most_ns : ideal_ns > span_ns ? span_ns : ideal_ns;
	e->serialisation = most_ns / ideal_ns;
	e->transfer = ideal_ns / span_ns;
}

struct efficiency efficiency_of(const struct efficiency_sums *s, struct whatif *w,
				const struct whatif_part *part, bool partial)
{
	double sum_ns = (double)s->outside_ns, most_ns = (double)s->most_ns;
	double n = (double)s->ranks, span_ns = (double)s->span_ns;
	struct efficiency e = {
		.ranks = s->ranks,
		.span_ns = s->span_ns,
		.outside_ns = s->outside_ns,
		.parallel = ratio(sum_ns, span_ns * n),
		.load_balance = ratio(sum_ns, most_ns * n),
		.communication = ratio(most_ns, span_ns),
		.had_core = s->sched ? ratio((double)s->computing_ns, sum_ns) : NAN,
		.serialisation = NAN,
		.transfer = NAN,
		.partial = partial,
	};

	if (most_ns <= 0)
		e.unknown = EFFICIENCY_NOTHING_OUTSIDE;
	else if (!w || whatif_is_full(w))
		e.unknown = EFFICIENCY_TOO_LONG;
	else
		path_factors(&e, most_ns, (double)whatif_longest_ns(w, part));
	return e;
}

void efficiency_rank_add(struct efficiency_sums *s, const struct account_row *row)
{
	uint64_t outside_ns = account_outside_ns(row);

	s->outside_ns += outside_ns;
	s->computing_ns += row->ns[ACCOUNT_COMPUTING];
	s->most_ns = u64_max(outside_ns, s->most_ns);
	s->ranks++;
}

struct efficiency efficiency_make(const struct account *a, const struct account_job *j,
				  const struct app_time *app, const struct model *m,
				  struct whatif *w, bool partial)
{
	struct whatif_stretch *window = xcalloc(model_thread_count(m) + 1, sizeof(*window));
	struct whatif_part *part = whole_make(a, j, app, m, window);
	struct efficiency_sums sums = {.span_ns = j->to_ns - j->from_ns, .sched = a->sched};
	struct efficiency e;

	for (uint32_t i = j->first; i < j->first + j->n; i++)
		efficiency_rank_add(&sums, &a->rank[i].row);
	e = efficiency_of(&sums, w, part, partial);
	free(part);
	free(window);
	return e;
}

struct scaling_run *scaling_add(struct scaling *s)
{
	s->run = xrealloc(s->run, (s->n + 1) * sizeof(*s->run));
	s->run[s->n] = (struct scaling_run){.order = s->n};
	return &s->run[s->n++];
}

static int run_compare(const void *va, const void *vb)
{
	const struct scaling_run *a = va, *b = vb;
	bool a_unknown = a->unknown != SCALING_KNOWN, b_unknown = b->unknown != SCALING_KNOWN;

	if (a_unknown != b_unknown)
		return a_unknown ? 1 : -1;
	return u64_compare(a->e.ranks, b->e.ranks) ?: u64_compare(a->order, b->order);
}

static void run_relate(struct scaling_run *run, const struct scaling_run *first, bool weak)
{
	double work = weak ? (double)run->e.ranks / (double)first->e.ranks : 1;

	if (run->unknown != SCALING_KNOWN) {
		run->computation = run->global = run->speedup = NAN;
		return;
	}
	run->computation = work * ratio((double)first->e.outside_ns, (double)run->e.outside_ns);
	run->global = run->e.parallel * run->computation;
	run->speedup = work * ratio((double)first->e.span_ns, (double)run->e.span_ns);
}

void scaling_make(struct scaling *s)
{
	s->nknown = 0;
	if (s->n)
		qsort(s->run, s->n, sizeof(*s->run), run_compare);
	for (uint32_t i = 0; i < s->n; i++) {
		s->nknown += s->run[i].unknown == SCALING_KNOWN;
		run_relate(&s->run[i], s->run, s->weak);
	}
}

bool scaling_same_program(const struct scaling *s)
{
	for (uint32_t i = 1; i < s->nknown; i++)
		if (strcmp(s->run[i].program, s->run[0].program) != 0)
			return false;
	return true;
}

uint32_t scaling_lost(const struct scaling *s, const struct scaling_run *run)
{
	return run->lost | s->run[0].lost;
}

void scaling_release(struct scaling *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->run[i].name);
		free(s->run[i].program);
		free(s->run[i].command);
	}
	free(s->run);
	*s = (struct scaling){0};
}
