/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A table whose columns are as wide as what is in them. Define the columns, then give the cells row by row.
 * Text from traces is made printable; widths count characters, not bytes.
 */
#ifndef POV_REPORT_COLUMNS_H
#define POV_REPORT_COLUMNS_H

#include <stdint.h>
#include <stdio.h>

enum columns_align {
	COLUMNS_LEFT,
	COLUMNS_RIGHT,
	COLUMNS_TIGHT, /* right, and close to the column before */
	COLUMNS_BAR,   /* left; each cell is a bar of as many characters as it is long, or empty */
};

struct columns;

struct columns *columns_new(void);
void columns_add(struct columns *c, const char *header, enum columns_align align);
/* Goes before the text of the next cell, unless that says nothing ("", "-", "."). NULL: none. */
void columns_mark(struct columns *c, const char *mark);
/* The next cell. */
void columns_cell(struct columns *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A cell of foreign text, cut to max characters. */
void columns_text(struct columns *c, const char *text, unsigned int max);
/* A line before the next row. */
void columns_rule(struct columns *c);
void columns_print(const struct columns *c, FILE *out);
/* What is in it, for other forms than text: valid as long as the table. */
unsigned int columns_cnt(const struct columns *c);
size_t columns_rows(const struct columns *c);
const char *columns_header(const struct columns *c, unsigned int column);
enum columns_align columns_align_of(const struct columns *c, unsigned int column);
const char *columns_at(const struct columns *c, size_t row, unsigned int column);
void columns_free(struct columns *c);

#endif
