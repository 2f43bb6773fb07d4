/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A gnuplot script in memory. Text from a file or a command line may enter it only through
 * script_quoted, because gnuplot executes text between backquotes. The rows of its data blocks are
 * also written to tables, so that --tsv prints what is drawn.
 */
#ifndef POVPLOT_SCRIPT_H
#define POVPLOT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct script {
	FILE *out; /* only for numbers and for our own words */
	char *text;
	size_t bytes;
	unsigned int block_cnt; /* data blocks so far; the last one is $d<block_cnt> */

	const char *picture; /* name for the tables' heads */
	FILE *table_out;
	char *table_text; /* tab-separated */
	size_t table_bytes;
	size_t column_cnt; /* of the current table; 0: no table has begun */
	size_t word_cnt;   /* columns that the block itself provides */
	char *words;	   /* the block's first columns, for each row; owned */
};

void script_init(struct script *s);
void script_release(struct script *s);
/* Ends writing. After it, text, table_text and their sizes are valid. */
void script_finish(struct script *s);

void script_line(struct script *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes text in single quotes, escaped so that gnuplot interprets none of it. */
void script_quoted(struct script *s, const char *text);

/* Writes a file's name in single quotes and ends the line. */
void script_path(struct script *s, const char *path);

/* Starts a table for the following blocks. about: its subject; columns: names with tabs between. */
void script_table(struct script *s, const char *about, const char *columns);
/*
 * Data for plot commands. script_block_begin names the block "$d1" and so on. `words` ends with
 * NULL and has the first columns of all its rows in the table.
 */
void script_block_begin(struct script *s, const char *const *words);
/* Values with tabs between. Those beyond the table's columns are in the script only. */
void script_row(struct script *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void script_block_end(struct script *s);

/* Writes a title: the name in bold, then lines in a smaller font, wrapped at about `columns`. */
void script_title(struct script *s, const char *name, const char *const *lines, size_t columns);

/*
 * Colours. The paper's maps go from black over purple and red to yellow (Denis & Trahay 2016,
 * III.C). The safe ones can be distinguished with any colour vision: brightness alone orders the
 * map, and lines use the set of Okabe and Ito. In either, lines also differ in dashes and marks.
 */

enum palette { PALETTE_PAPER = 0, PALETTE_SAFE = 1 };

#define PALETTE_LINE_CNT 8

void palette_map(struct script *s, enum palette p);
/* Colour of the idx-th line, "#rrggbb"; repeats after PALETTE_LINE_CNT. */
const char *palette_line(enum palette p, size_t idx);

/* ---- axes ---- */

/*
 * Axes of sizes and times with the units in the labels: "64 KiB" at powers of two, "10 µs" at
 * powers of ten. The data stays in bytes and ns.
 */

struct range {
	double low, high;
};

/* Returns an empty range, to be widened. */
struct range range_empty(void);
bool range_is_empty(const struct range *r);
void range_widen(struct range *r, double value);     /* ignores NaN */
void range_widen_log(struct range *r, double value); /* also ignores values without a logarithm */

/* Writes "307 µs", with three digits. Needs AXIS_TEXT_BYTES; returns buf. */
#define AXIS_TEXT_BYTES 32
const char *axis_time_text(double ns, char *buf, size_t bytes);

/*
 * Logarithmic axes named "x" or "y", from low to high, both above 0. `tics` is the number of
 * labels that fit. Without `labels` there are marks only.
 */
void axis_bytes(struct script *s, const char *name, const struct range *r, double tics,
		bool labels);
void axis_time(struct script *s, const char *name, const struct range *r, bool labels);
void axis_time_linear(struct script *s, const char *name, const struct range *r);
/*
 * Widens a range of bytes to powers of two, at least a factor of two; an empty one becomes 1 … 2.
 */
struct range axis_range_of_powers(const struct range *r);

/* ---- running gnuplot (gnuplot.c) ---- */

/* Turns scripts into a finished file, or writes nothing at all. */

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

/* ---- replacing a file (gnuplot.c) ---- */

/* Writes what `put` prints. Returns 0, or -errno after printing why; path is then unchanged. */
int replace_text(const char *path, void (*put)(void *ctx, FILE *out), void *ctx);

#endif
