/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes gnuplot scripts. Strings are in single quotes only. Inside them gnuplot replaces neither
 * backquotes nor backslashes, so only its markup for enhanced text has to be escaped. Tables have
 * no markup.
 */
#include "script.h"

#include "lib/log.h"
#include "lib/human.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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
	for (size_t i = 0; i < len; i++) {
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
	char *plain = xstrdup(text);

	for (char *c = plain; *c; c++) {
		if (((unsigned char)*c < 0x20 && (all || *c != '\t')) || *c == 0x7f)
			*c = ' ';
	}
	return plain;
}

void script_table(struct script *s, const char *about, const char *columns)
{
	char *of = table_text(about, true), *head = table_text(columns, false);

	/* gnuplot's "index" separates tables by two blank lines. */
	fprintf(s->table_out, "%s# %s: %s\n%s\n", s->column_cnt ? "\n\n" : "", s->picture, of,
		head);
	s->column_cnt = 1;
	for (char *c = head; *c; c++)
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

/* ---- axes ---- */

/*
 * Writes each label itself, because gnuplot's formats have neither powers of 1024 with units nor
 * microseconds.
 */

#define LINEAR_TICS 6

struct range range_empty(void)
{
	return (struct range){INFINITY, -INFINITY};
}

bool range_is_empty(const struct range *r)
{
	return !(r->low <= r->high);
}

void range_widen(struct range *r, double value)
{
	if (!isfinite(value))
		return;
	r->low = fmin(r->low, value);
	r->high = fmax(r->high, value);
}

void range_widen_log(struct range *r, double value)
{
	if (value > 0)
		range_widen(r, value);
}

static const char *time_text(double ns, int digits, char *buf, size_t bytes)
{
	static const struct {
		double ns;
		const char *name;
	} unit[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
	int i = 0;

	while (i < 3 && fabs(ns) < unit[i].ns * 0.9999)
		i++;
	if (ns == 0)
		snprintf(buf, bytes, "0");
	else
		snprintf(buf, bytes, "%s%.*g %s", ns < 0 ? "−" : "", digits, fabs(ns) / unit[i].ns,
			 unit[i].name);
	return buf;
}

const char *axis_time_text(double ns, char *buf, size_t bytes)
{
	return time_text(ns, 3, buf, bytes);
}

static void put_tic(struct script *s, const char *text, double at, bool *first)
{
	fprintf(s->out, "%s'%s' %.9g", *first ? "" : ", ", text, at);
	*first = false;
}

void axis_bytes(struct script *s, const char *name, const struct range *r, double tics, bool labels)
{
	/* Sizes above 64 bits are not valid sizes. */
	int low = (int)ceil(fmax(log2(r->low), 0) - 1e-9);
	int high = (int)floor(fmin(log2(r->high), 62) + 1e-9);
	int step = (int)fmax(ceil(log2(r->high / r->low) / fmax(tics, 1)), 1);
	char text[HUMAN_BYTES];
	bool first = true;

	script_line(s, "set logscale %s 2\nset %srange [%.9g:%.9g]", name, name, r->low, r->high);
	fprintf(s->out, "set %stics (", name);
	/*
	 * Labels are at multiples of the step. 1 KiB and 1 MiB are among them if they are in
	 * range.
	 */
	for (int at = low; at <= high; at++) {
		if (at % step)
			continue;
		human_bytes(text, sizeof(text), (uint64_t)exp2(at));
		put_tic(s, labels ? text : "", exp2(at), &first);
	}
	script_line(s, ")");
}

/* Puts labels at multiples of a step, with enough digits to distinguish them. */
static void put_steps(struct script *s, const char *name, const struct range *r, double step,
		      bool labels)
{
	double largest = fmax(fabs(r->low), fabs(r->high));
	int digits = (int)fmin(fmax(floor(log10(largest / step)) + 2, 3), 9);
	char text[AXIS_TEXT_BYTES];
	bool first = true;
	double at = ceil(r->low / step - 1e-6) * step;

	fprintf(s->out, "set %stics (", name);
	for (int i = 0; i < 6 * LINEAR_TICS && at + i * step <= r->high; i++) {
		/* Replace the rounding error near 0 by 0. */
		double value = fabs(at + i * step) < step / 2 ? 0 : at + i * step;

		put_tic(s, labels ? time_text(value, digits, text, sizeof(text)) : "", value,
			&first);
	}
	script_line(s, ")");
}

/* Returns 1, 2 or 5 times a power of ten, for about LINEAR_TICS labels. */
static double step_of(const struct range *r)
{
	double length = fmax(r->high - r->low, fabs(r->high) * 1e-6);
	double step = pow(10, floor(log10(length / LINEAR_TICS)));

	if (length / step > 4 * LINEAR_TICS)
		return 5 * step;
	return length / step > 1.5 * LINEAR_TICS ? 2 * step : step;
}

void axis_time(struct script *s, const char *name, const struct range *r, bool labels)
{
	int low = (int)floor(log10(r->low) + 1e-9), high = (int)ceil(log10(r->high) - 1e-9);
	/* Within few decades, labels at powers of ten alone would leave the axis almost bare. */
	static const int few[] = {1, 2, 5, 0}, many[] = {1, 0};
	const int *digit = r->high / r->low < 100 ? few : many;
	char text[AXIS_TEXT_BYTES];
	bool first = true;

	script_line(s, "set logscale %s 10\nset %srange [%.9g:%.9g]", name, name, r->low, r->high);
	if (r->high / r->low < 5) {
		put_steps(s, name, r, step_of(r), labels);
		return;
	}
	fprintf(s->out, "set %stics (", name);
	for (int at = low; at <= high; at++) {
		for (int i = 0; digit[i]; i++)
			put_tic(s,
				labels ?
					axis_time_text(digit[i] * pow(10, at), text, sizeof(text)) :
					"",
				digit[i] * pow(10, at), &first);
		for (int k = 2; k < 10; k++)
			fprintf(s->out, ", '' %.9g 1", k * pow(10, at));
	}
	script_line(s, ")");
}

void axis_time_linear(struct script *s, const char *name, const struct range *r)
{
	script_line(s, "unset logscale %s\nset %srange [%.9g:%.9g]", name, name, r->low, r->high);
	put_steps(s, name, r, step_of(r), true);
}

struct range axis_range_of_powers(const struct range *r)
{
	struct range powers = {1, 2};

	if (range_is_empty(r))
		return powers;
	powers.low = exp2(floor(log2(r->low)));
	powers.high = fmax(exp2(ceil(log2(r->high))), 2 * powers.low);
	return powers;
}
