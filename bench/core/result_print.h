/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Results as tables for people. Times are medians in microseconds. */
#ifndef POVBENCH_RESULT_PRINT_H
#define POVBENCH_RESULT_PRINT_H

#include <stdio.h>

#include "core/result_file.h"

/*
 * With its head and its sentence: a row for each point. all: every time and value of the points, the other suites' figures
 * among them; else maps have the columns that a first look needs.
 */
void result_print(const struct result *r, bool all, FILE *out);
/* The rows of a map. */
void result_print_map(const struct result *r, FILE *out);
/* Of a curve, in the shape of the OSU benchmarks' tables. (result_sizes.c) */
void result_print_sizes(const struct result *r, FILE *out);

#endif
