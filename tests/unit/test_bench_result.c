/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Results: what is put in is read back, in memory and from the file, which is whole at every moment. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "bench_near.h"
#include "core/nominal.h"
#include "core/result_file.h"

struct fixture {
	char dir[64], *path;
	json_t *options;
	struct result_about about;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

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
	log_set_level(LOG_QUIET);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	/* Fails, and so does the test, if anything else was left there. */
	if (rmdir(f->dir))
		return -1;
	json_decref(f->options);
	free(f->path);
	free(f);
	return 0;
}

static json_t *factors(const char *host)
{
	return json_pack("{s:s, s:{s:s}, s:s}", "host", host, "mpi", "library", "An MPI 1.0",
			 "date", "2020-02-02T02:02:02Z");
}

static void add_point(struct result *r, uint64_t bytes)
{
	struct result_point *p = result_point_add(r);
	struct samples s;
	int i;

	samples_init(&s);
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

static void test_numbers(void **state)
{
	struct fixture *f = *state;
	struct result *r = result_new(&f->about);
	const struct result_point *p;

	add_point(r, 64);
	add_point(r, 4096);
	assert_int_equal(result_point_cnt(r), 2);
	p = result_point_at(r, 1);
	assert_near(result_number(p, "bytes"), 4096, 0);
	assert_near(result_number(p, "measured"), 5 * 1000.5, 1e-9);
	assert_near(result_number(p, "measured.max"), 9 * 1000.5, 1e-9);
	assert_near(result_number(p, "measured.cnt"), 9, 0);
	assert_near(result_number(p, "ratio"), 0.5, 0);
	assert_true(isnan(result_number(p, "nothing")));
	assert_true(isnan(result_number(p, "too_much")));
	assert_true(isnan(result_number(p, "algorithm")));
	assert_true(isnan(result_number(p, "measured.mode")));
	assert_true(isnan(result_number(p, "comm")));
	result_free(r);
	result_free(NULL);
}

static void test_samples_kept(void **state)
{
	struct fixture *f = *state;
	struct result_about about = f->about;
	struct result *r = result_new(&about);
	json_t *time;

	add_point(r, 1);
	time = json_object_get(
		json_object_get(json_array_get(json_object_get(result_json(r), "points"), 0),
				"times"),
		"measured");
	assert_null(json_object_get(time, "samples"));
	assert_int_equal(json_array_size(json_object_get(time, "quantiles")), 21);
	result_free(r);
	about.keep_samples = true;
	r = result_new(&about);
	add_point(r, 1);
	time = json_object_get(
		json_object_get(json_array_get(json_object_get(result_json(r), "points"), 0),
				"times"),
		"measured");
	assert_int_equal(json_array_size(json_object_get(time, "samples")), 9);
	assert_near(json_number_value(json_array_get(json_object_get(time, "samples"), 2)), 3001.5,
		    1e-9);
	result_free(r);
}

static struct result_file *open_file(struct fixture *f, const char *host)
{
	struct result_file *file;

	assert_int_equal(result_file_open(f->path, factors(host), &file), 0);
	return file;
}

/* But for the digits that the file leaves out. */
static void assert_same(const json_t *a, const json_t *b)
{
	char *x = json_dumps(a, JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
	char *y = json_dumps(b, JSON_SORT_KEYS | JSON_REAL_PRECISION(9));

	assert_string_equal(x, y);
	free(x);
	free(y);
}

static void test_round_trip(void **state)
{
	struct fixture *f = *state;
	struct result_file *file = open_file(f, "here");
	struct result *r = result_new(&f->about);
	struct result_about other = f->about;
	json_t *read;

	assert_int_not_equal(access(f->path, F_OK), 0); /* nothing measured, nothing written */
	add_point(r, 64);
	result_sentence_set(r, "no overlap");
	assert_false(result_file_has(file, &f->about));
	assert_int_equal(result_file_add(file, r), 0);
	result_file_free(file);

	read = json_load_file(f->path, 0, NULL);
	assert_non_null(read);
	assert_same(json_array_get(json_object_get(read, "results"), 0), result_json(r));
	assert_string_equal(json_string_value(json_object_get(read, "format")), "povbench");
	json_decref(read);

	file = open_file(f, "here");
	assert_true(result_file_has(file, &f->about));
	other.ranks = 3;
	assert_false(result_file_has(file, &other));
	other = f->about;
	other.benchmark = "receiver";
	assert_false(result_file_has(file, &other));
	other = f->about;
	other.options = json_pack("{s:i, s:s}", "samples", 51, "step", "1.41421");
	assert_false(result_file_has(file, &other));
	json_decref(other.options);
	assert_int_equal(result_file_add(file, r), 0);
	result_file_free(file);
	result_file_free(NULL);

	read = json_load_file(f->path, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(read, "results")), 2);
	json_decref(read);
	result_free(r);
}

static void test_other_machine(void **state)
{
	struct fixture *f = *state;
	struct result_file *file = open_file(f, "here");
	struct result *r = result_new(&f->about);

	assert_int_equal(result_file_add(file, r), 0);
	result_file_free(file);
	assert_int_equal(result_file_open(f->path, factors("elsewhere"), &file), -EEXIST);
	result_free(r);
}

static void test_foreign_file(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{\"format\": \"other\", \"version\": 1, \"results\": []}",
		"{\"format\": \"povbench\", \"version\": 2, \"results\": []}",
		"{\"format\": \"povbench\", \"version\": 1, \"results\": {}}",
	};
	struct fixture *f = *state;
	struct result_file *file;
	char back[128];
	size_t i, len;
	FILE *out;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		out = fopen(f->path, "w");
		assert_non_null(out);
		fputs(texts[i], out);
		assert_int_equal(fclose(out), 0);
		assert_int_equal(result_file_open(f->path, factors("here"), &file), -EINVAL);
		/* And it is still there. */
		out = fopen(f->path, "r");
		len = fread(back, 1, sizeof(back) - 1, out);
		back[len] = '\0';
		fclose(out);
		assert_string_equal(back, texts[i]);
	}
}

static void test_nominal(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{0, "0 ns"},
		{20, "20 ns"},
		{1000, "1 us"},
		{20000, "20 us"},
		{1280000, "1.28 ms"},
		{100000000, "100 ms"},
		{1500000000, "1.5 s"},
		{30000000000, "30 s"},
		{1414214, "1.414 ms"},
		{70007000, "70.007 ms"},
		{120000000000, "2 min 0 s"},
	};
	char text[HUMAN_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(nominal_ns(text, sizeof(text), rows[i].ns), rows[i].text);
	assert_string_equal(nominal_plural(0), "s");
	assert_string_equal(nominal_plural(1), "");
	assert_string_equal(nominal_plural(2), "s");
}

/* What was set is written as it is typed; one rank is no ranks. */
static void test_print_one(void **state)
{
	struct fixture *f = *state;
	struct result_about about = f->about;
	struct result_point *p;
	struct result *r;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	about.ranks = 1;
	r = result_new(&about);
	p = result_point_add(r);
	result_param(p, "compute_ns", 80000);
	result_param(p, "bytes", 65536);
	result_print(r, out);
	fclose(out);
	assert_string_equal(text, "# sender, 1 rank: sender's side\n"
				  "    compute        bytes\n"
				  "      80 us       64 KiB\n\n");
	free(text);
	result_free(r);
}

static void test_print(void **state)
{
	struct fixture *f = *state;
	struct result *r = result_new(&f->about);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	add_point(r, 64);
	add_point(r, 1 << 20);
	result_sentence_set(r, "no overlap");
	result_print(r, out);
	fclose(out);
	assert_string_equal(text, "# sender, 2 ranks: sender's side\n"
				  "      bytes    algorithm  measured_us        ratio\n"
				  "       64 B     binomial        5.003          0.5\n"
				  "      1 MiB     binomial        5.003          0.5\n"
				  "# no overlap\n\n");
	free(text);
	result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign_file, setup, teardown),
		cmocka_unit_test(test_nominal),
		cmocka_unit_test_setup_teardown(test_print_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_print, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
