/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints a result as a table for people. The columns are those of the points, in the order of their
 * first appearance: parameters, medians of times in microseconds, and values.
 */
#include "core/result_file.h"

#include "lib/table.h"
#include "lib/text.h"
#include "core/overlap_map.h"
#include "core/param_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_WIDTH 11
#define CELL_BYTES 48

enum column_kind { COLUMN_PARAM, COLUMN_TIME, COLUMN_VALUE };

struct column {
	const char *name; /* borrowed from the result */
	enum column_kind kind;
};

struct table {
	struct column *column;
	size_t cnt;
};

static void column_add(struct table *t, const char *name, enum column_kind kind)
{
	for (size_t i = 0; i < t->cnt; i++) {
		if (t->column[i].kind == kind && !strcmp(t->column[i].name, name))
			return;
	}
	*table_append(t->column, t->cnt) = (struct column){name, kind};
}

static void add_keys(struct table *t, json_t *object, enum column_kind kind)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (!json_is_object(value) || kind == COLUMN_TIME)
			column_add(t, key, kind);
	}
}

static void find_columns(struct table *t, json_t *points)
{
	json_t *p;
	size_t i;

	json_array_foreach(points, i, p) add_keys(t, p, COLUMN_PARAM);
	json_array_foreach(points, i, p) add_keys(t, json_object_get(p, "times"), COLUMN_TIME);
	json_array_foreach(points, i, p) add_keys(t, json_object_get(p, "values"), COLUMN_VALUE);
}

static bool is_ns(const char *name)
{
	return text_ends_in(name, strlen(name), "_ns");
}

static void param_text(const char *name, const json_t *j, char *cell, size_t bytes)
{
	if (json_is_string(j))
		snprintf(cell, bytes, "%s", json_string_value(j));
	else if (!param_named(cell, bytes, name, json_integer_value(j)))
		snprintf(cell, bytes, "%lld", (long long)json_integer_value(j));
}

static void cell_text(const json_t *point, const struct column *col, char *cell, size_t bytes)
{
	const json_t *j;

	snprintf(cell, bytes, "-");
	switch (col->kind) {
	case COLUMN_PARAM:
		j = json_object_get(point, col->name);
		if (j)
			param_text(col->name, j, cell, bytes);
		break;
	case COLUMN_TIME:
		j = json_object_get(json_object_get(json_object_get(point, "times"), col->name),
				    "median");
		if (j)
			snprintf(cell, bytes, "%.3f", json_number_value(j) / 1e3);
		break;
	case COLUMN_VALUE:
		j = json_object_get(json_object_get(point, "values"), col->name);
		if (j)
			snprintf(cell, bytes, "%.4g", json_number_value(j));
		break;
	}
}

/* Columns of parameters have no unit in their head, because their cells include it. */
static void head_text(const struct column *col, char *cell, size_t bytes)
{
	bool ns = col->kind == COLUMN_PARAM && is_ns(col->name);

	snprintf(cell, bytes, "%.*s%s", (int)strlen(col->name) - (ns ? 3 : 0), col->name,
		 col->kind == COLUMN_TIME ? "_us" : "");
}

static int column_width(const struct column *col)
{
	char cell[CELL_BYTES];
	int len;

	head_text(col, cell, sizeof(cell));
	len = (int)strlen(cell);
	return len > COLUMN_WIDTH ? len : COLUMN_WIDTH;
}

static void print_head(const struct table *t, FILE *out)
{
	for (size_t i = 0; i < t->cnt; i++) {
		const struct column *col = &t->column[i];
		char cell[CELL_BYTES];

		head_text(col, cell, sizeof(cell));
		fprintf(out, "%s%*s", i ? "  " : "", column_width(col), cell);
	}
	fputc('\n', out);
}

static void print_table(json_t *points, FILE *out)
{
	struct table t = {0};
	char cell[CELL_BYTES];
	json_t *p;
	size_t row;

	find_columns(&t, points);
	print_head(&t, out);
	json_array_foreach(points, row, p)
	{
		for (size_t i = 0; i < t.cnt; i++) {
			cell_text(p, &t.column[i], cell, sizeof(cell));
			fprintf(out, "%s%*s", i ? "  " : "", column_width(&t.column[i]), cell);
		}
		fputc('\n', out);
	}
	free(t.column);
}

/* ---- maps ---- */

/*
 * Prints a map as a table for people: the hidden share of the shorter of communication and
 * computation, which is 100 % minus the ratio of equation (1), and half the width of its 95 %
 * confidence interval.
 */

static void print_hidden(const struct result_point *p, enum map_judged judged, const char *blank,
			 FILE *out)
{
	static const char *const judged_words[] = {
		[MAP_BLANK] = "",
		[MAP_KNOWN] = "",
		[MAP_UNKNOWN] = "  unknown",
		[MAP_WRONG] = "  wrong: shorter than one of them alone",
	};
	double ratio = result_number(p, "ratio");
	double width = result_number(p, "ratio_high") - result_number(p, "ratio_low");

	if (isnan(ratio)) {
		fprintf(out, "  %8s  %7s  %s\n", "-", "-", blank ?: "");
		return;
	}
	fprintf(out, "  %8.1f", 100 * (1 - ratio));
	if (isnan(width))
		fprintf(out, "  %7s", "-");
	else
		fprintf(out, "  %7.1f", 100 * width / 2);
	fprintf(out, "%s\n", judged_words[judged]);
}

static void print_us(const struct result_point *p, const char *time, FILE *out)
{
	double ns = result_number(p, time);

	if (isnan(ns))
		fprintf(out, "  %13s", "-");
	else
		fprintf(out, "  %13.3f", ns / 1e3);
}

static void result_print_map(const struct result *r, FILE *out)
{
	json_t *points = json_object_get(result_json(r), "points");
	char size[HUMAN_BYTES], time[HUMAN_BYTES];
	double line = map_line_of(points);

	fprintf(out, "%10s  %11s  %13s  %13s  %13s  %8s  %7s\n", "size", "computation",
		"T_comm (us)", "T_comp (us)", "T_meas. (us)", "hidden %", "+/- %");
	for (size_t i = 0; i < result_point_cnt(r); i++) {
		const struct result_point *p = result_point_at(r, i);

		fprintf(out, "%10s  %11s",
			param_bytes(size, sizeof(size), (uint64_t)result_number(p, "bytes")),
			param_ns(time, sizeof(time), (uint64_t)result_number(p, "compute_ns")));
		print_us(p, "comm", out);
		print_us(p, "comp", out);
		print_us(p, "measured", out);
		print_hidden(p, map_judge(json_array_get(points, i), line),
			     json_string_value(json_object_get(json_array_get(points, i), "blank")),
			     out);
	}
}

/* ---- curves ---- */

/*
 * Prints a curve as a table in the form of the OSU benchmarks: one row for each size, with the size
 * first. Programs that read OSU's tables can read this one. All other lines begin with '#'.
 */

#define BYTES_WIDTH 12

struct sizes_column {
	const char *head;
	const char *number; /* name for result_number */
	double unit;	    /* divisor */
	int decimals;
};

static const struct sizes_column latency[] = {
	{"Latency p50 (us)", "measured", 1e3, 3},
	{"p99 (us)", "measured.p99", 1e3, 3},
	{"mean (us)", "measured.mean", 1e3, 3},
	{"MB/s", "mb_per_s", 1, 2},
	{.head = NULL},
};

static const struct sizes_column rate[] = {
	{"Bandwidth (MB/s)", "mb_per_s", 1, 2},
	{"Messages/s", "messages_per_s", 1, 0},
	{"p50 (us)", "measured", 1e3, 3},
	{"p99 (us)", "measured.p99", 1e3, 3},
	{"Window", "window", 1, 0},
	{"Pairs", "pairs", 1, 0},
	{.head = NULL},
};

/* True if at least one point has this number. */
static bool sizes_column_shown(const struct result *r, const struct sizes_column *col)
{
	return table_any(result_point_cnt(r), i,
			 !isnan(result_number(result_point_at(r, i), col->number)));
}

static const struct sizes_column *sizes_columns(const struct result *r)
{
	const struct sizes_column rates = {.number = "messages_per_s"};

	return sizes_column_shown(r, &rates) ? rate : latency;
}

static int sizes_width(const struct sizes_column *col)
{
	int width = (int)strlen(col->head);

	return width < 10 ? 10 : width;
}

static void sizes_print_head(const struct result *r, const struct sizes_column *col, FILE *out)
{
	fprintf(out, "%-*s", BYTES_WIDTH, "# Size (B)");
	for (; col->head; col++) {
		if (sizes_column_shown(r, col))
			fprintf(out, "  %*s", sizes_width(col), col->head);
	}
	fputc('\n', out);
}

static void sizes_print_row(const struct result *r, size_t row, const struct sizes_column *col,
			    FILE *out)
{
	const struct result_point *p = result_point_at(r, row);
	double value;

	fprintf(out, "%-*.0f", BYTES_WIDTH, result_number(p, "bytes"));
	for (; col->head; col++) {
		if (!sizes_column_shown(r, col))
			continue;
		value = result_number(p, col->number) / col->unit;
		if (isnan(value))
			fprintf(out, "  %*s", sizes_width(col), "-");
		else
			fprintf(out, "  %*.*f", sizes_width(col), col->decimals, value);
	}
	fputc('\n', out);
}

static void result_print_sizes(const struct result *r, FILE *out)
{
	const struct sizes_column *columns = sizes_columns(r);

	sizes_print_head(r, columns, out);
	for (size_t i = 0; i < result_point_cnt(r); i++)
		sizes_print_row(r, i, columns, out);
}

/* ---- all ---- */

void result_print(const struct result *r, bool all, FILE *out)
{
	const json_t *json = result_json(r);
	const char *sentence = json_string_value(json_object_get(json, "sentence"));
	const char *kind = json_string_value(json_object_get(json, "kind"));
	int ranks = (int)json_integer_value(json_object_get(json, "ranks"));
	bool curve = !strcmp(kind, "curve");

	fprintf(out, "# %s%s, %d rank%s: %s\n", curve ? "povbench " : "",
		json_string_value(json_object_get(json, "benchmark")), ranks, plural_s(ranks),
		json_string_value(json_object_get(json, "brief")) ?: "");
	if (curve)
		result_print_sizes(r, out);
	else if (!all && !strcmp(kind, "map"))
		result_print_map(r, out);
	else
		print_table(json_object_get(json, "points"), out);
	if (sentence)
		fprintf(out, "# %s\n", sentence);
	fputc('\n', out);
}
