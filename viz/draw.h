/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Turns results into files: one picture that was asked for, or all that the results allow. */
#ifndef POVPLOT_DRAW_H
#define POVPLOT_DRAW_H

#include "choose.h"
#include "gnuplot.h"

#include <stdint.h>

/* The user's options; 0 and NULL if not given. */
struct draw_style {
	const char *title, *time;
	uint64_t width_px, height_px;
	int palette; /* enum palette */
	bool no_words;
};

/* Returns 0, or -errno after printing why. With path NULL it prints the script. */
int draw_chosen(const struct data *d, const struct choice *c, const struct draw_style *style,
		enum format format, const char *path);
/*
 * Draws one picture. Returns 0, or -errno after printing why. With path NULL it prints the script.
 */
int draw_plot(const struct picture *picture, struct plot *plot, const struct draw_style *style,
	      enum format format, const char *path);

/*
 * Called for each picture: with a result, or with several results that share the picture, and for
 * the grid of all maps. `name` is the benchmark's, or the picture's if it has several results.
 * Returns 0. -EINVAL or -ENODATA after printing means that this picture cannot be drawn; another
 * -errno stops everything.
 */
typedef int (*draw_each_fn)(void *ctx, const struct picture *picture, struct plot *plot,
			    const char *name);
/*
 * Returns 0 if there was at least one picture, or -errno after printing why not or what stopped
 * it.
 */
int draw_each(const struct data *d, const struct choice *c, draw_each_fn each, void *ctx);
/*
 * Draws all as PNG files in the current directory and prints their names. Keeps existing files,
 * unless `replace`.
 */
int draw_files(const struct data *d, const struct choice *c, const struct draw_style *style,
	       bool replace);
/* Prints the data of the chosen picture, or of all possible ones, as tab-separated tables. */
int draw_tables(const struct data *d, const struct choice *c, const struct draw_style *style);

#endif
