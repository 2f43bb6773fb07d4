/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A picture is one file, viz/plot_<name>.c, that ends in `const struct picture plot_<name>`; make generates the table from
 * the files. It says which results it can show and writes the gnuplot script for them; who runs the script, and to what
 * format, is not its business.
 */
#ifndef POVPLOT_PICTURE_H
#define POVPLOT_PICTURE_H

#include "data.h"
#include "palette.h"
#include "script.h"

#include <stdint.h>

/* The results to draw, and how. */
struct plot {
	const struct data_result **result; /* each is one that the picture takes; never none */
	size_t cnt;
	enum palette palette;
	uint64_t width_px, height_px; /* 0: as the picture likes it */
	const char *time;	      /* the time whose distribution is drawn, or NULL */
	const char *title;	      /* instead of the picture's own, or NULL */
	bool words;		      /* with the sentences */
};

struct picture {
	const char *name;
	const char *brief; /* one line: what is to be seen */
	bool many;	   /* shows several results at once */
	bool (*takes)(const struct data_result *r);
	/* The picture's size if the user does not say. */
	void (*size)(const struct plot *p, uint64_t *width_px, uint64_t *height_px);
	/* Writes the script behind "set output". 0, or -errno after printing why there is nothing to draw. */
	int (*draw)(const struct plot *p, struct script *s);
};

extern const struct picture *const pictures[]; /* by name; ends with NULL */

#endif
