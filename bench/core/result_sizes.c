/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints a curve as a table in the form of the OSU benchmarks: one row for each size, with the size
 * first. Programs that read OSU's tables can read this one. All other lines begin with '#'.
 */
#include "core/result_print.h"

#include <math.h>
#include <string.h>

#define BYTES_WIDTH 12

struct column {
	const char *head;
	const char *number; /* name for result_number */
	double unit;	    /* divisor */
	int decimals;
};

static const struct column latency[] = {
	{"Latency p50 (us)", "measured", 1e3, 3},
	{"p99 (us)", "measured.p99", 1e3, 3},
	{"mean (us)", "measured.mean", 1e3, 3},
	{"MB/s", "mb_per_s", 1, 2},
	{.head = NULL},
};

static const struct column rate[] = {
	{"Bandwidth (MB/s)", "mb_per_s", 1, 2},
	{"Messages/s", "messages_per_s", 1, 0},
	{"p50 (us)", "measured", 1e3, 3},
	{"p99 (us)", "measured.p99", 1e3, 3},
	{"Window", "window", 1, 0},
	{"Pairs", "pairs", 1, 0},
	{.head = NULL},
};

/* True if at least one point has this number. */
static bool column_is_shown(const struct result *r, const struct column *col)
{
	size_t i;

	for (i = 0; i < result_point_cnt(r); i++) {
		if (!isnan(result_number(result_point_at(r, i), col->number)))
			return true;
	}
	return false;
}

static const struct column *columns_of(const struct result *r)
{
	const struct column rates = {.number = "messages_per_s"};

	return column_is_shown(r, &rates) ? rate : latency;
}

static int width_of(const struct column *col)
{
	int width = (int)strlen(col->head);

	return width < 10 ? 10 : width;
}

static void print_head(const struct result *r, const struct column *col, FILE *out)
{
	fprintf(out, "%-*s", BYTES_WIDTH, "# Size (B)");
	for (; col->head; col++) {
		if (column_is_shown(r, col))
			fprintf(out, "  %*s", width_of(col), col->head);
	}
	fputc('\n', out);
}

static void print_row(const struct result *r, size_t row, const struct column *col, FILE *out)
{
	const struct result_point *p = result_point_at(r, row);
	double value;

	fprintf(out, "%-*.0f", BYTES_WIDTH, result_number(p, "bytes"));
	for (; col->head; col++) {
		if (!column_is_shown(r, col))
			continue;
		value = result_number(p, col->number) / col->unit;
		if (isnan(value))
			fprintf(out, "  %*s", width_of(col), "-");
		else
			fprintf(out, "  %*.*f", width_of(col), col->decimals, value);
	}
	fputc('\n', out);
}

void result_print_sizes(const struct result *r, FILE *out)
{
	const struct column *columns = columns_of(r);
	size_t i;

	print_head(r, columns, out);
	for (i = 0; i < result_point_cnt(r); i++)
		print_row(r, i, columns, out);
}
