/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes gnuplot scripts. Strings are in single quotes only. Inside them gnuplot replaces neither
 * backquotes nor backslashes, so only its markup for enhanced text has to be escaped. Tables have
 * no markup.
 */
#include "script.h"

#include "lib/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROW_BYTES 512

void script_init(struct script *s)
{
	*s = (struct script){.picture = ""};
	s->out = open_memstream(&s->text, &s->bytes);
	s->table_out = open_memstream(&s->table_text, &s->table_bytes);
	if (!s->out || !s->table_out)
		die("out of memory (for a script)");
}

void script_finish(struct script *s)
{
	if (s->out && (fclose(s->out) || fclose(s->table_out)))
		die("out of memory (for a script)");
	s->out = NULL;
}

void script_release(struct script *s)
{
	script_finish(s);
	free(s->text);
	free(s->table_text);
	free(s->words);
	*s = (struct script){0};
}

void script_line(struct script *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(s->out, fmt, ap);
	va_end(ap);
	fputc('\n', s->out);
}

static void put_escaped(struct script *s, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\'')
			fputs("''", s->out);
		else if (c < 0x20 || c == 0x7f)
			fputc(' ', s->out);
		else if (strchr("\\^_{}@&~", c))
			fprintf(s->out, "\\%c", c);
		else
			fputc(c, s->out);
	}
}

void script_quoted(struct script *s, const char *text)
{
	fputc('\'', s->out);
	put_escaped(s, text, strlen(text));
	fputc('\'', s->out);
}

void script_path(struct script *s, const char *path)
{
	fputc('\'', s->out);
	for (; *path; path++)
		fputs(*path == '\'' ? "''" : (char[]){*path, '\0'}, s->out);
	script_line(s, "'");
}

/* Copies text without characters that would end a table's line or, with `all`, a column. */
static char *table_text(const char *text, bool all)
{
	char *plain = xstrdup(text), *c;

	for (c = plain; *c; c++) {
		if (((unsigned char)*c < 0x20 && (all || *c != '\t')) || *c == 0x7f)
			*c = ' ';
	}
	return plain;
}

void script_table(struct script *s, const char *about, const char *columns)
{
	char *of = table_text(about, true), *head = table_text(columns, false), *c;

	/* gnuplot's "index" separates tables by two blank lines. */
	fprintf(s->table_out, "%s# %s: %s\n%s\n", s->column_cnt ? "\n\n" : "", s->picture, of,
		head);
	s->column_cnt = 1;
	for (c = head; *c; c++)
		s->column_cnt += *c == '\t';
	free(head);
	free(of);
}

void script_block_begin(struct script *s, const char *const *words)
{
	char *plain, *more;

	script_line(s, "$d%u << EOD", ++s->block_cnt);
	free(s->words);
	s->words = xstrdup("");
	for (s->word_cnt = 0; words && words[s->word_cnt]; s->word_cnt++) {
		plain = table_text(words[s->word_cnt], true);
		more = xasprintf("%s%s\t", s->words, plain);
		free(plain);
		free(s->words);
		s->words = more;
	}
}

/* Number of bytes of the first cnt values of a row. */
static size_t values_bytes(const char *row, size_t cnt)
{
	size_t i;

	for (i = 0; row[i]; i++) {
		if (row[i] == '\t' && !--cnt)
			break;
	}
	return i;
}

void script_row(struct script *s, const char *fmt, ...)
{
	char row[ROW_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(row, sizeof(row), fmt, ap);
	va_end(ap);
	script_line(s, "%s", row);
	if (s->column_cnt > s->word_cnt)
		fprintf(s->table_out, "%s%.*s\n", s->words,
			(int)values_bytes(row, s->column_cnt - s->word_cnt), row);
}

void script_block_end(struct script *s)
{
	script_line(s, "EOD");
}

/* Number of bytes in a line of at most `columns`, which ends at a blank if there is one. */
static size_t line_bytes(const char *text, size_t columns)
{
	size_t len = strlen(text), at = columns;

	if (len <= columns)
		return len;
	while (at && text[at] != ' ')
		at--;
	return at ? at : strcspn(text, " ");
}

/* Puts each line after a line break, except the very first one. */
static void put_wrapped(struct script *s, const char *text, size_t columns, const char *font,
			bool *first)
{
	size_t len;

	while (*text) {
		len = line_bytes(text, columns);
		fprintf(s->out, "%s'{%s ", *first ? "" : ".\"\\n\".", font);
		put_escaped(s, text, len);
		fputs("}'", s->out);
		*first = false;
		for (text += len; *text == ' '; text++)
			;
	}
}

void script_title(struct script *s, const char *name, const char *const *lines, size_t columns)
{
	bool first = true;

	/* The name is bold and large, and so a quarter wider. */
	put_wrapped(s, name, columns * 4 / 5, "/:Bold", &first);
	for (; *lines; lines++)
		put_wrapped(s, *lines, columns, "/*0.8", &first);
	fputs(first ? "''\n" : "\n", s->out);
}

/* ---- colours ---- */

/*
 * The map of Denis & Trahay 2016 is gnuplot's traditional palette: red is the root of the grey
 * value, green its third power, blue one period of a sine. The brightness of the safe map rises
 * evenly, from dark purple over green to yellow: samples of Viridis (van der Walt and Smith,
 * Matplotlib 1.5).
 */

void palette_map(struct script *s, enum palette p)
{
	if (p == PALETTE_PAPER)
		script_line(s, "set palette rgbformulae 7,5,15");
	else
		script_line(s, "set palette defined (0 '#440154', 1 '#472d7b', 2 '#3b528b', 3 "
			       "'#2c728e', 4 '#21918c', 5 '#28ae80', 6 '#5ec962', 7 '#addc30', 8 "
			       "'#fde725')");
}

const char *palette_line(enum palette p, size_t idx)
{
	static const char *const lines[2][PALETTE_LINE_CNT] = {
		[PALETTE_PAPER] = {"#d01010", "#1040d0", "#109030", "#a020b0", "#e07000", "#00a0b0",
				   "#000000", "#806040"},
		[PALETTE_SAFE] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
				  "#000000", "#f0e442"},
	};

	return lines[p][idx % PALETTE_LINE_CNT];
}
