/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Factors and options in which launches differ, by name: "transport.btl". */
#ifndef POVBENCH_COMPARE_FACTORS_H
#define POVBENCH_COMPARE_FACTORS_H

#include "compare/collect.h"

/*
 * An array of {"name", "a", "b"}: what differs between the files, in factors and in the options of what both have. A value that is
 * not the same in all launches of a file is an array of all of its values. The caller releases it.
 */
json_t *factors_differing(const struct comparison *c);

/*
 * Of one file's launches (numbers from 1), a factor in which those named are all on one side of the others: {"name", "named",
 * "others"} with the medians, or texts. Null: there is none. The caller releases it.
 */
json_t *factors_of_named(const struct compare_file *f, const size_t *launch, const bool *named,
			 size_t cnt);

/* As text; a string in quotes. The caller frees. */
char *factors_text(const json_t *value);

#endif
