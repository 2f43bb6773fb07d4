/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The sentence of a map (the rule is in classify.h): the claims of each size (map_claim.h), runs of sizes of one claim, and these in
 * words from the smallest size on.
 */
#include "core/classify.h"
#include "core/classify_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "core/map_claim.h"
#include "core/param_text.h"

#define WAIT_LIKE 8.0  /* T_comp over T_comm, at most, for a Wait to count */
#define EAGER_STEP 4.0 /* between the sizes on both sides of a threshold */
#define EAGER_MAX_BYTES (1024.0 * 1024)
#define AT_ONCE_SHARE 0.1 /* of T_comm */
#define IDLE_NS_MAX 500.0 /* a call takes that at most, and reading the clock */
#define WAITING_SHARE 0.25
#define NAMED_MOST 6 /* sizes of which nothing can be said */

static const char *const words_of[] = {
	[CLASSIFY_UNJUDGED] = "not told",
	[CLASSIFY_OVERLAP] = "overlap",
	[CLASSIFY_PARTIAL] = "partial overlap",
	[CLASSIFY_NONE] = "no overlap",
	[CLASSIFY_WORSE] = "worse than one after the other",
};

enum classify_overlap classify_size(const struct result *r, uint64_t bytes)
{
	enum classify_overlap class = CLASSIFY_UNJUDGED;
	struct map_claims c;
	size_t i;

	map_claims_init(&c, r);
	for (i = 0; i < c.size_cnt; i++) {
		if (fabs(c.size[i].bytes - (double)bytes) < 0.5)
			class = map_size_class(&c.size[i]);
	}
	map_claims_release(&c);
	return class;
}

/* ---- eager ---- */

/* A size of which something can be said. */
struct told {
	const struct map_size_claims *size;
	enum classify_overlap class;
	enum done { DONE_UNKNOWN, DONE_AT_ONCE, DONE_BY_WAITING } done;
};

/* What a Wait takes in which nothing is left to be done. */
static double idle_wait(const struct result *r)
{
	double least = IDLE_NS_MAX;
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++)
		least = fmin(least, result_number(result_point_at(r, i), "send_wait"));
	return least;
}

static enum done done_of(const struct map_claims *c, const struct map_size_claims *size,
			 double idle_ns)
{
	const struct result_point *p;
	struct samples share;
	enum done done = DONE_UNKNOWN;
	double median, wait_ns, comm_ns, comp_share;
	size_t i;

	samples_init(&share);
	for (i = size->cell; i < size->cell + size->cell_cnt; i++) {
		p = c->cell[i].point;
		wait_ns = result_number(p, "send_wait");
		comm_ns = result_number(p, "comm");
		comp_share = result_number(p, "comp") / comm_ns;
		/* Where it could have been done before the Wait. */
		if (comp_share >= 1 && comp_share <= WAIT_LIKE && !isnan(wait_ns))
			samples_add(&share, (wait_ns - idle_ns) / comm_ns);
	}
	median = stats_quantile(&share, 0.5);
	if (share.cnt && median <= AT_ONCE_SHARE)
		done = DONE_AT_ONCE;
	else if (share.cnt && median >= WAITING_SHARE)
		done = DONE_BY_WAITING;
	samples_release(&share);
	return done;
}

/*
 * The index after the last size that was done before its Wait; 0: there is no such change. One size between may be
 * neither: the first part of a rendezvous may be sent like an eager message.
 */
static size_t end_by_wait(const struct told *t, size_t cnt)
{
	size_t end = 0, i;

	while (end < cnt && t[end].done == DONE_AT_ONCE)
		end++;
	if (end == cnt)
		return 0;
	for (i = t[end].done == DONE_UNKNOWN ? end + 1 : end; i < cnt; i++) {
		if (t[i].done != DONE_BY_WAITING)
			return 0;
	}
	return t[cnt - 1].done == DONE_BY_WAITING ? end : 0;
}

/* The index after the first sizes if they overlap, and all others alike do not; else 0. */
static size_t end_by_overlap(const struct told *t, size_t cnt)
{
	size_t end = 0, i;

	while (end < cnt && t[end].class == CLASSIFY_OVERLAP)
		end++;
	if (end == cnt || (t[end].class != CLASSIFY_NONE && t[end].class != CLASSIFY_WORSE))
		return 0;
	for (i = end; i < cnt; i++) {
		if (t[i].class != t[end].class)
			return 0;
	}
	return end;
}

/* The index after the last size that looks eager; 0: none does. */
static size_t eager_end(const struct told *t, size_t cnt, bool has_waits)
{
	size_t end = has_waits ? end_by_wait(t, cnt) : end_by_overlap(t, cnt);

	if (!end || t[end].size->bytes > EAGER_STEP * t[end - 1].size->bytes ||
	    t[end - 1].size->bytes > EAGER_MAX_BYTES)
		return 0;
	return end;
}

/* ---- runs ---- */

/* Neighbouring sizes of which the same claim is made, or the same ones, of the same computation times. */
struct run {
	size_t begin, end; /* of those that are told */
	struct map_claim claim;
};

/* The claim of both ranges of computation times. */
static struct map_claim widened(const struct map_claim *a, const struct map_claim *b)
{
	return (struct map_claim){a->class, fmin(a->compute_low, b->compute_low),
				  fmax(a->compute_high, b->compute_high)};
}

static bool same_times(const struct map_claim *a, const struct map_claim *b)
{
	return a->compute_low == b->compute_low && a->compute_high == b->compute_high;
}

static bool same_claims(const struct map_size_claims *a, const struct map_size_claims *b)
{
	size_t i;

	if (a->claim_cnt != b->claim_cnt)
		return false;
	for (i = 0; i < a->claim_cnt; i++) {
		if (a->claim[i].class != b->claim[i].class ||
		    !same_times(&a->claim[i], &b->claim[i]))
			return false;
	}
	return true;
}

/* The run from that size on: as far as its claim, with the computation times of all, holds for all. */
static struct run run_find(const struct map_claims *c, const struct told *t, size_t cnt,
			   size_t begin)
{
	struct run run = {begin, begin + 1, t[begin].size->claim[0]};
	size_t first = (size_t)(t[begin].size - c->size), last;
	struct map_claim wider;

	while (run.end < cnt && t[begin].class == CLASSIFY_MIXED &&
	       same_claims(t[begin].size, t[run.end].size))
		run.end++;
	while (run.end < cnt && t[begin].class != CLASSIFY_MIXED &&
	       t[run.end].class == t[begin].class) {
		wider = widened(&run.claim, &t[run.end].size->claim[0]);
		last = (size_t)(t[run.end].size - c->size);
		if (!map_claims_allow(c, first, last, &wider))
			break;
		run.claim = wider;
		run.end++;
	}
	return run;
}

/* Returns their number. */
static size_t runs_find(const struct map_claims *c, const struct told *t, size_t cnt,
			struct run *out)
{
	size_t begin, runs = 0;

	for (begin = 0; begin < cnt; begin = out[runs++].end)
		out[runs] = run_find(c, t, cnt, begin);
	return runs;
}

/* ---- the sentence ---- */

/* What is being said. */
struct speech {
	const struct told *told;
	size_t cnt;
	bool all;	 /* something is said of every size, and one thing of each */
	bool same_times; /* all claims are of the same computation times: these are said once */
	bool said_computations; /* the word */
};

/* " for computations of 1 us to 64 us"; nothing if there are no computation times. */
static char *times_text(struct speech *s, const struct map_claim *claim)
{
	const char *word = s->said_computations ? "" : "computations of ";
	char from[HUMAN_BYTES], to[HUMAN_BYTES];

	if (isnan(claim->compute_low))
		return xstrdup("");
	s->said_computations = true;
	param_ns(from, sizeof(from), (uint64_t)claim->compute_low);
	param_ns(to, sizeof(to), (uint64_t)claim->compute_high);
	if (claim->compute_low == claim->compute_high)
		return xasprintf(" for %s%s", word, from);
	return xasprintf(" for %s%s to %s", word, from, to);
}

/* Where a run is. */
static char *where_text(const struct speech *s, const struct run *run)
{
	char from[HUMAN_BYTES], to[HUMAN_BYTES];

	human_bytes(from, sizeof(from), (uint64_t)s->told[run->begin].size->bytes);
	human_bytes(to, sizeof(to), (uint64_t)s->told[run->end - 1].size->bytes);
	if (s->all && run->end == s->cnt)
		return xstrdup(run->begin ? "above" : "at all sizes");
	if (s->all)
		return xasprintf("up to %s", to);
	return run->end - run->begin == 1 ? xasprintf("at %s", to) :
					    xasprintf("from %s to %s", from, to);
}

/* "overlap up to 4 KiB (eager) for computations of 4 us to 64 us" */
static char *run_text(struct speech *s, const struct run *run, bool eager)
{
	char *where = where_text(s, run);
	char *times = s->same_times ? xstrdup("") : times_text(s, &run->claim);
	char *text = xasprintf("%s %s%s%s", words_of[run->claim.class], where,
			       eager ? " (eager)" : "", times);

	free(times);
	free(where);
	return text;
}

/* "at 16 KiB overlap for 4 us to 64 us but no overlap for 256 us" */
static char *mixed_text(struct speech *s, const struct run *run)
{
	const struct map_size_claims *size = s->told[run->begin].size;
	char *text = NULL, *times;
	size_t i;

	for (i = 0; i < size->claim_cnt; i++) {
		times = times_text(s, &size->claim[i]);
		text = classify_joined(
			text, xasprintf("%s%s", words_of[size->claim[i].class], times), " but ");
		free(times);
	}
	return classify_joined(where_text(s, run), text, " ");
}

/* "overlap up to 4 KiB (eager), no overlap above, for computations of 4 us to 64 us" */
static char *runs_text(struct speech *s, const struct run *run, size_t run_cnt, size_t eager)
{
	char size[HUMAN_BYTES], *text = NULL, *times;
	bool said = !eager;
	size_t i;

	for (i = 0; i < run_cnt; i++) {
		if (s->told[run[i].begin].class == CLASSIFY_MIXED) {
			text = classify_joined(text, mixed_text(s, &run[i]), ", ");
			continue;
		}
		text = classify_joined(text, run_text(s, &run[i], run[i].end == eager), ", ");
		said = said || run[i].end == eager;
	}
	if (s->same_times && run_cnt) {
		times = times_text(s, &run[0].claim);
		text = classify_joined(text, times, run_cnt > 1 && *times ? "," : "");
	}
	if (text && !said)
		text = classify_joined(
			text,
			xasprintf("eager up to %s",
				  human_bytes(size, sizeof(size),
					      (uint64_t)s->told[eager - 1].size->bytes)),
			"; ");
	return text;
}

static char *untold_text(char *text, const struct samples *untold)
{
	char size[HUMAN_BYTES], *sizes = NULL;
	size_t i;

	if (!untold->cnt)
		return text;
	for (i = 0; i < untold->cnt && i < NAMED_MOST; i++)
		sizes = classify_joined(
			sizes, xstrdup(human_bytes(size, sizeof(size), (uint64_t)untold->value[i])),
			", ");
	if (untold->cnt > NAMED_MOST)
		sizes = classify_joined(
			sizes, xasprintf("%zu more sizes", untold->cnt - NAMED_MOST), " and ");
	text = classify_joined(text, xasprintf("not told at %s", sizes), "; ");
	free(sizes);
	return text;
}

static char *counts_text(char *text, const struct map_claims *c)
{
	size_t untold = c->point_cnt - c->cell_cnt - c->wrong_cnt;

	if (untold && c->cell_cnt)
		text = classify_joined(
			text, xasprintf("%zu of %zu points are not told", untold, c->point_cnt),
			"; ");
	if (!c->wrong_cnt)
		return text;
	return classify_joined(
		text,
		xasprintf("%zu of %zu points are wrong: both together took less time "
			  "than one of them alone",
			  c->wrong_cnt, c->point_cnt),
		"; ");
}

static bool has_waits(const struct result *r)
{
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++) {
		if (!isnan(result_number(result_point_at(r, i), "send_wait")))
			return true;
	}
	return false;
}

/* Sizes of which something can be said; returns their number. The others are in untold. */
static size_t told_find(const struct map_claims *c, double idle_ns, struct told *out,
			struct samples *untold)
{
	size_t i, cnt = 0;

	for (i = 0; i < c->size_cnt; i++) {
		if (c->size[i].claim_cnt)
			out[cnt++] = (struct told){&c->size[i], map_size_class(&c->size[i]),
						   done_of(c, &c->size[i], idle_ns)};
		else
			samples_add(untold, c->size[i].bytes);
	}
	return cnt;
}

/* What is said of the sizes; null: nothing of any. */
static char *told_text(const struct map_claims *c, const struct told *told, size_t cnt, bool waits)
{
	struct speech s = {.told = told, .cnt = cnt, .all = cnt == c->size_cnt, .same_times = true};
	struct run *run = xcalloc(cnt + 1, sizeof(*run));
	size_t run_cnt = runs_find(c, told, cnt, run), i;
	char *text;

	for (i = 0; i < run_cnt; i++) {
		bool mixed = told[run[i].begin].class == CLASSIFY_MIXED;

		s.all = s.all && !mixed;
		s.same_times = s.same_times && !mixed && same_times(&run[i].claim, &run[0].claim);
	}
	text = runs_text(&s, run, run_cnt, eager_end(told, cnt, waits));
	free(run);
	return text;
}

char *classify_map(const struct result *r)
{
	struct samples untold;
	struct map_claims c;
	struct told *told;
	char *text;
	size_t cnt;

	map_claims_init(&c, r);
	samples_init(&untold);
	told = xcalloc(c.size_cnt + 1, sizeof(*told));
	cnt = told_find(&c, idle_wait(r), told, &untold);
	text = told_text(&c, told, cnt, has_waits(r));
	if (!text && c.size_cnt)
		text = xstrdup("not told at any size");
	else
		text = untold_text(text, &untold);
	text = counts_text(text, &c);
	free(told);
	samples_release(&untold);
	map_claims_release(&c);
	return text;
}
