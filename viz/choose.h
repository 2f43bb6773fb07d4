/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Chooses the picture and its results: as the user asked, or the only possible one. If several are
 * possible, it prints them instead of guessing.
 */
#ifndef POVPLOT_CHOOSE_H
#define POVPLOT_CHOOSE_H

#include "picture.h"

#include "lib/option.h"

struct choice {
	struct option_list benchmarks; /* empty: all */
	const char *picture;	       /* NULL: choose automatically */
};

/* Returns 0, or -ENODATA after printing that no result is wanted. */
int choose_check(const struct choice *c, const struct data *d);
/* Returns NULL after printing that there is no picture of that name. */
const struct picture *choose_named(const char *name);
bool choose_takes(const char *picture, const struct data_result *r);
/* The usual picture of a single result; NULL if there is none. */
const struct picture *choose_usual(const struct data_result *r);

/* Prints, in one line, that there is no picture. */
void choose_tell_pictureless(const struct data_result *r);

bool choose_wants(const struct choice *c, const struct data_result *r);

/*
 * Sets the picture and plot's results, which the caller frees. Returns 0, or -errno after printing
 * what is missing or the choices.
 */
int choose(const struct choice *c, const struct data *d, const struct picture **picture,
	   struct plot *plot);

#endif
