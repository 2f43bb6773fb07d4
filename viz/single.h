/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A picture of one heat map, and the head that all pictures have. */
#ifndef POVPLOT_SINGLE_H
#define POVPLOT_SINGLE_H

#include "picture.h"

void single_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px);
int single_draw(const struct plot *p, const char *y_label, struct script *s);

/* The title: what is shown, where it was measured, and the first result's sentence. */
void single_title(const struct plot *p, const char *name, struct script *s);
/*
 * The same above a picture of rows × columns panels, which it begins; "unset multiplot" ends it. Without rows the caller
 * places them.
 */
void single_head(const struct plot *p, const char *name, size_t rows, size_t columns,
		 struct script *s);

#endif
