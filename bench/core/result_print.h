/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Results as tables for people. Times are medians in microseconds. */
#ifndef POVBENCH_RESULT_PRINT_H
#define POVBENCH_RESULT_PRINT_H

#include <stdio.h>

#include "core/result_file.h"

/*
 * Prints the result with its head and its sentence, one row for each point. all: print every time
 * and value, including the figures of other suites. Otherwise maps only get the most important
 * columns.
 */
void result_print(const struct result *r, bool all, FILE *out);
/* Prints the rows of a map. */
void result_print_map(const struct result *r, FILE *out);
/* Prints a curve like the tables of the OSU benchmarks. */
void result_print_sizes(const struct result *r, FILE *out);

#endif
