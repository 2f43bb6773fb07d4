/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * povbench_selftest [BENCHMARK | disturbed SEEDS]: runs every benchmark of the registry on models
 * of communication (model/model.h) with known overlap, delays and steals. The benchmark must find
 * what cases.txt computes from the settings, as one would on paper. The sweeps are small, since on
 * the model all samples are alike. Data are validated on the way. No real clock is involved, so the
 * result is the same everywhere. Run it in the root of the source tree. `disturbed` is described in
 * disturbed.h.
 *
 *   machine NAME [MACHINE…] SETTING=FORMULA…   settings of the model and options of the benchmark;
 *                                              those of other machines come first
 *   let NAME = FORMULA                         formula.h
 *   check NAME                                 what must hold at each point of a result:
 *     FORMULA                                  is not 0
 *     FORMULA = FORMULA [± FORMULA]
 *     use NAME                                 the lines of another check
 *   case BENCHMARK[,BENCHMARK…]
 *     MACHINE[,MACHINE…] | CHECK [FORMULA] | [SENTENCE]
 *                                              `want` is the FORMULA; the classification must give
 *                                              the SENTENCE; for a map, parts about computation
 *                                              times are ignored unless it has them
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "core/classify.h"
#include "core/result_file.h"
#include "selftest/disturbed.h"
#include "selftest/formula.h"

#define FILE_NAME "tests/povbench/cases.txt"
#define FOR_EVER_NS 1000000000000000ull

/* ---- cases.txt ---- */

/* A definition's line: "KIND NAME REST". */
static struct definition *definition_new(char *line)
{
	struct definition *d = xcalloc(1, sizeof(*d));

	d->kind = xstrdup(strsep(&line, " "));
	d->name = xstrdup(line ? strsep(&line, " ") : "");
	line = line ? line : "";
	line += strspn(line, " =");
	d->text = xstrdup(line);
	return d;
}

static void text_append(struct definition *d, const char *line)
{
	char *longer = xasprintf("%s%s\n", d->text, line);

	free(d->text);
	d->text = longer;
}

static struct definition *definitions_read(void)
{
	struct definition *first = NULL, **last = &first, *d = NULL;
	FILE *in = fopen(FILE_NAME, "r");
	char *line = NULL;
	size_t room = 0;

	if (!in)
		die("cannot open %s: %s", FILE_NAME, strerror(errno));
	while (getline(&line, &room, in) > 0) {
		line[strcspn(line, "#\n")] = '\0';
		if (*line == '\t' && d) {
			text_append(d, line + 1);
		} else if (*line) {
			d = *last = definition_new(line);
			last = &d->next;
		}
	}
	free(line);
	fclose(in);
	return first;
}

static void definitions_free(struct definition *d)
{
	struct definition *next;

	for (; d; d = next) {
		next = d->next;
		free(d->kind);
		free(d->name);
		free(d->text);
		free(d);
	}
}

/* Whether a comma-separated list contains the name. */
static bool list_has(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (!strncmp(list, name, len) && (!list[len] || list[len] == ','))
			return true;
	}
	return false;
}

/* ---- one case ---- */

/* Returns what fails at the current point, or NULL. A NaN always fails. */
static char *line_check(const struct selftest *t, char *line)
{
	char *tolerance = strstr(line, " ± "), *right = strstr(line, " = ");
	char *text = xstrdup(line), *failure = NULL;
	double is, should = 1, by = 0;

	if (tolerance) {
		*tolerance = '\0';
		by = formula_value(t, tolerance + strlen(" ± "));
	}
	if (right) {
		*right = '\0';
		should = formula_value(t, right + 3);
	}
	is = formula_value(t, line);
	if (right ? !(fabs(is - should) <= by) : !(is != 0))
		failure = xasprintf("%s: %.6g, not %.6g ± %.2g", text, is, should, by);
	free(text);
	return failure;
}

/* Returns the first failure, or NULL. */
static char *check_run(struct selftest *t, const char *name)
{
	const struct definition *check = definition_find(t, "check", name);
	char *lines, *rest, *line, *failure = NULL;

	if (!check)
		die("%s: no check is called %s", FILE_NAME, name);
	rest = lines = xstrdup(check->text);
	while (!failure && (line = strsep(&rest, "\n"))) {
		if (!strncmp(line, "use ", 4))
			failure = check_run(t, line + 4);
		else if (*line)
			failure = line_check(t, line);
	}
	free(lines);
	return failure;
}

static char *points_check(struct selftest *t, const char *check)
{
	static const char *const params[] = {"bytes", "compute_ns",	"threads", "tasks",
					     "task",  "ranks_per_core", "rank"};
	char *failure = NULL, *longer;
	double value;

	if (!result_point_cnt(t->result))
		return xstrdup("it has no point");
	for (t->point = 0; !failure && t->point < result_point_cnt(t->result); t->point++)
		failure = check_run(t, check);
	for (size_t i = 0; failure && i < sizeof(params) / sizeof(params[0]); i++) {
		value = result_number(result_point_at(t->result, t->point - 1), params[i]);
		if (isnan(value))
			continue;
		longer = xasprintf("%s, %s %.0f", failure, params[i], value);
		free(failure);
		failure = longer;
	}
	return failure;
}

/*
 * Removes the parts that all maps of a sweep share: " for computations of …" and the number of
 * unknown points.
 */
static void sentence_shorten(char *sentence)
{
	char *from, *to;

	while ((from = strstr(sentence, " for "))) {
		to = from + 1 + strcspn(from + 1, ",;");
		from -= from > sentence && from[-1] == ',';
		memmove(from, to, strlen(to) + 1);
	}
	from = strstr(sentence, "; ");
	if (from && strstr(from, " points are unknown"))
		*from = '\0';
}

static char *sentence_check(const struct selftest *t, const char *wanted)
{
	char *sentence = classify_sentence(t->result), *failure = NULL;
	size_t len = strlen(t->bench->name);

	if (sentence && t->bench->kind == RESULT_MAP && !strstr(wanted, " for "))
		sentence_shorten(sentence);

	if (!sentence || strncmp(sentence, t->bench->name, len) != 0 ||
	    strncmp(sentence + len, ": ", 2) != 0 || strcmp(sentence + len + 2, wanted) != 0)
		failure = xasprintf("the sentence is \"%s\", not \"%s\"", sentence ? sentence : "",
				    wanted);
	free(sentence);
	return failure;
}

static void machine_set(struct selftest *t, const char *name)
{
	const struct definition *machine = definition_find(t, "machine", name);
	char *words, *rest, *word, *value;

	if (!machine)
		die("%s: no machine is called %s", FILE_NAME, name);
	rest = words = xstrdup(machine->text);
	while ((word = strsep(&rest, " "))) {
		value = strchr(word, '=');
		if (value) {
			*value = '\0';
			setting_set(t, word, value + 1);
		} else if (*word) {
			machine_set(t, word);
		}
	}
	free(words);
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

/* `check` may be followed by the case's formula. Returns the condition that fails, or NULL. */
static char *case_run(struct selftest *t, const char *machine, const char *check,
		      const char *sentence)
{
	const struct bench *b = t->bench;
	struct result_about about = {.benchmark = b->name,
				     .group = b->group,
				     .brief = b->brief,
				     .source = b->source,
				     .kind = b->kind};
	size_t len = strcspn(check, " ");
	char *name = xasprintf("%.*s", (int)len, check), *failure = NULL;
	int err;

	t->want = check[len] ? check + len + 1 : "";
	selftest_init(t);
	machine_set(t, machine);
	about.ranks = t->model.ranks;
	t->result = result_new(&about);
	err = model_run(&t->model, selftest_rank, t);
	failure = err ? xasprintf("the benchmark ended with error %d", err) : points_check(t, name);
	if (!failure && *sentence)
		failure = sentence_check(t, sentence);
	result_free(t->result);
	t->result = NULL;
	free(t->tasks);
	t->tasks = NULL;
	free(name);
	return failure;
}

/* ---- all cases ---- */

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

static void row_run(struct selftest *t, const char *row, struct tally *y)
{
	char *copy = xstrdup(row), *machines = copy, *check, *sentence, *machine, *failure;

	check = strstr(copy, " | ");
	sentence = check ? strstr(check + 3, " |") : NULL;
	if (!sentence)
		die("%s: not MACHINE | CHECK | SENTENCE: %s", FILE_NAME, row);
	*check = *sentence = '\0';
	sentence += 2;
	sentence += *sentence == ' ';
	while ((machine = strsep(&machines, ","))) {
		failure = case_run(t, machine, check + 3, sentence);
		tally_add(y, t->bench->name, machine, failure);
		free(failure);
	}
	free(copy);
}

/* Returns the number of the benchmark's rows. */
static int bench_test(struct selftest *t, struct tally *y)
{
	const struct definition *d;
	char *rows, *rest, *row;
	int cnt = 0;

	for (d = t->definitions; d; d = d->next) {
		if (strcmp(d->kind, "case") || !list_has(d->name, t->bench->name))
			continue;
		rest = rows = xstrdup(d->text);
		while ((row = strsep(&rest, "\n"))) {
			if (!*row)
				continue;
			row_run(t, row, y);
			cnt++;
		}
		free(rows);
	}
	return cnt;
}

/* Reports cases whose benchmark does not exist, for example after a rename. */
static void check_cases(const struct selftest *t, struct tally *y)
{
	const struct definition *d;
	char *names, *rest, *name;

	for (d = t->definitions; d; d = d->next) {
		rest = names = xstrdup(strcmp(d->kind, "case") ? "" : d->name);
		while ((name = strsep(&rest, ",")))
			if (*name && !bench_find(name))
				tally_add(y, name, "any machine", "no such benchmark");
		free(names);
	}
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : NULL;
	struct definition *definitions = definitions_read();
	struct selftest t = {.definitions = definitions};
	struct tally y = {0};
	size_t i;

	if (argc == 3 && !strcmp(only, "disturbed"))
		return disturbed_run((unsigned int)strtoul(argv[2], NULL, 10)) != 0;
	for (i = 0; benches[i]; i++) {
		if (only && !bench_is(benches[i], only))
			continue;
		t.bench = benches[i];
		if (!bench_test(&t, &y))
			tally_add(&y, benches[i]->name, "any machine", "it has no case");
	}
	if (!only)
		check_cases(&t, &y);
	definitions_free(definitions);
	printf("1..%d\n", y.passed + y.failed);
	return y.failed || !y.passed;
}
