/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A result is kept as the JSON that is written to the file. So nothing needs translation, and a
 * reader of the file gets the same data as the classification and the self-test.
 */
#include "core/result_file.h"

#include "lib/log.h"
#include "lib/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- building JSON ---- */

void json_put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		die("out of memory (%s)", key);
}

json_t *json_date_now(void)
{
	char text[32];
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

/* ---- results ---- */

/* Number of quantiles if samples are not kept, and if the distribution is drawn. */
#define QUANTILES 20
#define QUANTILES_DRAWN 1000

struct result_point {
	json_t *json, *times, *values; /* borrowed from the result */
	bool keep_samples;
	int quantiles;
};

struct result {
	json_t *json, *points;
	struct result_point **point;
	size_t point_cnt;
	bool keep_samples;
	int quantiles;
	json_t *known;	      /* points measured before an interruption; null: none */
	double known_took_ns; /* time that these points took */
};

static const char *const kind_names[] = {
	[RESULT_CURVE] = "curve",   [RESULT_PROTOCOL] = "protocol",   [RESULT_MAP] = "map",
	[RESULT_LOAD] = "load",	    [RESULT_BROADCAST] = "broadcast", [RESULT_STENCIL] = "stencil",
	[RESULT_TIMERS] = "timers", [RESULT_COST] = "cost",
};

struct result *result_new(const struct result_about *about)
{
	struct result *r = xcalloc(1, sizeof(*r));

	r->json = json_object();
	r->points = json_array();
	/* STENCIL's pictures draw the whole distribution, so its samples are kept. */
	r->keep_samples = about->keep_samples || about->kind == RESULT_STENCIL;
	r->quantiles = about->kind == RESULT_COST ? QUANTILES_DRAWN : QUANTILES;
	json_put(r->json, "benchmark", json_string(about->benchmark));
	json_put(r->json, "group", json_string(about->group));
	if (about->brief)
		json_put(r->json, "brief", json_string(about->brief));
	if (about->source)
		json_put(r->json, "source", json_string(about->source));
	json_put(r->json, "kind", json_string(kind_names[about->kind]));
	json_put(r->json, "ranks", json_integer(about->ranks));
	json_put(r->json, "date", json_date_now());
	json_put(r->json, "options",
		 about->options ? json_deep_copy(about->options) : json_object());
	json_put(r->json, "points", r->points);
	return r;
}

void result_free(struct result *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->point_cnt; i++)
		free(r->point[i]);
	free(r->point);
	json_decref(r->known);
	json_decref(r->json);
	free(r);
}

const json_t *result_json(const struct result *r)
{
	return r->json;
}

/* Takes ownership of the object. */
static struct result_point *point_append(struct result *r, json_t *json)
{
	struct result_point *p = xcalloc(1, sizeof(*p));

	p->json = json;
	p->times = json_object_get(json, "times");
	p->values = json_object_get(json, "values");
	p->keep_samples = r->keep_samples;
	p->quantiles = r->quantiles;
	if (json_array_append_new(r->points, p->json))
		die("out of memory (a result)");
	*table_append(r->point, r->point_cnt) = p;
	return p;
}

struct result_point *result_point_add(struct result *r)
{
	json_t *json = json_object();

	json_put(json, "times", json_object());
	json_put(json, "values", json_object());
	return point_append(r, json);
}

void result_point_read(struct result *r, json_t *point)
{
	point_append(r, json_incref(point));
}

void result_go_on(struct result *r, const json_t *part)
{
	json_t *date = json_object_get(part, "date");

	r->known = json_deep_copy(json_object_get(part, "points"));
	r->known_took_ns = json_number_value(json_object_get(part, "took_ns"));
	if (date)
		json_object_set(r->json, "date", date);
}

/* Returns null if there is no such point. */
static json_t *find_known(const struct result *r, const struct result_axis *axis, size_t axis_cnt)
{
	json_t *p;
	size_t i, k;

	json_array_foreach(r->known, i, p)
	{
		for (k = 0; k < axis_cnt; k++) {
			const json_t *value = json_object_get(p, axis[k].name);

			if (!json_is_integer(value) ||
			    json_integer_value(value) != (json_int_t)axis[k].value)
				break;
		}
		if (k == axis_cnt && json_is_object(json_object_get(p, "times")) &&
		    json_is_object(json_object_get(p, "values")))
			return p;
	}
	return NULL;
}

bool result_point_known(const struct result *r, const struct result_axis *axis, size_t axis_cnt)
{
	return find_known(r, axis, axis_cnt) != NULL;
}

bool result_point_take(struct result *r, const struct result_axis *axis, size_t axis_cnt)
{
	json_t *p = find_known(r, axis, axis_cnt);

	if (p)
		point_append(r, json_incref(p));
	return p != NULL;
}

void result_param(struct result_point *p, const char *name, uint64_t value)
{
	json_put(p->json, name, json_integer((json_int_t)value));
}

void result_param_text(struct result_point *p, const char *name, const char *value)
{
	json_put(p->json, name, json_string(value));
}

void result_value(struct result_point *p, const char *name, double value)
{
	if (isfinite(value))
		json_put(p->values, name, json_real(value));
}

static json_t *distribution(const struct samples *s, int parts)
{
	double *value = xcalloc((size_t)parts + 1, sizeof(*value));
	json_t *list = json_array();

	stats_quantiles(s, parts, value);
	for (int i = 0; i <= parts; i++)
		json_array_append_new(list, json_real(value[i]));
	free(value);
	return list;
}

static json_t *all_samples(const struct samples *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->cnt; i++)
		json_array_append_new(list, json_real(s->value[i]));
	return list;
}

void result_time(struct result_point *p, const char *name, const struct samples *s)
{
	struct summary sum;
	json_t *t;

	if (!s->cnt)
		return;
	t = json_object();
	stats_summarize(s, &sum);
	json_put(t, "cnt", json_integer((json_int_t)sum.cnt));
	json_put(t, "median", json_real(sum.median));
	json_put(t, "ci_low", json_real(sum.ci_low));
	json_put(t, "ci_high", json_real(sum.ci_high));
	json_put(t, "min", json_real(sum.min));
	json_put(t, "p25", json_real(sum.p25));
	json_put(t, "p75", json_real(sum.p75));
	json_put(t, "p90", json_real(sum.p90));
	json_put(t, "p99", json_real(sum.p99));
	json_put(t, "max", json_real(sum.max));
	json_put(t, "mean", json_real(sum.mean));
	json_put(t, "sd", json_real(sum.sd));
	if (p->keep_samples)
		json_put(t, "samples", all_samples(s));
	else
		json_put(t, "quantiles", distribution(s, p->quantiles));
	json_put(p->times, name, t);
}

static int compare_numbers(double a, double b)
{
	return (a > b) - (a < b);
}

void result_sort(struct result *r, const char *first, const char *second)
{
	struct result_point *p;
	size_t k;
	int order;

	/* Insertion sort: there are few points, mostly in order. */
	for (size_t i = 1; i < r->point_cnt; i++) {
		p = r->point[i];
		for (k = i; k; k--) {
			order = compare_numbers(result_number(r->point[k - 1], first),
						result_number(p, first));
			if (!order)
				order = compare_numbers(result_number(r->point[k - 1], second),
							result_number(p, second));
			if (order <= 0)
				break;
			r->point[k] = r->point[k - 1];
		}
		r->point[k] = p;
	}
	r->points = json_array();
	for (size_t i = 0; i < r->point_cnt; i++)
		json_array_append(r->points, r->point[i]->json);
	json_put(r->json, "points", r->points);
}

size_t result_point_cnt(const struct result *r)
{
	return r->point_cnt;
}

const struct result_point *result_point_at(const struct result *r, size_t idx)
{
	return r->point[idx];
}

static double number_of(const json_t *j)
{
	return json_is_number(j) ? json_number_value(j) : NAN;
}

double result_number(const struct result_point *p, const char *name)
{
	const char *dot = strrchr(name, '.');
	const json_t *j = json_object_get(p->values, name);
	char *time;

	if (!j)
		j = json_object_get(p->json, name);
	if (j)
		return number_of(j);
	if (!dot)
		return number_of(json_object_get(json_object_get(p->times, name), "median"));
	time = xasprintf("%.*s", (int)(dot - name), name);
	j = json_object_get(json_object_get(p->times, time), dot + 1);
	free(time);
	return number_of(j);
}

void result_effort(struct result *r, double took_ns, double core_wait_ns)
{
	json_put(r->json, "took_ns", json_integer((json_int_t)(took_ns + r->known_took_ns)));
	/* The waiting time of an interrupted part is unknown. */
	if (!isnan(core_wait_ns) && !r->known)
		json_put(r->json, "core_wait_ns", json_integer((json_int_t)core_wait_ns));
}

void result_disturbed(struct result *r, const char *what)
{
	const char *earlier = json_string_value(json_object_get(r->json, "disturbed"));
	char *both = earlier ? xasprintf("%s, %s", earlier, what) : xstrdup(what);

	json_put(r->json, "disturbed", json_string(both));
	free(both);
}

void result_sentence_set(struct result *r, const char *text)
{
	json_put(r->json, "sentence", json_string(text));
}
