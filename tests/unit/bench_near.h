/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Real numbers that must be equal but for rounding; older cmocka compares no doubles. Not true of NaN. */
#ifndef POV_BENCH_NEAR_H
#define POV_BENCH_NEAR_H

#include <math.h>

#define assert_near(value, wanted, slack) assert_true(fabs((double)(value) - (wanted)) <= (slack))

#endif
