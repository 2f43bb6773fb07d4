/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Factors and options that differ between launches, by name: "transport.btl". */
#ifndef POVBENCH_COMPARE_FACTORS_H
#define POVBENCH_COMPARE_FACTORS_H

#include "compare/collect.h"

/*
 * Returns an array of {"name", "a", "b"}: differences between the files in factors, and in options
 * of results that both have. A value that varies between the launches of a file is an array of all
 * of its values. The caller releases it.
 */
json_t *factors_differing(const struct comparison *c);

/*
 * Finds a factor in which all named launches of a file (numbers from 1) are on one side of the
 * others. Returns {"name", "named", "others"} with medians or texts, or null if there is none. The
 * caller releases it.
 */
json_t *factors_of_named(const struct compare_file *f, const size_t *launch, const bool *named,
			 size_t cnt);

/* The value as text, with quotes around strings. The caller frees it. */
char *factors_text(const json_t *value);

#endif
