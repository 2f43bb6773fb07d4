/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writing of gnuplot scripts. Single quotes are the only ones used: inside them gnuplot replaces neither backquotes nor
 * backslashes, and only its markup for enhanced text is left to be escaped. Tables have no markup at all.
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

/* Without what would end a line of a table or, with all, a column. */
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

	/* By two blank lines gnuplot's "index" tells tables apart. */
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

/* Bytes of the first values of a row. */
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

/* Bytes of text up to where a line of `columns` ends: at a blank, if there is one. */
static size_t line_bytes(const char *text, size_t columns)
{
	size_t len = strlen(text), at = columns;

	if (len <= columns)
		return len;
	while (at && text[at] != ' ')
		at--;
	return at ? at : strcspn(text, " ");
}

/* Each line of it behind a line break, unless it is the very first. */
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

	/* Bold and large, it needs a quarter more of the width. */
	put_wrapped(s, name, columns * 4 / 5, "/:Bold", &first);
	for (; *lines; lines++)
		put_wrapped(s, *lines, columns, "/*0.8", &first);
	fputs(first ? "''\n" : "\n", s->out);
}
