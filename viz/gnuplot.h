/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Running gnuplot: from a script to a finished file, or nothing at all. */
#ifndef POVPLOT_GNUPLOT_H
#define POVPLOT_GNUPLOT_H

#include "script.h"

#include <stdint.h>

enum format { FORMAT_SVG, FORMAT_PNG, FORMAT_PDF };

/* By the name's end. -EINVAL after printing what names are possible. */
int gnuplot_format(const char *path, enum format *out);
/* Pictures for a column of a paper have smaller fonts: what takes an ordinary one's pixels takes this part of them. */
double gnuplot_font_scale(uint64_t width_px);
/* "set terminal", with fonts that are legible at this size; the variable "small" is the font for what is less important. */
void gnuplot_terminal(struct script *s, enum format format, uint64_t width_px, uint64_t height_px);
/*
 * Draws: head and body are finished scripts, what is between them sets the output. path appears only when all
 * went well. 0, or -errno after printing what gnuplot said.
 */
int gnuplot_draw(const struct script *head, const struct script *body, const char *path);

#endif
