/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povbench_selftest: runs benchmarks on models of communication (model/model.h), as the script
 * selftest asks for. Each line of stdin is "BENCHMARK SETTING=VALUE…", with settings of the model
 * and options of the benchmark. The answer is a line of JSON: error, result, sentence, settings.
 * The sweeps are small, since on the model all samples are alike. Data are validated on the way.
 *
 *   povbench_selftest list               all benchmarks, as NAME:SECOND-NAME
 *   povbench_selftest disturbed SEEDS    see model/disturbed.h
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "core/bench.h"
#include "core/classify.h"
#include "core/result_file.h"
#include "model/disturbed.h"
#include "model/model.h"

#define FOR_EVER_NS 1000000000000000ull

struct selftest {
	const struct bench *bench;
	struct model_settings model;
	struct bench_options opt;
	struct result *result;
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

static void line_run(char *line)
{
	char *name = strsep(&line, " "), *setting, *value, *sentence;
	struct selftest t = {.bench = bench_find(name)};
	struct result_about about = {.benchmark = name};
	json_t *answer;
	int err;

	if (!t.bench)
		die("no benchmark is called %s", name);
	selftest_init(&t);
	while ((value = strsep(&line, " "))) {
		setting = strsep(&value, "=");
		setting_set(&t, setting, value);
	}
	about.group = t.bench->group;
	about.kind = t.bench->kind;
	about.ranks = t.model.ranks;
	t.result = result_new(&about);
	err = model_run(&t.model, selftest_rank, &t);
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

int main(int argc, char **argv)
{
	bool classify = argc == 2 && !strcmp(argv[1], "sentences");
	char *line = NULL;
	size_t room = 0;

	if (argc == 3 && !strcmp(argv[1], "disturbed"))
		return disturbed_run((unsigned int)strtoul(argv[2], NULL, 10)) != 0;
	for (size_t i = 0; argc == 2 && !classify && benches[i]; i++)
		printf("%s:%s\n", benches[i]->name, benches[i]->alias ?: "");
	while ((argc == 1 || classify) && getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		classify ? line_classify(line) : line_run(line);
	}
	free(line);
	return 0;
}
