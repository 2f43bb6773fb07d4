/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Comparison of real numbers up to rounding; older cmocka compares no doubles. A NaN always fails.
 */
#ifndef POV_BENCH_NEAR_H
#define POV_BENCH_NEAR_H

#include <math.h>

#define assert_near(value, wanted, slack) assert_true(fabs((double)(value) - (wanted)) <= (slack))

#endif
