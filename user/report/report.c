/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Runs the analyses and chooses the processes shown. */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/host_clocks.h"
#include "lib/log.h"
#include "lib/table.h"
#include "report/figure.h"
#include "report/section.h"
#include "site/site_names.h"
#include "trace/trace_read.h"

#define OWN_SINKS_MAX 21
/*
 * Memory that whatif may use, in bytes: BASE and RATIO times the trace file's size, at most MOST.
 * Longer recordings are not replayed. The limit in trace_limit.h includes this memory.
 */
#define REPLAY_BASE (20u << 20)
#define REPLAY_RATIO 20
#define REPLAY_MOST (UINT64_C(256) << 20)

static size_t replay_bytes(const struct report *r)
{
	uint64_t bytes = REPLAY_BASE;
	struct stat st;

	for (size_t i = 0; i < r->nsources; i++)
		if (!stat(r->source[i].path, &st) && st.st_size > 0)
			bytes += REPLAY_RATIO * (uint64_t)st.st_size;
	return bytes < REPLAY_MOST ? bytes : REPLAY_MOST;
}

/* Prepares whatif, which replays the run without some waits. */
static void replay_init(struct report *r)
{
	r->whatif = whatif_new(r->model);
	whatif_limit(r->whatif, replay_bytes(r));
	whatif_keep_sleeps(r->whatif);
	whatif_attach(r->whatif, &r->findings.late, &r->findings.arrivals, &r->findings.holders);
}

/* Stores the sinks in the order in which they run. sinks has room for all. Returns their number. */
static uint32_t analyses_sinks(struct report *r, const struct model_sink **sinks)
{
	const struct model_sink *const first[] = {
		&r->time.sink,	    &r->cores.sink,
		&r->functions.sink, &r->messages.sink,
		&r->coverage.sink,  &r->losses.sink,
		&r->regions.sink,   &r->traffic.sink,
		&r->transfers.sink, &r->program_section.sink,
		&r->failed.sink,    &r->last_calls.sink,
	};
	/* after the sums, matches and windows that they use */
	const struct model_sink *const last[] = {
		&r->parts.sink,
		whatif_sink(r->whatif),
		&r->hang.sink,
		&r->interrupts.sink,
	};
	uint32_t n = sizeof(first) / sizeof(first[0]);

	_Static_assert(sizeof(first) + sizeof(*sinks) + sizeof(last) <=
			       OWN_SINKS_MAX * sizeof(*sinks),
		       "callers have room for no more");
	memcpy(sinks, first, sizeof(first));
	if (r->opt->details & DETAIL_CALL_SITES)
		sinks[n++] = &r->site_times.sink;
	n += findings_sinks(&r->findings, sinks + n);
	memcpy(sinks + n, last, sizeof(last));
	return n + sizeof(last) / sizeof(last[0]);
}

/* Prepares the analyses and stores their sinks, like analyses_sinks. */
static uint32_t analyses_init(struct report *r, const struct model_sink **sinks)
{
	time_split_init(&r->time);
	last_calls_init(&r->last_calls);
	cores_init(&r->cores);
	functions_init(&r->functions, &r->interrupts);
	messages_init(&r->messages);
	regions_init(&r->regions);
	findings_init(&r->findings);
	replay_init(r);
	parts_init(&r->parts, &r->findings.app, replay_bytes(r));
	failed_init(&r->failed);
	hang_init(&r->hang, &r->findings.late.matches);
	interrupts_init(&r->interrupts, &r->findings.app.windows);
	traffic_init(&r->traffic);
	transfer_start_init(&r->transfers, &r->traffic, &r->losses);
	site_times_init(&r->site_times);
	coverage_init(&r->coverage);
	r->findings.app.coverage = &r->coverage;
	losses_init(&r->losses);
	program_section_init(&r->program_section, &r->opt->section);
	return analyses_sinks(r, sinks);
}

static void facts_find(struct report *r)
{
	r->facts = FACT_PROCESSES;
	if (model_get_info(r->model)->sched_recorded)
		r->facts |= FACT_SCHED;
	for (uint32_t i = 0; i < r->functions.nrow; i++)
		r->facts |= r->functions.row[i]->counted ? FACT_COUNTED : 0;
	if (r->sum.time.times.ns[THREAD_UNKNOWN])
		r->facts |= FACT_UNKNOWN;
	if (r->time.poll_cost.probe_ns > 0)
		r->facts |= FACT_POLL_COST;
	if (r->coverage.calibrated)
		r->facts |= FACT_HIT_COST;
	for (uint32_t i = 0; i < r->nrows; i++)
		r->facts |= file_io_of(&r->findings.file_io, r->row[i])->calls ? FACT_FILE_IO : 0;
	if (r->interrupts.recorded)
		r->facts |= FACT_INTERRUPTS;
}

static void sums_make(struct report *r)
{
	uint32_t idx;

	for (uint32_t i = 0; i < r->nrows; i++) {
		idx = r->row[i];
		time_row_add(&r->sum.time, &r->time.process[idx]);
		table_row_add(&r->sum.messages, messages_of(&r->messages, idx), cnt);
		table_row_add(&r->sum.peers, messages_peers(&r->messages, idx), messages);
		table_row_add(&r->sum.matching, matches_of(&r->findings.late.matches, idx), sends);
		table_row_add(&r->sum.hits, &r->coverage.process[idx], calls);
	}
}

/* Finds missing records by process, and the cost of tracing. */
static void doubts_find(struct report *r)
{
	const struct model_process *p;
	uint32_t unannounced = model_get_stats(r->model)->sched_gaps_late ? LOSS_UNANNOUNCED : 0;

	r->lost = xcalloc(r->nprocesses + 1, sizeof(*r->lost));
	for (uint32_t i = 0; i < r->nprocesses; i++) {
		p = model_process_get(r->model, i);
		r->lost[i] = losses_in(&r->losses, p->start_ns, p->end_ns);
		if (coverage_was_late(&r->coverage, p))
			r->lost[i] |= LOSS_MISSED_CALLS;
		if (r->lost[i] & LOSS_SCHED)
			r->lost[i] |= unannounced;
	}
	for (uint32_t i = 0; i < r->nrows; i++)
		r->lost_shown |= r->lost[r->row[i]];
	r->distorted = distorted_find(&r->coverage, &r->findings.untraced, &r->account, r->model,
				      &r->distortion);
	r->facts |= distortion_most_pct(&r->distortion) >= 1 ? FACT_TRACING : 0;
	r->lost_any = r->lost_shown & LOSS_OF_ANY;
	r->left_out_only = r->lost_any && !(r->lost_shown & LOSS_OF_ANY & ~LOSS_LEFT_OUT);
	if (coverage_late_others(&r->coverage, r->model)) {
		r->lost_any = true;
		r->left_out_only = false;
	}
	for (uint32_t i = 0; i < r->cores.ncore; i++)
		if (r->cores.core[i].seen && losses_of_core(&r->losses, i)) {
			r->lost_any = true;
			r->left_out_only = false;
		}
}

/* True if some message or collective call could not be matched with its partners. */
static bool path_is_partial(const struct report *r)
{
	return table_any(r->nprocesses, i,
			 match_ends_of(matches_of(&r->findings.late.matches, i)).unmatched) ||
	       r->findings.arrivals.uncertain || r->findings.late.matches.before ||
	       r->findings.app.lost;
}

static void account_conclude(struct report *r)
{
	bool partial = path_is_partial(r);

	account_make(&r->account, r->model, &r->findings.app, &r->findings.causes);
	account_efficiencies(&r->account, &r->findings.app, r->model, r->whatif, partial);
	parts_conclude(&r->parts, &r->account, r->whatif, partial);
	reasons_make(&r->reasons, &r->findings, &r->account, r->whatif);
	/* Its memory is large, and a page replays the recording once more: free it now. */
	r->too_long = whatif_is_full(r->whatif);
	whatif_free(r->whatif);
	r->whatif = NULL;
}

static uint64_t sort_value(const struct report *r, uint32_t idx)
{
	static const size_t by[] = {
		[REPORT_SORT_RUNNING] = offsetof(struct time_row, times.ns[THREAD_RUNNING]),
		[REPORT_SORT_RUNNABLE] = offsetof(struct time_row, times.ns[THREAD_RUNNABLE]),
		[REPORT_SORT_BLOCKED] = offsetof(struct time_row, times.ns[THREAD_BLOCKED]),
		[REPORT_SORT_MPI] = offsetof(struct time_row, mpi_ns),
		[REPORT_SORT_POLLING] = offsetof(struct time_row, polling_ns),
	};
	const char *row = (const char *)&r->time.process[idx];

	return r->sort == REPORT_SORT_RANK ? 0 : *(const uint64_t *)(row + by[r->sort]);
}

static int row_compare(const void *va, const void *vb, void *ctx)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	uint64_t x = sort_value(ctx, a), y = sort_value(ctx, b);

	return u64_compare(y, x) ?: u64_compare(a, b);
}

static int rows_choose(struct report *r)
{
	const struct model_process *p;

	r->nprocesses = model_process_count(r->model);
	r->row = xcalloc(r->nprocesses, sizeof(*r->row));
	r->chosen = xcalloc(r->nprocesses, sizeof(*r->chosen));
	for (uint32_t i = 0; i < r->nprocesses; i++)
		r->nranks += model_process_get(r->model, i)->is_rank;
	for (uint32_t i = 0; i < r->nprocesses; i++) {
		p = model_process_get(r->model, i);
		if (r->nranks ? !p->is_rank || !rank_list_has(&r->opt->ranks, p->job_idx, p->rank) :
				!p->is_target || !p->pid)
			continue;
		r->chosen[i] = true;
		r->row[r->nrows++] = i;
	}
	if (r->nranks && !r->nrows) {
		log_error("report: none of the ranks asked for is in %s; it has %u: run without "
			  "--rank to see them",
			  r->source->path, r->nranks);
		return -ENOENT;
	}
	/*
	 * Many processes without ranks are not sorted by rank, because kernel threads would come
	 * first.
	 */
	r->sort = r->opt->sort;
	if (!r->nranks && r->nrows > PROCESSES_MANY && r->sort == REPORT_SORT_RANK)
		r->sort = REPORT_SORT_RUNNING;
	if (r->nrows)
		qsort_r(r->row, r->nrows, sizeof(*r->row), row_compare, r);
	return 0;
}

int report_identify(const struct trace_source *source, size_t nsources,
		    const struct report_options *opt, struct report *r)
{
	int err;

	memset(r, 0, sizeof(*r));
	r->source = source;
	r->nsources = nsources;
	r->opt = opt;
	r->sites = sites_new();
	err = host_clocks_join(source, nsources, &r->trace);
	if (!err)
		err = model_open(r->trace, &(struct model_options){.roles_only = true}, &r->model);
	if (err)
		report_close(r);
	return err;
}

int report_replay(struct report *r)
{
	const struct model_sink *sinks[OWN_SINKS_MAX + FINDING_SINKS_MAX];
	uint32_t n = analyses_init(r, sinks);
	int err = model_run(r->model, sinks, n);

	if (!err)
		err = rows_choose(r);
	if (err)
		return err;
	r->findings.transfers = &r->transfers;
	r->findings.sites = r->sites;
	findings_make(&r->findings, r->model, r->chosen);
	account_conclude(r);
	rank_ends_make(&r->ends, r->model, &r->last_calls, r->sites);
	sums_make(r);
	facts_find(r);
	doubts_find(r);
	return 0;
}

int report_open(const struct trace_source *source, size_t nsources,
		const struct report_options *opt, struct report *r)
{
	int err = report_identify(source, nsources, opt, r);

	if (err)
		return err;
	err = report_replay(r);
	if (err)
		report_close(r);
	return err;
}

void report_close(struct report *r)
{
	time_split_release(&r->time);
	cores_release(&r->cores);
	functions_release(&r->functions);
	messages_release(&r->messages);
	regions_release(&r->regions);
	reasons_release(&r->reasons);
	parts_release(&r->parts);
	account_release(&r->account);
	whatif_free(r->whatif);
	findings_release(&r->findings);
	rank_ends_release(&r->ends);
	last_calls_release(&r->last_calls);
	failed_release(&r->failed);
	hang_release(&r->hang);
	interrupts_release(&r->interrupts);
	transfer_start_release(&r->transfers);
	traffic_release(&r->traffic);
	site_times_release(&r->site_times);
	sites_free(r->sites);
	coverage_release(&r->coverage);
	losses_release(&r->losses);
	program_section_release(&r->program_section);
	free(r->lost);
	free(r->row);
	free(r->chosen);
	model_close(r->model);
	trace_close(r->trace);
	memset(r, 0, sizeof(*r));
}
