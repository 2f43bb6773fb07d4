/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A ratio is wrong if it is known and its interval lies entirely more than 0.25 from the truth; a
 * sentence would then claim the opposite. Amounts: a drift of 0.05 to 0.5 %, a tick of 4 us every 4
 * ms, 1 % from another rank's polling, and up to 3.5 us for the first call after a computation.
 */
#include "model/disturbed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "core/bench.h"
#include "core/classify.h"
#include "core/overlap_map.h"
#include "core/result_file.h"
#include "model/model.h"

#define FAR 0.25
/* least share of known points; otherwise a benchmark could pass with none */
#define KNOWN_LEAST 0.25

static const char *const names[] = {"sender",	   "receiver",	  "both_sides", "noncontig",
				    "window_same", "persistent",  "ring",	"multithreaded",
				    "ialltoall",   "cpu_overhead"};

struct disturbed {
	const struct bench *bench;
	struct model_settings model;
	struct bench_options opt;
	struct result *result;
	double truth;
};

struct sum {
	size_t known, points;
};

static double draw(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return (double)(*random >> 40) * 0x1p-24;
}

/* Draws uniformly on a logarithmic scale. */
static double draw_between(uint64_t *random, double low, double high)
{
	return low * pow(high / low, draw(random));
}

static void machine_draw(struct disturbed *d, uint64_t seed)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15u;

	draw(&random);
	d->bench = bench_find(names[seed % (sizeof(names) / sizeof(names[0]))]);
	d->truth = draw(&random) < 0.5;
	model_settings_init(&d->model);
	d->model.ranks = d->bench->ranks_max ? d->bench->ranks_max : 3;
	d->model.latency_ns = 50;
	d->model.clock_ns = 1;
	d->model.overlap_send = d->model.overlap_recv = 1 - d->truth;
	d->model.compute_drift = draw_between(&random, 0.0005, 0.005);
	d->model.drift_period_ns = draw_between(&random, 1e7, 1e10);
	d->model.compute_noise = draw(&random) < 0.5 ? 0 : d->model.compute_drift;
	d->model.tick_ns = 4000;
	d->model.tick_period_ns = 4e6;
	d->model.poll_slow = 0.01;
	d->model.cold_ns = 3500 * draw(&random);
	d->model.seed = random;
	d->opt = (struct bench_options){
		.bytes_min = 4096,
		.bytes_max = 256 << 10,
		.compute_min_ns = 10000,
		.compute_max_ns = 10000000,
		.step = 8,
		.samples = 20,
		.samples_max = 20,
		.compute = {COMPUTE_WORK, COMPUTE_ONE},
		.window = 4,
		.validate = false,
	};
}

static int disturbed_rank(struct comm *c, void *ctx)
{
	struct disturbed *d = ctx;
	struct bench_run run = {
		.bench = d->bench, .comm = c, .opt = &d->opt, .result = c->rank ? NULL : d->result};

	return d->bench->run(&run);
}

static bool is_wrong(const struct disturbed *d, const struct result_point *p,
		     enum map_judged judged)
{
	if (judged == MAP_WRONG)
		return true;
	return judged == MAP_KNOWN && (result_number(p, "ratio_low") > d->truth + FAR ||
				       result_number(p, "ratio_high") < d->truth - FAR);
}

/* Whether the sentence claims anything but the truth. */
static bool sentence_is_wrong(const struct disturbed *d, const char *sentence)
{
	const char *other = d->truth > 0 ? ": overlap" : "no overlap";

	return strstr(sentence, "partial") || strstr(sentence, "worse") ||
	       strstr(sentence, "wrong") || strstr(sentence, other) ||
	       (d->truth > 0 && strstr(sentence, ", overlap"));
}

static size_t points_check(const struct disturbed *d, uint64_t seed, struct sum *sum)
{
	const json_t *points = json_object_get(result_json(d->result), "points");
	size_t i, cnt = result_point_cnt(d->result), wrong = 0;
	const struct result_point *p;
	enum map_judged judged;
	double line = map_line_of(points);

	for (i = 0; i < cnt; i++) {
		p = result_point_at(d->result, i);
		judged = map_judge(json_array_get(points, i), line);
		sum->points++;
		sum->known += judged == MAP_KNOWN;
		if (!is_wrong(d, p, judged))
			continue;
		wrong++;
		printf("# seed %llu: %s, drift %.3f %%: %.0f B, %.0f ns: %.2f [%.2f, %.2f], not %.0f\n",
		       (unsigned long long)seed, d->bench->name, 100 * d->model.compute_drift,
		       result_number(p, "bytes"), result_number(p, "compute_ns"),
		       result_number(p, "ratio"), result_number(p, "ratio_low"),
		       result_number(p, "ratio_high"), d->truth);
	}
	return wrong;
}

/* Returns whether anything is wrong. */
static bool seed_run(uint64_t seed, struct sum *sum)
{
	struct disturbed d;
	struct result_about about;
	char *sentence;
	bool wrong;

	machine_draw(&d, seed);
	about = (struct result_about){.benchmark = d.bench->name,
				      .group = d.bench->group,
				      .kind = d.bench->kind,
				      .ranks = d.model.ranks};
	d.result = result_new(&about);
	if (model_run(&d.model, disturbed_rank, &d))
		die("seed %llu: the benchmark failed", (unsigned long long)seed);
	wrong = points_check(&d, seed, sum) > 0;
	sentence = classify_sentence(d.result);
	if (sentence_is_wrong(&d, sentence)) {
		printf("# seed %llu, where the ratio is %.0f: %s\n", (unsigned long long)seed,
		       d.truth, sentence);
		wrong = true;
	}
	free(sentence);
	result_free(d.result);
	return wrong;
}

unsigned int disturbed_run(unsigned int seeds)
{
	struct sum sum = {0};
	unsigned int seed, wrong = 0;
	double known;

	for (seed = 1; seed <= seeds; seed++)
		wrong += seed_run(seed, &sum);
	known = (double)sum.known / (double)sum.points;
	printf("# %zu of %zu points are known\n", sum.known, sum.points);
	printf("%sok 1 - %u disturbed machines: nothing known is wrong\n", wrong ? "not " : "",
	       seeds);
	printf("%sok 2 - a quarter of all points and more are known\n",
	       known >= KNOWN_LEAST ? "" : "not ");
	printf("1..2\n");
	return wrong || known < KNOWN_LEAST;
}
