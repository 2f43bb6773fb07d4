/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A file of version 1 is a single launch with its factors and results. Values of the wrong type are
 * removed here, so that no reader has to check again.
 */
#include "core/result_file.h"

#include "lib/log.h"

#include <errno.h>
#include <string.h>

static int check_format(const char *path, const char *hint, const json_t *root)
{
	const char *format = json_string_value(json_object_get(root, "format"));
	json_int_t version = json_integer_value(json_object_get(root, "version"));
	const char *list = version == 1 ? "results" : "launches";

	if (!format || strcmp(format, RESULT_FORMAT)) {
		log_error("%s: is no result of povbench%s", path, hint);
		return -EINVAL;
	}
	if (version < 1 || version > RESULT_VERSION) {
		log_error("%s: is of version %" JSON_INTEGER_FORMAT
			  ", this povbench knows versions 1 to %d%s",
			  path, version, RESULT_VERSION, hint);
		return -EINVAL;
	}
	if (!json_is_array(json_object_get(root, list))) {
		log_error("%s: has no \"%s\"; it is no result of povbench%s", path, list, hint);
		return -EINVAL;
	}
	return 0;
}

static void keep_objects(json_t *list)
{
	for (size_t i = json_array_size(list); i-- > 0;) {
		if (!json_is_object(json_array_get(list, i)))
			json_array_remove(list, i);
	}
}

static json_t *launch_of_first_version(const json_t *root)
{
	json_t *factors = json_object_get(root, "factors");
	json_t *launch = json_object();

	if (factors)
		json_object_set(launch, "factors", factors);
	json_object_set(launch, "results", json_object_get(root, "results"));
	return launch;
}

static void bring_up_to_date(json_t *root)
{
	json_t *launches;

	if (json_integer_value(json_object_get(root, "version")) != 1)
		return;
	launches = json_array();
	json_array_append_new(launches, launch_of_first_version(root));
	json_object_set_new(root, "launches", launches);
	json_object_set_new(root, "version", json_integer(RESULT_VERSION));
	json_object_del(root, "factors");
	json_object_del(root, "results");
}

static void clean(json_t *root)
{
	json_t *launches = json_object_get(root, "launches"), *launch;
	size_t i;

	keep_objects(launches);
	json_array_foreach(launches, i, launch)
	{
		if (!json_is_array(json_object_get(launch, "results")))
			json_object_set_new(launch, "results", json_array());
		keep_objects(json_object_get(launch, "results"));
	}
}

int result_read(const char *path, const char *hint, json_t **out)
{
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error);
	int err;

	if (!root && error.line > 0) {
		log_error("%s: %s (line %d)%s", path, error.text, error.line, hint);
		return -EINVAL;
	}
	if (!root) {
		log_error("%s%s", error.text, hint);
		return -EINVAL;
	}
	err = check_format(path, hint, root);
	if (err) {
		json_decref(root);
		return err;
	}
	bring_up_to_date(root);
	clean(root);
	*out = root;
	return 0;
}

bool result_is_of(const json_t *r, const char *benchmark, json_int_t ranks)
{
	const char *name = json_string_value(json_object_get(r, "benchmark"));

	return name && benchmark && !strcmp(name, benchmark) &&
	       json_integer_value(json_object_get(r, "ranks")) == ranks;
}

bool result_is_part(const json_t *r)
{
	return json_is_true(json_object_get(r, "partial"));
}
