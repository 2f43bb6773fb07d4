/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Compares two files: ratios, and differences that chance does not explain. */
#ifndef POVBENCH_COMPARE_JUDGE_H
#define POVBENCH_COMPARE_JUDGE_H

#include "compare/collect.h"
#include "compare/interval.h"

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

#endif
