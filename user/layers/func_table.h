/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The built-in function tables of all layers as one, and choosing from it what to record. Readers do not use it:
 * they go by the tables in the trace.
 */
#ifndef POV_LAYERS_FUNC_TABLE_H
#define POV_LAYERS_FUNC_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "layers/layer.h"

struct option_list;
struct pov_fn;

/* Rows of all layers; a row's index is the function's id in a recording. */
size_t func_table_count(void);
const struct func_row *func_table_get(size_t i); /* i < func_table_count() */
const struct layer *func_table_layer(size_t i);
/* Its recipe. A row that has none is a mistake in the table: ends the program. */
void func_table_recipe(size_t i, struct pov_fn *out);
/*
 * Whether it need not be recorded one by one: it does not wait for others, which the report is about, and nobody has to learn from it
 * who belongs to whom.
 */
bool func_table_may_shed(size_t i);
/* Whether its calls mostly return within some hundred ns: they are counted unless somebody asks for each. */
bool func_table_is_brief(size_t i);
/* Index of a function by exact name, or -1. */
int func_table_find(const char *name);

/* What --mpi, --layers, --functions and --no-functions say. */
struct func_choice {
	const char *groups, *layers;
	const struct option_list *functions, *no_functions;
};

/*
 * Chooses functions: selected[i] for each row i; named[i] if it is more than the default's choice (named may be NULL).
 *
 * groups: comma list of MPI's group names, "default" (all but local ones), "local" (those that only ask or do
 * something within the process), "all"; "conv" is in neither of these; a leading - takes away. It is read from left to right; a list that
 * begins with - begins from the default. NULL: the default, or nothing if there are functions.
 * layers: comma list of layers besides MPI of which all but local ones are chosen; may be NULL.
 * functions, no_functions: globs (shell patterns, case does not matter, "MPI_" may be left out) of what
 * to add, and what to leave out whatever chose it; may be NULL.
 *
 * 0, or -EINVAL after printing what is unknown, what there is, or that nothing is left.
 */
int func_table_select(const struct func_choice *choice, bool *selected, bool *named);

/*
 * selected[i] = add for each row that a glob of option's (as functions above) means. 0, or -EINVAL after printing that there is
 * none.
 */
int func_table_match(const char *option, const char *glob, bool add, bool *selected);

/* "p2p, req, …, default, local, all": what --mpi takes. */
void func_table_groups_print(FILE *out);
/* What --layers takes. */
void func_table_layers_print(FILE *out);

/* The trace's meta object "functions" of a layer: all its rows. The caller owns it. */
json_t *func_table_to_json(const struct layer *layer);

#endif
