/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The file is written as a whole after each benchmark, to a name beside it, and then renamed: an interruption
 * leaves either the file before or the file after.
 */
#include "core/result_file.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORMAT "povbench"
#define FORMAT_VERSION 1

struct result_file {
	char *path;
	json_t *json, *results; /* results is borrowed */
};

/* What must not change between the results of one file; of the factors' other members, each run has its own. */
static const char *const same_factors[] = {"host", "cpu", "mpi", "transport", NULL};

static int factors_differ(const char *path, const json_t *old, const json_t *new)
{
	int i;

	for (i = 0; same_factors[i]; i++) {
		const json_t *a = json_object_get(old, same_factors[i]);
		const json_t *b = json_object_get(new, same_factors[i]);

		if (!a && !b)
			continue;
		if (!a || !b || !json_equal(a, b)) {
			log_error(
				"%s: holds results measured with another \"%s\"; name another file",
				path, same_factors[i]);
			return -EEXIST;
		}
	}
	return 0;
}

static int file_check(const char *path, const json_t *json, const json_t *factors)
{
	const char *format = json_string_value(json_object_get(json, "format"));
	json_int_t version = json_integer_value(json_object_get(json, "version"));

	if (!format || strcmp(format, FORMAT) || !json_is_array(json_object_get(json, "results"))) {
		log_error("%s: is no result of povbench; name another file", path);
		return -EINVAL;
	}
	if (version != FORMAT_VERSION) {
		log_error("%s: is of version %d, this povbench writes version %d", path,
			  (int)version, FORMAT_VERSION);
		return -EINVAL;
	}
	return factors_differ(path, json_object_get(json, "factors"), factors);
}

static json_t *file_new(json_t *factors)
{
	return json_pack("{s:s, s:i, s:O, s:[]}", "format", FORMAT, "version", FORMAT_VERSION,
			 "factors", factors, "results");
}

static int file_load(const char *path, json_t *factors, json_t **out)
{
	json_error_t error;
	json_t *json;
	int err;

	if (access(path, F_OK)) {
		*out = file_new(factors);
		return 0;
	}
	json = json_load_file(path, 0, &error);
	if (!json) {
		log_error("%s: %s (line %d); name another file", path, error.text, error.line);
		return -EINVAL;
	}
	err = file_check(path, json, factors);
	if (err)
		json_decref(json);
	else
		*out = json;
	return err;
}

int result_file_open(const char *path, json_t *factors, struct result_file **out)
{
	struct result_file *f;
	json_t *json;
	int err;

	err = file_load(path, factors, &json);
	json_decref(factors);
	if (err)
		return err;
	f = xcalloc(1, sizeof(*f));
	f->path = xstrdup(path);
	f->json = json;
	f->results = json_object_get(json, "results");
	*out = f;
	return 0;
}

void result_file_free(struct result_file *f)
{
	if (!f)
		return;
	json_decref(f->json);
	free(f->path);
	free(f);
}

bool result_file_has(const struct result_file *f, const struct result_about *about)
{
	json_t *r;
	size_t i;

	json_array_foreach(f->results, i, r)
	{
		const char *name = json_string_value(json_object_get(r, "benchmark"));

		if (name && !strcmp(name, about->benchmark) &&
		    json_integer_value(json_object_get(r, "ranks")) == about->ranks &&
		    json_equal(json_object_get(r, "options"), about->options))
			return true;
	}
	return false;
}

static int file_write(const struct result_file *f, const char *path)
{
	/* Nine digits: a nanosecond in a second; more would be noise. */
	size_t flags = JSON_INDENT(1) | JSON_REAL_PRECISION(9);
	FILE *out = fopen(path, "w");
	int err = 0;

	if (!out)
		return -errno;
	if (json_dumpf(f->json, out, flags) || fputc('\n', out) == EOF || fflush(out) ||
	    fsync(fileno(out)))
		err = -(errno ? errno : EIO);
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

int result_file_add(struct result_file *f, const struct result *r)
{
	char *fresh = xasprintf("%s.%d.tmp", f->path, (int)getpid());
	int err;

	if (json_array_append_new(f->results, json_deep_copy(result_json(r))))
		die("out of memory (a result)");
	err = file_write(f, fresh);
	if (!err && rename(fresh, f->path))
		err = -errno;
	if (err) {
		log_error("%s: %s; its results are lost", f->path, strerror(-err));
		unlink(fresh);
	}
	free(fresh);
	return err;
}
