/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The algorithms that a library has for a collective, as its tool interface (MPI_T) lists them, and
 * the environment variables that choose one. Open MPI's coll_tuned_<collective>_algorithm takes a
 * number with a name. MPICH's MPIR_CVAR_<COLLECTIVE>_INTRA_ALGORITHM takes a name. Other libraries
 * list none.
 */
#ifndef POVBENCH_ALGORITHM_H
#define POVBENCH_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define ALGORITHM_DEFAULT "default" /* what the library chooses by itself */

struct algorithm {
	char *value; /* of the environment variable; owned */
	char *name;  /* owned */
};

struct algorithm_list {
	struct algorithm *item; /* without the library's own choice; owned */
	size_t cnt;
};

/*
 * May be called before or after MPI_Init, but never before algorithm_set. Empty if none is listed.
 */
void algorithm_list_init(struct algorithm_list *l, const char *collective);
void algorithm_list_release(struct algorithm_list *l);
/* Finds an algorithm by its value; null if there is none. */
const struct algorithm *algorithm_find(const struct algorithm_list *l, const char *value);

/*
 * Sets the variables that choose this algorithm, or removes them for ALGORITHM_DEFAULT. Every rank
 * must call it before MPI_Init. Returns false if the library has no known setting for it.
 */
bool algorithm_set(const char *collective, const char *value);
/* After MPI_Init: true if the tool interface reports this algorithm, or cannot report any. */
bool algorithm_taken(const char *collective, const char *value);
/* Removes the variables that algorithm_set sets from a JSON object of variables. */
void algorithm_forget(const char *collective, json_t *environment);

/*
 * Adds the names in MPICH's description of such a variable, except "auto". The description is a
 * row of "name - explanation" without separators, and all names are padded to one width.
 * (algorithm_text.c)
 */
void algorithm_read_text(struct algorithm_list *l, const char *text);
void algorithm_add(struct algorithm_list *l, const char *value, const char *name);

#endif
