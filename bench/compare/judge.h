/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Compares two files: ratios, and differences that chance does not explain. */
#ifndef POVBENCH_COMPARE_JUDGE_H
#define POVBENCH_COMPARE_JUDGE_H

#include "compare/collect.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif
