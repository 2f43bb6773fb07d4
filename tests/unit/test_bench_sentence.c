/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Sentences of random maps, checked against each of their points. A claim of the sentence must hold
 * for every known point, and every claim that a point holds must be in the sentence. The test
 * parses the sentence and states the rules independently.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "lib/log.h"
#include "core/classify.h"
#include "core/result_file.h"

#define MAPS 1000
#define SIZES 8
#define TIMES 6

static uint64_t random_state;

static double uniform(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (double)(random_state >> 11) * 0x1p-53;
}

/* ---- a map ---- */

struct point {
	bool known;
	double low, high;
};

struct random_map {
	struct result *result;
	struct point point[SIZES][TIMES];
	size_t unknown_cnt, wrong;
};

static uint64_t size_bytes(size_t i)
{
	return 1024ull << i;
}

static double time_ns(size_t k)
{
	return 1000 * pow(4, (double)k);
}

static void time_add(struct result_point *p, const char *name, double ns)
{
	struct samples s;

	samples_init(&s);
	samples_add(&s, ns);
	result_time(p, name, &s);
	samples_release(&s);
}

/* Draws a point around a ratio that some neighbours share, as in real maps. */
static void point_draw(struct random_map *m, size_t size, size_t time, double around)
{
	struct point *one = &m->point[size][time];
	struct result_point *p = result_point_add(m->result);
	double width = uniform() < 0.2 ? 0.9 * uniform() : 0.2 * uniform();
	double ratio = uniform() < 0.15 ? 2 * uniform() - 0.2 : around + 0.1 * uniform();
	bool blank = uniform() < 0.1;

	one->low = ratio - width / 2;
	one->high = ratio + width / 2;
	result_param(p, "bytes", size_bytes(size));
	result_param(p, "compute_ns", (uint64_t)time_ns(time));
	time_add(p, "comm", 10000);
	time_add(p, "comp", time_ns(time));
	if (blank) {
		m->unknown_cnt++;
		return;
	}
	result_value(p, "ratio", ratio);
	result_value(p, "ratio_low", one->low);
	result_value(p, "ratio_high", one->high);
	one->known = one->high - one->low <= 0.5;
	if (one->known && one->high < -0.1) {
		result_value(p, "too_short_ns", 1000);
		one->known = false;
		m->wrong++;
		return;
	}
	one->known = one->known && ratio >= -0.1;
	m->unknown_cnt += !one->known;
}

static void map_draw(struct random_map *m)
{
	static const double usual[] = {-0.05, 0.1, 0.2, 0.5, 0.7, 0.95, 1.2, 1.4};
	struct result_about about = {
		.benchmark = "x", .group = "g", .kind = RESULT_MAP, .ranks = 2};
	size_t size, time;
	double around = 0;

	*m = (struct random_map){.result = result_new(&about)};
	for (size = 0; size < SIZES; size++) {
		if (!size || uniform() < 0.3)
			around = usual[(size_t)(8 * uniform())];
		for (time = 0; time < TIMES; time++) {
			if (uniform() < 0.07)
				around = usual[(size_t)(8 * uniform())];
			point_draw(m, size, time, around);
		}
	}
}

/* ---- what is read ---- */

enum class { OVERLAP, PARTIAL, NONE, WORSE, CLASSES };

struct claim {
	enum class class;
	size_t from, to; /* indices of sizes */
	/* In ns; NaN: stated once at the end for all. */
	double low, high;
};

struct reading {
	struct claim claim[SIZES * TIMES];
	size_t cnt;
	bool untold[SIZES];
	size_t more_untold;
};

static bool eat(const char **at, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(*at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

static enum class read_class(const char **at) {
	static const char *const words[] = {"overlap", "partial overlap", "no overlap",
					    "worse than one after the other"};
	size_t i;

	for (i = 0; i < CLASSES; i++){if (eat(at, words[i])) return (enum class)i;}
fail_msg("no claim at \"%s\"", *at);
return CLASSES;
}

static size_t read_size(const char **at)
{
	char *end;
	double value = strtod(*at, &end);
	size_t i;

	*at = end;
	assert_true(eat(at, " KiB"));
	for (i = 0; i < SIZES; i++) {
		if ((double)size_bytes(i) == value * 1024)
			return i;
	}
	fail_msg("no size of %g KiB", value);
	return 0;
}

static double read_time(const char **at)
{
	char *end;
	double value = strtod(*at, &end);

	*at = end;
	if (eat(at, " us"))
		return round(value * 1e3);
	assert_true(eat(at, " ms"));
	return round(value * 1e6);
}

/* Sets both to NaN if the text has no times. */
static void read_times(const char **at, double *low, double *high)
{
	*low = *high = NAN;
	if (!eat(at, " for "))
		return;
	eat(at, "computations of ");
	*low = *high = read_time(at);
	if (eat(at, " to "))
		*high = read_time(at);
}

static void read_where(const char **at, const struct reading *r, struct claim *c)
{
	c->from = r->cnt ? r->claim[r->cnt - 1].to + 1 : 0;
	c->to = SIZES - 1;
	if (eat(at, " at all sizes")) {
		assert_int_equal(r->cnt, 0);
	} else if (eat(at, " up to ")) {
		c->to = read_size(at);
	} else if (eat(at, " at ")) {
		c->from = c->to = read_size(at);
	} else if (eat(at, " from ")) {
		c->from = read_size(at);
		assert_true(eat(at, " to "));
		c->to = read_size(at);
	} else {
		assert_true(eat(at, " above") && r->cnt);
	}
	eat(at, " (eager)");
}

static void read_mixed(const char **at, struct reading *r)
{
	bool one = eat(at, "at ");
	struct claim c = {0};
	size_t claims = 0;

	assert_true(one || eat(at, "from "));
	c.from = c.to = read_size(at);
	if (!one) {
		assert_true(eat(at, " to "));
		c.to = read_size(at);
	}
	assert_true(eat(at, " "));
	do {
		c.class = read_class(at);
		read_times(at, &c.low, &c.high);
		assert_false(isnan(c.low));
		r->claim[r->cnt++] = c;
		claims++;
	} while (eat(at, " but "));
	assert_true(claims > 1);
}

static void read_claims(const char **at, struct reading *r)
{
	struct claim c;
	double low, high;
	size_t i;

	do {
		if (!strncmp(*at, "for computations of ", 20)) {
			(*at)--;
			read_times(at, &low, &high);
			for (i = 0; i < r->cnt; i++) {
				assert_true(isnan(r->claim[i].low));
				r->claim[i].low = low;
				r->claim[i].high = high;
			}
			return;
		}
		if (!strncmp(*at, "at ", 3) || !strncmp(*at, "from ", 5)) {
			read_mixed(at, r);
			continue;
		}
		c.class = read_class(at);
		read_where(at, r, &c);
		read_times(at, &c.low, &c.high);
		r->claim[r->cnt++] = c;
	} while (eat(at, ", "));
}

static void read_untold(const char **at, struct reading *r)
{
	char *end;

	do {
		r->untold[read_size(at)] = true;
		if (!eat(at, " and "))
			continue;
		r->more_untold = strtoul(*at, &end, 10);
		*at = end;
		assert_true(eat(at, " more sizes"));
		return;
	} while (eat(at, ", "));
}

static void read_count(const char **at, size_t expected, const char *what)
{
	char *end;

	assert_int_equal(strtoul(*at, &end, 10), expected);
	*at = end;
	assert_true(eat(at, " of 48 points are "));
	assert_true(eat(at, what));
}

static void read_sentence(const struct random_map *m, const char *at, struct reading *r)
{
	*r = (struct reading){0};
	assert_true(eat(&at, "x: "));
	if (eat(&at, "unknown at every size"))
		r->more_untold = SIZES;
	else
		read_claims(&at, r);
	if (eat(&at, "; eager up to "))
		read_size(&at);
	if (eat(&at, "; unknown at "))
		read_untold(&at, r);
	if (m->unknown_cnt && r->cnt) {
		assert_true(eat(&at, "; "));
		read_count(&at, m->unknown_cnt, "unknown");
	}
	if (m->wrong) {
		assert_true(eat(&at, "; "));
		read_count(&at, m->wrong,
			   "wrong: both together took less time than one of them alone");
	}
	assert_string_equal(at, "");
}

/* ---- what must hold ---- */

static const struct {
	double holds_low, holds_high; /* both ends within: the point holds the claim */
	double low, high;	      /* nothing within: the point contradicts the claim */
} classes[CLASSES] = {
	[OVERLAP] = {-INFINITY, 0.25, -INFINITY, 0.25},
	[PARTIAL] = {0.1, 0.9, 0.1, 0.9},
	[NONE] = {0.75, INFINITY, 0.75, 1.25},
	[WORSE] = {1.25, INFINITY, 1.25, INFINITY},
};

static bool holds(const struct point *p, enum class class)
{
	if (class == NONE && p->low > 1.25)
		return false;
	return p->low > classes[class].holds_low && p->high < classes[class].holds_high;
}

static bool contradicts(const struct point *p, enum class class)
{
	return p->high <= classes[class].low || p->low >= classes[class].high;
}

static bool in_range(const struct claim *c, size_t time)
{
	return time_ns(time) >= c->low && time_ns(time) <= c->high;
}

/* Whether no point contradicts the claim and each of its sizes has a point that holds it. */
static bool claim_is_right(const struct random_map *m, const struct claim *c)
{
	size_t size, time, held;

	for (size = c->from; size <= c->to; size++) {
		held = 0;
		for (time = 0; time < TIMES; time++) {
			const struct point *p = &m->point[size][time];

			if (!p->known || !in_range(c, time))
				continue;
			if (contradicts(p, c->class))
				return false;
			held += holds(p, c->class);
		}
		if (!held)
			return false;
	}
	return c->from <= c->to;
}

/* Whether a point that holds a claim is in one. */
static bool point_is_told(const struct random_map *m, const struct reading *r, size_t size,
			  size_t time)
{
	const struct point *p = &m->point[size][time];
	bool holds_any = false;
	size_t i;

	for (i = 0; i < CLASSES; i++)
		holds_any = holds_any || holds(p, (enum class)i);
	for (i = 0; i < r->cnt; i++) {
		if (size >= r->claim[i].from && size <= r->claim[i].to &&
		    in_range(&r->claim[i], time))
			return true;
	}
	return !p->known || !holds_any;
}

static bool sizes_are_named(const struct reading *r)
{
	size_t size, i, missing = 0;

	for (size = 0; size < SIZES; size++) {
		bool told = false;

		for (i = 0; i < r->cnt; i++)
			told = told || (size >= r->claim[i].from && size <= r->claim[i].to);
		if (told && r->untold[size])
			return false;
		missing += !told && !r->untold[size];
	}
	return missing == r->more_untold;
}

TEST(random_maps)
{
	size_t i, size, time, mixed = 0;
	struct random_map m;
	struct reading r;
	char *sentence;
	bool right;

	random_state = 4;
	for (i = 0; i < MAPS; i++) {
		map_draw(&m);
		sentence = classify_sentence(m.result);
		assert_non_null(sentence);
		read_sentence(&m, sentence, &r);
		right = sizes_are_named(&r);
		for (size = 0; size < r.cnt; size++)
			right = right && claim_is_right(&m, &r.claim[size]);
		for (size = 0; size < SIZES; size++) {
			for (time = 0; time < TIMES; time++)
				right = right && point_is_told(&m, &r, size, time);
		}
		if (!right)
			fail_msg("map %zu does not agree with: %s", i, sentence);
		mixed += strstr(sentence, " but ") != NULL;
		free(sentence);
		result_free(m.result);
	}
	/* otherwise none of these was tried */
	assert_true(mixed > MAPS / 10);
}
