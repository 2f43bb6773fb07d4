/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writing of gnuplot scripts. Single quotes are the only ones used: inside them gnuplot replaces neither backquotes nor
 * backslashes, and only its markup for enhanced text is left to be escaped.
 */
#include "script.h"

#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void script_init(struct script *s)
{
	*s = (struct script){0};
	s->out = open_memstream(&s->text, &s->bytes);
	if (!s->out)
		die("out of memory (for a script)");
}

void script_finish(struct script *s)
{
	if (s->out && fclose(s->out))
		die("out of memory (for a script)");
	s->out = NULL;
}

void script_release(struct script *s)
{
	script_finish(s);
	free(s->text);
	s->text = NULL;
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

void script_block_begin(struct script *s)
{
	script_line(s, "$d%u << EOD", ++s->block_cnt);
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
