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
/* One picture. 0, or -errno after printing why. path NULL: prints the script. */
int draw_plot(const struct picture *picture, struct plot *plot, const struct draw_style *style,
	      enum format format, const char *path);

/*
 * Called for each result that has a picture, results of one picture together, and for the grid of all maps; name: of the
 * benchmark, or of the picture if there are several results in it. 0; -EINVAL or -ENODATA: this one cannot be drawn, as was
 * told; another -errno ends it.
 */
typedef int (*draw_each_fn)(void *ctx, const struct picture *picture, struct plot *plot,
			    const char *name);
/* 0 if there was at least one, or -errno after printing why there is none or what stopped it. */
int draw_each(const struct data *d, const struct choice *c, draw_each_fn each, void *ctx);
/* All of them as PNG in the current directory, and prints their names. Existing files are kept, unless `replace`. */
int draw_files(const struct data *d, const struct choice *c, const struct draw_style *style,
	       bool replace);
/* Prints the data of the chosen picture, or of all that there are, as tables of tab-separated values. */
int draw_tables(const struct data *d, const struct choice *c, const struct draw_style *style);

#endif
