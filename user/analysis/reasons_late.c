/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes title, evidence and action of reasons about ranks that computed, or slept, while others
 * waited.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/reasons_internal.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/text.h"
#include "lib/u64.h"

#define SAMPLES_LEAST 10 /* fewer samples do not show where a rank computed */
#define SHARE_LEAST 0.2	 /* a function with a smaller share of the samples is not named */

/*
 * Sets s->r->in to the function in which the threads computed most or, with `other` threads, more
 * than these. Leaves it unset if there are too few samples.
 */
static void in_find(const struct said *s, const uint32_t *thread, uint32_t threads,
		    const uint32_t *other, uint32_t others)
{
	struct samples_function in = samples_most(&s->f->samples, s->f->sites, thread, threads,
						  other, others);

	if (in.name && in.of >= SAMPLES_LEAST && (double)in.samples >= SHARE_LEAST * (double)in.of)
		s->r->in = in;
}

/* Finds where the rank computed most. uneven: where it computed more than others of its job. */
static void computed_in_find(const struct said *s, uint32_t who, bool uneven)
{
	const struct account_rank *rank = account_of(s->a, who);
	const struct account_job *job = account_job_of(s->a, who);
	uint32_t *other, n = 0;

	if (!rank)
		return;
	other = xcalloc(job ? job->n : 1, sizeof(*other));
	for (uint32_t i = 0; job && i < job->n && uneven; i++)
		if (s->a->rank[job->first + i].thread != rank->thread)
			other[n++] = s->a->rank[job->first + i].thread;
	in_find(s, &rank->thread, 1, other, n);
	free(other);
}

/* "work (app.c:17)"; "dgemm_ (libblas.so.3)" */
static char *words_computed_in(const struct said *s, char *text)
{
	const struct samples_function *in = &s->r->in;
	char *function = text_printable(in->name->function, 60);
	char *place = in->name->file ? reason_place_text(in->name) :
				       text_printable(text_base_name(in->module->path), 40);

	text = words(text, "%s (%s)", function, place);
	free(function);
	free(place);
	return text;
}

/*
 * Appends `before` and, for example, "95 % of rank 3's was in work (app.c:17), with what it calls",
 * or "All of rank 3's was in …"; nothing if unknown. whose: "rank 3's was"; freed.
 */
static char *words_most_in(const struct said *s, char *text, const char *before, char *whose)
{
	const struct samples_function *in = &s->r->in;

	if (in->name) {
		double pct = 100 * (double)in->samples / (double)in->of;

		text = pct < 99.5 ? words(text, "%s%.0f %%", before, pct) :
				    words(text, "%s%s", before, *before == '.' ? "All" : "all");
		text = words(text, " of %s in ", whose);
		text = words_computed_in(s, text);
		text = words(text, "%s", in->called ? ", with what it calls" : "");
	}
	free(whose);
	return text;
}

/* True if the call that ended most waiting for the root has this in its name. */
static bool is_next_call(const struct cause *root, const char *name)
{
	return root->most_before.func && strcasestr(root->most_before.func->name, name);
}

/* Advice for ranks that compute at different times, by how the others waited. */
static char *order_action(const struct said *s)
{
	const struct cause *root = s->r->root, *next = s->r->next_root;
	int how;
	char *text;

	/* A collective cannot move to another time, but the other end of a message may. */
	if (root && next && root->worst.how == CAUSE_COLLECTIVE &&
	    next->worst.how != CAUSE_COLLECTIVE)
		root = next;
	how = root ? root->worst.how : CAUSE_COLLECTIVE;
	switch (how) {
	case CAUSE_LATE_SENDER:
		text = xstrdup("send");
		if (is_next_call(root, "send"))
			text = words_root_call(s, root, text, " what goes by ");
		return words(text, " earlier, or in parts, so that ranks compute at the same time");
	case CAUSE_LATE_RECEIVER:
		if (is_next_call(root, "irecv")) {
			text = words_root_call(s, root, xstrdup("call"), " ");
			return words(text, " earlier, so that ranks compute at the same time");
		}
		text = xstrdup("post the receive");
		if (is_next_call(root, "recv"))
			text = words_root_call(s, root, text, " of ");
		return words(text, " earlier (MPI_Irecv before computing), so that ranks compute "
				   "at the same time");
	case CAUSE_EPOCH + EPOCH_LOCKED:
		text = words_root_call(s, root, xstrdup("compute before locking, or after "), "");
		return words(text, ", so that the lock is held for the accesses only");
	default:
		text = words_root_call(s, root, xstrdup("balance each step"), " before ");
		return words(text, ", not only the total of all steps");
	}
}

/* True if the module's file has a name that begins like one of the list, which NULL ends. */
static bool is_file_of(const struct model_module *module, const char *const *names)
{
	return text_begins_any(text_base_name(module->path), names);
}

/* True for functions such as write() or sin(), which only their callers can call less often. */
static bool is_system_library(const struct model_module *module)
{
	return is_file_of(module, (const char *const[]){"libc.", "libc-", "libm.", "libm-",
							"ld-linux", NULL});
}

/* True for interpreters, which run programs of another language. */
static bool is_interpreter(const struct model_module *module)
{
	return is_file_of(module, (const char *const[]){"python", "libpython", NULL});
}

char *reason_share_action(const struct said *s)
{
	const struct samples_function *in = &s->r->in;
	bool library = in->name && is_system_library(in->module);
	bool python = in->name && is_interpreter(in->module);
	char *text = xstrdup("share the work"), *function;

	if (in->name && !library && !python)
		text = words_computed_in(s, words(text, " in "));
	else
		text = words_next_call(s, text, " before ");
	text = words(text, " among the ranks%s",
		     python ? "; a Python profiler shows which functions it is in" : "");
	if (library) {
		function = text_printable(in->name->function, 60);
		text = words(text, "; record --stacks shows what calls %s", function);
		free(function);
	}
	return reason_sentence(text);
}

/*
 * Advice if the main thread of the rank to blame mostly spun in an OpenMP runtime until its other
 * threads were done. NULL: it did not.
 */
static char *openmp_action(const struct said *s)
{
	const struct account_rank *rank = account_of(s->a, s->r->process);
	struct samples_waiting w = {0};
	char *file, *text;

	if (rank)
		w = samples_in_openmp(&s->f->samples, s->f->model, rank->thread, false);
	if (w.of < SAMPLES_LEAST || 2 * w.samples < w.of)
		return NULL;
	file = text_printable(w.file, 40);
	text = xasprintf("Balance the work of its threads, for which its main thread waits in "
			 "OpenMP (%s).",
			 file);
	free(file);
	return text;
}

/* uneven: the rank computed more than the others, so sharing work helps. */
static char *computed_action(const struct said *s, bool uneven)
{
	char *text = openmp_action(s);

	if (text)
		return text;
	if (reason_is_of_progress(s->r))
		return reason_sentence(advice_target(s->f));
	return uneven ? reason_share_action(s) : reason_sentence(order_action(s));
}

/* ", rank 1 0.20 s" if there are two ranks; ", the others 0.20 s on average" */
static char *words_others_computed(const struct said *s, char *text, uint32_t who)
{
	uint32_t other = reason_other_rank(s, who);

	text = other == FINDING_NOBODY ? words(text, ", the others ") :
					 words(words_who(s, words(text, ", "), other), " ");
	text = words_round(text, reason_others_mean_ns(s->a, who));
	return words(text, "%s", other == FINDING_NOBODY ? " on average" : "");
}

char *words_computed(const struct said *s, uint32_t who, bool uneven)
{
	char *text = words(words_who(s, xstrdup(""), who), " computed ");

	computed_in_find(s, who, uneven);
	text = words_round(text, reason_computed_ns(account_of(s->a, who)));
	text = words(text, "%s", uneven ? "" : " in all");
	text = words_others_computed(s, text, who);
	return words_most_in(s, text, ". ", words(words_who(s, xstrdup(""), who), "'s was"));
}

/* True if another reason, which comes first, says that this other one of two ranks is late. */
static bool is_at_other_times(const struct said *s, uint32_t other)
{
	for (const struct reason *r = s->all->reason; r < s->r && other != FINDING_NOBODY; r++)
		if (r->kind == REASON_COMPUTED && r->process == other)
			return true;
	return false;
}

void reason_computed_one_words(const struct said *s)
{
	uint32_t who = s->r->process, other = reason_other_rank(s, who);
	bool uneven = reason_is_uneven(s->a, s->r);
	char *text = xstrdup(is_at_other_times(s, other) ? "at other times, " : "");

	text = words(words_who(s, text, who), " computes while ");

	text = other == FINDING_NOBODY ? words(text, "others") : words_who(s, text, other);
	text = words(text, other == FINDING_NOBODY ? " wait" : " waits");
	if (reason_is_of_progress(s->r))
		text = words(text, " to access its memory");
	if (reason_is_of_lock(s->r))
		text = words(text, " for a lock that it holds");
	s->r->title = reason_title(words_waited_in(s, text));
	text = words_computed(s, who, uneven);
	s->r->evidence = reason_sentence(
		words_next_call(s, text, ". Most waiting ended when it called "));
	s->r->action = computed_action(s, uneven);
}

/* Whom ranks waited for longest, and until when. */
static char *words_roots(const struct said *s, char *text)
{
	const struct cause *root = s->r->root, *next = s->r->next_root;

	if (!root)
		return text;
	text = words_who(s, words(text, ". The longest waiting was for "), root->process);
	if (next && cause_place_is(&root->most_before, &next->most_before)) {
		text = words_who(s, words(text, ", then for "), next->process);
		return words_next_call(s, text, ", mostly until they called ");
	}
	text = words_next_call(s, text, ", mostly until it called ");
	if (!next)
		return text;
	text = words_who(s, words(text, "; then for "), next->process);
	return words_root_call(s, next, text, ", mostly until it called ");
}

/* The roots may be for different waits; then the title is not about locks. */
static const char *all_title(const struct said *s, bool uneven)
{
	const struct cause *next = s->r->next_root;

	if (uneven)
		return "Some ranks compute longer, and the others wait";
	return reason_is_of_lock(s->r) && next && next->worst.how == s->r->root->worst.how ?
		       "Ranks compute while others wait for a lock that they hold" :
		       "Ranks take turns: some compute while others wait";
}

void reason_computed_all_words(const struct said *s)
{
	uint32_t alone = s->r->alone;
	const struct account_rank *most = reason_most_computed(s->a, s->r->job, alone);
	bool uneven = reason_is_uneven(s->a, s->r);
	char *text = xstrdup("");

	s->r->title = words_waited_in(s, xstrdup(all_title(s, uneven)));
	if (most) {
		computed_in_find(s, most->process, uneven);
		if (alone != FINDING_NOBODY)
			text = words(words_who(s, words(text, "apart from "), alone), ", ");
		text = words(words_who(s, text, most->process), " computed most: ");
		text = words_round(text, reason_computed_ns(most));
		if (alone == FINDING_NOBODY)
			text = words_others_computed(s, text, most->process);
		text = words_most_in(s, text, ". ",
				     words(words_who(s, xstrdup(""), most->process), "'s was"));
	}
	s->r->evidence = reason_sentence(words_roots(s, text));
	s->r->action = computed_action(s, uneven);
}

/*
 * How long a rank's threads computed, without its main thread. If longer than least_ns, also finds
 * where they computed most.
 */
static uint64_t others_computed_find(const struct said *s, uint32_t process, uint64_t least_ns)
{
	const struct account_rank *rank = account_of(s->a, process);
	uint64_t n = u64_min(s->f->app.nthread, model_thread_count(s->f->model));
	uint32_t *other = xcalloc(n + 1, sizeof(*other)), others = 0;
	uint64_t ns = 0;

	for (uint32_t i = 0; rank && i < n; i++) {
		if (i == rank->thread || model_thread_get(s->f->model, i)->proc->idx != process)
			continue;
		ns += s->f->app.thread[i].compute_ns;
		other[others++] = i;
	}
	if (ns > least_ns)
		in_find(s, other, others, NULL, 0);
	free(other);
	return ns;
}

static void slept_title(const struct said *s, uint32_t who)
{
	bool one = s->r->process != FINDING_NOBODY ||
		   (who != FINDING_NOBODY && !reason_has_others(s->r));

	if (!one)
		s->r->title = xstrdup("Ranks sleep outside MPI");
	else
		s->r->title = reason_title(words(
			words_who(s, xstrdup(""), who),
			s->r->waited_ns ? " sleeps outside MPI" :
					  " sleeps outside MPI; no rank is known to wait for it"));
}

/* How a rank slept, and what then to look for. */
static const struct {
	const char *how, *action;
} sleeps[SLEEP_KINDS] = {
	[SLEEP_UNKNOWN] = {NULL, "look for sleeps, file I/O, locks or page faults"},
	[SLEEP_DEVICE] = {"in uninterruptible sleep (file I/O, paging)",
			  "look for file I/O and paging"},
	[SLEEP_STOPPED] = {"stopped by a signal or a debugger",
			   "find out who stopped it (kill -STOP, a debugger, the batch system)"},
	[SLEEP_OWN_THREAD] = {"until another of its threads woke it",
			      "look for locks and joins of threads"},
	[SLEEP_OTHER_PROCESS] = {"until another process woke it",
				 "look for pipes, sockets and child processes"},
	[SLEEP_INTERRUPT] = {"until a timer or a device woke it",
			     "look for sleep calls and reads from a network"},
	[SLEEP_POLLING] = {"between polls that found nothing",
			   "see whom it polls for: it may only wait there"},
};

/* ", 0.70 s of it until a timer or a device woke it"; without a time if it is all of it */
static char *words_how_slept(const struct said *s, char *text, uint32_t who, uint64_t slept_ns)
{
	const struct account_rank *rank = account_of(s->a, who);
	char part[HUMAN_BYTES], all[HUMAN_BYTES];
	uint64_t ns = 0;

	if (rank)
		s->r->slept = sleeps_mostly(&s->f->sleeps, rank->thread, slept_ns, &ns);
	if (s->r->slept == SLEEP_UNKNOWN)
		return text;
	human_round_ns(part, sizeof(part), ns);
	human_round_ns(all, sizeof(all), slept_ns);
	return words(text, ", %s%s%s", strcmp(part, all) ? part : "",
		     strcmp(part, all) ? " of it " : "", sleeps[s->r->slept].how);
}

static char *slept_action(const struct said *s)
{
	char *text = xstrdup(sleeps[s->r->slept].action);

	/* Ranks wait for it, so messages may have come while it slept. */
	if (s->r->slept == SLEEP_POLLING && 2 * s->r->waited_ns > s->r->own_ns) {
		free(text);
		return xstrdup("Sleep less between polls, or wait in MPI (MPI_Probe, MPI_Wait) "
			       "instead, if messages come meanwhile.");
	}
	if (s->r->slept != SLEEP_STOPPED && s->r->slept != SLEEP_POLLING)
		text = words_next_call(s, text, " before ");
	return reason_sentence(text);
}

/* Advice if the rank's other threads computed while its main thread slept. */
static char *threads_action(const struct said *s)
{
	if (s->r->slept != SLEEP_OWN_THREAD || !s->r->in.name || is_system_library(s->r->in.module))
		return xstrdup("See what its threads did meanwhile: povtrace report --threads. The "
			       "main thread may have waited for them.");
	return reason_sentence(words(words_computed_in(s, xstrdup("share the work in ")),
				     " among threads and ranks, as the main thread waits for it; "
				     "or, if it waits for a lock, hold that lock for less time"));
}

/* A main thread may also sleep until the rank's other threads have computed. */
void reason_slept_words(const struct said *s)
{
	uint32_t who = s->r->process != FINDING_NOBODY ? s->r->process : s->r->victim;
	uint64_t slept_ns = who != FINDING_NOBODY ? s->r->victim_ns : s->r->own_ns;
	uint64_t others_ns = who != FINDING_NOBODY ? others_computed_find(s, who, slept_ns / 2) : 0;
	char *text;

	slept_title(s, who);
	text = who != FINDING_NOBODY ? words_who(s, xstrdup(""), who) : xstrdup("a rank");
	text = words_all(s, words_round(words(text, " slept "), slept_ns));
	text = words_how_slept(s, text, who, slept_ns);
	text = words_wait_for(s, text, who);
	if (others_ns > slept_ns / 2) {
		text = words_round(words(text, ". Its other threads computed "), others_ns);
		text = words_most_in(s, text, ", ", xstrdup("it"));
		s->r->action = threads_action(s);
	} else {
		s->r->action = slept_action(s);
	}
	s->r->evidence = reason_sentence(text);
}
