/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows why rank time was lost: the reasons and what to do (analysis/reasons.h), the roots of waits
 * (analysis/causes.h, JSON only), and the findings (analysis/finding.h).
 */
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/text.h"
#include "lib/u64.h"
#include "report/section.h"

static bool is_shown(const struct report *r, const struct reason *reason)
{
	return reason_matters(&r->reasons, reason,
			      r->opt->details == DETAIL_ALL ? 0 : r->opt->min_pct);
}

/*
 * True if a reason shown has only a limit for its saving, because the recording was not replayed.
 */
static bool is_limited(const struct report *r)
{
	for (uint32_t i = 0; i < r->reasons.n; i++) {
		const struct reason *reason = &r->reasons.reason[i];

		if (reason_is_held(reason->kind) && reason->known == GAIN_AT_MOST &&
		    is_shown(r, reason))
			return true;
	}
	return false;
}

#define INIT_LEAST_NS 100000000 /* launchers start all ranks within this time */

/*
 * Notes a rank that called MPI_Init late. The account does not include this, although the other
 * ranks wait in MPI_Init.
 */
static void init_note(const struct report *r, const struct account_job *job, FILE *out)
{
	uint64_t most_ns = 0, least_ns = UINT64_MAX;
	const struct model_process *last = NULL;

	for (uint32_t i = 0; i < job->n; i++) {
		uint32_t process = r->account.rank[job->first + i].process;
		uint64_t ns = r->findings.app.process[process].init_ns;

		most_ns = u64_max(most_ns, ns);
		if (!ns || ns >= least_ns)
			continue;
		least_ns = ns;
		last = model_process_get(r->model, process);
	}
	if (!last || most_ns - least_ns < INIT_LEAST_NS ||
	    (most_ns - least_ns) * 100 < (job->to_ns - job->from_ns) * r->opt->min_pct)
		return;
	text_note(out,
		  "Before these times, ranks waited in MPI_Init for rank %s, which called it up to "
		  "%s later than others: look at what it does before.",
		  RANK_LABEL(r, last), ROUND_NS_TEXT(most_ns - least_ns));
}

#define BETWEEN_PART 10 /* a share of a rank's time below 1 / BETWEEN_PART is not reported */

/*
 * Notes a rank that computed between polls that found nothing. In the account this is computing,
 * but the rank may only have waited.
 */
static void between_polls_note(const struct report *r, FILE *out)
{
	const struct app_thread *most = NULL;
	const struct model_process *p = NULL;
	uint64_t most_ns = 0, total_ns = 0;

	for (uint32_t i = 0; i < r->account.nrank; i++) {
		const struct account_rank *rank = &r->account.rank[i];
		const struct app_thread *t = &r->findings.app.thread[rank->thread];
		/* the account may be of a part of the run */
		uint64_t ns = u64_min(t->between_ns, rank->row.ns[ACCOUNT_COMPUTING]);

		if (ns <= most_ns || ns * BETWEEN_PART < account_total_ns(&rank->row))
			continue;
		most = t;
		most_ns = ns;
		total_ns = account_total_ns(&rank->row);
		p = model_process_get(r->model, rank->process);
	}
	if (!p)
		return;
	text_note(out,
		  "Rank %s computed for %s, %.0f %% of its time, between %s that found nothing "
		  "(see --functions). If it only waits there, that time is lost, too.",
		  RANK_LABEL(r, p), ROUND_NS_TEXT(most_ns),
		  100 * (double)most_ns / (double)total_ns,
		  PLURAL_TEXT(most->polls_between, "poll", "polls"));
}

#define OPENMP_SAMPLES 20 /* fewer samples are not reported */
#define OPENMP_PART 10	  /* a share of the computing below 1 / OPENMP_PART is not reported */

/* Notes threads that spun in an OpenMP runtime, which is computing in the account. */
static void openmp_note(const struct report *r, FILE *out)
{
	const struct model_process *p = NULL;
	struct samples_waiting most = {0};
	char *file;

	for (uint32_t i = 0; i < r->account.nrank; i++) {
		const struct account_rank *rank = &r->account.rank[i];
		struct samples_waiting w = samples_in_openmp(&r->findings.samples, r->model,
							     rank->thread, true);

		if (w.of < OPENMP_SAMPLES || w.samples * OPENMP_PART < w.of ||
		    w.samples <= most.samples)
			continue;
		most = w;
		p = model_process_get(r->model, rank->process);
	}
	if (!p)
		return;
	file = text_printable(most.file, 40);
	text_note(out,
		  "Threads of rank %s waited for each other in OpenMP (%s) for %.0f %% of their "
		  "computing: their work is uneven or partly serial, or they lack cores.",
		  RANK_LABEL(r, p), file, 100 * (double)most.samples / (double)most.of);
	free(file);
}

void text_reasons_doubts(const struct report *r, FILE *out)
{
	struct match_ends ends = match_ends_of(&r->sum.matching);

	if (!model_get_info(r->model)->sched_all)
		text_note(out, "%s: who had cores is unknown.",
			  r->account.sched ? "Only switches of recorded processes were recorded" :
					     "The scheduler was not recorded");
	if (ends.unmatched)
		text_note(out,
			  "%s of %s could not be matched: waiting for them counts as transfer "
			  "(--messages).",
			  COUNT_TEXT(ends.unmatched),
			  PLURAL_TEXT(ends.all, "send or receive", "sends and receives"));
	if (r->findings.late.matches.before)
		text_note(out,
			  "%s for requests whose start was not recorded: they count as transfer.",
			  PLURAL_TEXT(r->findings.late.matches.before, "wait was", "waits were"));
	if (r->findings.arrivals.uncertain)
		text_note(out,
			  "%s could not be matched for certain: waiting in them counts as "
			  "transfer (--findings).",
			  PLURAL_TEXT(r->findings.arrivals.uncertain, "collective call",
				      "collective calls"));
	if (r->too_long && is_limited(r))
		text_note(
			out,
			"The recording is too long for the report to replay: for ranks without a "
			"core, \"shorter by\" has only limits. povtrace advise replays it whole.");
	for (uint32_t i = 0; i < r->account.njob; i++)
		init_note(r, &r->account.job[i], out);
	between_polls_note(r, out);
	openmp_note(r, out);
}

const struct reason **reasons_shown(const struct report *r, uint32_t *shown,
				    struct reasons_left *left)
{
	uint32_t most = r->opt->details == DETAIL_ALL || !r->opt->top ? UINT32_MAX : REASONS_SHOWN;
	const struct reason **list = xmalloc((r->reasons.n + 1) * sizeof(const void *));

	*shown = 0;
	*left = (struct reasons_left){0};
	for (uint32_t i = 0; i < r->reasons.n; i++) {
		const struct reason *reason = &r->reasons.reason[i];

		if (*shown < most && is_shown(r, reason)) {
			list[(*shown)++] = reason;
		} else if (reason->ns) {
			left->ns += reason->ns;
			left->n++;
		}
	}
	return list;
}

char *reasons_left_text(const struct reasons_left *left, bool shown)
{
	return xasprintf("%s, %s together",
			 PLURAL_TEXT(left->n, shown ? "smaller cause" : "small cause",
				     shown ? "smaller causes" : "small causes"),
			 ROUND_NS_TEXT(left->ns));
}

void text_reasons(const struct report *r, FILE *out)
{
	struct reasons_left left;
	uint32_t shown;
	const struct reason **list = reasons_shown(r, &shown, &left);

	reasons_head_print(&r->reasons, "Why, and what to do", shown, out);
	for (uint32_t i = 0; i < shown; i++)
		reason_print(&r->reasons, list[i], i + 1, account_mark(r), true, out);
	free(list);
	if (!shown)
		text_note(out, "Nothing costs %u %% of the run or more.", r->opt->min_pct);
	if (left.n) {
		char *text = reasons_left_text(&left, shown);

		fprintf(out, "     %s: --all\n", text);
		free(text);
	}
	text_reasons_doubts(r, out);
}

void json_reasons(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "reasons");
	for (uint32_t i = 0; i < r->reasons.n; i++) {
		if (!r->reasons.reason[i].ns)
			continue;
		json_out_object_begin(j);
		reason_json(j, r->model, &r->reasons.reason[i]);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

/* ---- causes ---- */

static const char *const kind_names[CAUSE_KINDS] = {
	[CAUSE_COMPUTED] = "computed", [CAUSE_NO_CORE] = "no_core",   [CAUSE_SLEPT] = "slept",
	[CAUSE_OUTSIDE] = "outside",   [CAUSE_MPI] = "mpi",	      [CAUSE_POLLED] = "polled",
	[CAUSE_UNKNOWN] = "unknown",   [CAUSE_WAITED] = "waited_for",
};

static uint64_t sum_of(const struct state_times *t)
{
	uint64_t ns = 0;

	for (int s = 0; s < THREAD_STATE_CNT; s++)
		ns += t->ns[s];
	return ns;
}

/* Writes a member of the open object: how a rank's time in MPI calls splits. */
void json_waits(struct json_out *j, const struct report *r, uint32_t process)
{
	const struct blame *b = causes_blame(&r->findings.causes, process);
	uint64_t calls_ns = sum_of(&b->calls), polled_ns = sum_of(&b->polled), waited_ns = 0,
		 core_ns = b->calls.ns[THREAD_RUNNABLE] + b->polled.ns[THREAD_RUNNABLE];

	for (int how = 0; how < CAUSE_WAITS; how++) {
		waited_ns += sum_of(&b->waited[how]);
		core_ns -= u64_min(b->waited[how].ns[THREAD_RUNNABLE], core_ns);
	}
	waited_ns = u64_min(waited_ns, calls_ns + polled_ns);
	core_ns = u64_min(core_ns, calls_ns + polled_ns - waited_ns);
	json_out_key_object(j, "waits");
	json_out_key_uint(j, "calls_ns", calls_ns);
	json_out_key_uint(j, "polled_ns", polled_ns);
	json_out_key_uint(j, "late_sender_ns", sum_of(&b->waited[CAUSE_LATE_SENDER]));
	json_out_key_uint(j, "late_receiver_ns", sum_of(&b->waited[CAUSE_LATE_RECEIVER]));
	json_out_key_uint(j, "collective_ns", sum_of(&b->waited[CAUSE_COLLECTIVE]));
	json_out_key_uint(j, "late_post_ns", sum_of(&b->waited[CAUSE_EPOCH + EPOCH_LATE_POST]));
	json_out_key_uint(j, "late_complete_ns",
			  sum_of(&b->waited[CAUSE_EPOCH + EPOCH_LATE_COMPLETE]));
	json_out_key_uint(j, "lock_ns", sum_of(&b->waited[CAUSE_EPOCH + EPOCH_LOCKED]));
	json_out_key_uint(j, "late_progress_ns",
			  sum_of(&b->waited[CAUSE_EPOCH + EPOCH_NO_PROGRESS]));
	json_out_known_uint(j, "without_core_ns", r->facts & FACT_SCHED, core_ns);
	json_out_key_uint(j, "rest_ns", calls_ns + polled_ns - waited_ns - core_ns);
	json_out_object_end(j);
}

static void json_who(struct json_out *j, const struct report *r, const char *pid, const char *rank,
		     uint32_t process)
{
	const struct model_process *p = process == CAUSE_NOBODY ?
						NULL :
						model_process_get(r->model, process);

	json_out_known_uint(j, pid, p, p ? p->host_pid : 0);
	json_out_known_uint(j, rank, p && p->is_rank && p->rank >= 0, p ? (uint64_t)p->rank : 0);
}

static void json_worst(struct json_out *j, const struct report *r, const char *key,
		       const struct cause_worst *w)
{
	json_out_key(j, key);
	if (!w->ns) {
		json_out_null(j);
		return;
	}
	json_out_object_begin(j);
	json_out_key_uint(j, "cost_ns", w->ns);
	json_out_key_uint(j, "from_ns", json_since_start(r, w->from_ns));
	json_out_key_uint(j, "to_ns", json_since_start(r, w->to_ns));
	json_out_key_string(j, "next_call", w->after ? w->after->name : NULL);
	json_out_key_array(j, "chain");
	for (uint32_t i = 0; i < w->nchain; i++) {
		json_out_object_begin(j);
		json_who(j, r, "pid", "rank", w->chain[i]);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_object_end(j);
}

void json_causes(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "causes");
	for (uint32_t i = 0; i < r->findings.nroot; i++) {
		const struct cause *c = &r->findings.root[i];

		json_out_object_begin(j);
		json_who(j, r, "pid", "rank", c->process);
		json_out_key_string(j, "kind", kind_names[c->kind]);
		json_who(j, r, "holder_pid", "holder_rank", c->other);
		json_out_key_uint(j, "cost_ns", c->ns);
		json_out_key_uint(j, "through_others_ns", c->through_ns);
		json_out_key_uint(j, "waits", c->cnt);
		json_worst(j, r, "worst", &c->worst);
		json_worst(j, r, "farthest", &c->farthest);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

/* ---- findings ---- */

static void uncertain_note(const struct report *r, FILE *out)
{
	static const char *const why[ASSUMED_CNT] = {
		[ASSUMED_WHOLE] = "the recording began too late, or calls are missing",
		[ASSUMED_CANCELLED] = "messages before them may have been cancelled",
		[ASSUMED_SKIPPED] = "messages before them have an unknown other end",
	};

	for (int i = ASSUMED_NOTHING + 1; i < ASSUMED_CNT; i++) {
		uint64_t messages = r->findings.late.uncertain[i];
		uint64_t calls = i == ASSUMED_WHOLE ? r->findings.arrivals.uncertain : 0;
		char m[64] = "", c[96] = "";

		if (messages)
			human_plural(m, sizeof(m), messages, "message", "messages");
		if (calls)
			human_plural(c, sizeof(c), calls, "collective call", "collective calls");
		if (messages || calls)
			text_note(out,
				  "Lateness unknown: %s%s%s. Which ends belong together is "
				  "uncertain: %s.",
				  m, messages && calls ? " and " : "", c, why[i]);
	}
}

static void followed_note(const struct report *r, FILE *out)
{
	if (r->findings.causes.reported_late)
		text_note(out,
			  "%s could not be followed to their cause, because they were recognised "
			  "too late.",
			  PLURAL_TEXT(r->findings.causes.reported_late, "wait", "waits"));
}

/* Prints the findings. Only --top 0 includes those whose time other findings explain. */
static uint32_t findings_print(const struct report *r, FILE *out)
{
	const struct findings *f = &r->findings;
	uint32_t most = r->opt->top, shown = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct finding *found = &f->finding[i];

		if (r->opt->top && (shown == most || found->explained_by))
			continue;
		text_note(out, "! %s%s", found->text,
			  found->explained_by ? " (another finding covers this time, too)" : "");
		if (found->advice)
			text_note(out, "  → %s", found->advice);
		shown++;
	}
	return shown;
}

static void hidden_note(const struct report *r, uint32_t shown, FILE *out)
{
	uint32_t again = 0, n = r->findings.n;

	for (uint32_t i = 0; i < n; i++)
		again += r->findings.finding[i].explained_by != NULL;
	if (shown + again < n)
		text_note(out, "%u of %u shown; --top 0 shows all.", shown, n);
	else if (shown < n)
		text_note(out, "%s the same time: --top 0 shows all.",
			  PLURAL_TEXT(again, "more finding covers", "more findings cover"));
}

/* Notes what the analyses could not examine. */
static void unseen_note(const struct report *r, FILE *out)
{
	const struct model_info *info = model_get_info(r->model);
	struct match_ends ends = match_ends_of(&r->sum.matching);
	uint64_t open_ns = 0;

	for (uint32_t i = 0; i < r->nrows; i++)
		open_ns += r->findings.app.process[r->row[i]].open_ns;
	if (!info->sched_all)
		text_note(out, "Not examined: who had cores, because %s.",
			  info->sched_recorded ?
				  "only switches of recorded processes were recorded" :
				  "the scheduler was not recorded");
	if (r->findings.app.lost)
		text_note(out,
			  "Not examined, because records are missing: load balance, and progress "
			  "of one-sided communication at its targets.");
	if (ends.unmatched)
		text_note(out, "Lateness unknown: %s of %s, which were not matched (--messages).",
			  COUNT_TEXT(ends.unmatched),
			  PLURAL_TEXT(ends.all, "send or receive", "sends and receives"));
	if (open_ns >= r->findings.least_ns)
		text_note(out, "Not examined: %s in calls that had not returned at the end.",
			  NS_TEXT(open_ns));
}

void text_findings(const struct report *r, FILE *out)
{
	const struct findings *f = &r->findings;

	if (!r->nranks)
		return;
	text_section(out, "Findings: what ranks lost by waiting, and for whom");
	hidden_note(r, findings_print(r, out), out);
	if (!f->n)
		text_note(out, "No finding of %s or more.", NS_TEXT(f->least_ns));
	unseen_note(r, out);
	uncertain_note(r, out);
	followed_note(r, out);
}

void json_findings(struct json_out *j, const struct report *r)
{
	json_out_key_array(j, "findings");
	for (uint32_t i = 0; i < r->findings.n; i++) {
		const struct finding *f = &r->findings.finding[i];
		bool who = f->process != FINDING_NOBODY, when = f->to_ns;
		const struct model_process *p = who ? model_process_get(r->model, f->process) :
						      NULL;

		json_out_object_begin(j);
		json_out_key_string(j, "kind", f->kind);
		json_out_key_uint(j, "cost_ns", f->cost_ns);
		json_out_key_string(j, "text", f->text);
		json_out_key_string(j, "advice", f->advice);
		json_out_key_string(j, "told_by", f->explained_by);
		json_out_known_uint(j, "pid", p, p ? p->host_pid : 0);
		json_rank(j, p);
		json_out_known_uint(j, "from_ns", when, when ? json_since_start(r, f->from_ns) : 0);
		json_out_known_uint(j, "to_ns", when, when ? json_since_start(r, f->to_ns) : 0);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}
