/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Advises what to change, as far as the numbers of one file show that something could be better.
 * It uses the classes of the sentences (bench/core/classify.h). The rules are in
 * kmod-docs/BENCH_PICTURES.md, "What to change".
 */
#ifndef POVPLOT_ADVICE_H
#define POVPLOT_ADVICE_H

#include "data.h"

/* A line of advice on result r, or NULL if there is none. Caller frees. */
char *advice_of(const struct data *d, const struct data_result *r);

#endif
