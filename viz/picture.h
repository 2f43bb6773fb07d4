/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A picture is one file, viz/plot_<name>.c, that ends in `const struct picture plot_<name>`. make
 * generates the table of pictures from these files. A picture knows which results it can show, and
 * writes the gnuplot script for them. Running the script and the output format are not its
 * business.
 */
#ifndef POVPLOT_PICTURE_H
#define POVPLOT_PICTURE_H

#include "data.h"
#include "script.h"

#include <stdint.h>

/* The results to draw, and how. */
struct plot {
	const struct data_result **result; /* results that the picture takes; at least one */
	size_t cnt;
	enum palette palette;
	uint64_t width_px, height_px; /* 0: the picture's own size */
	const char *time;	      /* the time whose distribution is drawn, or NULL */
	const char *title;	      /* replaces the picture's own title, or NULL */
	bool words;		      /* also write the sentences */
};

struct picture {
	const char *name;
	bool many; /* shows several results at once */
	bool (*takes)(const struct data_result *r);
	/* The picture's size if the user does not set one. */
	void (*size)(const struct plot *p, uint64_t *width_px, uint64_t *height_px);
	/*
	 * Writes the script after "set output". Returns 0, or -errno after printing why it cannot.
	 */
	int (*draw)(const struct plot *p, struct script *s);
};

extern const struct picture *const pictures[]; /* by name; ends with NULL */

/* Starts a table with the script's next blocks as rows. columns: see script_table. */
void table_begin(struct script *s, const struct data_result *const *result, size_t cnt,
		 const char *columns);

/* ---- parts that pictures share (picture.c) ---- */

void picture_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px);

/* Writes the scale of the colours beside a map and its name, in gnuplot's markup. */
void picture_scale(const struct plot *p, const char *name, struct script *s);
/*
 * Approximate width for the map, number of labels of sizes that fit, and the map's share of the
 * height.
 */
double picture_map_px(const struct plot *p);
double picture_map_tics(const struct plot *p);
#define PICTURE_MAP_HEIGHT 0.75

/*
 * Writes what follows "set title": the user's title or this name, then these lines (ends with
 * NULL).
 */
void picture_lines(const struct plot *p, const char *name, const char *const *lines,
		   struct script *s);
/* Writes the title: what is shown, where it was measured, and the first result's sentence. */
void picture_title(const struct plot *p, const char *name, struct script *s);
/*
 * The same above a picture of rows × columns panels, which it begins. "unset multiplot" ends it.
 * Without rows the caller places the panels.
 */
void picture_head(const struct plot *p, const char *name, size_t rows, size_t columns,
		  struct script *s);

#endif
