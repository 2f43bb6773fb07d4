/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* povbench's command line: what is typed, and what it means to a benchmark. */
#ifndef POVBENCH_ARGS_H
#define POVBENCH_ARGS_H

#include <jansson.h>

#include "lib/option.h"
#include "core/bench.h"

/* As typed; 0 and null: not. */
struct args {
	const char *bytes, *compute, *step, *ci, *warmup, *load_cpus, *tasks, *algorithm;
	uint64_t samples, samples_max, point_ns, threads, window, pairs, repeat;
	int compute_kind, compute_cores; /* enum compute_kind, compute_cores */
	bool bind, validate, keep_samples, quick, full, thread_multiple, peers, resume;
	struct option_list only;
	const char *output;
};

extern const struct option_def args_options[];

/* Of the benchmark that is run alone, or of a suite (null). 0, or -EINVAL after printing what is wrong. */
int args_read(const struct args *args, const struct bench *alone, struct bench_options *out);
/* What a result is of, for people and for resuming. The caller owns it. */
json_t *args_json(const struct bench_options *opt);

#endif
