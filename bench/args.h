/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* povbench's command line: parses it and translates it into options of benchmarks. */
#ifndef POVBENCH_ARGS_H
#define POVBENCH_ARGS_H

#include <jansson.h>

#include "lib/option.h"
#include "core/bench.h"

/* Options as typed; 0 and null: not given. */
struct args {
	const char *bytes, *compute, *step, *ci, *warmup, *load_cpus, *tasks, *algorithm;
	uint64_t samples, samples_max, point_ns, threads, window, pairs, repeat;
	int compute_kind, compute_cores; /* enum compute_kind, compute_cores */
	bool bind, validate, keep_samples, quick, full, thread_multiple, peers, resume;
	struct option_list only;
	const char *output;
};

extern const struct option_def args_options[];

/*
 * Fills out for the benchmark that runs alone, or for a suite (null). Returns 0, or -EINVAL after
 * printing the error.
 */
int args_read(const struct args *args, const struct bench *alone, struct bench_options *out);
/* The options of a result, for people and for resuming. The caller owns it. */
json_t *args_json(const struct bench_options *opt);

#endif
