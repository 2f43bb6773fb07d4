/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A picture shows the results that the user wants and that it takes. If no picture is named, the
 * first in the table below that takes all wanted results is drawn, or else the grid if there are
 * maps among them.
 */
#include "draw.h"

#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Pictures to try if none is named. */
static const char *const preferred[] = {"map",	     "ratio",  "load",	   "times",
					"broadcast", "curve",  "protocol", "timers",
					"matrix",    "fabric", "grid",	   NULL};

bool choose_wants(const struct choice *c, const struct data_result *r)
{
	return table_any(c->benchmarks.cnt, i, !strcmp(c->benchmarks.item[i], r->benchmark)) ||
	       !c->benchmarks.cnt;
}

static const struct picture *picture_find(const char *name)
{
	for (size_t i = 0; pictures[i]; i++) {
		if (!strcmp(pictures[i]->name, name))
			return pictures[i];
	}
	return NULL;
}

const struct picture *choose_named(const char *name)
{
	const struct picture *p = picture_find(name);
	const char *near = NULL;

	for (size_t i = 0; pictures[i] && !p; i++)
		near = suggest_better(name, near, pictures[i]->name);
	if (!p && near)
		log_error("no picture \"%s\"; did you mean \"%s\"?", name, near);
	else if (!p)
		log_error("no picture \"%s\"; \"povplot --help\" names them", name);
	return p;
}

bool choose_takes(const char *picture, const struct data_result *r)
{
	const struct picture *p = picture_find(picture);

	return p && p->takes(r);
}

const struct picture *choose_usual(const struct data_result *r)
{
	const struct picture *p;

	for (size_t i = 0; preferred[i]; i++) {
		p = picture_find(preferred[i]);
		if (p && p->takes(r))
			return p;
	}
	/* All times have distributions, but only these results are about one. */
	return !strcmp(r->kind, "cost") && choose_takes("distribution", r) ?
		       picture_find("distribution") :
		       NULL;
}

void choose_tell_pictureless(const struct data_result *r)
{
	if (!strcmp(r->kind, "map"))
		log_warn("%s: %s: no picture: none of its %zu points has a ratio; "
			 "\"--words\" explains why",
			 r->file->path, r->benchmark, r->point_cnt);
	else
		log_warn("%s: %s: no picture of its own (kind \"%s\", %zu points); \"--words\" "
			 "explains what it means",
			 r->file->path, r->benchmark, r->kind, r->point_cnt);
}

static size_t wanted_cnt(const struct choice *c, const struct data *d)
{
	return table_sum(d->result_cnt, i, choose_wants(c, &d->result[i]));
}

static size_t taken_cnt(const struct choice *c, const struct data *d, const struct picture *p)
{
	return table_sum(d->result_cnt, i,
			 choose_wants(c, &d->result[i]) && p->takes(&d->result[i]));
}

/*
 * Counts results that have no picture and reports each to the user. A picture is chosen as if they
 * did not exist.
 */
static size_t pictureless_cnt(const struct choice *c, const struct data *d)
{
	size_t cnt = 0;

	for (size_t i = 0; i < d->result_cnt; i++) {
		if (!choose_wants(c, &d->result[i]) || choose_usual(&d->result[i]))
			continue;
		choose_tell_pictureless(&d->result[i]);
		cnt++;
	}
	return cnt;
}

static const struct picture *find_fitting(const struct choice *c, const struct data *d)
{
	size_t cnt, drawable_cnt = wanted_cnt(c, d) - pictureless_cnt(c, d);
	const struct picture *p;

	for (size_t i = 0; preferred[i]; i++) {
		p = picture_find(preferred[i]);
		cnt = p ? taken_cnt(c, d, p) : 0;
		if (cnt && (p->many || cnt == 1) && cnt == drawable_cnt)
			return p;
	}
	p = picture_find("grid");
	return p && taken_cnt(c, d, p) ? p : NULL;
}

static int refuse_benchmarks(const struct choice *c, const struct data *d)
{
	const char *near = NULL, *typed = c->benchmarks.cnt ? c->benchmarks.item[0] : NULL;

	for (size_t i = 0; i < d->result_cnt && typed; i++)
		near = suggest_better(typed, near, d->result[i].benchmark);
	if (near)
		log_error("no result of \"%s\"; did you mean \"%s\"?", typed, near);
	else
		log_error("nothing to draw: no such result; \"povplot list\" lists them");
	return -ENODATA;
}

int choose_check(const struct choice *c, const struct data *d)
{
	return wanted_cnt(c, d) ? 0 : refuse_benchmarks(c, d);
}

static int refuse_many(const struct choice *c, const struct data *d, const struct picture *p)
{
	log_error("picture %s shows one result; choose with --benchmark, or draw a grid:", p->name);
	for (size_t i = 0; i < d->result_cnt; i++) {
		if (choose_wants(c, &d->result[i]) && p->takes(&d->result[i]))
			log_error("  %s in %s", d->result[i].benchmark, d->result[i].file->path);
	}
	return -EINVAL;
}

static bool one_has_picture(const struct choice *c, const struct data *d)
{
	return table_any(d->result_cnt, i,
			 choose_wants(c, &d->result[i]) && choose_usual(&d->result[i]));
}

int choose(const struct choice *c, const struct data *d, const struct picture **picture,
	   struct plot *plot)
{
	const struct picture *p;
	size_t cnt;

	if (choose_check(c, d))
		return -ENODATA;
	p = c->picture ? choose_named(c->picture) : find_fitting(c, d);
	if (!p && !c->picture && one_has_picture(c, d))
		log_error("several kinds of results; choose with --benchmark or --picture "
			  "(\"povplot list\" lists them)");
	if (!p)
		return -EINVAL;
	cnt = taken_cnt(c, d, p);
	if (!cnt) {
		log_error("nothing to draw: no result that picture %s can show", p->name);
		return -ENODATA;
	}
	if (cnt > 1 && !p->many)
		return refuse_many(c, d, p);
	plot->result = xcalloc(cnt, sizeof(struct data_result *));
	for (size_t i = 0; i < d->result_cnt; i++) {
		if (choose_wants(c, &d->result[i]) && p->takes(&d->result[i]))
			plot->result[plot->cnt++] = &d->result[i];
	}
	*picture = p;
	return 0;
}
