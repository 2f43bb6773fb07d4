/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A directory, a result and the factors of its file, for tests of results. Include unit/test.h
 * first.
 */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/log.h"
#include "core/result_file.h"

struct fixture {
	char dir[64], *path;
	json_t *options;
	struct result_about about;
	struct result *r, *other; /* other is of another benchmark; both are without points */
};

static inline int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct result_about other;

	snprintf(f->dir, sizeof(f->dir), "/tmp/povbench.XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->path = xasprintf("%s/run.json", f->dir);
	f->options = json_pack("{s:i, s:s}", "samples", 50, "step", "1.41421");
	f->about = (struct result_about){.benchmark = "sender",
					 .group = "overlap",
					 .brief = "sender's side",
					 .kind = RESULT_MAP,
					 .ranks = 2,
					 .options = f->options};
	f->r = result_new(&f->about);
	other = f->about;
	other.benchmark = "receiver";
	f->other = result_new(&other);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	/* Fails the test if the directory is not empty. */
	if (rmdir(f->dir))
		return -1;
	result_free(f->r);
	result_free(f->other);
	json_decref(f->options);
	free(f->path);
	free(f);
	return 0;
}

static inline void add_point(struct result *r, uint64_t bytes)
{
	struct result_point *p = result_point_add(r);
	struct samples s = {0};
	int i;

	for (i = 1; i <= 9; i++)
		samples_add(&s, i * 1000.5);
	result_param(p, "bytes", bytes);
	result_param_text(p, "algorithm", "binomial");
	result_time(p, "measured", &s);
	result_value(p, "ratio", 0.5);
	result_value(p, "nothing", NAN);
	result_value(p, "too_much", INFINITY);
	samples_release(&s);
}

static inline json_t *factors(const char *host)
{
	return json_pack("{s:s, s:s, s:{s:s}, s:s, s:{s:s, s:f}, s:f, s:s, s:{s:s}, s:{s:i}, s:[s],"
			 " s:[{s:s, s:s}, {s:s, s:s}]}",
			 "host", host, "kernel", "Linux 6.1", "mpi", "library", "An MPI 1.0",
			 "date", "2020-02-02T02:02:02Z", "clock", "source", "tsc", "read_ns", 25.0,
			 "ops_per_ns", 1.0, "thread_level", "funneled", "environment", "UCX_TLS",
			 "sm", "transport", "eager", 4096, "components", "mca_pml_x", "ranks",
			 "host", "here", "cpus", "0", "host", "here", "cpus", "1");
}

static inline struct result_file *open_file(struct fixture *f, const char *host, bool resume)
{
	struct result_file *file;

	assert_int_equal(result_file_open(f->path, factors(host), resume, &file), 0);
	return file;
}

/* Writes a file with one launch, which has the result. */
static inline void write_result(struct fixture *f)
{
	struct result_file *file = open_file(f, "here", false);

	assert_int_equal(result_file_add(file, f->r), 0);
	result_file_free(file);
}

/* Returns the idx-th launch's results; borrowed. */
static inline json_t *results_of(const json_t *root, size_t idx)
{
	return json_object_get(json_array_get(json_object_get(root, "launches"), idx), "results");
}

/* Asserts the file's number of launches, and of results in all of them together. */
static inline void assert_holds(const char *path, size_t launches, size_t results)
{
	json_t *read = json_load_file(path, 0, NULL);
	size_t cnt = 0, i;

	for (i = 0; i < launches; i++)
		cnt += json_array_size(results_of(read, i));
	assert_int_equal(json_array_size(json_object_get(read, "launches")), launches);
	assert_int_equal(cnt, results);
	json_decref(read);
}

#endif
