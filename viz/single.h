/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A picture of one heat map; the scale beside maps; the head of all pictures. */
#ifndef POVPLOT_SINGLE_H
#define POVPLOT_SINGLE_H

#include "picture.h"

void single_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px);
int single_draw(const struct plot *p, const char *y_label, struct script *s);

/* Writes the scale of the colours beside a map and its name, in gnuplot's markup. */
void single_scale(const struct plot *p, const char *name, struct script *s);
/*
 * Approximate width for the map, number of labels of sizes that fit, and the map's share of the
 * height.
 */
double single_map_px(const struct plot *p);
double single_map_tics(const struct plot *p);
#define SINGLE_MAP_HEIGHT 0.75

/*
 * Writes what follows "set title": the user's title or this name, then these lines (ends with
 * NULL).
 */
void single_lines(const struct plot *p, const char *name, const char *const *lines,
		  struct script *s);
/* Writes the title: what is shown, where it was measured, and the first result's sentence. */
void single_title(const struct plot *p, const char *name, struct script *s);
/*
 * The same above a picture of rows × columns panels, which it begins. "unset multiplot" ends it.
 * Without rows the caller places the panels.
 */
void single_head(const struct plot *p, const char *name, size_t rows, size_t columns,
		 struct script *s);

#endif
