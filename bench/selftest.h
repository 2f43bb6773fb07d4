/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * `povbench selftest`: every benchmark of the registry runs on models of communication (model/model.h) whose overlap,
 * delays and steals are set, and must find them. Needs no MPI.
 */
#ifndef POVBENCH_SELFTEST_H
#define POVBENCH_SELFTEST_H

#include <stdio.h>

/*
 * One line for each case (TAP), then "N passed, N failed". Only the benchmark of that name, or all (null). 0 if all
 * passed; 1 if one failed, or a benchmark has no case, or nothing was run.
 */
int selftest_run(const char *only, FILE *out);

#endif
