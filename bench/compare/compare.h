/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* povbench compare: two result files, and whether they differ. Needs no MPI and no launcher. */
#ifndef POVBENCH_COMPARE_H
#define POVBENCH_COMPARE_H

#include "lib/option.h"

extern const struct command command_compare;

/* argv[0] is "compare". The exit status: 0, 1 a condition is met, 2 usage, files, or a condition that cannot be judged. */
int compare_main(int argc, char **argv);

#endif
