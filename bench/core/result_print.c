/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A result as a table for people. Columns are what the points have, in the order of their first appearance: what was
 * set, medians of the times in microseconds, and values.
 */
#include "core/result_print.h"

#include "lib/log.h"
#include "lib/text.h"
#include "core/param_text.h"

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
	size_t i;

	for (i = 0; i < t->cnt; i++) {
		if (t->column[i].kind == kind && !strcmp(t->column[i].name, name))
			return;
	}
	t->column = xrealloc(t->column, (t->cnt + 1) * sizeof(*t->column));
	t->column[t->cnt++] = (struct column){name, kind};
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
	else if (text_ends_in(name, strlen(name), "bytes"))
		param_bytes(cell, bytes, (uint64_t)json_integer_value(j));
	else if (is_ns(name))
		param_ns(cell, bytes, (uint64_t)json_integer_value(j));
	else
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

/* Cells of parameters say their unit themselves. */
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
	size_t i;

	for (i = 0; i < t->cnt; i++) {
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
	size_t row, i;

	find_columns(&t, points);
	print_head(&t, out);
	json_array_foreach(points, row, p)
	{
		for (i = 0; i < t.cnt; i++) {
			cell_text(p, &t.column[i], cell, sizeof(cell));
			fprintf(out, "%s%*s", i ? "  " : "", column_width(&t.column[i]), cell);
		}
		fputc('\n', out);
	}
	free(t.column);
}

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
