/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The line comes from points with long computations and short messages. There the interval of
 * T_measured - T_comp within pairs is that of two computations, and the message's own variation is
 * negligible.
 */
#include "core/overlap_map.h"

#include "lib/log.h"
#include "lib/table.h"
#include "core/classify.h"

#include <math.h>
#include <stdlib.h>

#define SHORT_SHARE 0.05 /* T_comm, of T_comp */
#define LEAST_POINTS 3

static double number_of(const json_t *j)
{
	return json_is_number(j) ? json_number_value(j) : NAN;
}

static double time_of(const json_t *point, const char *name, const char *figure)
{
	return number_of(
		json_object_get(json_object_get(json_object_get(point, "times"), name), figure));
}

static double value_of(const json_t *point, const char *name)
{
	return number_of(json_object_get(json_object_get(point, "values"), name));
}

void map_line_add(struct samples *s, const json_t *point)
{
	double comp = time_of(point, "comp", "median"), comm = time_of(point, "comm", "median");
	double width = time_of(point, "added", "ci_high") - time_of(point, "added", "ci_low");

	if (comp >= MAP_LINE_FROM_NS && comm <= SHORT_SHARE * comp && isfinite(width / comp))
		samples_add(s, width / comp / MAP_KNOWN_WIDTH);
}

double map_line(const struct samples *s)
{
	return s->cnt < LEAST_POINTS ? 0 : stats_quantile(s, 0.5);
}

double map_line_of(const json_t *points)
{
	const json_t *point;
	struct samples s = {0};
	double line;
	size_t i;

	json_array_foreach(points, i, point) map_line_add(&s, point);
	line = map_line(&s);
	samples_release(&s);
	return line;
}

char *map_line_text(double line)
{
	if (!(line > 0))
		return NULL;
	return xasprintf(
		"computation of 100 us and more varies by %.2g %% here: points with T_comm "
		"below %.2g %% of T_comp are unknown",
		100 * line, 100 * line);
}

bool map_is_left(double line, double comm_ns, double comp_ns)
{
	return comp_ns >= MAP_LINE_FROM_NS && comm_ns < line * comp_ns;
}

enum map_judged map_judge(const json_t *point, double line)
{
	double width = value_of(point, "ratio_high") - value_of(point, "ratio_low");
	double comp = time_of(point, "comp", "median"), comm = time_of(point, "comm", "median");

	if (!isfinite(value_of(point, "ratio")))
		return MAP_BLANK;
	if (width > MAP_KNOWN_WIDTH || map_is_left(line, comm, comp))
		return MAP_UNKNOWN;
	if (!(value_of(point, "ratio") < MAP_CLEARLY_BELOW))
		return MAP_KNOWN;
	return isnan(width) || isfinite(value_of(point, "too_short_ns")) ? MAP_WRONG : MAP_UNKNOWN;
}

/* ---- the claims of a size ---- */

/* The ranges of the classes overlap, so a point between two classes contradicts neither. */

/* If several classes hold equally often, the first in this list is claimed. */
static const enum classify_overlap classes[] = {CLASSIFY_OVERLAP, CLASSIFY_WORSE, CLASSIFY_NONE,
						CLASSIFY_PARTIAL};
#define CLASS_CNT (sizeof(classes) / sizeof(classes[0]))

/*
 * True if the interval is in the class's range. For "no overlap" it only needs to begin there: its
 * end may be "worse", which overlaps no more.
 */
static bool class_holds(enum classify_overlap class, const struct map_cell_known *c)
{
	switch (class) {
	case CLASSIFY_OVERLAP:
		return c->high < 0.25;
	case CLASSIFY_PARTIAL:
		return c->low > 0.1 && c->high < 0.9;
	case CLASSIFY_NONE:
		return c->low >= 0.75 && c->low <= 1.25;
	case CLASSIFY_WORSE:
		return c->low > 1.25;
	default:
		return false;
	}
}

/* True if some part of the interval is in the class's range. */
static bool class_may_hold(enum classify_overlap class, const struct map_cell_known *c)
{
	switch (class) {
	case CLASSIFY_OVERLAP:
		return c->low < 0.25;
	case CLASSIFY_PARTIAL:
		return c->high > 0.1 && c->low < 0.9;
	case CLASSIFY_NONE:
		return c->high >= 0.75 && c->low <= 1.25;
	case CLASSIFY_WORSE:
		return c->high > 1.25;
	default:
		return false;
	}
}

/* A range of computation times while it grows. */
struct range {
	bool open[CLASS_CNT];	/* no point of the range contradicts the class */
	size_t held[CLASS_CNT]; /* number of points that hold the class */
};

/* The class that most points hold; CLASSIFY_UNJUDGED if there is none. */
static enum classify_overlap range_class(const struct range *r)
{
	enum classify_overlap class = CLASSIFY_UNJUDGED;
	size_t most = 0;

	for (size_t k = 0; k < CLASS_CNT; k++) {
		if (r->open[k] && r->held[k] > most) {
			most = r->held[k];
			class = classes[k];
		}
	}
	return class;
}

/* Adds a point, unless the range would then claim less than it and the point do separately. */
static bool range_add(struct range *r, const struct map_cell_known *cell)
{
	bool claims = range_class(r) != CLASSIFY_UNJUDGED, any = false;
	struct range more = *r;

	for (size_t k = 0; k < CLASS_CNT; k++) {
		more.open[k] = r->open[k] && class_may_hold(classes[k], cell);
		more.held[k] += class_holds(classes[k], cell);
		claims = claims || class_holds(classes[k], cell);
		any = any || more.open[k];
	}
	if (!any || (claims && range_class(&more) == CLASSIFY_UNJUDGED))
		return false;
	*r = more;
	return true;
}

/* Returns the end of the range that starts at that cell, and the range's class. */
static size_t range_find(const struct map_cell_known *cell, size_t cnt,
			 enum classify_overlap *class)
{
	struct range r = {.open = {true, true, true, true}};
	size_t end = 0;

	while (end < cnt && range_add(&r, &cell[end]))
		end++;
	*class = range_class(&r);
	return end;
}

static void size_claim(struct map_size_claims *s, const struct map_cell_known *cell)
{
	enum classify_overlap class;
	size_t end;

	s->claim = xcalloc(s->cell_cnt + 1, sizeof(*s->claim));
	for (size_t begin = 0; begin < s->cell_cnt; begin = end) {
		end = begin + range_find(cell + begin, s->cell_cnt - begin, &class);
		if (class != CLASSIFY_UNJUDGED)
			s->claim[s->claim_cnt++] = (struct map_claim){class, cell[begin].compute_ns,
								      cell[end - 1].compute_ns};
	}
}

enum classify_overlap map_size_class(const struct map_size_claims *size)
{
	if (size->claim_cnt > 1)
		return CLASSIFY_MIXED;
	return size->claim_cnt ? size->claim[0].class : CLASSIFY_UNJUDGED;
}

bool map_claims_allow(const struct map_claims *c, size_t from, size_t to,
		      const struct map_claim *claim)
{
	for (size_t i = c->size[from].cell; i < c->size[to].cell + c->size[to].cell_cnt; i++) {
		const struct map_cell_known *one = &c->cell[i];

		if (!(one->compute_ns < claim->compute_low ||
		      one->compute_ns > claim->compute_high) &&
		    !class_may_hold(claim->class, one))
			return false;
	}
	return true;
}

TABLE_ORDER(compare_cells, struct map_cell_known, table_compare(a->bytes, b->bytes),
	    table_compare(a->compute_ns, b->compute_ns))

/* A result without an interval gets one of width 0. */
static struct map_cell_known cell_of(const struct result_point *p)
{
	double ratio = result_number(p, "ratio");
	struct map_cell_known c = {.bytes = result_number(p, "bytes"),
				   .compute_ns = result_number(p, "compute_ns"),
				   .low = result_number(p, "ratio_low"),
				   .high = result_number(p, "ratio_high"),
				   .point = p};

	if (isnan(c.low) || isnan(c.high))
		c.low = c.high = ratio;
	return c;
}

static void find_cells(struct map_claims *c, const struct result *r, const json_t *points)
{
	enum map_judged judged;

	c->cell = xcalloc(c->point_cnt + 1, sizeof(*c->cell));
	for (size_t i = 0; i < c->point_cnt; i++) {
		judged = map_judge(json_array_get(points, i), c->line);
		c->wrong_cnt += judged == MAP_WRONG;
		if (judged == MAP_KNOWN && !isnan(result_number(result_point_at(r, i), "bytes")))
			c->cell[c->cell_cnt++] = cell_of(result_point_at(r, i));
	}
	qsort(c->cell, c->cell_cnt, sizeof(*c->cell), compare_cells);
}

void map_claims_init(struct map_claims *c, const struct result *r)
{
	const json_t *points = json_object_get(result_json(r), "points");
	struct map_size_claims *s;
	struct samples sizes = {0};
	size_t cell = 0;

	*c = (struct map_claims){.point_cnt = result_point_cnt(r)};
	c->line = map_line_of(points);
	find_cells(c, r, points);
	classify_values(r, "bytes", &sizes);
	c->size = xcalloc(sizes.cnt + 1, sizeof(*c->size));
	c->size_cnt = sizes.cnt;
	for (size_t i = 0; i < sizes.cnt; i++) {
		s = &c->size[i];
		*s = (struct map_size_claims){.bytes = sizes.value[i], .cell = cell};
		while (cell < c->cell_cnt && c->cell[cell].bytes == s->bytes)
			cell++;
		s->cell_cnt = cell - s->cell;
		size_claim(s, c->cell + s->cell);
	}
	samples_release(&sizes);
}

void map_claims_release(struct map_claims *c)
{
	for (size_t i = 0; i < c->size_cnt; i++)
		free(c->size[i].claim);
	free(c->size);
	free(c->cell);
	*c = (struct map_claims){0};
}
