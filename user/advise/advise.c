/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One replay through the findings' analyses and the strategies' own sinks, then their conclusions.
 */
#include "advise/advise.h"

#include <stdlib.h>
#include <string.h>

#include "advise/library.h"
#include "analysis/host_clocks.h"
#include "analysis/whatif.h"
#include "lib/human.h"
#include "lib/json_out.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"
#include "lib/u64.h"
#include "site/site_names.h"
#include "trace/trace_join.h"
#include "trace/trace_read.h"

/* ---- printing ---- */

/* Advice as text and as JSON (kmod-docs/ADVISE.md lists the members). */

#define NS_PER_S 1e9
#define WIDTH 100

static double seconds(uint64_t ns)
{
	return (double)ns / NS_PER_S;
}

/* Prints text with its control characters replaced, because it may contain names of the program. */
static void line_print(FILE *out, const char *before, const char *text)
{
	char *clean = text_printable(text, UINT32_MAX);

	fprintf(out, "%s%s\n", before, clean);
	free(clean);
}

/* Prints sentences without their last full stop. */
static void sentences_print(FILE *out, const char *before, const char *text)
{
	char *clean = text_printable(text, UINT32_MAX), *whole = xasprintf("%s.", clean);

	text_wrapped_print(out, before, whole, WIDTH - text_chars(before));
	free(whole);
	free(clean);
}

static void advice_print(const struct advise *a, const struct advice *d, FILE *out)
{
	double share = a->run_ns ? 100.0 / (double)a->run_ns : 0;

	fprintf(out, "%s%s: expected gain %.3f to %.3f s (%.0f to %.0f %% of the run)\n",
		d->cause ? "     " : "\n ! ", d->strategy->name, seconds(d->gain.low_ns),
		seconds(d->gain.high_ns), share * (double)d->gain.low_ns,
		share * (double)d->gain.high_ns);
	sentences_print(out, d->cause ? "     " : "   ", d->text);
	line_print(out, d->cause ? "     set: " : "   set: ", d->setting);
	if (d->warning)
		sentences_print(out, d->cause ? "     but: " : "   but: ", d->warning);
}

/* Returns "~" if the costs of causes may be wrong. */
static const char *cause_mark(const struct advise *a)
{
	return a->lost & (LOSS_OF_CALLS | LOSS_OF_STATES | LOSS_OF_LIVES) ? "~" : "";
}

/*
 * Prints either the causes that a setting removes, or the others without their evidence. Both have
 * the numbers of the report. Returns how many it printed.
 */
static uint32_t causes_print(const struct advise *a, bool by_setting, const char *title, FILE *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->ncause; i++) {
		if (a->reasons.reason[i].by_setting != by_setting)
			continue;
		if (!n++)
			reasons_head_print(&a->reasons, title, true, out);
		reason_print(&a->reasons, &a->reasons.reason[i], i + 1, cause_mark(a), by_setting,
			     out);
		for (uint32_t k = 0; k < a->nadvice; k++)
			if (a->advice[k].cause == i + 1)
				advice_print(a, &a->advice[k], out);
	}
	return n;
}

static uint32_t with_setting(const struct advise *a)
{
	return table_sum(a->ncause, i, a->reasons.reason[i].by_setting);
}

static uint32_t strategies_print(const struct advise *a, FILE *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->nadvice; i++) {
		if (a->advice[i].cause)
			continue;
		advice_print(a, &a->advice[i], out);
		n++;
	}
	return n;
}

/* No setting is known: prints the largest causes instead. */
static void nothing_print(const struct advise *a, FILE *out)
{
	fprintf(out, "\nNo advice: no setting is sure to gain %d %% of the run.\n",
		100 / ADVICE_PART);
	if (!causes_print(a, false, "What to change instead (evidence: povtrace report)", out) &&
	    !a->opt->nonly)
		fprintf(out, "No cause costs %d %% of the run or more.\n", 100 / ADVICE_PART);
}

/* Prints the caveats that the reader needs before the advice. */
static void doubts_print(const struct advise *a, FILE *out)
{
	char *text, *whole;

	if (a->lost) {
		fputs("Records are missing", out);
		for (int bit = 0, n = 0; bit < LOSS_BITS; bit++) {
			if (a->lost & 1u << bit)
				fprintf(out, "%s%s", n++ ? ", " : ": ", loss_names[bit]);
		}
		fputs(". No strategy gives advice then; see povtrace report --coverage.\n", out);
	}
	if (!model_get_info(a->model)->sched_all && !a->opt->nonly)
		fprintf(out, "%s: who had cores is unknown.\n",
			a->account.sched ? "Only switches of recorded processes were recorded" :
					   "The scheduler was not recorded");
	if (!distortion_matters(&a->distortion))
		return;
	text = distortion_text(&a->distortion);
	whole = xasprintf("%s. Gains are those of this slowed run", text);
	sentences_print(out, "DISTORTED: ", whole);
	free(whole);
	free(text);
}

void advise_text(const struct advise *a, FILE *out)
{
	uint32_t n;

	if (!a->ranks) {
		fputs("No MPI process was recorded, so there is nothing to advise.\n", out);
		return;
	}
	fprintf(out, "%u %s, %s between MPI_Init and MPI_Finalize", a->ranks,
		a->ranks == 1 ? "rank" : "ranks", ROUND_NS_TEXT(a->run_ns));
	if (*library_name(a->library))
		fprintf(out, ", %s", library_name(a->library));
	fputc('\n', out);
	doubts_print(a, out);
	n = causes_print(a, true, "Causes with a setting, numbered as in povtrace report", out);
	n += strategies_print(a, out);
	if (n && with_setting(a) < a->ncause)
		causes_print(a, false, "Causes without a setting (evidence: povtrace report)", out);
	if (!n)
		nothing_print(a, out);
	if (n > 1)
		fputs("\nGains may overlap, so they do not add up. Act on the largest, then "
		      "record again.\n",
		      out);
	if (a->nnone)
		fputs("\nExamined without advice\n", out);
	for (uint32_t i = 0; i < a->nnone; i++) {
		char before[32];

		snprintf(before, sizeof(before), "   %-11s ", a->none[i].strategy->name);
		sentences_print(out, before, a->none[i].text);
	}
}

static void advice_json(struct json_out *j, const struct advice *d)
{
	json_out_object_begin(j);
	json_out_key_string(j, "strategy", d->strategy->name);
	if (d->cause)
		json_out_key_uint(j, "cause", d->cause);
	json_out_key_string(j, "text", d->text);
	json_out_key_string(j, "setting", d->setting);
	if (d->warning)
		json_out_key_string(j, "warning", d->warning);
	json_out_key_uint(j, "gain_low_ns", d->gain.low_ns);
	json_out_key_uint(j, "gain_high_ns", d->gain.high_ns);
	json_out_key_object(j, "evidence");
	for (uint32_t i = 0; i < d->nnumber; i++)
		json_out_key_uint(j, d->number[i].name, d->number[i].value);
	json_out_object_end(j);
	json_out_object_end(j);
}

int advise_json(const struct advise *a, FILE *out)
{
	struct json_out *j = json_out_new(out, JSON_OUT_PRETTY);

	json_out_object_begin(j);
	json_out_key_uint(j, "run_ns", a->run_ns);
	json_out_key_string(j, "library", library_name(a->library));
	json_out_key_array(j, "missing");
	for (int bit = 0; bit < LOSS_BITS; bit++) {
		if (a->lost & 1u << bit)
			json_out_string(j, loss_names[bit]);
	}
	json_out_array_end(j);
	json_out_key_bool(j, "distorted", distortion_matters(&a->distortion));
	json_out_key_array(j, "causes");
	for (uint32_t i = 0; i < a->ncause; i++) {
		json_out_object_begin(j);
		json_out_key_uint(j, "number", i + 1);
		reason_json(j, a->model, &a->reasons.reason[i]);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_key_array(j, "advice");
	for (uint32_t i = 0; i < a->nadvice; i++)
		advice_json(j, &a->advice[i]);
	json_out_array_end(j);
	json_out_key_array(j, "none");
	for (uint32_t i = 0; i < a->nnone; i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "strategy", a->none[i].strategy->name);
		json_out_key_string(j, "text", a->none[i].text);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_object_end(j);
	return json_out_finish(j);
}

/* ---- concluding ---- */

#define OWN_SINKS 3 /* sinks in addition to those of the findings and strategies */

static size_t strategies_cnt(void)
{
	size_t n = 0;

	while (strategies[n])
		n++;
	return n;
}

static bool wanted(const struct advise *a, const struct strategy *s)
{
	return table_any(a->opt->nonly, i, !strcmp(a->opt->only[i], s->name)) || !a->opt->nonly;
}

/*
 * Time from the first end of MPI_Init to the last begin of MPI_Finalize. Uses a rank's start or end
 * if these calls are missing.
 */
static uint64_t run_ns_of(const struct advise *a)
{
	const struct windows *w = &a->findings.app.windows;
	const struct model_info *info = model_get_info(a->model);
	uint64_t from_ns = UINT64_MAX, to_ns = 0;

	for (uint32_t i = 0; i < model_process_count(a->model); i++) {
		const struct model_process *p = model_process_get(a->model, i);
		const struct window *own = i < w->nprocess ? &w->process[i] : NULL;
		uint64_t begin_ns = own && own->from_ns ? own->from_ns : p->start_ns;
		uint64_t end_ns = own && own->is == WINDOW_OVER ? own->to_ns :
				  p->exited			? p->end_ns :
								  info->end_ns;

		if (!p->is_rank)
			continue;
		from_ns = begin_ns < from_ns ? begin_ns : from_ns;
		to_ns = end_ns > to_ns ? end_ns : to_ns;
	}
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

struct gain advise_gain(const struct advise *a,
			bool (*leave_out)(void *ctx, const struct whatif_dep *d,
					  struct whatif_instead *instead),
			void *ctx, bool *sure)
{
	const struct whatif_change change = {.leave_out = leave_out, .ctx = ctx};
	struct gain g;

	*sure = true;
	g.low_ns = whatif_run(a->whatif, &change);
	*sure = false;
	g.high_ns = whatif_run(a->whatif, &change);
	return g;
}

TABLE_ORDER(gain_compare, struct advice, u64_compare(b->gain.low_ns, a->gain.low_ns),
	    strcmp(a->text, b->text))

/* Counts the ranks, and finds what makes their times doubtful. */
static void doubts_find(struct advise *a)
{
	for (uint32_t i = 0; i < model_process_count(a->model); i++) {
		const struct model_process *p = model_process_get(a->model, i);

		if (!p->is_rank)
			continue;
		a->ranks++;
		a->lost |= losses_in(&a->losses, p->start_ns, p->end_ns);
		if (coverage_was_late(&a->coverage, p))
			a->lost |= LOSS_MISSED_CALLS;
	}
	a->lost &= LOSS_OF_ANY;
	(void)distorted_find(&a->coverage, &a->findings.untraced, &a->account, a->model,
			     &a->distortion);
}

/* Finds the same causes as the report. With --only, no causes are shown. */
static void causes_find(struct advise *a)
{
	account_make(&a->account, a->model, &a->findings.app, &a->findings.causes);
	account_efficiencies(&a->account, &a->findings.app, a->model, a->whatif, false);
	reasons_make(&a->reasons, &a->findings, &a->account, a->whatif);
	while (!a->opt->nonly && a->ncause < a->reasons.n && a->ncause < REASONS_SHOWN &&
	       reason_matters(&a->reasons, &a->reasons.reason[a->ncause], 100 / ADVICE_PART))
		a->ncause++;
}

static void conclude(struct advise *a)
{
	findings_make(&a->findings, a->model, NULL);
	causes_find(a);
	doubts_find(a);
	a->run_ns = run_ns_of(a);
	for (size_t i = 0; strategies[i]; i++) {
		if (a->data[i])
			strategies[i]->conclude(a->data[i], a);
	}
	table_sort(a->advice, a->nadvice, gain_compare);
}

static int replay(struct advise *a)
{
	size_t n = strategies_cnt();
	const struct model_sink **sinks = xcalloc(n + FINDING_SINKS_MAX + OWN_SINKS,
						  sizeof(const void *));
	uint32_t cnt;
	int err;

	findings_init(&a->findings);
	coverage_init(&a->coverage);
	a->findings.app.coverage = &a->coverage;
	losses_init(&a->losses);
	cnt = findings_sinks(&a->findings, sinks);
	sinks[cnt++] = &a->coverage.sink;
	sinks[cnt++] = &a->losses.sink;
	sinks[cnt++] = whatif_sink(a->whatif);
	whatif_attach(a->whatif, &a->findings.late, &a->findings.arrivals, &a->findings.holders);
	for (size_t i = 0; i < n; i++) {
		if (!wanted(a, strategies[i]))
			continue;
		a->data[i] = strategies[i]->begin(a);
		if (strategies[i]->sink)
			sinks[cnt++] = strategies[i]->sink(a->data[i]);
		if (strategies[i]->matched)
			observers_add(&a->findings.late.matched, strategies[i]->matched,
				      a->data[i]);
	}
	err = model_run((struct model *)a->model, sinks, cnt);
	free(sinks);
	return err;
}

int advise_open(const struct trace_source *source, size_t nsources,
		const struct advise_options *opt, struct advise *a)
{
	struct trace *t = NULL;
	struct model *m = NULL;
	int err;

	*a = (struct advise){.opt = opt};
	err = measured_read(opt->measured, opt->nmeasured, &a->measured);
	if (err)
		return err;
	err = host_clocks_join(source, nsources, &t);
	if (!err) {
		err = model_open(t, &(struct model_options){.roles_only = true}, &m);
		if (err)
			trace_close(t);
	}
	if (err) {
		measured_release(&a->measured);
		return err;
	}
	a->model = m;
	a->data = xcalloc(strategies_cnt(), sizeof(*a->data));
	a->whatif = whatif_new(m);
	whatif_keep_sleeps(a->whatif);
	a->library = library_new(m, opt->ask_library);
	err = replay(a);
	if (!err) {
		a->findings.sites = sites_new();
		conclude(a);
	} else {
		advise_close(a);
	}
	return err;
}

void advise_close(struct advise *a)
{
	struct model *m = (struct model *)a->model;
	struct trace *t = model_get_trace(m);

	for (size_t i = 0; strategies[i]; i++) {
		if (a->data[i])
			strategies[i]->release(a->data[i]);
	}
	free(a->data);
	while (a->nadvice) {
		struct advice *d = &a->advice[--a->nadvice];

		free(d->text);
		free(d->setting);
		free(d->warning);
	}
	free(a->advice);
	while (a->nnone)
		free(a->none[--a->nnone].text);
	free(a->none);
	sites_free(a->findings.sites);
	reasons_release(&a->reasons);
	account_release(&a->account);
	findings_release(&a->findings);
	coverage_release(&a->coverage);
	losses_release(&a->losses);
	whatif_free(a->whatif);
	library_free(a->library);
	measured_release(&a->measured);
	model_close(m);
	trace_close(t);
}

/* ---- conclusions ---- */

/* Returns the number of the cause that a strategy addresses; 0: there is none. */
static uint32_t cause_of(const struct advise *a, const struct strategy *s)
{
	for (uint32_t i = 0; s->mends && i < a->ncause; i++)
		if (a->reasons.reason[i].kind == s->cause && a->reasons.reason[i].by_setting)
			return i + 1;
	return 0;
}

void advise_nothing(struct advise *a, const struct strategy *s, char *text)
{
	if (cause_of(a, s)) { /* the cause's own text names the setting */
		free(text);
		return;
	}
	*table_append(a->none, a->nnone) = (struct no_advice){s, text};
}

void advise_add(struct advise *a, const struct advice *advice)
{
	uint64_t least_ns = a->run_ns / ADVICE_PART;

	least_ns = least_ns > ADVICE_NS ? least_ns : ADVICE_NS;
	if (!a->lost && advice->gain.low_ns >= least_ns) {
		*table_append(a->advice, a->nadvice) = *advice;
		a->advice[a->nadvice - 1].cause = cause_of(a, advice->strategy);
		return;
	}
	if (a->lost)
		advise_nothing(
			a, advice->strategy,
			xasprintf("%s. Records are missing, so the gain by \"%s\" is unknown",
				  advice->text, advice->setting));
	else
		advise_nothing(a, advice->strategy,
			       xasprintf("%s. \"%s\" is not sure to gain %d %% of the run",
					 advice->text, advice->setting, 100 / ADVICE_PART));
	free(advice->text);
	free(advice->setting);
	free(advice->warning);
}
