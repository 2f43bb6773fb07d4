/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Prints a comparison for people, or for programs. */
#ifndef POVBENCH_COMPARE_SHOW_H
#define POVBENCH_COMPARE_SHOW_H

#include "compare/judge.h"

#include <stdio.h>

struct shown {
	const struct comparison *c;
	const struct judgement *j;
	const json_t *differing;     /* factors.h */
	const json_t *spread[SIDES]; /* spread.h */
	bool points;		     /* also show each point */
};

void show_text(const struct shown *s, FILE *out);
void show_json(const struct shown *s, FILE *out);

#endif
