/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What two files say of each other: ratios, and where there is a difference that chance does not explain. */
#ifndef POVBENCH_COMPARE_JUDGE_H
#define POVBENCH_COMPARE_JUDGE_H

#include "compare/collect.h"
#include "compare/interval.h"

enum verdict {
	VERDICT_NONE,	/* no difference shown */
	VERDICT_SLOWER, /* B takes longer */
	VERDICT_FASTER,
	VERDICT_UNKNOWN, /* too few launches to tell */
};

struct judged {
	struct ratio ratio; /* B to A */
	double p;	    /* corrected for all that is compared */
	enum verdict verdict;
};

struct judgement {
	bool repeated; /* both sides have several launches; else intervals are those within a launch */
	bool able;     /* there are launches enough for a verdict */
	struct judged all;    /* the geometric mean over the points */
	struct judged *point; /* owned */
	size_t slower_cnt, faster_cnt;
};

/* One for each result of c; the caller releases them. */
struct judgement *judge(const struct comparison *c);
void judge_release(struct judgement *j, size_t cnt);

/* How many launches each file needs at least for a verdict, if both have as many. */
size_t judge_launches_needed(const struct comparison *c);

const char *judge_verdict_name(enum verdict v);

#endif
