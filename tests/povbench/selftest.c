/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Every benchmark of the registry runs on models of communication (model/model.h) whose overlap, delays and steals are set, and must
 * find them. The sweeps are small, since on the model every sample is like the others; data are validated on the way. Nothing here
 * looks at a real clock, so that it passes or fails alike everywhere. An argument: only the benchmark of that name.
 */
#include "core/classify.h"
#include "core/result_file.h"
#include "selftest/case.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define FOR_EVER_NS 1000000000000000ull

static const struct selftest_case *const lists[] = {selftest_references, selftest_rates,
						    selftest_maps,	 selftest_broadcasts,
						    selftest_stencils,	 selftest_collectives};

void selftest_expect(struct selftest *t, double value, double expected, double tolerance,
		     const char *what, ...)
{
	char text[160];
	va_list args;

	t->checks++;
	if (t->failure || fabs(value - expected) <= tolerance)
		return;
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	t->failure = xasprintf("%s is %.6g, not %.6g ± %.2g", text, value, expected, tolerance);
}

void machine_perfect(struct model_settings *m, struct bench_options *opt)
{
	(void)m;
	(void)opt;
}

void machine_none(struct model_settings *m, struct bench_options *opt)
{
	(void)opt;
	m->overlap_send = 0;
	m->overlap_recv = 0;
}

/* ---- one case ---- */

/* Latencies are short beside all messages and computations: the benchmarks neglect them, too. */
static void selftest_init(struct selftest *t, const struct selftest_case *c,
			  const struct bench *bench)
{
	*t = (struct selftest){.c = c, .bench = bench};
	model_settings_init(&t->model);
	t->model.ranks = bench->ranks_max ? bench->ranks_max : 4;
	t->model.latency_ns = 50;
	t->model.clock_ns = 1;
	t->opt = (struct bench_options){
		.bytes_min = 16384,
		.bytes_max = 256 << 10,
		.compute_min_ns = 12500,
		.compute_max_ns = 800000,
		.step = 4,
		.samples = 2,
		.samples_max = 2,
		.point_ns = FOR_EVER_NS,
		.compute = {COMPUTE_WORK, COMPUTE_ONE},
		.threads_max = 4,
		.window = 4,
		.repeat = 20,
		.validate = true,
	};
	c->setup(&t->model, &t->opt);
}

static int selftest_rank(struct comm *c, void *ctx)
{
	struct selftest *t = ctx;
	struct bench_run run = {
		.bench = t->bench,
		.comm = c,
		.opt = &t->opt,
		.result = c->rank ? NULL : t->result,
	};

	return t->bench->run(&run);
}

static void check_sentence(struct selftest *t)
{
	char *sentence = classify_sentence(t->result), *expected;

	if (!t->c->sentence || t->failure) {
		free(sentence);
		return;
	}
	expected = xasprintf("%s: %s", t->bench->name, t->c->sentence);
	t->checks++;
	if (!sentence || strcmp(sentence, expected))
		t->failure = xasprintf("the sentence is \"%s\", not \"%s\"",
				       sentence ? sentence : "", expected);
	free(expected);
	free(sentence);
}

static void selftest_case_run(struct selftest *t)
{
	const struct bench *b = t->bench;
	struct result_about about = {.benchmark = b->name,
				     .group = b->group,
				     .brief = b->brief,
				     .source = b->source,
				     .kind = b->kind,
				     .ranks = t->model.ranks};
	int err;

	t->result = result_new(&about);
	err = model_run(&t->model, selftest_rank, t);
	if (err) {
		t->failure = xasprintf("the benchmark ended with error %d", err);
	} else {
		t->c->check(t);
		check_sentence(t);
		if (!t->checks)
			t->failure = xasprintf("nothing was checked");
	}
	result_free(t->result);
}

/* ---- all ---- */

struct tally {
	int passed, failed;
};

static void tally_add(struct tally *y, const char *bench, const char *machine, const char *failure)
{
	int number = y->passed + y->failed + 1;

	if (failure) {
		y->failed++;
		printf("not ok %d - %s on %s: %s\n", number, bench, machine, failure);
	} else {
		y->passed++;
		printf("ok %d - %s on %s\n", number, bench, machine);
	}
}

/* Returns the number of its cases. */
static int bench_test(const struct bench *bench, struct tally *y)
{
	const struct selftest_case *c;
	struct selftest t;
	int cases = 0;
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (c = lists[i]; c->bench; c++) {
			if (strcmp(c->bench, bench->name))
				continue;
			cases++;
			selftest_init(&t, c, bench);
			selftest_case_run(&t);
			tally_add(y, bench->name, c->machine, t.failure);
			free(t.failure);
		}
	}
	return cases;
}

/* A case whose benchmark was renamed would else be forgotten in silence. */
static void check_cases(struct tally *y)
{
	const struct selftest_case *c;
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (c = lists[i]; c->bench; c++) {
			if (!bench_find(c->bench))
				tally_add(y, c->bench, c->machine, "no such benchmark");
		}
	}
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	struct tally y = {0};
	size_t i;

	for (i = 0; benches[i]; i++) {
		if (only && !bench_is(benches[i], only))
			continue;
		if (!bench_test(benches[i], &y))
			tally_add(&y, benches[i]->name, "any machine", "it has no case");
	}
	if (!only)
		check_cases(&y);
	printf("1..%d\n", y.passed + y.failed);
	return y.failed || !y.passed;
}
