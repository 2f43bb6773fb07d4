/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Cells are drawn in order of x, then y. Each is a little too large towards the next ones, which
 * cover the excess. Otherwise the background would shine through between cells in viewers that
 * smooth edges.
 */
#include "heat.h"

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "core/overlap_map.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OVERLAP_PX 1.2 /* covers each pixel completely; more would show at the corners */

TABLE_ORDER(compare_cells, struct cell, stats_compare(&a->x, &b->x), stats_compare(&a->y, &b->y))

static void axis_find(struct cells_axis *a, const struct cell *cell, size_t cnt, bool is_y)
{
	size_t k = 0;

	a->value = xcalloc(cnt, sizeof(*a->value));
	for (size_t i = 0; i < cnt; i++)
		a->value[i] = is_y ? cell[i].y : cell[i].x;
	qsort(a->value, cnt, sizeof(*a->value), stats_compare);
	for (size_t i = 0; i < cnt; i++) {
		if (!k || a->value[i] > a->value[k - 1])
			a->value[k++] = a->value[i];
	}
	a->cnt = k;
}

static bool fits_axis(double value, bool is_log)
{
	return isfinite(value) && (is_log ? value > 0 : value >= 0);
}

/* The parameter by which points of one cell differ, or null if there is none. */
static const char *differing_param(const json_t *a, const json_t *b)
{
	json_t *object = (json_t *)(uintptr_t)a; /* the iteration needs this and writes nothing */
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if ((json_is_string(value) || json_is_number(value)) &&
		    !json_equal(value, json_object_get(b, key)))
			return key;
	}
	return NULL;
}

static int refuse_double(const struct data_result *r, const char *y_param, const struct cell *c)
{
	const json_t *first = NULL;
	char size[HUMAN_BYTES];
	const char *name;

	human_bytes(size, sizeof(size), c->x < 0x1p63 ? (uint64_t)c->x : 0);
	for (size_t i = 0; i < r->point_cnt; i++) {
		if (data_param(r->point[i], "bytes") != c->x ||
		    data_param(r->point[i], y_param) != c->y)
			continue;
		name = first ? differing_param(first, r->point[i]) : NULL;
		if (name) {
			log_error("%s: several points for %s, %s %.9g; they differ in \"%s\": "
				  "choose one with --where %s=…",
				  r->benchmark, size, y_param, c->y, name, name);
			return -EINVAL;
		}
		first = first ? first : r->point[i];
	}
	log_error("%s: %s: several points for %s, %s %.9g", r->file->path, r->benchmark, size,
		  y_param, c->y);
	return -EINVAL;
}

/* A ratio is judged by its interval. A delay, made of means, has none. */
static struct cell cell_of(const json_t *point, const char *name, const char *y_param, double line)
{
	static const enum cell_judged cell_judged[] = {[MAP_BLANK] = CELL_UNKNOWN,
						       [MAP_KNOWN] = CELL_KNOWN,
						       [MAP_UNKNOWN] = CELL_UNKNOWN,
						       [MAP_WRONG] = CELL_WRONG};
	bool own = !strcmp(name, "ratio");
	struct cell c = {.x = data_param(point, "bytes"),
			 .y = data_param(point, y_param),
			 .value = data_value(point, name),
			 .low = own ? data_value(point, "ratio_low") : NAN,
			 .high = own ? data_value(point, "ratio_high") : NAN,
			 .comm_ns = NAN};

	if (own)
		c.judged = cell_judged[map_judge(point, line)];
	else if (c.value < MAP_CLEARLY_BELOW)
		c.judged = CELL_WRONG;
	return c;
}

static double line_of(const struct data_result *r)
{
	struct samples s = {0};
	double line;

	for (size_t i = 0; i < r->point_cnt; i++)
		map_line_add(&s, r->point[i]);
	line = map_line(&s);
	samples_release(&s);
	return line;
}

static bool has_place(const struct cell *c, bool y_log)
{
	return fits_axis(c->x, true) && fits_axis(c->y, y_log) && isfinite(c->value);
}

bool cells_are_there(const struct data_result *r, const char *name, const char *y_param, bool y_log)
{
	struct cell one;

	for (size_t i = 0; i < r->point_cnt; i++) {
		one = cell_of(r->point[i], name, y_param, 0);
		if (has_place(&one, y_log))
			return true;
	}
	return false;
}

void cells_begin(struct cells *c, size_t most, bool y_log)
{
	*c = (struct cells){
		.cell = xcalloc(most + 1, sizeof(*c->cell)), .x.log = true, .y.log = y_log};
}

void cells_add(struct cells *c, const struct cell *one)
{
	bool has_interval = isfinite(one->low) && isfinite(one->high);

	if (!has_place(one, c->y.log))
		return;
	c->cell[c->cnt] = *one;
	if (!has_interval)
		c->cell[c->cnt].low = c->cell[c->cnt].high = NAN;
	c->cnt++;
}

int cells_end(struct cells *c, const struct data_result *r, const char *y_param)
{
	if (!c->cnt) {
		cells_release(c);
		return data_refuse_empty(r);
	}
	qsort(c->cell, c->cnt, sizeof(*c->cell), compare_cells);
	for (size_t i = 1; i < c->cnt; i++) {
		if (!compare_cells(&c->cell[i - 1], &c->cell[i])) {
			refuse_double(r, y_param, &c->cell[i]);
			cells_release(c);
			return -EINVAL;
		}
	}
	axis_find(&c->x, c->cell, c->cnt, false);
	axis_find(&c->y, c->cell, c->cnt, true);
	return 0;
}

int cells_init(struct cells *c, const struct data_result *r, const char *name, const char *y_param,
	       bool y_log)
{
	double line = line_of(r);
	struct cell one;

	cells_begin(c, r->point_cnt, y_log);
	for (size_t i = 0; i < r->point_cnt; i++) {
		one = cell_of(r->point[i], name, y_param, line);
		cells_add(c, &one);
	}
	return cells_end(c, r, y_param);
}

void cells_release(struct cells *c)
{
	free(c->cell);
	free(c->x.value);
	free(c->y.value);
	*c = (struct cells){0};
}

bool cells_have_gaps(const struct cells *c)
{
	return c->cnt < c->x.cnt * c->y.cnt;
}

/* The middle between two values. */
static double axis_middle(const struct cells_axis *a, double low, double high)
{
	return a->log ? sqrt(low) * sqrt(high) : (low + high) / 2;
}

/* As far beyond the edge value as the other edge of its cell is on the inner side. */
static double axis_mirror(const struct cells_axis *a, double value, double edge)
{
	return a->log ? value * (value / edge) : value + (value - edge);
}

/* The edges of the cells of the idx-th value. */
static struct range cells_axis_edges(const struct cells_axis *a, size_t idx)
{
	const double *v = a->value;
	struct range r;

	if (a->cnt == 1) {
		/* A single value does not reveal the step, so the usual one is used. */
		r.low = a->log ? v[0] / sqrt(M_SQRT2) : v[0] - 0.5;
		r.high = a->log ? v[0] * sqrt(M_SQRT2) : v[0] + 0.5;
		return r;
	}
	if (idx > 0)
		r.low = axis_middle(a, v[idx - 1], v[idx]);
	if (idx + 1 < a->cnt)
		r.high = axis_middle(a, v[idx], v[idx + 1]);
	if (!idx)
		r.low = axis_mirror(a, v[idx], r.high);
	if (idx + 1 == a->cnt)
		r.high = axis_mirror(a, v[idx], r.low);
	return r;
}

struct range cells_axis_range(const struct cells_axis *a)
{
	return (struct range){cells_axis_edges(a, 0).low, cells_axis_edges(a, a->cnt - 1).high};
}

static size_t index_of(const struct cells_axis *a, double value)
{
	const double *at = bsearch(&value, a->value, a->cnt, sizeof(*a->value), stats_compare);

	return (size_t)(at - a->value);
}

static bool has_cell(const struct cells *c, size_t x_idx, size_t y_idx)
{
	struct cell wanted;

	if (x_idx >= c->x.cnt || y_idx >= c->y.cnt)
		return false;
	wanted = (struct cell){.x = c->x.value[x_idx], .y = c->y.value[y_idx]};
	return bsearch(&wanted, c->cell, c->cnt, sizeof(*c->cell), compare_cells);
}

/* The edges with an overlap, as a fraction of the cell's width. */
static struct range cell_edges(const struct cells_axis *a, size_t idx, double overlap)
{
	struct range r = cells_axis_edges(a, idx);

	if (a->log)
		r.high *= pow(r.high / r.low, overlap);
	else
		r.high += (r.high - r.low) * overlap;
	return r;
}

static const char *const judged_words[] = {[CELL_KNOWN] = "known",
					   [CELL_UNKNOWN] = "unknown",
					   [CELL_WRONG] = "wrong",
					   [CELL_DIFFERS] = "differs",
					   [CELL_ALIKE] = "alike"};

void cells_write(const struct cells *c, const struct range *limits, double width_px,
		 double height_px, struct script *s)
{
	double x_overlap = fmin(0.5, OVERLAP_PX * (double)c->x.cnt / width_px);
	double y_overlap = fmin(0.5, OVERLAP_PX * (double)c->y.cnt / height_px);

	script_block_begin(s, NULL);
	for (size_t i = 0; i < c->cnt; i++) {
		const struct cell *one = &c->cell[i];
		size_t x_idx = index_of(&c->x, one->x), y_idx = index_of(&c->y, one->y);
		struct range x = cell_edges(&c->x, x_idx,
					    has_cell(c, x_idx + 1, y_idx) * x_overlap);
		struct range y = cell_edges(&c->y, y_idx,
					    has_cell(c, x_idx, y_idx + 1) * y_overlap);

		script_row(s,
			   "%.9g\t%.9g\t%.9g\t%s\t%.9g\t%.9g\t%.9g\t%.6g\t%.9g\t%.9g\t%.9g\t%.9g",
			   one->x, one->y, one->value, judged_words[one->judged], one->low,
			   one->high, one->comm_ns,
			   fmax(limits->low, fmin(limits->high, one->value)), x.low, x.high, y.low,
			   y.high);
	}
	script_block_end(s);
}

bool cells_have(const struct cells *c, enum cell_judged judged)
{
	return table_any(c->cnt, i, c->cell[i].judged == judged);
}

void cells_plot(const struct cells *c, unsigned int block, struct script *s)
{
	script_line(s, "set object 1 rectangle from graph 0,0 to graph 1,1 behind "
		       "fillcolor rgb '#909090' fillstyle pattern 4 noborder");
	fprintf(s->out,
		"plot $d%u using (strcol(4) eq 'unknown' ? 1/0 : $1):2:9:10:11:12:8 with "
		"boxxyerror linecolor palette fillstyle solid noborder notitle",
		block);
	if (cells_have(c, CELL_UNKNOWN))
		fprintf(s->out,
			", $d%u using (strcol(4) eq 'unknown' ? $1 : 1/0):2:9:10:11:12 with "
			"boxxyerror fillcolor rgb '#b8b8b8' fillstyle solid noborder notitle",
			block);
}

/* A white line on bright colours needs an edge. The paper's map seldom does. */
void cells_plot_comm(unsigned int block, bool edge, struct script *s)
{
	if (edge)
		fprintf(s->out,
			", $d%u using 1:7 with lines linecolor rgb 'black' linewidth 5 notitle",
			block);
	fprintf(s->out, ", $d%u using 1:7 with lines linecolor rgb 'white' linewidth 2.5 notitle",
		block);
}

void cells_plot_dots(const struct cells *c, unsigned int block, enum cell_judged judged,
		     double size, const char *colour, struct script *s)
{
	if (cells_have(c, judged))
		fprintf(s->out,
			", $d%u using (strcol(4) eq '%s' ? $1 : 1/0):2 with points pointtype 7 "
			"pointsize %.3g linecolor rgb '%s' notitle",
			block, judged_words[judged], size, colour);
}
