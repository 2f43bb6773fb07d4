/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Collects the points that all launches of a result have. */
#ifndef POVBENCH_COMPARE_POINTS_H
#define POVBENCH_COMPARE_POINTS_H

#include "compare/collect.h"

/* Fills points and times from the result's launches. */
void points_gather(struct compare_result *r);

#endif
