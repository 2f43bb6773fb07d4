/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Writes title, evidence and action of reasons about cores that others had. */
#include <stdlib.h>
#include <string.h>

#include "analysis/label.h"
#include "lib/log.h"
#include "lib/text.h"
#include "analysis/reasons_internal.h"

static bool is_contest(const struct said *s, const struct contest *c)
{
	const struct model_process *own = c->waiter->proc, *by = c->holder->proc;

	if (!own->is_rank || (s->r->victim != FINDING_NOBODY && own->idx != s->r->victim))
		return false;
	switch (s->r->kind) {
	case REASON_HELD_BY_OTHER:
		if (reason_is_one(s->r))
			return by->idx == s->r->process;
		return s->r->process == FINDING_NOBODY ? reason_is_shared(s->all, by->idx) :
							 s->all->program[by->idx] == s->r->process;
	case REASON_HELD_BY_SELF:
		return by == own;
	case REASON_HELD_BY_RANK:
		return by->is_rank && by != own;
	case REASON_HELD_BY_KERNEL:
		return c->holder->kthread;
	default:
		return false;
	}
}

/* Returns the costliest contest of this reason's victim; NULL: none is recorded. */
static const struct contest *contest_find(const struct said *s)
{
	const struct contest *most = NULL;

	for (uint32_t i = 0; i < s->f->ncontest; i++) {
		const struct contest *c = &s->f->contest[i];

		if (is_contest(s, c) && (!most || c->ns > most->ns))
			most = c;
	}
	return most;
}

static char *words_cpu_of(const struct said *s, char *text, const struct contest *c)
{
	char label[CPU_LABEL_BYTES];

	return words(text, "CPU %s", cpu_label(s->f->model, c->cpu, label));
}

static bool is_bound(const struct said *s, const struct model_thread *t)
{
	const struct demand_mask *mask = demand_mask_of(&s->f->demand, t);

	return mask && mask->nr == 1;
}

static char *words_program_name(const struct said *s, char *text, uint32_t process)
{
	char *name = text_printable(model_process_get(s->f->model, process)->name, 24);

	text = words(text, "`%s`", name);
	free(name);
	return text;
}

/* "`clang` (89 processes)"; "`bystander` (pid 2745)"; "`cc1` and 2 other programs" */
static char *words_program(const struct said *s, char *text)
{
	uint32_t others = s->r->programs - 1;

	if (reason_is_one(s->r))
		return words_who(s, text, s->r->process);
	if (s->r->process != FINDING_NOBODY)
		return words(words_program_name(s, text, s->r->process), " (%u processes)",
			     s->r->processes);
	text = words_program_name(s, text, s->r->program[0].process);
	return others ? words(text, " and %s",
			      phrase_count(others, "other program", "other programs").text) :
			text;
}

/* "`cc1` cost 1.93 s, `mutate` 1.26 s, `cc1plus` 0.93 s, 2 others 0.10 s" */
static char *words_programs(const struct said *s, char *text)
{
	uint32_t n = s->r->programs < REASON_PROGRAMS ? s->r->programs : REASON_PROGRAMS;
	uint64_t rest_ns = s->r->ns;

	for (uint32_t i = 0; i < n; i++) {
		text = words_program_name(s, words(text, i ? ", " : ""), s->r->program[i].process);
		text = words_round(words(text, i ? " " : " cost "), s->r->program[i].ns);
		rest_ns -= s->r->program[i].ns;
	}
	return s->r->programs == n ?
		       text :
		       words_round(words(text, ", %s ",
					 phrase_count(s->r->programs - n, "other", "others").text),
				   rest_ns);
}

static char *held_title(const struct said *s, const struct contest *c)
{
	char *text = xstrdup("");

	switch (s->r->kind) {
	case REASON_HELD_BY_OTHER:
		text = words_program(s, text);
		if (!c || !reason_is_one(s->r))
			return words(text, " had cores that ranks needed");
		text = words_cpu_of(s, words(text, " ran on "), c);
		text = words(text, is_bound(s, c->waiter) ? ", to which " : ", which ");
		text = words_who(s, text, c->waiter->proc->idx);
		return words(text, is_bound(s, c->waiter) ? " is bound" : " needed");
	case REASON_HELD_BY_RANK:
		return words(text, "Ranks took cores from each other");
	case REASON_HELD_BY_SELF:
		return words(text, "Other threads of a rank took its main thread's core");
	case REASON_HELD_BY_KERNEL:
		return words(text, "Kernel threads ran on cores that ranks needed");
	case REASON_HELD_BY_NOBODY:
		return words(text, "Ranks got their core late, though it was idle");
	default:
		return words(text, "Ranks had no core; who had it is unknown");
	}
}

static char *held_evidence(const struct said *s, const struct contest *c)
{
	char *text;

	if (s->r->victim == FINDING_NOBODY) {
		text = words_round(xstrdup("ranks waited "), s->r->waited_ns);
		return reason_sentence(
			words_waited_in(s, words(text, " for ranks without a core")));
	}
	text = words_who(s, xstrdup(""), s->r->victim);
	text = words_round(words(text, " had no core for "), s->r->victim_ns);
	if (c && !s->r->programs && (s->r->kind == REASON_HELD_BY_RANK || !reason_is_one(s->r)) &&
	    s->r->kind != REASON_HELD_BY_SELF) {
		text = words_who(s, words(text, ", mostly while "), c->holder->proc->idx);
		text = words_cpu_of(s, words(text, " ran on "), c);
		if (s->r->kind == REASON_HELD_BY_RANK && is_bound(s, c->waiter) &&
		    is_bound(s, c->holder))
			text = words(text, ", to which both are bound");
	} else if (c && s->r->kind == REASON_HELD_BY_SELF) {
		text = words_cpu_of(
			s, words(text, ", mostly while thread %u ran on ", c->holder->tid), c);
	}
	text = words_wait_for(s, words_all(s, text), s->r->victim);
	if (s->r->programs)
		text = words_programs(s, words(text, ". "));
	return reason_sentence(text);
}

/* General advice to keep the holder off the CPU. */
static char *off_action(const struct said *s, const struct contest *c)
{
	uint32_t host_idx = c->waiter->proc->host_idx;
	struct model_mask *free_cpus = xcalloc(1, sizeof(*free_cpus));
	char *text, *cpus;

	if (!advice_cpus(s->f, host_idx, c->cpu, free_cpus)) {
		free(free_cpus);
		return reason_sentence(advice_elsewhere());
	}
	cpus = cpus_label(s->f->model, host_idx, free_cpus, 3);
	text = words_cpu_of(s, xstrdup("keep it off "), c);
	text = words(text, ": taskset -acp %s %u, or a cpuset (AllowedCPUs= of its systemd unit)",
		     cpus, c->holder->proc->host_pid);
	free(cpus);
	free(free_cpus);
	return reason_sentence(text);
}

/*
 * Advice for two ranks that want the same core. If the program itself put them there, no setting
 * helps.
 */
static void ranks_action(const struct said *s, const struct contest *c)
{
	const struct model_process *waiter = c->waiter->proc, *holder = c->holder->proc;
	char *text = advice_apart(s->f, waiter, holder);

	s->r->by_setting = !allotted_apart(&s->f->allotted, waiter, holder);
	if (s->r->by_setting && c->holds == ACTIVITY_POLL && !allotted_cores_each(s->f->model))
		text = advice_yield(s->f, text,
				    ", or let waiting ranks leave the core to others: ");
	s->r->action = reason_sentence(text);
}

/* Advice of a finding of that kind that blames that process; NULL: none. Caller frees. */
static char *finding_advice(const struct said *s, const char *kind, uint32_t process)
{
	for (uint32_t i = 0; i < s->f->n; i++) {
		const struct finding *found = &s->f->finding[i];

		if (found->advice && found->process == process && !strcmp(found->kind, kind))
			return reason_sentence(xstrdup(found->advice));
	}
	return NULL;
}

/*
 * Prefers the advice of rule core_held_by_others, which knows processes that forwarded ranks'
 * output.
 */
static char *other_action(const struct said *s, const struct contest *c)
{
	char *plain = reason_sentence(advice_against(s->f, c->waiter, c->holder)), *text;

	if (!reason_is_one(s->r))
		return plain;
	text = finding_advice(s, "core_held_by_others", s->r->process);
	if (!text || !strcmp(text, plain)) {
		free(text);
		text = off_action(s, c);
	}
	free(plain);
	return text;
}

static void held_action(const struct said *s, const struct contest *c)
{
	s->r->by_setting = true;
	if (s->r->kind == REASON_HELD_BY_SELF)
		s->r->action = reason_sentence(advice_threads(s->f));
	else if (!c)
		s->r->by_setting = false;
	else if (s->r->kind == REASON_HELD_BY_RANK)
		ranks_action(s, c);
	else
		s->r->action = other_action(s, c);
}

void reason_held_words(const struct said *s)
{
	const struct contest *c = contest_find(s);

	s->r->title = reason_title(held_title(s, c));
	s->r->evidence = held_evidence(s, c);
	held_action(s, c);
}
