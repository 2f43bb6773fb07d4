/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* From results to files: the one picture that was asked for, or all that the results give. */
#ifndef POVPLOT_DRAW_H
#define POVPLOT_DRAW_H

#include "choose.h"
#include "gnuplot.h"

#include <stdint.h>

/* As the user said it; 0 and NULL where nothing was said. */
struct draw_style {
	const char *title, *time;
	uint64_t width_px, height_px;
	int palette; /* enum palette */
	bool no_words;
};

/* 0, or -errno after printing why. path NULL: prints the script. */
int draw_chosen(const struct data *d, const struct choice *c, const struct draw_style *style,
		enum format format, const char *path);
/*
 * A picture of each result that has one, and a grid of all maps, as PNG in the current directory, and prints their names.
 * Existing files are kept, unless `replace`. 0 if there is at least one picture, or -errno after printing why there is
 * none or what stopped it.
 */
int draw_everything(const struct data *d, const struct choice *c, const struct draw_style *style,
		    bool replace);

#endif
