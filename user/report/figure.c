/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Formats rows as text and JSON by their tables of figures. */
#include "report/figure.h"

#include <math.h>

#include "analysis/functions.h"
#include "lib/human.h"

static uint64_t member(const void *row, size_t at)
{
	return *(const uint64_t *)((const char *)row + at);
}

double figure_real(const struct figure *f, const void *row)
{
	const void *at = (const char *)row + f->at;

	return *(const double *)at;
}

static bool is_real(const struct figure *f)
{
	return f->kind == FIGURE_RATIO || f->kind == FIGURE_FACTOR;
}

/* False if the value is unknown. *out is 0 or meaningless then. */
static bool value_get(const struct figure *f, const void *row, uint64_t *out)
{
	const struct histogram *h = (const struct histogram *)((const char *)row + f->at);
	double mean_ns;

	if (f->kind == FIGURE_QUANTILE) {
		*out = histogram_quantile(h, (double)f->of);
		return h->cnt && (f->of == 100 || !function_row_mostly_counted(row));
	}
	if (f->kind == FIGURE_MEAN) {
		mean_ns = function_row_mean(row);
		*out = isnan(mean_ns) ? 0 : (uint64_t)mean_ns;
		return !isnan(mean_ns);
	}
	*out = member(row, f->at);
	return true;
}

/* ---- JSON ---- */

static void value_print(struct json_out *j, const struct figure *f, const void *row)
{
	uint64_t v;

	if (f->kind == FIGURE_MEAN)
		json_out_double(j, function_row_mean(row)); /* NaN: null */
	else if (is_real(f))
		json_out_double(j, figure_real(f, row));
	else if (!value_get(f, row, &v))
		json_out_null(j);
	else
		json_out_uint(j, v);
}

void figures_json(struct json_out *j, const struct figure *f, const void *row, uint32_t facts)
{
	for (; f->kind; f++) {
		if (f->key)
			json_out_key(j, f->key);
		if (f->key && f->known & ~facts) {
			json_out_null(j);
		} else if (f->key && f->sub) {
			json_out_object_begin(j);
			figures_json(j, f->sub, (const char *)row + f->at, facts);
			json_out_object_end(j);
		} else if (f->sub) {
			figures_json(j, f->sub, (const char *)row + f->at, facts);
		} else if (f->key) {
			value_print(j, f, row);
		}
	}
}

/* ---- text ---- */

struct text_unit text_unit_for(uint64_t max_ns)
{
	struct text_unit u = {"us", 1e3, 3};

	if (max_ns >= UINT64_C(2000000000))
		u = (struct text_unit){"s", 1e9, 3};
	else if (max_ns >= 2000000)
		u = (struct text_unit){"ms", 1e6, 3};
	u.digits = (double)max_ns >= 100 * u.ns ? 1 : (double)max_ns >= 10 * u.ns ? 2 : 3;
	return u;
}

const char *text_mark(uint32_t lost, uint32_t low, uint32_t wrong)
{
	return lost & wrong ? "~" : lost & low ? "≥" : NULL;
}

const char *figure_mark(const struct figure *f, uint32_t lost)
{
	const char *mark = text_mark(lost, f->low, f->wrong);

	return mark ? mark : lost & f->high ? "≤" : NULL;
}

char *ratio_text(char *buf, size_t bytes, double ratio)
{
	double pct = 100 * ratio;

	snprintf(buf, bytes, pct > 0 && pct < 9.95 ? "%.1f %%" : "%.0f %%", pct);
	return buf;
}

static void cell_time(struct columns *c, uint64_t ns, struct text_unit u)
{
	columns_cell(c, "%.*f", u.digits, (double)ns / u.ns);
}

void cell_pct(struct columns *c, uint64_t part, uint64_t whole)
{
	if (whole)
		columns_cell(c, "%.*f", part < whole - whole / 2000 ? 1 : 0,
			     100.0 * (double)part / (double)whole);
	else
		columns_cell(c, "-");
}

void cell_count(struct columns *c, uint64_t n)
{
	columns_cell(c, "%s", COUNT_TEXT(n));
}

void cell_bytes(struct columns *c, uint64_t bytes)
{
	columns_cell(c, "%s", BYTES_TEXT(bytes));
}

void cell_empty(struct columns *c)
{
	columns_cell(c, "%s", "");
}

void cell_ns(struct columns *c, uint64_t ns)
{
	static const struct text_unit units[] = {{"us", 1e3, 0}, {"ms", 1e6, 0}, {"s", 1e9, 0}};
	size_t i = 0;
	double v;

	if (ns < 1000) {
		columns_cell(c, "%u ns", (unsigned int)ns);
		return;
	}
	while (i < 2 && (double)ns / units[i].ns >= 999.95)
		i++;
	v = (double)ns / units[i].ns;
	columns_cell(c, "%.*f %s", v >= 99.995 ? 1 : v >= 9.9995 ? 2 : 3, v, units[i].name);
}

static void cell_sizes(struct columns *c, uint64_t bytes, uint64_t unknown)
{
	if (!bytes)
		columns_cell(c, unknown ? "?" : "-");
	else
		columns_cell(c, "%s%s", unknown ? ">" : "", BYTES_TEXT(bytes));
}

static void cell_real(struct columns *c, const struct figure *f, double v)
{
	char buf[RATIO_BYTES];

	if (isnan(v))
		columns_cell(c, "-");
	else if (f->kind == FIGURE_RATIO)
		columns_cell(c, "%s", ratio_text(buf, sizeof(buf), v));
	else
		columns_cell(c, "%.2f", v);
}

static void value_cell(const struct figure_table *t, const struct figure *f, const void *row,
		       uint64_t whole)
{
	uint64_t v;

	if (is_real(f))
		cell_real(t->c, f, figure_real(f, row));
	else if (!value_get(f, row, &v) || (f->no_zero && !v) || (f->kind == FIGURE_RATE && !whole))
		columns_cell(t->c, "-");
	else if (f->kind == FIGURE_COUNT)
		cell_count(t->c, v);
	else if (f->kind == FIGURE_TIME)
		cell_time(t->c, v, t->unit);
	else if (f->kind == FIGURE_BYTES)
		cell_sizes(t->c, v, member(row, f->of));
	else if (f->kind == FIGURE_RATE)
		columns_cell(t->c, "%.1f", (double)v * 1e9 / (double)whole);
	else
		cell_ns(t->c, v);
}

void figure_cell(const struct figure_table *t, const struct figure *f, const void *row,
		 uint64_t whole, uint32_t lost)
{
	columns_mark(t->c, figure_mark(f, lost));
	value_cell(t, f, row, whole);
	columns_mark(t->c, NULL);
}

void figures_columns(const struct figure_table *t)
{
	for (const struct figure *f = t->figures; f->kind; f++) {
		if (f->shown & ~t->facts)
			continue;
		if (f->header)
			columns_add(t->c, f->header, COLUMNS_RIGHT);
		if (f->share)
			columns_add(t->c, f->share, f->header ? COLUMNS_TIGHT : COLUMNS_RIGHT);
	}
}

void figures_cells(const struct figure_table *t, const void *row, uint64_t whole, uint32_t lost)
{
	for (const struct figure *f = t->figures; f->kind; f++) {
		if (f->shown & ~t->facts)
			continue;
		if (f->header)
			figure_cell(t, f, row, whole, lost);
		columns_mark(t->c, text_mark(lost, f->low, f->wrong | f->share_wrong));
		if (f->share)
			cell_pct(t->c, member(row, f->at),
				 f->of == FIGURE_WHOLE ? whole : member(row, f->of));
	}
	columns_mark(t->c, NULL);
}

void figures_lines(const struct figure *f, const void *row, FILE *out)
{
	for (; f->kind; f++) {
		if (f->one && member(row, f->at))
			fprintf(out, "  %-10s %s\n", f->header,
				PLURAL_TEXT(member(row, f->at), f->one, f->many));
	}
}
