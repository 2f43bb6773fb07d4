/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Turns results into files: one picture that was asked for, or all that the results allow. */
#ifndef POVPLOT_DRAW_H
#define POVPLOT_DRAW_H

#include "script.h"
#include "picture.h"
#include "lib/option.h"
#include "data.h"

#include <stdint.h>

/* ---- choosing the picture and its results (choose.c) ---- */

/*
 * Chooses the picture and its results: as the user asked, or the only possible one. If several are
 * possible, it prints them instead of guessing.
 */

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

/* ---- drawing (draw.c) ---- */

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

/* ---- HTML pages ---- */

/* Shows some results on one page: what each means, its picture, and its factors. */

/* True if the name's ending asks for a page. */
bool page_is_wanted(const char *path);
/*
 * Returns 0, or -errno after printing why. path is created only on success. It needs no other
 * file.
 */
int page_write(const struct data *d, const struct choice *c, const struct draw_style *style,
	       const char *path);

/* A line of advice on result r, or NULL if there is none. Caller frees. */
char *advice_of(const struct data *d, const struct data_result *r);

/* True if a fabric is wanted and nothing else. */
bool fabric_page_fits(const struct data *d, const struct choice *c);
/* Returns 0, or -errno after printing why. title: NULL for the file's name. */
int fabric_page_write(const struct data *d, const struct choice *c, const char *title,
		      const char *path);

#endif
