/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The built-in function tables of all layers as one table, and the choice of what to record.
 * Readers do not use it: they use the tables in the trace.
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

/* Number of rows of all layers; a row's index is the function's id in a recording. */
size_t func_table_count(void);
const struct func_row *func_table_get(size_t i); /* i < func_table_count() */
const struct layer *func_table_layer(size_t i);
/* The row's signature, with wide or nothing in place of poly. Caller frees. */
char *func_table_signature(size_t i);
/* Makes the row's recipe. A row without one is a mistake in the table: ends the program. */
void func_table_recipe(size_t i, struct pov_fn *out);
/*
 * True if the overhead limit may throttle the function: it does not wait for others, and its calls
 * teach nothing about communicators.
 */
bool func_table_may_throttle(size_t i);
/*
 * True if calls mostly return within some hundred ns. Such calls are only counted, unless the user
 * has selected the function.
 */
bool func_table_is_brief(size_t i);
/* Index of a function by exact name, or -1. */
int func_table_find(const char *name);

/* Values of --mpi, --layers, --functions and --no-functions. */
struct func_choice {
	const char *groups, *layers;
	const struct option_list *functions, *no_functions;
};

/*
 * Chooses functions. selected[i] is set for each row i; named[i] if it goes beyond the default
 * choice (named may be NULL).
 *
 * groups: comma-separated list of MPI's group names, "default" (all but local ones), "local"
 * (functions that work within the process only), and "all". None of these three includes "conv". A
 * leading - removes a group. The list is read from left to right; a list that begins with - starts
 * from the default. NULL: the default, or nothing if there are functions.
 *
 * layers: comma-separated list of layers besides MPI, of which all but local functions are chosen;
 * may be NULL.
 *
 * functions, no_functions: globs (shell patterns; case does not matter, "MPI_" may be omitted) of
 * functions to add, and of functions to leave out whatever chose them; may be NULL.
 *
 * 0, or -EINVAL after printing what is unknown, what is available, or that nothing is left.
 */
int func_table_select(const struct func_choice *choice, bool *selected, bool *named);

/*
 * Sets selected[i] for each row that matches an option's glob (see functions above). 0, or -EINVAL
 * after printing that there is none.
 */
int func_table_match(const char *option, const char *glob, bool *selected);

/* Prints "p2p, req, …, default, local, all": the values of --mpi. */
void func_table_groups_print(FILE *out);
/* Prints the values of --layers. */
void func_table_layers_print(FILE *out);

/* The trace's meta object "functions" for a layer, with all its rows. The caller owns it. */
json_t *func_table_to_json(const struct layer *layer);

#endif
