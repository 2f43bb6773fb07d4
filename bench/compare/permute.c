/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a point shows is Student's t of the logarithms, with a little added to its divisor, so that a point that hardly
 * varies is not the largest by a hair's breadth. With values centred, t follows from one sum over the second set.
 */
#include "compare/permute.h"

#include "compare/random.h"

#include "lib/log.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ALL_MAX 10000.0	   /* ways of exchanging that are all tried */
#define DRAWN 9999	   /* else */
#define SPREAD_LEAST 0.001 /* of the logarithm: 0.1 % */
#define SEED 20161116u
#define EXACT 1e-9 /* what equals but for rounding counts as equal */

struct test {
	double *centred; /* [point × cnt] */
	double *squares; /* of each point, about its mean */
	size_t point_cnt, n, m, cnt;
	size_t *in_b;	 /* m launches */
	size_t *order;	 /* points, the one that shows most first */
	double *shown;	 /* |t| as it is, by order */
	size_t *reached; /* how often others show as much, by order */
};

static double ways(size_t n, size_t m)
{
	double all = 1;
	size_t i;

	for (i = 1; i <= n; i++)
		all *= (double)(m + i) / (double)i;
	return round(all);
}

double permute_least_p(size_t n, size_t m)
{
	double all = ways(n, m);

	if (!n || !m || n + m < 3)
		return 1;
	if (all > ALL_MAX)
		return 1.0 / (DRAWN + 1);
	/* With sets of one size, exchanging all shows as much. */
	return (n == m ? 2 : 1) / all;
}

static void centre(struct test *t, const double *value)
{
	size_t i, k;

	for (i = 0; i < t->point_cnt; i++) {
		const double *v = value + i * t->cnt;
		double *c = t->centred + i * t->cnt, mean = 0;

		for (k = 0; k < t->cnt; k++)
			mean += v[k] / (double)t->cnt;
		for (k = 0; k < t->cnt; k++) {
			c[k] = v[k] - mean;
			t->squares[i] += c[k] * c[k];
		}
	}
}

static double shown(const struct test *t, size_t point)
{
	double share = 1 / (double)t->n + 1 / (double)t->m, sum = 0, apart, within;
	const double *c = t->centred + point * t->cnt;
	size_t k;

	for (k = 0; k < t->m; k++)
		sum += c[t->in_b[k]];
	apart = sum * share;
	within = fmax(0, t->squares[point] - apart * apart / share);
	within = sqrt(within / (double)(t->cnt - 2));
	return fabs(apart) / ((within + SPREAD_LEAST) * sqrt(share));
}

struct place {
	double shown;
	size_t point;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->shown != y->shown)
		return x->shown < y->shown ? 1 : -1;
	return x->point < y->point ? -1 : x->point > y->point;
}

static void find_order(struct test *t)
{
	struct place *place = xcalloc(t->point_cnt, sizeof(*place));
	size_t i;

	for (i = 0; i < t->point_cnt; i++)
		place[i] = (struct place){shown(t, i), i};
	qsort(place, t->point_cnt, sizeof(*place), compare_places);
	for (i = 0; i < t->point_cnt; i++) {
		t->order[i] = place[i].point;
		t->shown[i] = place[i].shown;
	}
	free(place);
}

/* Each point is held against the largest of those that show less than it. */
static void count(struct test *t)
{
	double most = 0;
	size_t i;

	for (i = t->point_cnt; i-- > 0;) {
		most = fmax(most, shown(t, t->order[i]));
		t->reached[i] += most >= t->shown[i] - EXACT;
	}
}

/* The next m of cnt, in order; false behind the last. */
static bool next_choice(struct test *t)
{
	size_t i = t->m;

	while (i > 0 && t->in_b[i - 1] == t->cnt - t->m + i - 1)
		i--;
	if (!i)
		return false;
	t->in_b[i - 1]++;
	for (; i < t->m; i++)
		t->in_b[i] = t->in_b[i - 1] + 1;
	return true;
}

/* Floyd's: m of cnt, all choices alike. */
static void draw_choice(struct test *t, uint64_t *seed)
{
	size_t i, k, pick;

	for (i = 0; i < t->m; i++) {
		size_t last = t->cnt - t->m + i;

		pick = (size_t)(random_unit(seed) * (double)(last + 1));
		for (k = 0; k < i && t->in_b[k] != pick; k++)
			;
		t->in_b[i] = k < i ? last : pick;
	}
}

static double count_all(struct test *t)
{
	double all = 0;
	size_t i;

	for (i = 0; i < t->m; i++)
		t->in_b[i] = i;
	do {
		count(t);
		all++;
	} while (next_choice(t));
	return all;
}

static double count_drawn(struct test *t)
{
	uint64_t seed = SEED;
	size_t i;

	for (i = 0; i < t->point_cnt; i++)
		t->reached[i] = 1; /* things as they are */
	for (i = 0; i < DRAWN; i++) {
		draw_choice(t, &seed);
		count(t);
	}
	return DRAWN + 1;
}

static void test_init(struct test *t, const double *value, size_t point_cnt, size_t n, size_t m)
{
	size_t k;

	*t = (struct test){.point_cnt = point_cnt, .n = n, .m = m, .cnt = n + m};
	t->centred = xcalloc(point_cnt * t->cnt, sizeof(*t->centred));
	t->squares = xcalloc(point_cnt, sizeof(*t->squares));
	t->in_b = xcalloc(m, sizeof(*t->in_b));
	t->order = xcalloc(point_cnt, sizeof(*t->order));
	t->shown = xcalloc(point_cnt, sizeof(*t->shown));
	t->reached = xcalloc(point_cnt, sizeof(*t->reached));
	for (k = 0; k < m; k++)
		t->in_b[k] = n + k;
	centre(t, value);
	find_order(t);
}

static void test_release(struct test *t)
{
	free(t->centred);
	free(t->squares);
	free(t->in_b);
	free(t->order);
	free(t->shown);
	free(t->reached);
}

void permute_test(const double *value, size_t point_cnt, size_t n, size_t m, double *p)
{
	double all, most = 0;
	struct test t;
	size_t i;

	for (i = 0; i < point_cnt; i++)
		p[i] = 1;
	if (!point_cnt || !n || !m || n + m < 3)
		return;
	test_init(&t, value, point_cnt, n, m);
	all = ways(n, m) > ALL_MAX ? count_drawn(&t) : count_all(&t);
	for (i = 0; i < point_cnt; i++) {
		most = fmax(most, (double)t.reached[i] / all);
		p[t.order[i]] = most;
	}
	test_release(&t);
}
