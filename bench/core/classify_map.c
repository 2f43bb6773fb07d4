/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes the sentence of a map by the rule in classify.h. It collects the claims of each size
 * (overlap_map.h), joins sizes with the same claim to runs, and puts these into words from
 * the smallest size on.
 */
#include "core/classify.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"
#include "core/overlap_map.h"
#include "core/param_text.h"

#define WAIT_LIKE 8.0  /* greatest T_comp / T_comm for which a Wait counts */
#define EAGER_STEP 4.0 /* greatest factor between the sizes on both sides of a threshold */
#define EAGER_MAX_BYTES (1024.0 * 1024)
#define AT_ONCE_SHARE 0.1 /* of T_comm */
#define IDLE_NS_MAX 500.0 /* greatest cost of an idle call with two readings of the clock */
#define WAITING_SHARE 0.25
#define NAMED_MOST 6 /* greatest number of unknown sizes that the sentence names */

static const char *const class_phrase[] = {
	[CLASSIFY_UNJUDGED] = "unknown",
	[CLASSIFY_OVERLAP] = "overlap",
	[CLASSIFY_PARTIAL] = "partial overlap",
	[CLASSIFY_NONE] = "no overlap",
	[CLASSIFY_WORSE] = "worse than one after the other",
};

enum classify_overlap classify_size(const struct result *r, uint64_t bytes)
{
	enum classify_overlap class = CLASSIFY_UNJUDGED;
	struct map_claims c;

	map_claims_init(&c, r);
	for (size_t i = 0; i < c.size_cnt; i++) {
		if (fabs(c.size[i].bytes - (double)bytes) < 0.5)
			class = map_size_class(&c.size[i]);
	}
	map_claims_release(&c);
	return class;
}

/* ---- eager ---- */

/* A size with at least one claim. */
struct known_size {
	const struct map_size_claims *size;
	enum classify_overlap class;
	enum done { DONE_UNKNOWN, DONE_AT_ONCE, DONE_BY_WAITING } done;
};

/* Returns the cost of a Wait that has nothing left to do. */
static double idle_wait(const struct result *r)
{
	double least = IDLE_NS_MAX;

	for (size_t i = 0; i < result_point_cnt(r); i++)
		least = fmin(least, result_number(result_point_at(r, i), "send_wait"));
	return least;
}

static enum done done_of(const struct map_claims *c, const struct map_size_claims *size,
			 double idle_ns)
{
	const struct result_point *p;
	struct samples share = {0};
	enum done done = DONE_UNKNOWN;
	double median, wait_ns, comm_ns, comp_share;

	for (size_t i = size->cell; i < size->cell + size->cell_cnt; i++) {
		p = c->cell[i].point;
		wait_ns = result_number(p, "send_wait");
		comm_ns = result_number(p, "comm");
		comp_share = result_number(p, "comp") / comm_ns;
		/* Count only points whose transfer could have ended before the Wait. */
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
 * Returns the index after the last size that was done before its Wait, or 0 if there is no such
 * change. One size in between may be neither, because a rendezvous may send its first part eagerly.
 */
static size_t end_by_wait(const struct known_size *t, size_t cnt)
{
	size_t end = 0;

	while (end < cnt && t[end].done == DONE_AT_ONCE)
		end++;
	if (end == cnt)
		return 0;
	for (size_t i = t[end].done == DONE_UNKNOWN ? end + 1 : end; i < cnt; i++) {
		if (t[i].done != DONE_BY_WAITING)
			return 0;
	}
	return t[cnt - 1].done == DONE_BY_WAITING ? end : 0;
}

/* Returns the index after the first sizes if these overlap and all others do not; otherwise 0. */
static size_t end_by_overlap(const struct known_size *t, size_t cnt)
{
	size_t end = 0;

	while (end < cnt && t[end].class == CLASSIFY_OVERLAP)
		end++;
	if (end == cnt || (t[end].class != CLASSIFY_NONE && t[end].class != CLASSIFY_WORSE))
		return 0;
	for (size_t i = end; i < cnt; i++) {
		if (t[i].class != t[end].class)
			return 0;
	}
	return end;
}

/* Returns the index after the last size that looks eager; 0 if none does. */
static size_t eager_end(const struct known_size *t, size_t cnt, bool has_waits)
{
	size_t end = has_waits ? end_by_wait(t, cnt) : end_by_overlap(t, cnt);

	if (!end || t[end].size->bytes > EAGER_STEP * t[end - 1].size->bytes ||
	    t[end - 1].size->bytes > EAGER_MAX_BYTES)
		return 0;
	return end;
}

/* ---- runs ---- */

/* Neighbouring sizes with the same claim or claims, for the same computation times. */
struct run {
	size_t begin, end; /* indexes of sizes with claims */
	struct map_claim claim;
};

/* The claim for the union of both ranges of computation times. */
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
	if (a->claim_cnt != b->claim_cnt)
		return false;
	return !table_any(a->claim_cnt, i,
			  a->claim[i].class != b->claim[i].class ||
				  !same_times(&a->claim[i], &b->claim[i]));
}

/* The longest run from `begin` on whose claim holds for the computation times of all its sizes. */
static struct run run_find(const struct map_claims *c, const struct known_size *t, size_t cnt,
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

/* Returns the number of runs. */
static size_t runs_find(const struct map_claims *c, const struct known_size *t, size_t cnt,
			struct run *out)
{
	size_t runs = 0;

	for (size_t begin = 0; begin < cnt; begin = out[runs++].end)
		out[runs] = run_find(c, t, cnt, begin);
	return runs;
}

/* ---- the sentence ---- */

/* State of the sentence under construction. */
struct speech {
	const struct known_size *known;
	size_t cnt;
	bool all;		 /* every size has exactly one claim */
	bool same_times;	 /* all claims have the same computation times, stated once */
	bool named_computations; /* the word "computations" has been used */
};

/* Returns " for computations of 1 us to 64 us", or nothing if there are no computation times. */
static char *times_text(struct speech *s, const struct map_claim *claim)
{
	const char *word = s->named_computations ? "" : "computations of ";
	char from[HUMAN_BYTES], to[HUMAN_BYTES];

	if (isnan(claim->compute_low))
		return xstrdup("");
	s->named_computations = true;
	param_ns(from, sizeof(from), (uint64_t)claim->compute_low);
	param_ns(to, sizeof(to), (uint64_t)claim->compute_high);
	if (claim->compute_low == claim->compute_high)
		return xasprintf(" for %s%s", word, from);
	return xasprintf(" for %s%s to %s", word, from, to);
}

/* Describes the sizes of a run: "at all sizes", "up to …", "above" and so on. */
static char *where_text(const struct speech *s, const struct run *run)
{
	char from[HUMAN_BYTES], to[HUMAN_BYTES];

	human_bytes(from, sizeof(from), (uint64_t)s->known[run->begin].size->bytes);
	human_bytes(to, sizeof(to), (uint64_t)s->known[run->end - 1].size->bytes);
	if (s->all && run->end == s->cnt)
		return xstrdup(run->begin ? "above" : "at all sizes");
	if (s->all)
		return xasprintf("up to %s", to);
	return run->end - run->begin == 1 ? xasprintf("at %s", to) :
					    xasprintf("from %s to %s", from, to);
}

/* Example: "overlap up to 4 KiB (eager) for computations of 4 us to 64 us" */
static char *run_text(struct speech *s, const struct run *run, bool eager)
{
	char *where = where_text(s, run);
	char *times = s->same_times ? xstrdup("") : times_text(s, &run->claim);
	char *text = xasprintf("%s %s%s%s", class_phrase[run->claim.class], where,
			       eager ? " (eager)" : "", times);

	free(times);
	free(where);
	return text;
}

/* Example: "at 16 KiB overlap for 4 us to 64 us but no overlap for 256 us" */
static char *mixed_text(struct speech *s, const struct run *run)
{
	const struct map_size_claims *size = s->known[run->begin].size;
	char *text = NULL, *times;

	for (size_t i = 0; i < size->claim_cnt; i++) {
		times = times_text(s, &size->claim[i]);
		text = text_joined(text, " but ",
				   xasprintf("%s%s", class_phrase[size->claim[i].class], times));
		free(times);
	}
	return text_joined(where_text(s, run), " ", text);
}

/* Example: "overlap up to 4 KiB (eager), no overlap above, for computations of 4 us to 64 us" */
static char *runs_text(struct speech *s, const struct run *run, size_t run_cnt, size_t eager)
{
	char size[HUMAN_BYTES], *text = NULL, *times;
	bool mentioned = !eager;

	for (size_t i = 0; i < run_cnt; i++) {
		if (s->known[run[i].begin].class == CLASSIFY_MIXED) {
			text = text_joined(text, ", ", mixed_text(s, &run[i]));
			continue;
		}
		text = text_joined(text, ", ", run_text(s, &run[i], run[i].end == eager));
		mentioned = mentioned || run[i].end == eager;
	}
	if (s->same_times && run_cnt) {
		times = times_text(s, &run[0].claim);
		text = text_joined(text, run_cnt > 1 && *times ? "," : "", times);
	}
	if (text && !mentioned)
		text = text_joined(
			text, "; ",
			xasprintf("eager up to %s",
				  human_bytes(size, sizeof(size),
					      (uint64_t)s->known[eager - 1].size->bytes)));
	return text;
}

static char *unknown_text(char *text, const struct samples *unknown)
{
	char size[HUMAN_BYTES], *sizes = NULL;

	if (!unknown->cnt)
		return text;
	for (size_t i = 0; i < unknown->cnt && i < NAMED_MOST; i++)
		sizes = text_joined(
			sizes, ", ",
			xstrdup(human_bytes(size, sizeof(size), (uint64_t)unknown->value[i])));
	if (unknown->cnt > NAMED_MOST)
		sizes = text_joined(sizes, " and ",
				    xasprintf("%zu more sizes", unknown->cnt - NAMED_MOST));
	text = text_joined(text, "; ", xasprintf("unknown at %s", sizes));
	free(sizes);
	return text;
}

static char *counts_text(char *text, const struct map_claims *c)
{
	size_t unknown = c->point_cnt - c->cell_cnt - c->wrong_cnt;

	if (unknown && c->cell_cnt)
		text = text_joined(text, "; ",
				   xasprintf("%zu of %zu points are unknown", unknown,
					     c->point_cnt));
	if (!c->wrong_cnt)
		return text;
	return text_joined(text, "; ",
			   xasprintf("%zu of %zu points are wrong: both together took less time "
				     "than one of them alone",
				     c->wrong_cnt, c->point_cnt));
}

static bool has_waits(const struct result *r)
{
	return table_any(result_point_cnt(r), i,
			 !isnan(result_number(result_point_at(r, i), "send_wait")));
}

/* Collects the sizes with claims and returns their number. Sizes without claims go to unknown. */
static size_t known_find(const struct map_claims *c, double idle_ns, struct known_size *out,
			 struct samples *unknown)
{
	size_t cnt = 0;

	for (size_t i = 0; i < c->size_cnt; i++) {
		if (c->size[i].claim_cnt)
			out[cnt++] = (struct known_size){&c->size[i], map_size_class(&c->size[i]),
							 done_of(c, &c->size[i], idle_ns)};
		else
			samples_add(unknown, c->size[i].bytes);
	}
	return cnt;
}

/* Returns the part of the sentence about sizes with claims; null if there are none. */
static char *known_text(const struct map_claims *c, const struct known_size *known, size_t cnt,
			bool waits)
{
	struct speech s = {
		.known = known, .cnt = cnt, .all = cnt == c->size_cnt, .same_times = true};
	struct run *run = xcalloc(cnt + 1, sizeof(*run));
	size_t run_cnt = runs_find(c, known, cnt, run);
	char *text;

	for (size_t i = 0; i < run_cnt; i++) {
		bool mixed = known[run[i].begin].class == CLASSIFY_MIXED;

		s.all = s.all && !mixed;
		s.same_times = s.same_times && !mixed && same_times(&run[i].claim, &run[0].claim);
	}
	text = runs_text(&s, run, run_cnt, eager_end(known, cnt, waits));
	free(run);
	return text;
}

char *classify_map(const struct result *r)
{
	struct samples unknown = {0};
	struct map_claims c;
	struct known_size *known;
	char *text;
	size_t cnt;

	map_claims_init(&c, r);
	known = xcalloc(c.size_cnt + 1, sizeof(*known));
	cnt = known_find(&c, idle_wait(r), known, &unknown);
	text = known_text(&c, known, cnt, has_waits(r));
	if (!text && c.size_cnt)
		text = xstrdup("unknown at every size");
	else
		text = unknown_text(text, &unknown);
	text = counts_text(text, &c);
	free(known);
	samples_release(&unknown);
	map_claims_release(&c);
	return text;
}
