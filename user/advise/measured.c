/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See measured.h. */
#include "advise/measured.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"

#define FORMAT "povbench"
#define VERSION_MOST 2
#define FILE_BYTES_MAX (256 << 20)
#define POINTS_MOST 1000000
#define RANKS_MOST 100000000
#define NS_MOST 1e15 /* longer times are rejected as implausible */
#define SUFFIX "_latency"
#define WORD_MOST 64

static const char *text_or_null(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* True if a text can be typed without quotes. It becomes part of the advised setting. */
static bool is_word(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-";
	size_t n = strspn(text, letters);

	return n && n <= WORD_MOST && !text[n];
}

/*
 * Extracts "allreduce" from "allreduce_latency" and "allreduce_latency:ring". Returns false for
 * other benchmarks.
 */
static bool collective_of(json_t *result, const char **out)
{
	const char *name = text_or_null(result, "benchmark"), *kind = text_or_null(result, "kind");
	const char *end = name ? strstr(name, SUFFIX) : NULL;
	json_t *own;

	if (!end || !kind || strcmp(kind, "curve") || end == name ||
	    (end[strlen(SUFFIX)] && end[strlen(SUFFIX)] != ':'))
		return false;
	own = json_stringn(name, (size_t)(end - name));
	if (!own)
		return false;
	/* The text lives as long as the file's JSON. */
	json_object_set_new(result, " collective", own);
	*out = json_string_value(own);
	return true;
}

static bool is_busy(const json_t *result, uint32_t ranks)
{
	double took = json_number_value(json_object_get(result, "took_ns"));
	double waited = json_number_value(json_object_get(result, "core_wait_ns"));

	return took > 0 && waited * MEASURED_BUSY_PART > took * ranks;
}

static void point_add(struct measured *m, const struct measured_point *of, const json_t *point)
{
	const json_t *times = json_object_get(point, "times");
	const json_t *bytes = json_object_get(point, "bytes");
	double ns = json_number_value(
		json_object_get(json_object_get(times, "measured"), "median"));
	struct measured_point *p;

	if (!json_is_integer(bytes) || json_integer_value(bytes) < 0 || !(ns > 0 && ns < NS_MOST) ||
	    m->npoint >= POINTS_MOST)
		return;
	p = table_append(m->point, m->npoint);
	*p = *of;
	p->bytes = (uint64_t)json_integer_value(bytes);
	p->median_ns = ns;
}

static void result_add(struct measured *m, const struct measured_launch *launch, json_t *result)
{
	const json_t *options = json_object_get(result, "options"), *point;
	json_int_t ranks = json_integer_value(json_object_get(result, "ranks"));
	struct measured_point p = {
		.launch = launch,
		.algorithm = text_or_null(options, "algorithm"),
		.name = text_or_null(options, "algorithm_name"),
	};
	size_t i;

	if (!collective_of(result, &p.collective) || !is_word(p.collective) || ranks < 2 ||
	    ranks > RANKS_MOST || (p.algorithm && !is_word(p.algorithm)) ||
	    (p.name && !is_word(p.name)))
		return;
	p.ranks = (uint32_t)ranks;
	p.busy = is_busy(result, p.ranks);
	json_array_foreach(json_object_get(result, "points"), i, point) point_add(m, &p, point);
}

static void launch_add(struct measured *m, const json_t *launch)
{
	const json_t *factors = json_object_get(launch, "factors");
	const json_t *ranks = json_object_get(factors, "ranks"), *rank;
	struct measured_launch *l = xcalloc(1, sizeof(*l));
	json_t *result;
	size_t i;

	l->library = json_get_text(json_object_get(factors, "mpi"), "library");
	l->host = json_get_text(factors, "host");
	l->environment = json_object_get(factors, "environment");
	json_array_foreach(ranks, i, rank)
		l->several_hosts |= strcmp(json_get_text(rank, "host"), l->host) != 0;
	*table_append(m->launch, m->nlaunch) = l;
	json_array_foreach(json_object_get(launch, "results"), i, result) result_add(m, l, result);
}

static int root_check(const char *path, const json_t *root)
{
	int64_t version = json_get_int(root, "version");

	if (!json_is_object(root) || strcmp(json_get_text(root, "format"), FORMAT)) {
		log_error("advise: --measured %s: is not a result of povbench; "
			  "`povbench-algorithms -- mpirun … povbench … -o FILE` writes one",
			  path);
		return -EINVAL;
	}
	if (version < 1 || version > VERSION_MOST) {
		log_error("advise: --measured %s: has version %lld; this povtrace reads 1 to %d",
			  path, (long long)version, VERSION_MOST);
		return -EINVAL;
	}
	return 0;
}

static int root_load(const char *path, json_t **out)
{
	struct stat st;
	json_error_t why;
	int err;

	if (stat(path, &st)) {
		err = -errno;
		log_error("advise: --measured %s: %s", path, strerror(-err));
		return err;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_BYTES_MAX) {
		log_error("advise: --measured %s: is not a regular file of at most %d MiB", path,
			  FILE_BYTES_MAX >> 20);
		return -EINVAL;
	}
	*out = json_load_file(path, 0, &why);
	if (*out)
		return 0;
	log_error("advise: --measured %s: %s (line %d)", path, why.text, why.line);
	return -EINVAL;
}

static int file_read(struct measured *m, const char *path)
{
	const json_t *launch;
	size_t before = m->npoint, i;
	json_t *root = NULL;
	int err = root_load(path, &root);

	if (err)
		return err;
	*table_append(m->root, m->nroot) = root;
	err = root_check(path, root);
	if (err)
		return err;
	/* A version 1 file is a single launch. */
	if (json_get_int(root, "version") == 1)
		launch_add(m, root);
	json_array_foreach(json_object_get(root, "launches"), i, launch) launch_add(m, launch);
	if (m->npoint > before)
		return 0;
	log_error("advise: --measured %s: has no blocking collective by size, such as "
		  "allreduce_latency; see `povbench-algorithms --help`",
		  path);
	return -EINVAL;
}

int measured_read(const char *const *path, size_t npath, struct measured *out)
{
	struct measured m = {0};
	int err = 0;

	for (size_t i = 0; i < npath && !err; i++)
		err = file_read(&m, path[i]);
	if (err)
		measured_release(&m);
	else
		*out = m;
	return err;
}

void measured_release(struct measured *m)
{
	for (size_t i = 0; i < m->nlaunch; i++)
		free(m->launch[i]);
	for (size_t i = 0; i < m->nroot; i++)
		json_decref(m->root[i]);
	free(m->launch);
	free(m->root);
	free(m->point);
	*m = (struct measured){0};
}
