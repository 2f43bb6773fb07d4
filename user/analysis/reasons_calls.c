/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes which calls took time while nobody was known to be late: the call site that took most,
 * polls, storms of small messages, or transfers that computation could have hidden.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/reasons_internal.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/u64.h"

#define LARGE_BYTES 65536 /* the network's rate, not its latency, determines how long these take */
#define MOSTLY 0.2	  /* a call with a smaller share of the time is not named */
#define MANY_REQUESTS 64  /* is_many_small: least requests per call */
#define SMALL_BYTES 1024  /* is_many_small: largest mean message */
#define SHORT_NS 10000	  /* computing hardly hides waits as short as this */

const struct call_place *reason_calls_place(const struct findings *f, const struct reason *r,
					    uint64_t *of_ns)
{
	enum call_work kind = r->kind == REASON_TRANSFER ? CALL_WAITS :
			      r->kind == REASON_FILE_IO	 ? CALL_FILE_IO :
							   CALL_WORKS;
	const struct call_place *p = call_places_most(&f->places, kind, of_ns);

	*of_ns = u64_max(*of_ns, r->own_ns); /* some polls were not ended by a call */
	return p && (double)call_place_own_ns(p) >= MOSTLY * (double)*of_ns ? p : NULL;
}

/* True if the calls' sizes are known. */
static bool is_sized(const struct call_place *p)
{
	return p->sized == p->calls && p->bytes;
}

static bool is_large(const struct call_place *p)
{
	return is_sized(p) && p->bytes / p->calls >= LARGE_BYTES;
}

/* True if each call waits for so many small messages that their number is what takes time. */
static bool is_many_small(const struct call_place *p)
{
	return p->requests >= MANY_REQUESTS * p->calls && 2 * p->messages >= p->requests &&
	       p->message_bytes <= SMALL_BYTES * p->messages;
}

/* " 95 % of it was in MPI_Send (app.c:9): 60 calls of 2.0 ms and 8 MiB on average, at 4 GiB/s." */
static char *words_place(const struct said *s, char *text, const struct call_place *p,
			 uint64_t of_ns)
{
	uint64_t own_ns = call_place_own_ns(p);
	double pct = 100 * (double)own_ns / (double)of_ns;

	if (s->r->kind == REASON_MPI_WORK && s->r->waited_ns)
		text = words(text, " %.0f %% of the running was in ", pct);
	else if (s->r->waited_ns)
		text = words(text, " %.0f %% of the time in such calls was in ", pct);
	else if (pct > 99.5)
		text = words(text, " It was all in ");
	else
		text = words(text, " %.0f %% of it was in ", pct);
	text = words_call(s, text, &p->at, " (", ")");
	text = words_count(words(text, ": "), p->calls, "call", "calls");
	text = words(text, "%s", p->at.func->polls ? ", with the polls before," : "");
	text = words_round(words(text, " of "), own_ns / p->calls);
	if (is_sized(p))
		text = words(text, " and %s", BYTES_TEXT(p->bytes / p->calls));
	text = words(text, "%s", p->calls > 1 ? " on average" : "");
	if (is_large(p))
		text = words(text, ", at %s/s",
			     BYTES_TEXT((uint64_t)((double)p->bytes * 1e9 / (double)own_ns)));
	if (is_many_small(p))
		text = words(words_count(words(text, "; each completed at least "),
					 p->requests / p->calls, "message", "messages"),
			     " of %s", BYTES_TEXT(p->message_bytes / p->messages));
	return words(text, ".");
}

/* True if the function makes or frees something that a program can keep. */
static bool is_setup(const struct func_info *func)
{
	if (func->group_bit & GROUP_TYPE)
		return !strcasestr(func->name, "pack");
	if (func->file_io)
		return !func->moves;
	return func->group_bit &
	       (GROUP_COMM | GROUP_TOPO | GROUP_GROUP | GROUP_ATTR | GROUP_INFO | GROUP_OP);
}

static bool is_wait(const struct func_info *func)
{
	return strcasestr(func->name, "mpi_wait");
}

static bool is_lock(const struct func_info *func)
{
	return !strcmp(func->name, "MPI_Win_lock") || !strcmp(func->name, "MPI_Win_unlock");
}

/*
 * Advice for calls that move much data at once. *before and the result go around the call's name.
 */
static const char *large_advice(const struct said *s, const char **before)
{
	*before = s->r->kind == REASON_FILE_IO ? "read and write less by " : "send less by ";
	return s->r->kind == REASON_MPI_WORK ? "" : ", or compute meanwhile (nonblocking calls)";
}

/* True if such calls may have waited for what ranks did before the recording began. */
static bool is_of_before(const struct findings *f, const struct call_place *p)
{
	const struct func_info *func = p->at.func;
	const struct matches *m = &f->late.matches;

	if (func->group_bit & GROUP_COLL || arrivals_make_comm(func))
		return arrivals_unknown(&f->arrivals) && !f->arrivals.lost;
	return func->group_bit & GROUP_REQ && m->before > m->since && !m->lost;
}

/* Advice against the time in the calls at this place; NULL: none is known. */
static char *place_action(const struct said *s, const struct call_place *p)
{
	bool large = is_large(p);
	bool often = p->calls > s->a->nrank;
	const char *before = "call ", *after = NULL;

	if (s->r->kind == REASON_TRANSFER && is_of_before(s->f, p))
		return xstrdup("Record the job from its start to see whom ranks waited for.");
	if (large) {
		after = large_advice(s, &before);
	} else if (is_many_small(p)) {
		before = "put the messages that ";
		after = " completes into fewer, larger ones";
	} else if (often && is_sized(p)) {
		after = " less often, with more data each time";
	} else if (often && is_setup(p->at.func)) {
		after = " less often, for example once before a loop";
	} else if (often && strcasestr(p->at.func->name, "barrier")) {
		before = "check whether ";
		after = " is needed";
	} else if (often && is_lock(p->at.func)) {
		before = "make more accesses for each ";
		after = ", or, if no lock is exclusive, call MPI_Win_lock_all once and then "
			"MPI_Win_flush";
	} else if (often && is_wait(p->at.func) && call_place_own_ns(p) < SHORT_NS * p->calls) {
		after = " less often, for more or larger messages each time";
	} else if (is_wait(p->at.func)) {
		before = "start earlier what ";
		after = " completes, and call MPI_Test while computing, so that data move "
			"meanwhile";
	} else if (strcasestr(p->at.func->name, "spawn")) {
		before = "have the launcher start the spawned processes, too, instead of ";
		after = "";
	}
	if (!after)
		return NULL;
	return reason_sentence(
		words(words_call(s, xstrdup(before), &p->at, " (", ")"), "%s", after));
}

static void calls_set(struct reason *r, struct findings *f, const struct call_place *p)
{
	r->calls = p;
	r->calls_from = p->at.site.module ? sites_find(f->sites, &p->at.site) : NULL;
}

static void place_words(const struct said *s)
{
	uint64_t of_ns;
	const struct call_place *p = reason_calls_place(s->f, s->r, &of_ns);

	/* most was lost by waiting for ranks in MPI, so their own calls matter less */
	if (!p || s->r->waited_ns > s->r->own_ns)
		return;
	calls_set(s->r, s->f, p);
	s->r->evidence = words_place(s, s->r->evidence, p, of_ns);
	free(s->r->action); /* "see which calls": they are named now */
	s->r->action = place_action(s, p);
}

/* ---- other evidence ---- */

/* The words so far give way to others. */
static void words_drop(struct reason *r)
{
	free(r->title);
	free(r->evidence);
	free(r->action);
	r->title = r->evidence = r->action = NULL;
}

/*
 * Names a rank that may be late. Whom ranks waited for is unknown, as in neighbourhood collectives,
 * but one computed longer than the others, which were in calls meanwhile. False: there is none.
 */
static bool late_words(const struct said *s)
{
	const struct account_rank *late = reason_may_be_late(s->a, s->f, s->r);
	uint64_t of_ns;
	const struct call_place *p = reason_calls_place(s->f, s->r, &of_ns);
	uint32_t other = late ? reason_other_rank(s, late->process) : FINDING_NOBODY;
	char *text;

	if (!late)
		return false;
	words_drop(s->r);
	text = words(words_who(s, xstrdup(""), late->process), " computes longer; ");
	text = other == FINDING_NOBODY ? words(text, "others may wait for it") :
					 words(words_who(s, text, other), " may wait for it");
	text = words(words_call(s, words(text, " ("), &p->at, ", ", ""), ")");
	s->r->title = reason_title(text);
	text = words(words_computed(s, late->process, true), ". Meanwhile ");
	text = other == FINDING_NOBODY ?
		       words(text, "the others were in MPI; whom they waited for is unknown") :
		       words(words_who(s, text, other), " was in MPI; whom it waited for is "
							"unknown");
	s->r->evidence = reason_sentence(text);
	s->r->action = p->at.func->group_bit & GROUP_RMA ? reason_sentence(advice_target(s->f)) :
							   reason_share_action(s);
	calls_set(s->r, s->f, p);
	return true;
}

/* Polls that found nothing, of the account's ranks. */
struct polling {
	uint64_t ns, polls;
};

static struct polling polling_sum(const struct said *s)
{
	struct polling sum = {0};

	for (uint32_t i = 0; i < s->a->nrank; i++) {
		const struct app_thread *t = &s->f->app.thread[s->a->rank[i].thread];

		sum.ns += t->polling_ns;
		sum.polls += t->polls;
	}
	return sum;
}

/*
 * True if polls are most of the time in calls with nobody late, even if all waiting for late ranks
 * was in polls, too.
 */
static bool is_mostly_polling(const struct said *s, const struct polling *polling)
{
	return s->r->kind == REASON_TRANSFER &&
	       polling->ns > s->a->sum.ns[ACCOUNT_WAITING] + s->r->own_ns / 2;
}

/* True if polls may be most of that time, and no call is known to be. */
static bool may_be_polling(const struct said *s, const struct polling *polling)
{
	uint64_t of_ns;

	return s->r->kind == REASON_TRANSFER && polling->ns > s->r->own_ns / 2 &&
	       !reason_calls_place(s->f, s->r, &of_ns);
}

static bool polling_words(const struct said *s)
{
	struct polling polling = polling_sum(s);
	bool mostly = is_mostly_polling(s, &polling);
	char *text = s->r->evidence;

	if (!mostly && !may_be_polling(s, &polling))
		return false;
	free(s->r->action);
	if (mostly) {
		free(s->r->title);
		s->r->title = xstrdup("Ranks poll for messages, and nobody is known to be late");
		text = words(text, " Most of it was polling: ");
	} else {
		text = words_round(words(text, " Ranks polled for "), polling.ns);
		text = words(text, " in all: ");
	}
	s->r->evidence = words(words_count(text, polling.polls, "poll", "polls"),
			       " found nothing.");
	s->r->action = xstrdup("See which functions polled, and what for: povtrace report "
			       "--functions --messages.");
	return true;
}

/*
 * True if sending a storm took a third of the time, so that receiving it took about another third.
 */
static bool is_storm(const struct said *s, const struct storm *storm)
{
	return storm && 3 * storm->ns >= s->r->own_ns;
}

static bool storm_words(const struct said *s)
{
	const struct storm *storm = storm_most(s->f);
	char *text;

	if (s->r->kind != REASON_TRANSFER || !is_storm(s, storm))
		return false;
	free(s->r->action);
	text = reason_sentence(words_storm(s->f, xstrdup(""), storm));
	s->r->evidence = words(s->r->evidence, " %s", text);
	free(text);
	s->r->action = reason_sentence(advice_storm());
	return true;
}

/* Adds evidence about transfers that computation could have hidden, if they are a large part. */
static bool overlap_words_add(const struct said *s)
{
	const struct finding *found = NULL;
	uint64_t of_ns;
	const struct call_place *p = reason_calls_place(s->f, s->r, &of_ns);
	char *text;

	if (p && is_many_small(p))
		return false;
	for (uint32_t i = 0; i < s->f->n && !found; i++)
		found = strcmp(s->f->finding[i].kind, "no_overlap") ? NULL : &s->f->finding[i];
	if (s->r->kind != REASON_TRANSFER || !found || 3 * found->cost_ns < s->r->own_ns)
		return false;
	text = reason_sentence(xstrdup(found->text));
	s->r->evidence = words(s->r->evidence, " %s", text);
	free(text);
	if (!found->advice)
		return true;
	free(s->r->action);
	s->r->action = reason_sentence(xstrdup(found->advice));
	return true;
}

void reason_calls_words(const struct said *s)
{
	bool said;

	if (!reason_is_of_calls(s->r->kind) || late_words(s))
		return;
	said = polling_words(s);
	said |= storm_words(s);
	said |= overlap_words_add(s);
	if (!said)
		place_words(s);
}
