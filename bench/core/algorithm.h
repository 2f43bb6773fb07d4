/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The algorithms that a library has for a collective, as its tool interface (MPI_T) tells of them, and the environment variables by
 * which one is chosen: Open MPI's coll_tuned_<collective>_algorithm, a number with a name, and MPICH's
 * MPIR_CVAR_<COLLECTIVE>_INTRA_ALGORITHM, a name. Other libraries tell of none.
 */
#ifndef POVBENCH_ALGORITHM_H
#define POVBENCH_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define ALGORITHM_DEFAULT "default" /* what the library chooses by itself */

struct algorithm {
	char *value; /* of the variable; owned */
	char *name;  /* owned */
};

struct algorithm_list {
	struct algorithm *item; /* without the library's own choice; owned */
	size_t cnt;
};

/* Before or after MPI_Init, but never before algorithm_set. Empty: the library tells of none. */
void algorithm_list_init(struct algorithm_list *l, const char *collective);
void algorithm_list_release(struct algorithm_list *l);
/* By value, or null. */
const struct algorithm *algorithm_find(const struct algorithm_list *l, const char *value);

/*
 * Before MPI_Init, on every rank: the variables are set to have that one used, or, for ALGORITHM_DEFAULT, taken away. false: it is not known how
 * this library is told.
 */
bool algorithm_set(const char *collective, const char *value);
/* After MPI_Init: whether the library has it so, as far as it tells. */
bool algorithm_taken(const char *collective, const char *value);
/* Takes the variables that algorithm_set sets out of an object of variables. */
void algorithm_forget(const char *collective, json_t *environment);

/*
 * The names in MPICH's description of such a variable, in which "name - what it is" follow each other without any mark between them, the names
 * padded to the same width. "auto" is left out. (algorithm_text.c)
 */
void algorithm_read_text(struct algorithm_list *l, const char *text);
void algorithm_add(struct algorithm_list *l, const char *value, const char *name);

#endif
