/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes title, evidence and action of reasons, and the phrases that they share. reasons_cores.c
 * has those about cores, reasons_late.c those about ranks that were late.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/reasons_internal.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/text.h"

char *reason_place_text(const struct site_name *name)
{
	char *file = text_printable(text_base_name(name->file), 40);
	char *text = xasprintf("%s:%u", file, name->line);

	free(file);
	return text;
}

/* ---- time of the library, of povtrace, and what is unknown ---- */

static const struct {
	const char *title, *did, *whom, *action;
} plain[REASON_KINDS] = {
	[REASON_MPI_WORK] = {"MPI calls themselves take time", "was in MPI, running, for ",
			     "ranks that were busy in MPI",
			     "See which calls: povtrace report --functions."},
	[REASON_TRANSFER] = {"Messages and collectives take time, no rank known to be late",
			     "was in such calls for ", "them",
			     "See which: povtrace report --functions --messages."},
	[REASON_FILE_IO] = {"Ranks read and write files", "was in MPI_File calls for ", "them",
			    "See which calls: povtrace report --functions."},
	[REASON_APART] = {"Ranks enter MPI late or leave it early",
			  "was in MPI_Init or MPI_Finalize, or had ended, for ", "them",
			  "Balance what ranks do before MPI_Init and after their last call."},
	[REASON_TRACING] = {"povtrace itself took time", "lost ", "it",
			    "Keep one CPU free of ranks, or record less (-f, --no-functions, "
			    "--sched ranks)."},
	[REASON_OPEN] = {"Calls had not returned when the recording ended",
			 "was in such a call for ", "them",
			 "See whom ranks waited for: povtrace report --hang."},
	[REASON_UNKNOWN] = {"Unknown time", "did for ", "ranks that did something unknown", NULL},
};

/* What helps depends on what took most: recording calls or switches, or the collector. */
static void tracing_words(const struct said *s)
{
	uint64_t calls_ns = 0, switches_ns = 0, tracing_ns = 0;

	for (uint32_t i = 0; i < s->a->nrank; i++) {
		const struct app_thread *t = &s->f->app.thread[s->a->rank[i].thread];

		calls_ns += t->recording_ns - t->switches_ns;
		switches_ns += t->switches_ns;
		tracing_ns += t->tracing_ns;
	}
	if (s->r->kind != REASON_TRACING || calls_ns + switches_ns <= tracing_ns / 2)
		return;
	free(s->r->action);
	s->r->action = xstrdup(
		switches_ns > calls_ns ?
			"Record fewer context switches: --sched ranks, or --sched off." :
			"Record fewer calls: leave out what is called most (povtrace report "
			"--functions) with --no-functions, or name groups with --mpi.");
}

static char *words_wait_for_whom(const struct said *s, char *text, uint32_t late, const char *whom)
{
	uint32_t other = late == FINDING_NOBODY ? late : reason_other_rank(s, late);

	if (!s->r->waited_ns)
		return text;
	text = words(text, "; ");
	text = other == FINDING_NOBODY ? words(text, "others") : words_who(s, text, other);
	text = words_round(words(text, " waited "), s->r->waited_ns);
	return words_waited_in(s, words(text, " for %s", whom));
}

static void plain_words(const struct said *s)
{
	const struct reason *r = s->r;
	char *text = xstrdup("");

	s->r->title = xstrdup(plain[r->kind].title);
	if (r->victim != FINDING_NOBODY) {
		text = words(text, "%s", r->kind == REASON_UNKNOWN ? "what " : "");
		text = words(words_who(s, text, r->victim), " %s", plain[r->kind].did);
		text = words_round(text, r->victim_ns);
		text = words(text, "%s", r->kind == REASON_UNKNOWN ? " is unknown" : "");
		text = words_all(s, text);
		text = r->kind == REASON_UNKNOWN ?
			       words_wait_for(s, text, r->victim) :
			       words_wait_for_whom(s, text, FINDING_NOBODY, plain[r->kind].whom);
	} else {
		text = words_round(words(text, "ranks waited "), r->waited_ns);
		text = words_waited_in(s, words(text, " for %s", plain[r->kind].whom));
	}
	s->r->evidence = reason_sentence(text);
	s->r->action = plain[r->kind].action ? xstrdup(plain[r->kind].action) : NULL;
	reason_calls_words(s);
	tracing_words(s);
}

void reason_words(const struct reasons *all, struct findings *f, struct reason *r)
{
	const struct said s = {all, f, all->account, r};

	if (reason_is_held(r->kind))
		reason_held_words(&s);
	else if (r->kind == REASON_COMPUTED && r->process != FINDING_NOBODY)
		reason_computed_one_words(&s);
	else if (r->kind == REASON_COMPUTED)
		reason_computed_all_words(&s);
	else if (r->kind == REASON_SLEPT)
		reason_slept_words(&s);
	else
		plain_words(&s);
}

/* ---- phrases ---- */

#define TOGETHER 1.05 /* mentions other ranks if all lost more than this factor times the victim */

bool reason_has_others(const struct reason *r)
{
	return (double)r->own_ns > TOGETHER * (double)r->victim_ns;
}

char *words_all(const struct said *s, char *text)
{
	if (!reason_has_others(s->r))
		return text;
	return words(words_round(words(text, " (all ranks: "), s->r->own_ns), ")");
}

char *words_round(char *text, uint64_t ns)
{
	char buf[HUMAN_BYTES];

	return words(text, "%s", human_round_ns(buf, sizeof(buf), ns));
}

char *words_who(const struct said *s, char *text, uint32_t process)
{
	const struct model_process *p = model_process_get(s->f->model, process);
	char *name;

	if (p->is_rank)
		return words_process(s->f, text, p);
	name = text_printable(p->name, 24);
	text = words(text, "`%s` (pid %u)", name, p->host_pid);
	free(name);
	return text;
}

char *words_call(const struct said *s, char *text, const struct cause_place *in, const char *before,
		 const char *after)
{
	const struct site_name *name = in->site.module ? sites_find(s->f->sites, &in->site) : NULL;
	char *place;

	text = words(text, "%s", in->func->name);
	if (!name || !name->file)
		return words_site(s->f, text, &in->site);
	place = reason_place_text(name);
	text = words(text, "%s%s%s", before, place, after);
	free(place);
	return text;
}

char *words_waited_in(const struct said *s, char *text)
{
	const struct cause_place *in = s->r->root ? &s->r->root->most_in : NULL;

	if (!in || !in->func)
		return text;
	return words(words_call(s, words(text, " ("), in, ", ", ""), ")");
}

char *words_next_call(const struct said *s, char *text, const char *before)
{
	return words_root_call(s, s->r->root, text, before);
}

char *words_root_call(const struct said *s, const struct cause *root, char *text,
		      const char *before)
{
	const struct cause_place *next = root ? &root->most_before : NULL;

	if (!next || !next->func)
		return text;
	return words_call(s, words(text, "%s", before), next, " (", ")");
}

uint32_t reason_other_rank(const struct said *s, uint32_t process)
{
	const struct account_job *job = account_job_of(s->a, process);
	const struct account_rank *rank = job ? &s->a->rank[job->first] : NULL;

	if (!job || job->n != 2)
		return FINDING_NOBODY;
	return rank[0].process == process ? rank[1].process : rank[0].process;
}

char *words_wait_for(const struct said *s, char *text, uint32_t late)
{
	bool others = reason_has_others(s->r);

	return words_wait_for_whom(s, text, others ? FINDING_NOBODY : late, others ? "them" : "it");
}

char *reason_sentence(char *text)
{
	if (text[0] != '`')
		text[0] = (char)toupper((unsigned char)text[0]);
	return words(text, ".");
}

char *reason_title(char *text)
{
	text[0] = (char)toupper((unsigned char)text[0]);
	return text;
}

char *reason_advice(const struct said *s, const char *kind, uint32_t process)
{
	for (uint32_t i = 0; i < s->f->n; i++) {
		const struct finding *found = &s->f->finding[i];

		if (found->advice && found->process == process && !strcmp(found->kind, kind))
			return reason_sentence(xstrdup(found->advice));
	}
	return NULL;
}
