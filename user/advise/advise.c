/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One replay through the findings' analyses and the strategies' own sinks, then their conclusions.
 */
#include "advise/advise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "advise/library.h"
#include "analysis/whatif.h"
#include "analysis/host_clocks.h"
#include "lib/log.h"
#include "site/site_names.h"
#include "trace/trace_join.h"
#include "trace/trace_read.h"

#define OWN_SINKS 3 /* in addition to those of the findings and strategies */

static size_t strategies_cnt(void)
{
	size_t n = 0;

	while (strategies[n])
		n++;
	return n;
}

static bool wanted(const struct advise *a, const struct strategy *s)
{
	for (size_t i = 0; i < a->opt->nonly; i++) {
		if (!strcmp(a->opt->only[i], s->name))
			return true;
	}
	return !a->opt->nonly;
}

/* Time from the first rank that was ready in MPI to the last one that ended. */
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

static int gain_compare(const void *va, const void *vb)
{
	const struct advice *a = va, *b = vb;

	if (a->gain.low_ns != b->gain.low_ns)
		return a->gain.low_ns > b->gain.low_ns ? -1 : 1;
	return strcmp(a->text, b->text);
}

static void doubts_find(struct advise *a)
{
	for (uint32_t i = 0; i < model_process_count(a->model); i++) {
		const struct model_process *p = model_process_get(a->model, i);

		if (!p->is_rank)
			continue;
		a->lost |= losses_in(&a->losses, p->start_ns, p->end_ns);
		if (coverage_was_late(&a->coverage, p))
			a->lost |= LOSS_MISSED_CALLS;
	}
	a->lost &= LOSS_OF_ANY;
	(void)distorted_find(&a->coverage, &a->findings.untraced, a->model, &a->distortion);
}

/* Finds the same causes as the report. With --only, no causes are shown. */
static void causes_find(struct advise *a)
{
	account_make(&a->account, a->model, &a->findings.app, &a->findings.causes);
	reasons_make(&a->reasons, &a->findings, &a->account, a->whatif);
	while (!a->opt->nonly && a->ncause < a->reasons.n && a->ncause < REASONS_SHOWN &&
	       reason_matters(&a->reasons, &a->reasons.reason[a->ncause], 100 / ADVICE_PART))
		a->ncause++;
}

static void conclude(struct advise *a)
{
	findings_make(&a->findings, a->model, NULL);
	doubts_find(a);
	a->run_ns = run_ns_of(a);
	causes_find(a);
	for (size_t i = 0; strategies[i]; i++) {
		if (a->data[i])
			strategies[i]->conclude(a->data[i], a);
	}
	if (a->nadvice)
		qsort(a->advice, a->nadvice, sizeof(*a->advice), gain_compare);
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
	a->none = xrealloc(a->none, (a->nnone + 1) * sizeof(*a->none));
	a->none[a->nnone++] = (struct no_advice){s, text};
}

void advise_add(struct advise *a, const struct advice *advice)
{
	uint64_t least_ns = a->run_ns / ADVICE_PART;

	least_ns = least_ns > ADVICE_NS ? least_ns : ADVICE_NS;
	if (!a->lost && advice->gain.low_ns >= least_ns) {
		a->advice = xrealloc(a->advice, (a->nadvice + 1) * sizeof(*a->advice));
		a->advice[a->nadvice] = *advice;
		a->advice[a->nadvice++].cause = cause_of(a, advice->strategy);
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
