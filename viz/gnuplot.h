/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Runs gnuplot: turns a script into a finished file, or writes nothing at all. */
#ifndef POVPLOT_GNUPLOT_H
#define POVPLOT_GNUPLOT_H

#include "script.h"

#include <stdint.h>

enum format { FORMAT_SVG, FORMAT_PNG, FORMAT_PDF };

/* Format by the name's ending. Returns -EINVAL after printing the possible endings. */
int gnuplot_format(const char *path, enum format *out);
/* Factor for font sizes, and for lengths in ordinary pixels: narrow pictures have smaller fonts. */
double gnuplot_font_scale(uint64_t width_px);
/* Writes "set terminal", with legible fonts. The variable "small" is the font of minor texts. */
void gnuplot_terminal(struct script *s, enum format format, uint64_t width_px, uint64_t height_px);
/*
 * Draws. head and body are finished scripts, and the output is set between them. path is created
 * only on success. Returns 0, or -errno after printing gnuplot's message.
 */
int gnuplot_draw(const struct script *head, const struct script *body, const char *path);

/* Writes the content of an existing empty file. Returns 0, or -errno after printing why. */
typedef int (*replace_write)(void *ctx, const char *path);
/* Returns 0, or -errno after printing why; path is then unchanged. */
int replace_file(const char *path, replace_write write, void *ctx);
/* The same with what `put` prints. */
int replace_text(const char *path, void (*put)(void *ctx, FILE *out), void *ctx);

#endif
