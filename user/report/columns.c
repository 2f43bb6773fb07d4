/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Stores the cells of a table and prints it with aligned columns. */
#include "report/columns.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"

#define COLUMNS_MAX 80
#define INDENT "  "

struct columns {
	char *header[COLUMNS_MAX];
	enum columns_align align[COLUMNS_MAX];
	unsigned int width[COLUMNS_MAX];
	unsigned int n;
	const char *mark; /* prefix of the next cell; NULL: none */
	char **cell;	  /* row by row; owned */
	size_t ncells;
	bool *rule; /* by row: draw a line above it; owned */
	uint32_t nrules;
};

struct columns *columns_new(void)
{
	return xcalloc(1, sizeof(struct columns));
}

void columns_add(struct columns *c, const char *header, enum columns_align align)
{
	if (c->n == COLUMNS_MAX)
		die("report: a table has too many columns");
	c->header[c->n] = xstrdup(header);
	c->align[c->n] = align;
	c->width[c->n] = text_chars(header);
	c->n++;
}

void columns_add_list(struct columns *c, const char *const *header)
{
	for (; *header; header++)
		columns_add(c, *header + 1, **header == '<' ? COLUMNS_LEFT : COLUMNS_RIGHT);
}

void columns_mark(struct columns *c, const char *mark)
{
	c->mark = mark;
}

static bool says_nothing(const char *text)
{
	return !*text || !strcmp(text, "-") || !strcmp(text, ".");
}

static void cell_add(struct columns *c, char *text)
{
	unsigned int width, *widest = &c->width[c->ncells % c->n];
	char *marked;

	if (c->mark && !says_nothing(text)) {
		marked = xasprintf("%s%s", c->mark, text);
		free(text);
		text = marked;
	}
	c->mark = NULL;
	width = text_chars(text);
	*table_append(c->cell, c->ncells) = text;
	if (*widest < width)
		*widest = width;
}

void columns_cell(struct columns *c, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	cell_add(c, text);
}

void columns_text(struct columns *c, const char *text, unsigned int max)
{
	cell_add(c, text_printable(text, max));
}

void columns_take(struct columns *c, char *text, unsigned int max)
{
	columns_text(c, text, max);
	free(text);
}

void columns_rule(struct columns *c)
{
	*table_row(c->rule, c->nrules, (uint32_t)(c->ncells / c->n)) = true;
}

static unsigned int gap_before(const struct columns *c, unsigned int i)
{
	return !i ? 0 : c->align[i] == COLUMNS_TIGHT ? 1 : 2;
}

static void row_print(const struct columns *c, char *const *cell, FILE *out)
{
	unsigned int pad, last = c->n;

	while (last && !*cell[last - 1])
		last--;
	fputs(INDENT, out);
	for (unsigned int i = 0; i < last; i++) {
		pad = c->width[i] - text_chars(cell[i]);
		fprintf(out, "%*s", (int)gap_before(c, i), "");
		if (c->align[i] == COLUMNS_RIGHT || c->align[i] == COLUMNS_TIGHT)
			fprintf(out, "%*s%s", (int)pad, "", cell[i]);
		else
			fprintf(out, "%s%*s", cell[i], i + 1 < last ? (int)pad : 0, "");
	}
	fputc('\n', out);
}

static void rule_print(const struct columns *c, FILE *out)
{
	unsigned int width = 0;

	for (unsigned int i = 0; i < c->n; i++)
		width += c->width[i] + gap_before(c, i);
	fputs(INDENT, out);
	while (width--)
		fputc('-', out);
	fputc('\n', out);
}

void columns_print(const struct columns *c, FILE *out)
{
	row_print(c, c->header, out);
	for (size_t row = 0; row < c->ncells / c->n; row++) {
		if (row < c->nrules && c->rule[row])
			rule_print(c, out);
		row_print(c, c->cell + row * c->n, out);
	}
}

unsigned int columns_cnt(const struct columns *c)
{
	return c->n;
}

size_t columns_rows(const struct columns *c)
{
	return c->n ? c->ncells / c->n : 0;
}

const char *columns_header(const struct columns *c, unsigned int column)
{
	return c->header[column];
}

enum columns_align columns_align_of(const struct columns *c, unsigned int column)
{
	return c->align[column];
}

const char *columns_at(const struct columns *c, size_t row, unsigned int column)
{
	return c->cell[row * c->n + column];
}

void columns_free(struct columns *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++)
		free(c->header[i]);
	for (size_t i = 0; i < c->ncells; i++)
		free(c->cell[i]);
	free(c->cell);
	free(c->rule);
	free(c);
}
