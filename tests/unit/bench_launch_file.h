/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Files with factors, and what is in a file. Included by the tests of the file of results behind cmocka. */
#ifndef BENCH_LAUNCH_FILE_H
#define BENCH_LAUNCH_FILE_H

#include "bench_result.h"

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

static inline struct result_file *open_file(struct fixture *f, const char *host)
{
	struct result_file *file;

	assert_int_equal(result_file_open(f->path, factors(host), false, &file), 0);
	return file;
}

/* The idx-th launch's results; borrowed. */
static inline json_t *results_of(const json_t *root, size_t idx)
{
	return json_object_get(json_array_get(json_object_get(root, "launches"), idx), "results");
}

static inline size_t launches_in(const char *path)
{
	json_t *read = json_load_file(path, 0, NULL);
	size_t cnt = json_array_size(json_object_get(read, "launches"));

	json_decref(read);
	return cnt;
}

/* In all launches together. */
static inline size_t results_in(const char *path)
{
	json_t *read = json_load_file(path, 0, NULL);
	size_t cnt = 0, i;

	for (i = 0; i < json_array_size(json_object_get(read, "launches")); i++)
		cnt += json_array_size(results_of(read, i));
	json_decref(read);
	return cnt;
}

#endif
