/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds contests for cores, classified by the activity of both threads (analysis/contests.h). */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/find.h"
#include "lib/log.h"
#include "lib/table.h"

/* A kind of finding. is() selects its contests. Those with the same group() form one finding. */
struct kind {
	const char *name;
	bool (*is)(const struct findings *f, const struct contest *c);
	uint32_t (*group)(const struct contest *c);
	char *(*text)(const struct findings *f, const struct contest *c, uint32_t n, uint64_t ns);
	char *(*advice)(const struct findings *f, const struct contest *c, uint32_t n);
};

static bool in_mpi(enum activity d)
{
	return d == ACTIVITY_WORK || d == ACTIVITY_POLL;
}

static bool is_own(const struct contest *c)
{
	return c->waiter->proc == c->holder->proc;
}

/* ---- words ---- */

static const struct contest *contest_longest(const struct contest *c, uint32_t n)
{
	const struct contest *worst = c;

	for (uint32_t i = 1; i < n; i++)
		worst = c[i].worst_ns > worst->worst_ns ? &c[i] : worst;
	return worst;
}

/* " (12 times, most 4.000 ms at 0.620 s)" */
static char *words_times(const struct findings *f, char *text, const struct contest *c, uint32_t n)
{
	const struct contest *worst = contest_longest(c, n);
	uint64_t cnt = 0;

	for (uint32_t i = 0; i < n; i++)
		cnt += c[i].cnt;
	return words(text, " (%s, most %s%s)", phrase_count(cnt, "time", "times").text,
		     phrase_ns(worst->worst_ns).text, phrase_when(f, worst->worst_from_ns).text);
}

static struct phrase phrase_activity(enum activity d, const struct func_info *func)
{
	static const char *const what[] = {
		[ACTIVITY_OWN] = "outside MPI",
		[ACTIVITY_WORK] = "in ",
		[ACTIVITY_POLL] = "waiting in ",
		[ACTIVITY_UNKNOWN] = "doing something unknown",
	};
	struct phrase p = {""};

	snprintf(p.text, sizeof(p.text), "%s%s", what[d],
		 d == ACTIVITY_OWN || d == ACTIVITY_UNKNOWN ? "" :
		 func					    ? func->name :
							      "MPI");
	return p;
}

/*
 * Sets *cnt to the number of different keys, and first[i] if contest i is the first with its key.
 */
static bool *firsts_find(const struct contest *c, uint32_t n,
			 uint32_t (*key)(const struct contest *c), uint32_t *cnt)
{
	bool *first = xcalloc(n + 1, sizeof(*first));
	struct map seen = {0};

	*cnt = 0;
	for (uint32_t i = 0; i < n; i++) {
		first[i] = !map_get(&seen, key(&c[i]));
		if (first[i])
			map_set(&seen, key(&c[i]), first);
		*cnt += first[i];
	}
	map_release(&seen);
	return first;
}

static uint64_t key_ns(const struct contest *c, uint32_t n,
		       uint32_t (*key)(const struct contest *c), uint32_t value)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < n; i++)
		ns += key(&c[i]) == value ? c[i].ns : 0;
	return ns;
}

static uint32_t by_holding_thread(const struct contest *c)
{
	return c->holder->idx;
}

static uint32_t by_holding_process(const struct contest *c)
{
	return c->holder->proc->idx;
}

/* Threads that held the core: "12 1.2 ms, 13 1 ms; and 2 more" */
static char *words_threads(char *text, const struct contest *c, uint32_t n)
{
	uint32_t cnt, named = 0;
	bool *first = firsts_find(c, n, by_holding_thread, &cnt);

	for (uint32_t i = 0; i < n && named < NAMED; i++)
		if (first[i])
			text = words(
				text, "%s%u %s", named++ ? ", " : "", c[i].holder->tid,
				phrase_ns(key_ns(c, n, by_holding_thread, c[i].holder->idx)).text);
	free(first);
	return words_more(text, cnt);
}

static char *words_holders(const struct findings *f, char *text, const struct contest *c,
			   uint32_t n)
{
	uint32_t cnt, named = 0;
	bool *first = firsts_find(c, n, by_holding_process, &cnt);

	for (uint32_t i = 0; i < n && named < NAMED; i++)
		if (first[i])
			text = words(
				text, "%s%s %s on cpu %s", named++ ? "; " : "",
				phrase_process(f, c[i].holder->proc).text,
				phrase_ns(key_ns(c, n, by_holding_process, c[i].holder->proc->idx))
					.text,
				phrase_cpu(f, c[i].cpu).text);
	free(first);
	return words_more(text, cnt);
}

/* ---- a thread in MPI, and threads of its own rank that compute ---- */

static bool starved_is(const struct findings *f, const struct contest *c)
{
	return is_own(c) && in_mpi(c->waits) && c->holds == ACTIVITY_OWN;
}

static uint32_t by_waiting_thread(const struct contest *c)
{
	return c->waiter->idx;
}

static char *starved_text(const struct findings *f, const struct contest *c, uint32_t n,
			  uint64_t ns)
{
	char *text = xasprintf("%s: thread %u wanted cpu %s for %s, most %s, while threads of the "
			       "same rank computed there: ",
			       phrase_process(f, c->waiter->proc).text, c->waiter->tid,
			       phrase_cpu(f, c->cpu).text, phrase_ns(ns).text,
			       phrase_activity(c->waits, c->waits_in).text);

	return words_times(f, words_threads(text, c, n), c, n);
}

static char *starved_advice(const struct findings *f, const struct contest *c, uint32_t n)
{
	uint32_t computing;
	char *text;

	free(firsts_find(c, n, by_holding_thread, &computing));
	text = advice_cores(f, "the rank", computing + 1);
	return words(text ? words(text, ", or ") : xstrdup(""),
		     "compute with one thread less than it has CPUs "
		     "(OMP_NUM_THREADS, OMP_PLACES=cores OMP_PROC_BIND=close)");
}

/* ---- a rank in MPI, and others ---- */

static bool polls_away(const struct contest *c)
{
	return c->holds == ACTIVITY_POLL && (c->waits == ACTIVITY_OWN || c->waits == ACTIVITY_WORK);
}

static bool preempted_is(const struct findings *f, const struct contest *c)
{
	return !is_own(c) && in_mpi(c->waits) && !polls_away(c);
}

static uint32_t by_waiting_process(const struct contest *c)
{
	return c->waiter->proc->idx;
}

static char *preempted_text(const struct findings *f, const struct contest *c, uint32_t n,
			    uint64_t ns)
{
	char *text = xasprintf("%s had no core for %s while it was in MPI, most %s: ",
			       phrase_process(f, c->waiter->proc).text, phrase_ns(ns).text,
			       phrase_activity(c->waits, c->waits_in).text);

	return words_times(f, words_holders(f, text, c, n), c, n);
}

static char *preempted_advice(const struct findings *f, const struct contest *c, uint32_t n)
{
	return advice_against(f, c->waiter, c->holder);
}

/* ---- polling that keeps others from working ---- */

/* True if more than half of the contest's longest stretch lies within that time. */
static bool mostly_within(const struct contest *c, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t begin_ns = c->worst_from_ns, end_ns = c->worst_from_ns + c->worst_ns;

	begin_ns = u64_max(begin_ns, from_ns);
	end_ns = u64_min(end_ns, to_ns);
	return end_ns > begin_ns && 2 * (end_ns - begin_ns) > c->worst_ns;
}

/*
 * True if the polling holder waited for the thread that wanted its core. Uses late senders and late
 * arrivals as evidence.
 */
static bool waited_for(const struct findings *f, const struct contest *c)
{
	const struct waited_for *l = waited_for_get(&f->late.pairs[LATE_SENDER],
						    c->holder->proc->idx, c->waiter->proc->idx);
	const struct arrival_row *a = c->waiter->proc->idx < f->arrivals.nprocess ?
					      &f->arrivals.process[c->waiter->proc->idx] :
					      NULL;

	if (is_own(c))
		return false;
	if (l && mostly_within(c, l->worst_from_ns, l->worst_to_ns))
		return true;
	return a && a->waited_ns && c->holds_in == a->worst.func &&
	       mostly_within(c, a->worst.begin_ns - a->worst.late_ns, a->worst.begin_ns);
}

static bool starves_peer(const struct findings *f, const struct contest *c)
{
	return polls_away(c) && waited_for(f, c);
}

static bool only_polls(const struct findings *f, const struct contest *c)
{
	return polls_away(c) && !waited_for(f, c);
}

static char *polling_text(const struct findings *f, const struct contest *c, uint32_t n,
			  uint64_t ns)
{
	char *text = xasprintf("%s, thread %u, %s, held cpu %s for %s while %s, thread %u, %s, "
			       "wanted it%s",
			       phrase_process(f, c->holder->proc).text, c->holder->tid,
			       phrase_activity(c->holds, c->holds_in).text,
			       phrase_cpu(f, c->cpu).text, phrase_ns(ns).text,
			       phrase_process(f, c->waiter->proc).text, c->waiter->tid,
			       phrase_activity(c->waits, c->waits_in).text,
			       waited_for(f, c) ? ", whom it waited for" : "");

	return words_times(f, text, c, n);
}

static char *polling_advice(const struct findings *f, const struct contest *c, uint32_t n)
{
	char *text = is_own(c) ? advice_cores(f, "the rank", 2) :
				 advice_apart(f, c->waiter->proc, c->holder->proc);

	if (!text)
		text = xstrdup("start fewer threads: there are not two cores for each rank");
	return advice_yield(f, text, ", or let waiting ranks leave the core to others: ");
}

/* ---- the list ---- */

static const struct kind kinds[] = {
	{"communication_starved", starved_is, by_waiting_thread, starved_text, starved_advice},
	{"preempted_in_mpi", preempted_is, by_waiting_process, preempted_text, preempted_advice},
	{"polling_starves_peer", starves_peer, by_holding_process, polling_text, polling_advice},
	{"polling_holds_core", only_polls, by_holding_process, polling_text, polling_advice},
};

static int group_compare(const void *va, const void *vb, void *ctx)
{
	const struct contest *a = va, *b = vb;
	const struct kind *k = ctx;
	int order = u64_compare(k->group(a), k->group(b)) ?: u64_compare(b->ns, a->ns);

	order = order ?: u64_compare(a->waiter->idx, b->waiter->idx);
	return order ?: u64_compare(a->holder->idx, b->holder->idx);
}

static void group_add(struct findings *f, const struct kind *k, const struct contest *c, uint32_t n)
{
	const struct contest *worst = contest_longest(c, n);
	uint32_t *contest;
	bool one = true;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < n; i++) {
		ns += c[i].ns;
		one &= c[i].holder->proc == c->holder->proc;
	}
	if (ns < f->least_ns)
		return;
	contest = xmalloc(n * sizeof(*contest));
	for (uint32_t i = 0; i < n; i++)
		contest[i] = c[i].idx;
	finding_add(f, &(struct finding){
			       .kind = k->name,
			       .cost_ns = ns,
			       .text = k->text(f, c, n, ns),
			       .advice = k->advice(f, c, n),
			       .process = one ? c->holder->proc->idx : FINDING_NOBODY,
			       .from_ns = worst->worst_from_ns,
			       .to_ns = worst->worst_from_ns + worst->worst_ns,
			       .contest = contest,
			       .ncontest = n,
		       });
}

static void kind_find(struct findings *f, const struct kind *k, struct contest *list)
{
	uint32_t n = 0, end;

	for (uint32_t i = 0; i < f->ncontest; i++)
		if (finding_counts(f, f->contest[i].waiter->proc) && k->is(f, &f->contest[i]))
			list[n++] = f->contest[i];
	if (n)
		qsort_r(list, n, sizeof(*list), group_compare, (void *)k);
	for (uint32_t i = 0; i < n; i = end) {
		for (end = i; end < n && k->group(&list[end]) == k->group(&list[i]);)
			end++;
		group_add(f, k, &list[i], end - i);
	}
}

void find_contests(struct findings *f)
{
	struct contest *list = xmalloc((f->ncontest + 1) * sizeof(*list));

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		kind_find(f, &kinds[i], list);
	free(list);
}
