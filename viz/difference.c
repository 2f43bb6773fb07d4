/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Points are found in the second result by their parameters. */
#include "difference.h"

#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define TIME "measured"

/* By key, the index of a result's points, from 1. The caller releases it. */
static json_t *index_of(const struct data_result *r)
{
	json_t *index = json_object();
	size_t i;

	for (i = 0; i < r->point_cnt; i++) {
		char *key = data_point_key(r->point[i]);

		json_object_set_new(index, key, json_integer((json_int_t)i + 1));
		free(key);
	}
	return index;
}

static void add(struct difference *d, const json_t *a, const json_t *b)
{
	double ratio = data_time(b, TIME, "median") / data_time(a, TIME, "median");
	struct difference_point *p = &d->point[d->cnt];

	if (!(ratio > 0) || !isfinite(ratio))
		return;
	*p = (struct difference_point){
		.json = a,
		.ratio = ratio,
		.low = data_time(b, TIME, "ci_low") / data_time(a, TIME, "ci_high"),
		.high = data_time(b, TIME, "ci_high") / data_time(a, TIME, "ci_low"),
	};
	d->cnt++;
}

int difference_init(struct difference *d, const struct data_result *a, const struct data_result *b)
{
	json_t *index = index_of(b);
	size_t i;

	*d = (struct difference){.first = a, .point = xcalloc(a->point_cnt + 1, sizeof(*d->point))};
	for (i = 0; i < a->point_cnt; i++) {
		char *key = data_point_key(a->point[i]);
		size_t at = (size_t)json_integer_value(json_object_get(index, key));

		if (at)
			add(d, a->point[i], b->point[at - 1]);
		free(key);
	}
	json_decref(index);
	if (d->cnt)
		return 0;
	log_error("%s: %s and %s have no point in common", a->benchmark, a->file->path,
		  b->file->path);
	difference_release(d);
	return -ENODATA;
}

void difference_release(struct difference *d)
{
	free(d->point);
	*d = (struct difference){0};
}

int difference_cells(const struct difference *d, struct cells *out)
{
	size_t i;

	cells_begin(out, d->cnt, true);
	for (i = 0; i < d->cnt; i++) {
		const struct difference_point *p = &d->point[i];
		bool apart = p->low > 1 || p->high < 1;
		const struct cell cell = {.x = data_param(p->json, "bytes"),
					  .y = data_param(p->json, "compute_ns"),
					  .value = p->ratio,
					  .low = p->low,
					  .high = p->high,
					  .judged = apart ? CELL_DIFFERS : CELL_ALIKE,
					  .comm_ns = NAN};

		cells_add(out, &cell);
	}
	return cells_end(out, d->first, "compute_ns");
}
