/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* povbench compare: compares two result files. Needs neither MPI nor a launcher. */
#ifndef POVBENCH_COMPARE_H
#define POVBENCH_COMPARE_H

#include "lib/option.h"

extern const struct command command_compare;

/*
 * argv[0] is "compare". Returns the exit status: 0, 1 if a condition is met, 2 for wrong usage,
 * unusable files, or a condition that cannot be judged.
 */
int compare_main(int argc, char **argv);

#endif
