/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What --fail-if takes: "slower > 5 %", "faster", "different > 10 %". */
#ifndef POVBENCH_COMPARE_CONDITION_H
#define POVBENCH_COMPARE_CONDITION_H

#include "compare/judge.h"

struct condition {
	bool slower, faster; /* which way */
	double least;	     /* ratio, from 1 on, that is exceeded */
};

/* 0, or -EINVAL after printing what is wanted. */
int condition_read(const char *text, struct condition *out);
/* Whether this difference is shown, and larger. */
bool condition_meets(const struct condition *c, const struct judged *one);
/* How many points of a result meet it; *first: the index of the first one. */
size_t condition_cnt(const struct condition *c, const struct compare_result *r,
		     const struct judgement *j, size_t *first);

#endif
