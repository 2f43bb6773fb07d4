/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A text table that sizes each column to its widest cell. The caller defines the columns, then adds
 * the cells row by row. columns_text() makes text from traces printable. Widths count characters,
 * not bytes.
 */
#ifndef POV_REPORT_COLUMNS_H
#define POV_REPORT_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum columns_align {
	COLUMNS_LEFT,
	COLUMNS_RIGHT,
	COLUMNS_TIGHT, /* right-aligned, one space after the previous column instead of two */
	COLUMNS_BAR,   /* left-aligned; each cell is empty or a bar as long as its text */
};

struct columns;

struct columns *columns_new(void);
void columns_add(struct columns *c, const char *header, enum columns_align align);
/* Adds columns "<left-aligned" and ">right-aligned": columns_list(c, "<function", ">calls"). */
#define columns_list(c, ...) columns_add_list(c, (const char *const[]){__VA_ARGS__, NULL})
void columns_add_list(struct columns *c, const char *const *header);
/* Prefixes the next cell, unless its text is "", "-" or ".". NULL: no prefix. */
void columns_mark(struct columns *c, const char *mark);
/* Adds the next cell. */
void columns_cell(struct columns *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a cell of text from a trace: made printable, cut to max characters. */
void columns_text(struct columns *c, const char *text, unsigned int max);
/* Like columns_text(), and frees text. */
void columns_take(struct columns *c, char *text, unsigned int max);
/* Draws a horizontal line before the next row. */
void columns_rule(struct columns *c);
void columns_print(const struct columns *c, FILE *out);
/* Access for output formats other than text. Pointers stay valid as long as the table. */
unsigned int columns_cnt(const struct columns *c);
size_t columns_rows(const struct columns *c);
const char *columns_header(const struct columns *c, unsigned int column);
enum columns_align columns_align_of(const struct columns *c, unsigned int column);
const char *columns_at(const struct columns *c, size_t row, unsigned int column);
void columns_free(struct columns *c);

#endif
