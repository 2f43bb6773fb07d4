/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See account.h. Each class takes its time from one of app_time.h's parts, so that the sum is
 * unchanged.
 */
#include "analysis/account.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"
#include "lib/log.h"

/* Moves at most ns from one part to another. Returns how much could not be moved. */
static uint64_t time_move(uint64_t *from, uint64_t *to, uint64_t ns)
{
	uint64_t moved = ns < *from ? ns : *from;

	*from -= moved;
	*to += moved;
	return ns - moved;
}

/*
 * Moves the waiting for late ranks: first out of calls that wait, then out of other calls. A thread
 * without a core was waiting all the same.
 */
static void waiting_move(struct account_row *row, const struct state_times *waiting)
{
	uint64_t *ns = row->ns, no_core_ns = waiting->ns[THREAD_RUNNABLE], left = 0;

	for (int s = 0; s < THREAD_STATE_CNT; s++)
		left += s == THREAD_RUNNABLE ? 0 : waiting->ns[s];
	no_core_ns = time_move(&ns[ACCOUNT_MPI_NO_CORE], &ns[ACCOUNT_WAITING], no_core_ns);
	left = time_move(&ns[ACCOUNT_TRANSFER], &ns[ACCOUNT_WAITING], left + no_core_ns);
	left = time_move(&ns[ACCOUNT_FILE_IO], &ns[ACCOUNT_WAITING], left);
	(void)time_move(&ns[ACCOUNT_MPI_WORK], &ns[ACCOUNT_WAITING], left);
}

struct account_row account_thread(const struct app_thread *t, const struct state_times *waiting,
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
	waiting_move(&row, waiting);
	left = time_move(&ns[ACCOUNT_TRANSFER], &ns[ACCOUNT_OPEN], t->open_ns);
	left = time_move(&ns[ACCOUNT_FILE_IO], &ns[ACCOUNT_OPEN], left);
	(void)time_move(&ns[ACCOUNT_MPI_WORK], &ns[ACCOUNT_OPEN], left);
	return row;
}

uint64_t account_total_ns(const struct account_row *row)
{
	uint64_t sum_ns = 0;

	for (int i = 0; i < ACCOUNT_CLASSES; i++)
		sum_ns += row->ns[i];
	return sum_ns;
}

uint64_t account_outside_ns(const struct account_row *row)
{
	return row->ns[ACCOUNT_COMPUTING] + row->ns[ACCOUNT_OUTSIDE] + row->ns[ACCOUNT_NO_CORE] +
	       row->ns[ACCOUNT_ASLEEP];
}

/* Binary search: ranks are in order of processes. */
static const struct account_rank *rank_find(const struct account *a, uint32_t first, uint32_t n,
					    uint32_t process)
{
	uint32_t lo = first, hi = first + n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (a->rank[mid].process < process)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < first + n && a->rank[lo].process == process ? &a->rank[lo] : NULL;
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
	for (uint32_t i = 0; i < a->njob; i++)
		if (account_of_job(a, &a->job[i], process))
			return &a->job[i];
	return NULL;
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
	static const struct state_times none;
	const struct app_process *own = &app->process[p->idx];
	const struct app_thread *t = own->has_main ? &app->thread[own->main] : NULL;
	const struct state_times *waiting = &none;

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
