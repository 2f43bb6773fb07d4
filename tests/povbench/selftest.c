/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povbench_selftest: runs benchmarks on models of communication (model/model.h), as the script
 * selftest asks for. Each line of stdin is "BENCHMARK SETTING=VALUE…", with settings of the model
 * and options of the benchmark. The answer is a line of JSON: error, result, sentence, settings.
 * The sweeps are small, since on the model all samples are alike. Data are validated on the way.
 *
 *   povbench_selftest list               all benchmarks, as NAME:SECOND-NAME
 *   povbench_selftest disturbed SEEDS    machines with disturbed computations (below)
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "core/bench.h"
#include "core/classify.h"
#include "core/overlap_map.h"
#include "core/result_file.h"
#include "model/model.h"

#define FOR_EVER_NS 1000000000000000ull

struct selftest {
	const struct bench *bench;
	struct model_settings model;
	struct bench_options opt;
	struct result *result;
	double truth; /* the ratio of a disturbed machine */
};

static const struct setting {
	const char *name;
	enum { DOUBLE, INT, U64, BOOL, TEXT } type;
	size_t offset; /* in struct selftest */
} settings[] = {
#define SETTING(type, member, name)                            \
	{                                                      \
#name, type, offsetof(struct selftest, member) \
	}
#define MODEL(type, name) SETTING(type, model.name, name)
#define OPTION(type, name) SETTING(type, opt.name, name)
	MODEL(INT, ranks),
	MODEL(DOUBLE, latency_ns),
	MODEL(DOUBLE, far_ns),
	MODEL(DOUBLE, byte_ns),
	MODEL(DOUBLE, send_ns),
	MODEL(DOUBLE, recv_ns),
	MODEL(DOUBLE, isend_ns),
	MODEL(U64, eager_bytes),
	MODEL(DOUBLE, overlap_send),
	MODEL(DOUBLE, overlap_recv),
	MODEL(DOUBLE, overlap_strided),
	MODEL(DOUBLE, pack_byte_ns),
	MODEL(DOUBLE, slow),
	MODEL(BOOL, handshake),
	MODEL(BOOL, shared_link),
	MODEL(INT, bcast),
	MODEL(BOOL, coll_in_wait),
	MODEL(INT, cores),
	MODEL(DOUBLE, load_delay_ns),
	MODEL(DOUBLE, steal),
	MODEL(DOUBLE, slice_ns),
	MODEL(DOUBLE, clock_ns),
	MODEL(DOUBLE, test_ns),
	MODEL(INT, nodes),
	MODEL(DOUBLE, clock_skew_ns),
	MODEL(DOUBLE, clock_drift),
	MODEL(DOUBLE, wtime_pace),
	OPTION(U64, bytes_min),
	OPTION(U64, bytes_max),
	OPTION(U64, compute_min_ns),
	OPTION(U64, compute_max_ns),
	SETTING(INT, opt.compute.kind, compute_kind),
	OPTION(DOUBLE, step),
	OPTION(U64, samples),
	OPTION(U64, samples_max),
	OPTION(U64, warmup),
	OPTION(U64, window),
	OPTION(U64, pairs),
	OPTION(U64, repeat),
	OPTION(TEXT, tasks),
};
#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

static json_t *settings_json(const struct selftest *t)
{
	json_t *all = json_object();

	for (const struct setting *s = settings; s < settings + SETTINGS; s++) {
		const void *at = (const char *)t + s->offset;

		if (s->type != TEXT)
			json_object_set_new(
				all, s->name,
				s->type == DOUBLE ? json_real(*(const double *)at) :
				s->type == U64	  ? json_real((double)*(const uint64_t *)at) :
				s->type == INT	  ? json_integer(*(const int *)at) :
						    json_integer(*(const bool *)at));
	}
	return all;
}

static void setting_set(struct selftest *t, const char *name, const char *value)
{
	for (const struct setting *s = settings; s < settings + SETTINGS; s++) {
		void *at = (char *)t + s->offset;

		if (strcmp(s->name, name))
			continue;
		if (s->type == DOUBLE)
			*(double *)at = strtod(value, NULL);
		else if (s->type == U64)
			*(uint64_t *)at = (uint64_t)strtod(value, NULL);
		else if (s->type == INT)
			*(int *)at = atoi(value);
		else if (s->type == BOOL)
			*(bool *)at = atoi(value) != 0;
		else
			*(const char **)at = value;
		return;
	}
	die("no setting is called %s", name);
}

/*
 * Latencies are short compared with messages and computations, because benchmarks neglect them as
 * well.
 */
static void selftest_init(struct selftest *t)
{
	model_settings_init(&t->model);
	t->model.ranks = t->bench->ranks_max ? t->bench->ranks_max : 4;
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

/* The caller frees the result. */
static int selftest_run(struct selftest *t, const char *name)
{
	const struct result_about about = {.benchmark = name,
					   .group = t->bench->group,
					   .kind = t->bench->kind,
					   .ranks = t->model.ranks};

	t->result = result_new(&about);
	return model_run(&t->model, selftest_rank, t);
}

static void line_run(char *line)
{
	char *name = strsep(&line, " "), *setting, *value, *sentence;
	struct selftest t = {.bench = bench_find(name)};
	json_t *answer;
	int err;

	if (!t.bench)
		die("no benchmark is called %s", name);
	selftest_init(&t);
	while ((value = strsep(&line, " "))) {
		setting = strsep(&value, "=");
		setting_set(&t, setting, value);
	}
	err = selftest_run(&t, name);
	sentence = classify_sentence(t.result);
	answer = json_pack("{s:i, s:O, s:s?, s:o}", "error", err, "result", result_json(t.result),
			   "sentence", sentence, "settings", settings_json(&t));
	json_dumpf(answer, stdout, JSON_COMPACT);
	puts("");
	fflush(stdout);
	json_decref(answer);
	free(sentence);
	result_free(t.result);
}

/* Prints the sentence of a map; line: its points, as in a result file. */
static void line_classify(const char *line)
{
	struct result_about about = {
		.benchmark = "x", .group = "x", .kind = RESULT_MAP, .ranks = 2};
	struct result *r = result_new(&about);
	json_t *points = json_loads(line, 0, NULL), *point;
	char *sentence;
	size_t i;

	json_array_foreach(points, i, point) result_point_read(r, json_incref(point));
	sentence = classify_sentence(r);
	puts(sentence);
	free(sentence);
	json_decref(points);
	result_free(r);
}

/* ---- disturbed machines ---- */

/*
 * Overlap benchmarks on machines with disturbed computations (model.h), where either everything
 * overlaps or nothing does. Seeds choose the machines, benchmarks and amounts: a drift of 0.05 to
 * 0.5 %, a tick of 4 us every 4 ms, 1 % from another rank's polling, and up to 3.5 us for the first
 * call after a computation. A map must show the truth or nothing. A ratio is wrong if it is known
 * and its interval lies entirely more than 0.25 from the truth; a sentence would then claim the
 * opposite.
 */
#define FAR 0.25
/* least share of known points; otherwise a benchmark could pass with none */
#define KNOWN_LEAST 0.25

static const char *const disturbed_names[] = {"sender",	     "receiver",      "both_sides",
					      "noncontig",   "window_same",   "persistent",
					      "ring",	     "multithreaded", "ialltoall",
					      "cpu_overhead"};
#define DISTURBED (sizeof(disturbed_names) / sizeof(disturbed_names[0]))

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

static void machine_draw(struct selftest *d, uint64_t seed)
{
	uint64_t random = seed * 0x9e3779b97f4a7c15u;

	draw(&random);
	d->bench = bench_find(disturbed_names[seed % DISTURBED]);
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

static bool is_wrong(const struct selftest *d, const struct result_point *p, enum map_judged judged)
{
	if (judged == MAP_WRONG)
		return true;
	return judged == MAP_KNOWN && (result_number(p, "ratio_low") > d->truth + FAR ||
				       result_number(p, "ratio_high") < d->truth - FAR);
}

/* Whether the sentence claims anything but the truth. */
static bool sentence_is_wrong(const struct selftest *d, const char *sentence)
{
	const char *other = d->truth > 0 ? ": overlap" : "no overlap";

	return strstr(sentence, "partial") || strstr(sentence, "worse") ||
	       strstr(sentence, "wrong") || strstr(sentence, other) ||
	       (d->truth > 0 && strstr(sentence, ", overlap"));
}

static size_t points_check(const struct selftest *d, uint64_t seed, struct sum *sum)
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
	struct selftest d;
	char *sentence;
	bool wrong;

	machine_draw(&d, seed);
	if (selftest_run(&d, d.bench->name))
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

static bool disturbed_run(unsigned int seeds)
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

int main(int argc, char **argv)
{
	bool classify = argc == 2 && !strcmp(argv[1], "sentences");
	char *line = NULL;
	size_t room = 0;

	if (argc == 3 && !strcmp(argv[1], "disturbed"))
		return disturbed_run((unsigned int)strtoul(argv[2], NULL, 10));
	for (size_t i = 0; argc == 2 && !classify && benches[i]; i++)
		printf("%s:%s\n", benches[i]->name, benches[i]->alias ?: "");
	while ((argc == 1 || classify) && getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		classify ? line_classify(line) : line_run(line);
	}
	free(line);
	return 0;
}
