/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Results with the same launches form a family. They are tested together, each with the mean over
 * its points as an additional point. A file may have launches of one benchmark and other launches
 * of another. Then there are several families, and each p is multiplied by their number
 * (Bonferroni). So at most one comparison of equal launches in fifty reports any difference.
 */
#include "compare/compare.h"

#include "lib/log.h"
#include "lib/statistics.h"
#include "lib/table.h"
#include "core/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- ratios and intervals ---- */

#define TAIL 0.025	  /* of the distribution, on each side */
#define EXACT_LAUNCHES 60 /* in a set; above, the normal distribution is close enough */
#define Z_95 1.96

size_t interval_order(size_t n, size_t m)
{
	double pairs = (double)n * (double)m;

	if (!n || !m)
		return 0;
	if (n <= EXACT_LAUNCHES && m <= EXACT_LAUNCHES)
		return rank_interval(n, m, TAIL);
	return (size_t)fmax(0, floor(pairs / 2 - Z_95 * sqrt(pairs * (double)(n + m + 1) / 12)));
}

struct ratio interval_ratio(const double *a, size_t n, const double *b, size_t m, size_t order)
{
	struct ratio out = {.value = stats_median(b, m) / stats_median(a, n)};
	double *all = xmalloc(n * m * sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < m; k++)
			all[i * m + k] = b[k] / a[i];
	}
	qsort(all, n * m, sizeof(*all), stats_compare);
	order = order ? order : 1;
	/*
	 * The interval belongs to the median of all ratios, which may differ from the medians'
	 * ratio.
	 */
	out.low = fmin(all[order - 1], out.value);
	out.high = fmax(all[n * m - order], out.value);
	free(all);
	return out;
}

static bool same_launches(const struct compare_result *a, const struct compare_result *b)
{
	return !table_any(SIDES, side,
			  a->launch_cnt[side] != b->launch_cnt[side] ||
				  memcmp(a->launch[side], b->launch[side],
					 a->launch_cnt[side] * sizeof(*a->launch[side])));
}

/* True if the result is the first of its family. */
static bool is_head(const struct comparison *c, size_t idx)
{
	return !table_any(idx, i, same_launches(&c->result[i], &c->result[idx]));
}

static size_t family_cnt(const struct comparison *c)
{
	size_t cnt = 0;

	for (size_t i = 0; i < c->cnt; i++)
		cnt += is_head(c, i);
	return cnt;
}

/* ---- ratios ---- */

/* The interval for single launches: as far apart as the ends of both launches' intervals. */
static struct ratio ratio_within(const struct compare_point *p, double a, double b)
{
	return (struct ratio){b / a, p->low[B] / p->high[A], p->high[B] / p->low[A]};
}

/* Each launch's mean of the points' logarithms; 0 without points. The caller frees the array. */
static double *means_of(const struct compare_result *r)
{
	size_t row = collect_launches(r);
	double *mean = xcalloc(row, sizeof(*mean));

	for (size_t i = 0; i < r->point_cnt; i++) {
		for (size_t k = 0; k < row; k++)
			mean[k] += log(r->time[i * row + k]) / (double)r->point_cnt;
	}
	return mean;
}

static struct ratio ratio_of_means(const struct compare_result *r, size_t order)
{
	size_t row = collect_launches(r);
	double *mean = means_of(r);
	struct ratio ratio;

	for (size_t k = 0; k < row; k++)
		mean[k] = exp(mean[k]);
	ratio = interval_ratio(mean, r->launch_cnt[A], mean + r->launch_cnt[A], r->launch_cnt[B],
			       order);
	free(mean);
	return ratio;
}

static void find_ratios(const struct compare_result *r, struct judgement *j)
{
	size_t n = r->launch_cnt[A], m = r->launch_cnt[B], row = n + m;
	size_t order = interval_order(n, m);

	j->repeated = n > 1 && m > 1;
	j->point = xcalloc(r->point_cnt + 1, sizeof(*j->point));
	for (size_t i = 0; i < r->point_cnt; i++) {
		const double *time = r->time + i * row;

		j->point[i].ratio = n == 1 && m == 1 ?
					    ratio_within(&r->point[i], time[0], time[1]) :
					    interval_ratio(time, n, time + n, m, order);
	}
	j->all.ratio = ratio_of_means(r, order);
	if (n == 1 && m == 1)
		j->all.ratio.low = j->all.ratio.high = NAN;
}

/* ---- verdicts ---- */

static enum verdict verdict_of(const struct judged *one, bool able)
{
	if (!able)
		return VERDICT_UNKNOWN;
	if (one->p > PERMUTE_LEVEL)
		return VERDICT_NONE;
	if (one->ratio.low > 1)
		return VERDICT_SLOWER;
	return one->ratio.high < 1 ? VERDICT_FASTER : VERDICT_NONE;
}

static void find_verdicts(const struct compare_result *r, struct judgement *j, double least_p)
{
	j->able = least_p <= PERMUTE_LEVEL && interval_order(r->launch_cnt[A], r->launch_cnt[B]);
	j->all.verdict = verdict_of(&j->all, j->able && r->point_cnt);
	for (size_t i = 0; i < r->point_cnt; i++) {
		j->point[i].verdict = verdict_of(&j->point[i], j->able);
		j->slower_cnt += j->point[i].verdict == VERDICT_SLOWER;
		j->faster_cnt += j->point[i].verdict == VERDICT_FASTER;
	}
}

/* Writes the logarithms of a result's points, followed by their mean. */
static size_t put_values(const struct compare_result *r, double *out)
{
	size_t row = collect_launches(r);
	double *mean = means_of(r);

	for (size_t i = 0; i < r->point_cnt * row; i++)
		out[i] = log(r->time[i]);
	memcpy(out + r->point_cnt * row, mean, row * sizeof(*mean));
	free(mean);
	return r->point_cnt + 1;
}

static void test_family(const struct comparison *c, struct judgement *j, size_t head,
			double families)
{
	const struct compare_result *first = &c->result[head], *r;
	size_t row = collect_launches(first), cnt = 0, i, k;
	double *value, *p;

	for (i = head; i < c->cnt; i++)
		cnt += same_launches(first, &c->result[i]) ? c->result[i].point_cnt + 1 : 0;
	value = xcalloc(cnt * row, sizeof(*value));
	p = xcalloc(cnt, sizeof(*p));
	for (i = head, k = 0; i < c->cnt; i++) {
		if (same_launches(first, &c->result[i]))
			k += put_values(&c->result[i], value + k * row);
	}
	permute_test(value, cnt, first->launch_cnt[A], first->launch_cnt[B], p);
	for (i = head, cnt = 0; i < c->cnt; i++) {
		r = &c->result[i];
		if (!same_launches(first, r))
			continue;
		for (k = 0; k < r->point_cnt; k++)
			j[i].point[k].p = fmin(1, families * p[cnt++]);
		j[i].all.p = fmin(1, families * p[cnt++]);
		find_verdicts(r, &j[i],
			      families * permute_least_p(r->launch_cnt[A], r->launch_cnt[B]));
	}
	free(value);
	free(p);
}

struct judgement *judge(const struct comparison *c)
{
	struct judgement *j = xcalloc(c->cnt + 1, sizeof(*j));
	double families = (double)family_cnt(c);

	for (size_t i = 0; i < c->cnt; i++)
		find_ratios(&c->result[i], &j[i]);
	for (size_t i = 0; i < c->cnt; i++) {
		if (is_head(c, i))
			test_family(c, j, i, families);
	}
	return j;
}

void judge_release(struct judgement *j, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		free(j[i].point);
	free(j);
}

size_t judge_launches_needed(const struct comparison *c)
{
	double families = (double)family_cnt(c);
	size_t n = 2;

	while (families * permute_least_p(n, n) > PERMUTE_LEVEL || !interval_order(n, n))
		n++;
	return n;
}

const char *judge_verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_NONE] = "no difference",
		[VERDICT_SLOWER] = "slower",
		[VERDICT_FASTER] = "faster",
		[VERDICT_UNKNOWN] = "unknown",
	};

	return names[v];
}

/* ---- exchanging launches ---- */

/*
 * A point's statistic is Student's t of the logarithms. A small number is added to the divisor, so
 * that a point that hardly varies does not become the largest by a tiny difference. With centred
 * values, t follows from one sum over the second set.
 */

#define ALL_MAX 10000.0	   /* up to this many exchanges are all tried */
#define DRAWN 9999	   /* number of drawn exchanges otherwise */
#define SPREAD_LEAST 0.001 /* of the logarithm: 0.1 % */
#define SEED 20161116u
#define EXACT 1e-9 /* values that differ by rounding count as equal */

struct test {
	double *centred; /* [point × cnt] */
	double *squares; /* of each point, about its mean */
	size_t point_cnt, n, m, cnt;
	size_t *in_b;	 /* the m launches of the second set */
	size_t *order;	 /* points, in descending order of |t| */
	double *shown;	 /* |t| of the actual sets, by order */
	size_t *reached; /* number of exchanges with as large a |t|, by order */
};

static double exchange_cnt(size_t n, size_t m)
{
	double all = 1;

	for (size_t i = 1; i <= n; i++)
		all *= (double)(m + i) / (double)i;
	return round(all);
}

double permute_least_p(size_t n, size_t m)
{
	double all = exchange_cnt(n, m);

	if (!n || !m || n + m < 3)
		return 1;
	if (all > ALL_MAX)
		return 1.0 / (DRAWN + 1);
	/* With sets of equal size, exchanging all launches gives the same |t|. */
	return (n == m ? 2 : 1) / all;
}

static void values_centre(struct test *t, const double *value)
{
	for (size_t i = 0; i < t->point_cnt; i++) {
		const double *v = value + i * t->cnt;
		double *c = t->centred + i * t->cnt, mean = 0;

		for (size_t k = 0; k < t->cnt; k++)
			mean += v[k] / (double)t->cnt;
		for (size_t k = 0; k < t->cnt; k++) {
			c[k] = v[k] - mean;
			t->squares[i] += c[k] * c[k];
		}
	}
}

static double point_t(const struct test *t, size_t point)
{
	double share = 1 / (double)t->n + 1 / (double)t->m, sum = 0, apart, within;
	const double *c = t->centred + point * t->cnt;

	for (size_t k = 0; k < t->m; k++)
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

TABLE_ORDER(compare_places, struct place, table_compare(b->shown, a->shown),
	    table_compare(a->point, b->point))

static void find_order(struct test *t)
{
	struct place *place = xcalloc(t->point_cnt, sizeof(*place));

	for (size_t i = 0; i < t->point_cnt; i++)
		place[i] = (struct place){point_t(t, i), i};
	qsort(place, t->point_cnt, sizeof(*place), compare_places);
	for (size_t i = 0; i < t->point_cnt; i++) {
		t->order[i] = place[i].point;
		t->shown[i] = place[i].shown;
	}
	free(place);
}

/* Compares each point with the largest |t| among itself and the points below it. */
static void exchange_count(struct test *t)
{
	double most = 0;

	for (size_t i = t->point_cnt; i-- > 0;) {
		most = fmax(most, point_t(t, t->order[i]));
		t->reached[i] += most >= t->shown[i] - EXACT;
	}
}

/* The next choice of m of cnt, in lexical order; false after the last one. */
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

/* Floyd's algorithm: draws m of cnt, with all choices equally probable. */
static void draw_choice(struct test *t, uint64_t *seed)
{
	size_t k, pick;

	for (size_t i = 0; i < t->m; i++) {
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

	for (size_t i = 0; i < t->m; i++)
		t->in_b[i] = i;
	do {
		exchange_count(t);
		all++;
	} while (next_choice(t));
	return all;
}

static double count_drawn(struct test *t)
{
	uint64_t seed = SEED;

	for (size_t i = 0; i < t->point_cnt; i++)
		t->reached[i] = 1; /* the actual sets */
	for (size_t i = 0; i < DRAWN; i++) {
		draw_choice(t, &seed);
		exchange_count(t);
	}
	return DRAWN + 1;
}

static void test_init(struct test *t, const double *value, size_t point_cnt, size_t n, size_t m)
{
	*t = (struct test){.point_cnt = point_cnt, .n = n, .m = m, .cnt = n + m};
	t->centred = xcalloc(point_cnt * t->cnt, sizeof(*t->centred));
	t->squares = xcalloc(point_cnt, sizeof(*t->squares));
	t->in_b = xcalloc(m, sizeof(*t->in_b));
	t->order = xcalloc(point_cnt, sizeof(*t->order));
	t->shown = xcalloc(point_cnt, sizeof(*t->shown));
	t->reached = xcalloc(point_cnt, sizeof(*t->reached));
	for (size_t k = 0; k < m; k++)
		t->in_b[k] = n + k;
	values_centre(t, value);
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

	for (size_t i = 0; i < point_cnt; i++)
		p[i] = 1;
	if (!point_cnt || !n || !m || n + m < 3)
		return;
	test_init(&t, value, point_cnt, n, m);
	all = exchange_cnt(n, m) > ALL_MAX ? count_drawn(&t) : count_all(&t);
	for (size_t i = 0; i < point_cnt; i++) {
		most = fmax(most, (double)t.reached[i] / all);
		p[t.order[i]] = most;
	}
	test_release(&t);
}
