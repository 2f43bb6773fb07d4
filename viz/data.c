/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads results. A file stays the tree that the JSON library made of it. Results form a flat list
 * over all files, because pictures compare both within a file and across files.
 */
#include "data.h"

#include "graph.h"

#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_VERSION 2 /* the newest; 1 is also accepted */
/* Numbers outside of these limits are no sizes or times, and computing with them might overflow. */
#define NUMBER_MAX 1e30
#define NUMBER_MIN 1e-30

static void add_points(struct data_result *r, const json_t *points)
{
	const json_t *point;
	size_t i;

	r->point = xcalloc(json_array_size(points), sizeof(*r->point));
	json_array_foreach(points, i, point)
	{
		if (json_is_object(point))
			r->point[r->point_cnt++] = point;
	}
}

static void points_append(struct data *d, struct data_result *r, const json_t *points)
{
	add_points(r, points);
	*table_append(d->result, d->result_cnt) = *r;
}

static void add_result(struct data *d, const struct data_file *f, const json_t *obj,
		       size_t launch_cnt)
{
	struct data_result r = {
		.file = f,
		.benchmark = json_get_text(obj, "benchmark"),
		.group = json_get_text(obj, "group"),
		.kind = json_get_text(obj, "kind"),
		.sentence = json_get_text(obj, "sentence"),
		.disturbed = json_is_string(json_object_get(obj, "disturbed")),
		.ranks = (unsigned int)json_integer_value(json_object_get(obj, "ranks")),
		.launch_cnt = launch_cnt,
	};

	points_append(d, &r, json_object_get(obj, "points"));
}

/* True for the output of "povtrace report --json", which is no povbench result. */
static bool is_report(const json_t *root)
{
	return json_object_get(root, "schema_version") && json_object_get(root, "povtrace");
}

/* Of a report only the traffic between processes can be drawn. It counts as one result. */
static int add_report(struct data *d, const struct data_file *f)
{
	const json_t *pairs = json_object_get(json_object_get(f->root, "traffic"), "pairs");
	struct data_result r = {
		.file = f,
		.benchmark = "traffic",
		.group = "report",
		.kind = "traffic",
		.sentence =
			"traffic: bytes as they were posted, with the headers of the layers above",
		.ranks = (unsigned int)json_array_size(json_object_get(f->root, "ranks")),
		.launch_cnt = 1,
	};

	if (!json_array_size(pairs)) {
		log_error("%s: a report without traffic between processes: nothing in it can be "
			  "drawn",
			  f->path);
		return -ENODATA;
	}
	points_append(d, &r, pairs);
	return 0;
}

/* A fabric is one result, and each of its contexts is a point. */
static int add_fabric(struct data *d, const struct data_file *f)
{
	const json_t *contexts = json_object_get(f->root, "contexts");
	struct data_result r = {
		.file = f,
		.benchmark = "fabric",
		.group = "fabric",
		.kind = "fabric",
		.sentence = "fabric: bytes that went over each half of a link, summed over the run",
		.launch_cnt = 1,
	};

	if (!json_array_size(contexts)) {
		log_error("%s: a fabric without traffic: nothing in it can be drawn", f->path);
		return -ENODATA;
	}
	points_append(d, &r, contexts);
	return 0;
}

static int check_format(const char *path, const json_t *root)
{
	json_int_t version = json_integer_value(json_object_get(root, "version"));

	int newest = graph_is(root) ? GRAPH_VERSION : DATA_VERSION;

	if (strcmp(json_get_text(root, "format"), "povbench") && !graph_is(root)) {
		log_error("%s: neither a result of povbench nor a report of povtrace, nor a fabric",
			  path);
		return -EINVAL;
	}
	if (version < 1 || version > newest) {
		log_error("%s: format version %" JSON_INTEGER_FORMAT "; this povplot reads 1 to %d",
			  path, version, newest);
		return -EINVAL;
	}
	return 0;
}

static json_t *load(const char *path)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "r") : stdin;
	json_error_t error;
	json_t *root;

	if (!in) {
		log_error("%s: %s", path, strerror(errno));
		return NULL;
	}
	errno = 0;
	root = json_loadf(in, 0, &error);
	if (!root && ferror(in))
		log_error("%s: %s", path, strerror(errno));
	else if (!root && error.line > 0)
		log_error("%s: line %d: %s", path, error.line, error.text);
	else if (!root)
		log_error("%s: %s", path, error.text);
	if (in != stdin)
		fclose(in);
	return root;
}

/* Adds the results of one launch as they are. */
static int add_launch(struct data *d, struct data_file *f, const json_t *launch)
{
	size_t before = d->result_cnt, i;
	const json_t *obj;

	f->factors = json_object_get(launch, "factors");
	json_array_foreach(json_object_get(launch, "results"), i, obj)
	{
		if (json_is_object(obj))
			add_result(d, f, obj, 1);
	}
	if (d->result_cnt > before)
		return 0;
	log_error("%s: holds no results", f->path);
	return -ENODATA;
}

static int add_medians(struct data *d, struct data_file *f, const json_t *launches)
{
	const json_t *obj;
	size_t i;

	f->factors = json_object_get(json_array_get(launches, 0), "factors");
	f->medians = launches_medians(launches);
	json_array_foreach(f->medians, i, obj)
		add_result(d, f, obj, (size_t)json_integer_value(json_object_get(obj, "launches")));
	if (json_array_size(f->medians))
		return 0;
	log_error("%s: holds no results", f->path);
	return -ENODATA;
}

static int add_file(struct data *d, struct data_file *f, size_t launch)
{
	bool first_version = json_integer_value(json_object_get(f->root, "version")) == 1;
	const json_t *launches = json_object_get(f->root, "launches");
	size_t cnt = first_version ? 1 : json_array_size(launches);

	if (launch > cnt) {
		log_error("%s: has %zu launch%s, and no launch %zu", f->path, cnt,
			  cnt == 1 ? "" : "es", launch);
		return -ENODATA;
	}
	if (first_version)
		return add_launch(d, f, f->root);
	if (launch || cnt == 1)
		return add_launch(d, f, json_array_get(launches, launch ? launch - 1 : 0));
	return add_medians(d, f, launches);
}

int data_read(struct data *d, const char *path, size_t launch)
{
	json_t *root = load(path);
	struct data_file *f;
	int err;

	if (!root)
		return -EINVAL;
	err = is_report(root) ? 0 : check_format(path, root);
	if (err) {
		json_decref(root);
		return err;
	}
	f = xmalloc(sizeof(*f));
	*f = (struct data_file){.path = xstrdup(strcmp(path, "-") ? path : "stdin"), .root = root};
	*table_append(d->file, d->file_cnt) = f;
	if (graph_is(root))
		return add_fabric(d, f);
	return is_report(root) ? add_report(d, f) : add_file(d, f, launch);
}

void data_release(struct data *d)
{
	for (size_t i = 0; i < d->result_cnt; i++)
		free(d->result[i].point);
	for (size_t i = 0; i < d->file_cnt; i++) {
		json_decref(d->file[i]->medians);
		json_decref(d->file[i]->root);
		free(d->file[i]->path);
		free(d->file[i]);
	}
	free(d->result);
	free(d->file);
	*d = (struct data){0};
}

static double number_of(const json_t *value)
{
	double number = json_is_number(value) ? json_number_value(value) : NAN;

	if (fabs(number) < NUMBER_MIN)
		return 0;
	return fabs(number) <= NUMBER_MAX ? number : NAN;
}

/* A parameter is a member of the point itself, beside "times" and "values". */
double data_param(const json_t *point, const char *name)
{
	return number_of(json_object_get(point, name));
}

bool data_has(const struct data_result *r, bool (*is_such)(const json_t *point))
{
	return table_any(r->point_cnt, i, is_such(r->point[i]));
}

int data_refuse_empty(const struct data_result *r)
{
	log_error("%s: %s: no point to draw", r->file->path, r->benchmark);
	return -ENODATA;
}

const char *data_param_text(const json_t *point, const char *name)
{
	return json_string_value(json_object_get(point, name));
}

double data_time(const json_t *point, const char *name, const char *figure)
{
	const json_t *time = json_object_get(json_object_get(point, "times"), name);

	return number_of(json_object_get(time, figure));
}

const json_t *data_list(const json_t *point, const char *name, const char *list)
{
	const json_t *time = json_object_get(json_object_get(point, "times"), name);
	const json_t *values = json_object_get(time, list);

	return json_array_size(values) ? values : NULL;
}

double data_value(const json_t *point, const char *name)
{
	return number_of(json_object_get(json_object_get(point, "values"), name));
}

static bool is_so(const json_t *point, const char *name, const char *wanted)
{
	const char *text = data_param_text(point, name);
	double number = data_param(point, name);
	uint64_t value;

	if (text)
		return !strcmp(text, wanted);
	if (human_parse_bytes(wanted, &value))
		return false;
	return number == (double)value;
}

int data_check_condition(const char *condition)
{
	const char *eq = strchr(condition, '=');

	if (eq && eq != condition && eq[1])
		return 0;
	log_error("--where: \"%s\" is no condition such as bytes=64K", condition);
	return -EINVAL;
}

void data_keep(struct data *d, const char *condition)
{
	const char *eq = strchr(condition, '=');
	char *name = xasprintf("%.*s", (int)(eq - condition), condition);
	size_t k, kept;

	for (size_t i = 0; i < d->result_cnt; i++) {
		struct data_result *r = &d->result[i];

		for (k = 0, kept = 0; k < r->point_cnt; k++) {
			/* A point without this parameter does not contradict the condition. */
			if (!json_object_get(r->point[k], name) || is_so(r->point[k], name, eq + 1))
				r->point[kept++] = r->point[k];
		}
		r->point_cnt = kept;
	}
	free(name);
}
