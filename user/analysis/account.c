/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See account.h. Each class takes its time from one of app_time.h's parts, so that the sum is
 * unchanged.
 */
#include "analysis/account.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/whatif.h"
#include "lib/log.h"
#include "lib/table.h"

/* Moves at most ns from one part to another. Returns how much could not be moved. */
static uint64_t time_move(uint64_t *from, uint64_t *to, uint64_t ns)
{
	uint64_t moved = ns < *from ? ns : *from;

	*from -= moved;
	*to += moved;
	return ns - moved;
}

/*
 * Moves time that waited for late ranks to ACCOUNT_WAITING: from ACCOUNT_MPI_NO_CORE while the
 * thread had no core, else from class `from`. Returns how much could not be moved.
 */
static uint64_t waiting_move(uint64_t *ns, const struct state_times *waiting,
			     enum account_class from)
{
	uint64_t no_core_ns = waiting->ns[THREAD_RUNNABLE], left = 0;

	for (int s = 0; s < THREAD_STATE_CNT; s++)
		left += s == THREAD_RUNNABLE ? 0 : waiting->ns[s];
	no_core_ns = time_move(&ns[ACCOUNT_MPI_NO_CORE], &ns[ACCOUNT_WAITING], no_core_ns);
	return time_move(&ns[from], &ns[ACCOUNT_WAITING], left + no_core_ns);
}

/*
 * Moves all waiting for late ranks to ACCOUNT_WAITING. What calls that wait do not cover comes from
 * the other calls.
 */
static void all_waiting_move(uint64_t *ns, const struct causes_waiting *waiting)
{
	struct state_times rest = waiting->all;
	uint64_t left;

	for (int s = 0; s < THREAD_STATE_CNT; s++)
		rest.ns[s] -= waiting->in_files.ns[s];
	left = waiting_move(ns, &waiting->in_files, ACCOUNT_FILE_IO);
	left += waiting_move(ns, &rest, ACCOUNT_TRANSFER);
	(void)time_move(&ns[ACCOUNT_MPI_WORK], &ns[ACCOUNT_WAITING], left);
}

struct account_row account_thread(const struct app_thread *t, const struct causes_waiting *waiting,
				  bool sched)
{
	struct account_row row = {{0}};
	uint64_t *ns = row.ns, left;

	ns[ACCOUNT_COMPUTING] = t->compute_ns;
	ns[ACCOUNT_NO_CORE] = t->no_core_ns - t->mpi_no_core_ns;
	ns[ACCOUNT_ASLEEP] = t->asleep_ns;
	ns[ACCOUNT_MPI_WORK] = t->work_ns + t->unknown_work_ns;
	ns[ACCOUNT_MPI_NO_CORE] = t->mpi_no_core_ns;
	ns[ACCOUNT_TRANSFER] = t->wait_ns + t->unknown_wait_ns;
	ns[ACCOUNT_FILE_IO] = t->io_ns + t->unknown_io_ns;
	ns[ACCOUNT_TRACING] = t->tracing_ns;
	ns[sched ? ACCOUNT_UNKNOWN : ACCOUNT_OUTSIDE] = t->unknown_ns - t->unknown_wait_ns -
							t->unknown_work_ns - t->unknown_io_ns;
	all_waiting_move(ns, waiting);
	left = time_move(&ns[ACCOUNT_TRANSFER], &ns[ACCOUNT_OPEN], t->open_ns);
	left = time_move(&ns[ACCOUNT_FILE_IO], &ns[ACCOUNT_OPEN], left);
	(void)time_move(&ns[ACCOUNT_MPI_WORK], &ns[ACCOUNT_OPEN], left);
	return row;
}

uint64_t account_total_ns(const struct account_row *row)
{
	return table_sum(ACCOUNT_CLASSES, i, row->ns[i]);
}

/* Time outside MPI; other tools call it useful time. */
static uint64_t account_outside_ns(const struct account_row *row)
{
	return row->ns[ACCOUNT_COMPUTING] + row->ns[ACCOUNT_OUTSIDE] + row->ns[ACCOUNT_NO_CORE] +
	       row->ns[ACCOUNT_ASLEEP];
}

/* Binary search: ranks are in order of processes. */
static const struct account_rank *rank_find(const struct account *a, uint32_t first, uint32_t n,
					    uint32_t process)
{
	size_t at = table_first(first, first + n, i, a->rank[i].process >= process);

	return at < first + n && a->rank[at].process == process ? &a->rank[at] : NULL;
}

const struct account_rank *account_of(const struct account *a, uint32_t process)
{
	return rank_find(a, 0, a->nrank, process);
}

const struct account_rank *account_of_job(const struct account *a, const struct account_job *j,
					  uint32_t process)
{
	return rank_find(a, j->first, j->n, process);
}

const struct account_job *account_job_of(const struct account *a, uint32_t process)
{
	return table_where(a->job, a->njob, i, account_of_job(a, &a->job[i], process));
}

static void job_finish(struct account *a, struct account_job *j, const struct app_time *app)
{
	for (uint32_t i = j->first; i < j->first + j->n; i++) {
		const struct app_thread *t = &app->thread[a->rank[i].thread];

		j->from_ns = i == j->first ? t->from_ns : u64_min(t->from_ns, j->from_ns);
		j->to_ns = u64_max(t->to_ns, j->to_ns);
	}
	for (uint32_t i = j->first; i < j->first + j->n; i++) {
		struct account_row *row = &a->rank[i].row;

		row->ns[ACCOUNT_APART] = j->to_ns - j->from_ns - account_total_ns(row);
		table_row_add(&j->sum, row, ns);
	}
	table_row_add(&a->sum, &j->sum, ns);
	a->total_ns += account_total_ns(&j->sum);
}

static void rank_add(struct account *a, const struct model_process *p, const struct app_time *app,
		     const struct causes *causes)
{
	static const struct causes_waiting none;
	const struct app_process *own = &app->process[p->idx];
	const struct app_thread *t = own->has_main ? &app->thread[own->main] : NULL;
	const struct causes_waiting *waiting = &none;

	if (!t || !t->window_ns)
		return;
	if (own->main < causes->nwaiting)
		waiting = &causes->waiting[own->main];
	a->rank[a->nrank++] = (struct account_rank){p->idx, own->main,
						    account_thread(t, waiting, a->sched)};
	a->job[a->njob - 1].n++;
}

void account_make(struct account *a, const struct model *m, const struct app_time *app,
		  const struct causes *causes)
{
	uint32_t n = model_process_count(m);
	int32_t job = -1;

	*a = (struct account){
		.rank = xcalloc(n + 1, sizeof(*a->rank)),
		.job = xcalloc(n + 1, sizeof(*a->job)),
		.sched = model_get_info(m)->sched_recorded,
	};
	for (uint32_t i = 0; i < n && model_process_get(m, i)->is_rank; i++) {
		const struct model_process *p = model_process_get(m, i);

		if (!a->njob || p->job_idx != job)
			a->job[a->njob++] = (struct account_job){.first = a->nrank};
		job = p->job_idx;
		rank_add(a, p, app, causes);
	}
	for (uint32_t i = 0; i < a->njob; i++)
		job_finish(a, &a->job[i], app);
}

void account_release(struct account *a)
{
	free(a->rank);
	free(a->job);
	*a = (struct account){0};
}

struct account_unit account_unit(const struct account *a)
{
	uint64_t ns = a->total_ns;

	if (ns >= UINT64_C(1000000000000))
		return (struct account_unit){"rank-seconds", "rank-seconds", 1e9, 0};
	if (ns >= UINT64_C(1000000000))
		return (struct account_unit){"rank-seconds", "rank-seconds", 1e9,
					     ns < UINT64_C(100000000000) ? 2 : 1};
	if (ns >= 100000)
		return (struct account_unit){"rank-milliseconds", "rank-ms", 1e6,
					     ns < 10000000 ? 2 : 1};
	return (struct account_unit){"rank-microseconds", "rank-us", 1e3, 2};
}

/* ---- efficiency ---- */

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
 * The longest path is measured between calls, and U is the time left after tracing overhead. They
 * differ a little, so the path is clamped.
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

static struct efficiency job_efficiency(const struct account *a, const struct account_job *j,
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

void account_efficiencies(struct account *a, const struct app_time *app, const struct model *m,
			  struct whatif *w, bool partial)
{
	for (uint32_t i = 0; i < a->njob; i++)
		a->job[i].e = job_efficiency(a, &a->job[i], app, m, w, partial);
}

struct scaling_run *scaling_add(struct scaling *s)
{
	struct scaling_run *run = table_append(s->run, s->n);

	run->order = s->n - 1;
	return run;
}

TABLE_ORDER(run_compare, struct scaling_run,
	    table_compare(a->unknown != SCALING_KNOWN, b->unknown != SCALING_KNOWN),
	    u64_compare(a->e.ranks, b->e.ranks), u64_compare(a->order, b->order))

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
	table_sort(s->run, s->n, run_compare);
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
