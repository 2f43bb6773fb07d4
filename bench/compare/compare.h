/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povbench compare: compares two result files. Needs neither MPI nor a launcher. For each benchmark
 * that both files have, it takes the points that all launches have, with the time of each launch.
 */
#ifndef POVBENCH_COMPARE_H
#define POVBENCH_COMPARE_H

#include "lib/option.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- the points that both have (collect.c) ---- */

enum { A, B, SIDES };

struct compare_file {
	const char *path;
	json_t *root; /* owned */
};

struct compare_point {
	const json_t *json; /* the point in A's first launch, for its parameters */
	const char *time;   /* name of the main time of its benchmark */
	/* Interval of the median within the first launch; NaN: unknown. */
	double low[SIDES], high[SIDES];
};

struct compare_result {
	const char *benchmark, *kind;
	int ranks;
	size_t launch_cnt[SIDES];
	size_t *launch[SIDES];	      /* numbers of the launches in the file, from 1; owned */
	const json_t **result[SIDES]; /* of each launch; owned */
	struct compare_point *point;  /* owned */
	size_t point_cnt;
	size_t uneven_cnt; /* points that some launches lack */
	double *time;	   /* ns, [point × all launches], those of A first; owned */
};

struct comparison {
	struct compare_file file[SIDES];
	struct compare_result *result; /* owned */
	size_t cnt;
	json_t *alone[SIDES]; /* results that only this file has: "sender, 2 ranks"; owned */
};

/* Returns 0, or -EINVAL after printing if a file cannot be read or they have nothing in common. */
int collect(struct comparison *c, const char *a, const char *b);
void collect_release(struct comparison *c);

/* Total number of launches of both sides. */
size_t collect_launches(const struct compare_result *r);
/* Names a point by its parameters: "64 KiB, 20 us". The caller frees the text. */
char *collect_point_name(const json_t *point);

/* ---- ratios and verdicts (judge.c) ---- */

/*
 * The ratio of two sets of launches and its 95 % confidence interval, by ranks (Hodges and
 * Lehmann; Hollander & Wolfe, Nonparametric Statistical Methods, 4.3). The method assumes no
 * distribution of the launches.
 */
struct ratio {
	double value, low, high;
};

enum verdict {
	VERDICT_NONE,	/* no difference shown */
	VERDICT_SLOWER, /* B takes longer */
	VERDICT_FASTER,
	VERDICT_UNKNOWN, /* too few launches for a verdict */
};

struct judged {
	struct ratio ratio; /* B to A */
	double p;	    /* corrected for the number of comparisons */
	enum verdict verdict;
};

struct judgement {
	/* Both sides have several launches; otherwise intervals are within a launch. */
	bool repeated;
	bool able;	      /* there are enough launches for a verdict */
	struct judged all;    /* the geometric mean over the points */
	struct judged *point; /* owned */
	size_t slower_cnt, faster_cnt;
};

/* Returns one for each result of c; the caller releases them. */
struct judgement *judge(const struct comparison *c);
void judge_release(struct judgement *j, size_t cnt);

/* Number of launches that each file needs for a verdict, if both have equal numbers. */
size_t judge_launches_needed(const struct comparison *c);

const char *judge_verdict_name(enum verdict v);

/*
 * Sort the n × m ratios of one set's launches to the other's. The 95 % interval runs from the k-th
 * smallest to the k-th largest. Returns k, or 0 if there are too few launches.
 */
size_t interval_order(size_t n, size_t m);

/*
 * Median of b over median of a. order: k of interval_order(); 0: the interval is from the smallest
 * to the largest ratio, with less than 95 % confidence. Neither set may be empty, and all values
 * must be above 0.
 */
struct ratio interval_ratio(const double *a, size_t n, const double *b, size_t m, size_t order);

/* ---- exchanging launches (judge.c) ---- */

/*
 * Finds the points that differ between two sets of launches. The risk of naming any point although
 * none differs is at most 2 %. The method is Westfall and Young's step-down test of the largest
 * difference (Resampling-Based Multiple Testing, 1993). If both sets were alike, each launch could
 * have been in either. So whole launches are exchanged, in all ways or in many drawn ones, which
 * shows the effect of chance on all points. The dependence between the points of a launch is
 * preserved.
 */
#define PERMUTE_LEVEL 0.02

/*
 * value[point × (n + m) + launch] are logarithms of times: first the n launches of one set, then
 * the m of the other. p[point] is the share of exchanges in which this point, or a point with a
 * smaller actual difference, differs as much as this one does.
 */
void permute_test(const double *value, size_t point_cnt, size_t n, size_t m, double *p);
/* The least p that is possible with that many launches. */
double permute_least_p(size_t n, size_t m);

/* ---- factors (factors.c) ---- */

/*
 * Returns an array of {"name", "a", "b"}: differences between the files in factors, and in options
 * of results that both have. A value that varies between the launches of a file is an array of all
 * of its values. The caller releases it.
 */
json_t *factors_differing(const struct comparison *c);

/*
 * Finds a factor in which all named launches of a file (numbers from 1) are on one side of the
 * others. Returns {"name", "named", "others"} with medians or texts, or null if there is none. The
 * caller releases it.
 */
json_t *factors_of_named(const struct compare_file *f, const size_t *launch, const bool *named,
			 size_t cnt);

/* The value as text, with quotes around strings. The caller frees it. */
char *factors_text(const json_t *value);

/* ---- launches that differ from the others of their file (spread.c) ---- */

/*
 * Finds benchmarks in which some launches of one file differ from its other launches. Returns an
 * array of {"benchmark", "ranks", "launches", "of", "ratio", "p"}. An element also has "factor" if
 * a factor separates the same launches. The caller releases the array.
 */
json_t *spread_find(const struct comparison *c, int side);
/*
 * Writes "sender, 2 ranks: launches 3, 6 and 9 of 10 are 10.2 % slower than the others". Caller
 * frees.
 */
char *spread_text(const json_t *one);

/* ---- random numbers ---- */

/*
 * Reproducible random numbers, because a comparison must not depend on when it is made: SplitMix64
 * (Steele, Lea, Flood 2014). The state is any number.
 */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Uniform in 0 … 1, without 1. */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* Normal distribution with mean 0 and standard deviation 1 (Box and Muller). */
static inline double random_normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(1 - random_unit(state)));

	return radius * cos(2 * M_PI * random_unit(state));
}

/* ---- printing (show.c) ---- */

struct shown {
	const struct comparison *c;
	const struct judgement *j;
	const json_t *differing;     /* factors_differing */
	const json_t *spread[SIDES]; /* spread_find */
	bool points;		     /* also show each point */
};

void show_text(const struct shown *s, FILE *out);
void show_json(const struct shown *s, FILE *out);

/* ---- the command ---- */

extern const struct command command_compare;

/*
 * argv[0] is "compare". Returns the exit status: 0, 1 if a condition is met, 2 for wrong usage,
 * unusable files, or a condition that cannot be judged.
 */
int compare_main(int argc, char **argv);

#endif
