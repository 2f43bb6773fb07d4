/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The conditions of --fail-if: "slower > 5 %", "faster", "different > 10 %". */
#ifndef POVBENCH_COMPARE_CONDITION_H
#define POVBENCH_COMPARE_CONDITION_H

#include "compare/judge.h"

struct condition {
	bool slower, faster; /* directions that count */
	double least;	     /* ratio, from 1 on, that must be exceeded */
};

/* Returns 0, or -EINVAL after printing the expected form. */
int condition_read(const char *text, struct condition *out);
/* True if the difference is shown and large enough. */
bool condition_meets(const struct condition *c, const struct judged *one);
/* Number of points of a result that meet the condition; *first is the index of the first one. */
size_t condition_cnt(const struct condition *c, const struct compare_result *r,
		     const struct judgement *j, size_t *first);

#endif
