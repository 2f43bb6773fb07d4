/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What to change, as far as the numbers of one file say that something could be better, by the classes that its sentences are
 * made of (bench/core/classify.h). The rules are in kmod-docs/BENCHMARKS.md, "What to change".
 */
#ifndef POVPLOT_ADVICE_H
#define POVPLOT_ADVICE_H

#include "data.h"

/* A line on result r; NULL: nothing is to be said of it. Caller frees. */
char *advice_of(const struct data *d, const struct data_result *r);

#endif
