/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The built-in function table (bpf/mpi.def), and choosing from it what to record. Readers do not use it:
 * they go by the table in the trace.
 */
#ifndef POV_LAYER_FUNC_TABLE_H
#define POV_LAYER_FUNC_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct option_list;

/* One row, as text. Its index is the function's id in a recording. */
struct func_row {
	const char *name, *group, *attrs, *sig;
};

size_t func_table_count(void);
const struct func_row *func_table_get(size_t i); /* i < func_table_count() */
/* Index of a function by exact name, or -1. */
int func_table_find(const char *name);

/*
 * Chooses functions: selected[i] for each row i.
 *
 * groups: comma list of group names, "default" (all but local ones), "local" (those that only ask or do
 * something within the process), "all"; "conv" is in neither of these; a leading - takes away. It is read from left to right; a list that
 * begins with - begins from the default. NULL: the default, or nothing if there are functions.
 * functions, no_functions: globs (shell patterns, case does not matter, "MPI_" may be left out) of what
 * to add, and what to leave out whatever chose it; may be NULL.
 *
 * 0, or -EINVAL after printing what is unknown, what there is, or that nothing is left.
 */
int func_table_select(const char *groups, const struct option_list *functions,
		      const struct option_list *no_functions, bool *selected);

/* "p2p, req, …, default, local, all": what --mpi takes. */
void func_table_groups_print(FILE *out);

/* The trace's meta object "functions": all rows. The caller owns it. */
json_t *func_table_to_json(void);

#endif
