/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a case of the self-test is: a benchmark, a machine, and what must come out. What must come out is computed from the
 * machine's settings, as one would on paper, not by running anything. Cases are in files by kind of benchmark.
 */
#ifndef POVBENCH_SELFTEST_CASE_H
#define POVBENCH_SELFTEST_CASE_H

#include "core/bench.h"
#include "model/model.h"

struct selftest {
	const struct selftest_case *c;
	struct model_settings model;
	struct bench_options opt;
	const struct bench *bench;
	struct result *result;
	size_t checks; /* a case that checks nothing fails */
	char *failure; /* the first one, owned; null: none yet */
};

struct selftest_case {
	const char *bench, *machine; /* null bench ends a list */
	/* Changes what the runner has set: a perfect machine, small sweeps. */
	void (*setup)(struct model_settings *m, struct bench_options *opt);
	void (*check)(struct selftest *t);
	/* Of a map's point: the ratio; what else the check needs. */
	double (*ratio)(const struct model_settings *m, double bytes, double comm, double comp);
	const char *sentence; /* that the classification must give, after the name; null: any */
};

extern const struct selftest_case selftest_maps[], selftest_references[], selftest_rates[],
	selftest_broadcasts[], selftest_stencils[], selftest_collectives[];

/* value must be expected ± tolerance; a NaN never is. what: printf-like. */
void selftest_expect(struct selftest *t, double value, double expected, double tolerance,
		     const char *what, ...) __attribute__((format(printf, 5, 6)));

/* Machines that several kinds of benchmarks run on. */
void machine_perfect(struct model_settings *m, struct bench_options *opt);
void machine_none(struct model_settings *m, struct bench_options *opt);

#endif
