/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which picture of which results: as the user said, and otherwise the one that they leave open. Where several are
 * possible, that is told and nothing is guessed.
 */
#ifndef POVPLOT_CHOOSE_H
#define POVPLOT_CHOOSE_H

#include "picture.h"

#include "lib/option.h"

struct choice {
	struct option_list benchmarks; /* none: all */
	const char *picture;	       /* NULL: the one that fits */
};

/* 0, or -ENODATA after printing that no result is wanted. */
int choose_check(const struct choice *c, const struct data *d);
/* NULL after printing that there is none of that name. */
const struct picture *choose_named(const char *name);
bool choose_takes(const char *picture, const struct data_result *r);
/* The picture that a result has for itself; NULL if there is none. */
const struct picture *choose_usual(const struct data_result *r);

/* Says that there is none, in a line. */
void choose_tell_pictureless(const struct data_result *r);

bool choose_wants(const struct choice *c, const struct data_result *r);

/*
 * Sets the picture and plot's results, which the caller frees. 0, or -errno after printing what is missing or what
 * the user has to choose from.
 */
int choose(const struct choice *c, const struct data *d, const struct picture **picture,
	   struct plot *plot);

#endif
