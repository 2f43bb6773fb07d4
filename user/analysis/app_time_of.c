/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* app_time_of: splits the sums of a thread into its times. */
#include "analysis/app_time.h"

#include "lib/u64.h"

/* Takes at most ns out of *left. Returns what it took. */
static uint64_t part_take(uint64_t ns, uint64_t *left)
{
	uint64_t got = ns < *left ? ns : *left;

	*left -= got;
	return got;
}

/* Takes ns from the parts in turn, as far as they suffice. Returns what it took. */
static uint64_t take_from(uint64_t *const *parts, int cnt, uint64_t ns)
{
	uint64_t got = 0;

	for (int i = 0; i < cnt && got < ns; i++)
		got += part_take(ns - got, parts[i]);
	return got;
}

static uint64_t whole_ns(double ns)
{
	return ns > 0 && ns < 1e18 ? (uint64_t)ns : 0;
}

/*
 * Takes the overhead out of the parts that contain it. The recording at a call's begin and end lies
 * mostly outside the measured time of the call.
 */
static void tracing_part(struct app_thread *row, const struct app_sums *s)
{
	uint64_t *const outer[] = {&row->compute_ns, &row->unknown_ns};
	uint64_t *const inner[] = {&row->work_ns, &row->wait_ns, &row->unknown_ns};
	uint64_t *const room[] = {&row->asleep_ns, &row->no_core_ns, &row->compute_ns,
				  &row->unknown_ns};
	uint64_t *const taken[] = {&row->no_core_ns, &row->unknown_ns};

	row->recording_ns = take_from(outer, 2, whole_ns(s->outer_ns)) +
			    take_from(inner, 3, whole_ns(s->inner_ns));
	row->taken_ns = take_from(taken, 2, s->taken_ns);
	row->room_ns = take_from(room, 4, s->room_ns);
	row->tracing_ns = row->recording_ns + row->room_ns + row->taken_ns;
}

/* Finds which part of no_core_ns and of unknown_ns was in calls. */
static void in_calls_part(struct app_thread *row, const struct app_sums *s)
{
	uint64_t no_core_ns = row->no_core_ns, unknown_ns = row->unknown_ns;

	row->mpi_no_core_ns = part_take(s->wait.ns[THREAD_RUNNABLE] + s->work.ns[THREAD_RUNNABLE] +
						s->io.ns[THREAD_RUNNABLE],
					&no_core_ns);
	row->unknown_wait_ns = part_take(s->wait.ns[THREAD_UNKNOWN], &unknown_ns);
	row->unknown_work_ns = part_take(s->work.ns[THREAD_UNKNOWN], &unknown_ns);
	row->unknown_io_ns = part_take(s->io.ns[THREAD_UNKNOWN], &unknown_ns);
}

/*
 * Later records may have refuted what was known when the window began. So no part takes more than
 * what is left.
 */
struct app_thread app_time_of(const struct app_sums *s, uint64_t window_ns)
{
	struct app_thread out = {.window_ns = window_ns}, *row = &out;
	const uint64_t *ns = s->life.ns;
	uint64_t left = window_ns, in_mpi_ns;

	in_mpi_ns = s->wait.ns[THREAD_RUNNING] + s->work.ns[THREAD_RUNNING] +
		    s->io.ns[THREAD_RUNNING];
	row->no_core_ns = part_take(ns[THREAD_RUNNABLE], &left);
	row->work_ns = part_take(s->work.ns[THREAD_RUNNING], &left);
	row->wait_ns = part_take(s->wait.ns[THREAD_RUNNING], &left);
	row->io_ns = part_take(s->io.ns[THREAD_RUNNING], &left);
	row->compute_ns = part_take(u64_minus(ns[THREAD_RUNNING], in_mpi_ns), &left);
	in_mpi_ns = s->wait.ns[THREAD_BLOCKED] + s->work.ns[THREAD_BLOCKED];
	row->wait_ns += part_take(in_mpi_ns, &left);
	row->io_ns += part_take(s->io.ns[THREAD_BLOCKED], &left);
	in_mpi_ns += s->io.ns[THREAD_BLOCKED];
	row->asleep_ns = part_take(u64_minus(ns[THREAD_BLOCKED], in_mpi_ns), &left);
	row->unknown_ns = left;
	tracing_part(row, s);
	in_calls_part(row, s);
	return out;
}
