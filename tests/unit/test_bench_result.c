/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Results and their files: values are read back as stored, and printed. */
#include <math.h>
#include <sys/stat.h>

#include "unit/test.h"
#include "bench_near.h"
#include "bench_result.h"
#include "core/host.h"
#include "core/param_text.h"
#include "core/result_file.h"

EACH_TEST(setup, teardown);

TEST(numbers)
{
	struct fixture *f = *state;
	const struct result_point *p;

	add_point(f->r, 64);
	add_point(f->r, 4096);
	assert_int_equal(result_point_cnt(f->r), 2);
	p = result_point_at(f->r, 1);
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
	result_free(NULL);
}

/* Sorted by bytes, then by window, in whatever order the points came. */
TEST(sorted)
{
	static const uint64_t added[][2] = {{64, 2}, {8, 3}, {64, 1}, {8, 1}};
	static const uint64_t wanted[][2] = {{8, 1}, {8, 3}, {64, 1}, {64, 2}};
	struct fixture *f = *state;

	for (size_t i = 0; i < 4; i++) {
		struct result_point *p = result_point_add(f->r);

		result_param(p, "bytes", added[i][0]);
		result_param(p, "window", added[i][1]);
	}
	result_sort(f->r, "bytes", "window");
	for (size_t i = 0; i < 4; i++) {
		const struct result_point *p = result_point_at(f->r, i);

		assert_near(result_number(p, "bytes"), (double)wanted[i][0], 0);
		assert_near(result_number(p, "window"), (double)wanted[i][1], 0);
	}
}

/* Returns the time "measured" of the first point; borrowed. */
static json_t *first_time(struct result *r)
{
	json_t *point = json_array_get(json_object_get(result_json(r), "points"), 0);

	return json_object_get(json_object_get(point, "times"), "measured");
}

TEST(samples_kept)
{
	struct fixture *f = *state;
	struct result_about about = f->about;
	struct result *r;
	json_t *samples;

	add_point(f->r, 1);
	assert_null(json_object_get(first_time(f->r), "samples"));
	assert_int_equal(json_array_size(json_object_get(first_time(f->r), "quantiles")), 21);
	about.keep_samples = true;
	r = result_new(&about);
	add_point(r, 1);
	samples = json_object_get(first_time(r), "samples");
	assert_int_equal(json_array_size(samples), 9);
	assert_near(json_number_value(json_array_get(samples, 2)), 3001.5, 1e-9);
	result_free(r);
}

TEST(param_text)
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

	for (i = 0; i < COUNT(rows); i++)
		assert_string_equal(param_ns(text, sizeof(text), rows[i].ns), rows[i].text);
	assert_string_equal(param_bytes(text, sizeof(text), 0), "0 B");
	assert_string_equal(param_bytes(text, sizeof(text), 1023), "1023 B");
	assert_string_equal(param_bytes(text, sizeof(text), 65536), "64 KiB");
	assert_string_equal(param_bytes(text, sizeof(text), 65480), "65480 B");
	assert_string_equal(param_bytes(text, sizeof(text), (1 << 20) + 1024), "1049600 B");
	assert_string_equal(param_bytes(text, sizeof(text), 128 << 20), "128 MiB");
	assert_string_equal(plural_s(0), "s");
	assert_string_equal(plural_s(1), "");
	assert_string_equal(plural_s(2), "s");
}

/* Parameters are printed as users type them. A single rank is not printed. */
TEST(print_one)
{
	struct fixture *f = *state;
	struct result_about about = f->about;
	struct result_point *p;
	struct result *r;

	about.ranks = 1;
	r = result_new(&about);
	p = result_point_add(r);
	result_param(p, "compute_ns", 80000);
	result_param(p, "bytes", 65536);
	assert_prints("# sender, 1 rank: sender's side\n"
		      "    compute        bytes\n"
		      "      80 us       64 KiB\n\n",
		      out, result_print(r, true, out));
	result_free(r);
}

TEST(print)
{
	struct fixture *f = *state;

	add_point(f->r, 64);
	add_point(f->r, 1 << 20);
	result_sentence_set(f->r, "no overlap");
	assert_prints("# sender, 2 ranks: sender's side\n"
		      "      bytes    algorithm  measured_us        ratio\n"
		      "       64 B     binomial        5.003          0.5\n"
		      "      1 MiB     binomial        5.003          0.5\n"
		      "# no overlap\n\n",
		      out, result_print(f->r, true, out));
}

/*
 * Curves as tables in the format of the OSU benchmarks: other lines than rows begin with '#', and
 * sizes are plain numbers.
 */
static struct result_point *point(struct result *r, uint64_t bytes, double ns)
{
	struct result_point *p = result_point_add(r);
	struct samples s = {0};

	samples_add(&s, ns);
	samples_add(&s, ns);
	samples_add(&s, 4 * ns);
	result_param(p, "bytes", bytes);
	result_time(p, "measured", &s);
	result_value(p, "mb_per_s", (double)bytes / ns * 1e3);
	samples_release(&s);
	return p;
}

static struct result *curve(const struct fixture *f, const char *name, const char *brief)
{
	struct result_about about = f->about;

	about.benchmark = name;
	about.brief = brief;
	about.kind = RESULT_CURVE;
	return result_new(&about);
}

static void assert_table(struct result *r, const char *expected)
{
	assert_prints(expected, out, result_print(r, false, out));
	result_free(r);
}

TEST(curve_of_latencies)
{
	struct result *r = curve(*state, "latency", "half a ping-pong");

	point(r, 0, 1000);
	point(r, 4 << 20, 500123.4);
	result_sentence_set(r, "latency: good");
	assert_table(r, "# povbench latency, 2 ranks: half a ping-pong\n"
			"# Size (B)    Latency p50 (us)    p99 (us)   mean (us)        MB/s\n"
			"0                        1.000       3.940       2.000        0.00\n"
			"4194304                500.123    1970.486    1000.247     8386.54\n"
			"# latency: good\n\n");
}

TEST(curve_of_rates)
{
	struct result *r = curve(*state, "bandwidth", "a window of sends");
	struct result_point *p = point(r, 1, 100);

	result_value(p, "messages_per_s", 1e7);
	result_param(p, "window", 64);
	assert_table(
		r,
		"# povbench bandwidth, 2 ranks: a window of sends\n"
		"# Size (B)    Bandwidth (MB/s)  Messages/s    p50 (us)    p99 (us)      Window\n"
		"1                        10.00    10000000       0.100       0.394          64\n\n");
}

/* A value that only one row has gets a column in all. */
TEST(curve_of_pairs)
{
	struct result *r = curve(*state, "message_rate", "windows in pairs");
	struct result_point *p = point(r, 1, 100);

	result_value(p, "messages_per_s", 1e7);
	p = point(r, 2, 100);
	result_value(p, "messages_per_s", 1e7);
	result_param(p, "pairs", 3);
	assert_table(
		r,
		"# povbench message_rate, 2 ranks: windows in pairs\n"
		"# Size (B)    Bandwidth (MB/s)  Messages/s    p50 (us)    p99 (us)       Pairs\n"
		"1                        10.00    10000000       0.100       0.394           -\n"
		"2                        20.00    10000000       0.100       0.394           3\n\n");
}

TEST(empty_curve)
{
	assert_table(curve(*state, "latency", "half a ping-pong"),
		     "# povbench latency, 2 ranks: half a ping-pong\n# Size (B)  \n\n");
}

/*
 * ---- files of results ----
 *
 * They read back as written, are complete at every moment, and have one set of factors.
 */

/* Compares without the digits that the file omits. */
static void assert_same(const json_t *a, const json_t *b)
{
	char *x = json_dumps(a, JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
	char *y = json_dumps(b, JSON_SORT_KEYS | JSON_REAL_PRECISION(9));

	assert_string_equal(x, y);
	free(x);
	free(y);
}

TEST(round_trip)
{
	struct fixture *f = *state;
	struct result_file *file = open_file(f, "here", false);
	json_t *read;

	/* without a measurement no file is written */
	assert_int_not_equal(access(f->path, F_OK), 0);
	add_point(f->r, 64);
	result_sentence_set(f->r, "no overlap");
	assert_false(result_file_has(file, &f->about));
	assert_int_equal(result_file_add(file, f->r), 0);
	result_file_free(file);
	result_file_free(NULL);

	read = json_load_file(f->path, 0, NULL);
	assert_non_null(read);
	assert_same(json_array_get(results_of(read, 0), 0), result_json(f->r));
	assert_string_equal(json_string_value(json_object_get(read, "format")), "povbench");
	assert_int_equal(json_integer_value(json_object_get(read, "version")), 2);
	json_decref(read);
}

/* Opens a file that was written "here" with these factors, and returns the error. */
static int open_with(struct fixture *f, json_t *changed)
{
	struct result_file *file;
	int err = result_file_open(f->path, changed, false, &file);

	if (!err)
		result_file_free(file);
	return err;
}

/* Factors that determine a measurement must be equal; those that vary by themselves may differ. */
TEST(factors)
{
	/* NULL: missing */
	static const struct {
		const char *factor, *value;
		int err;
	} rows[] = {
		{"host", "\"here\"", 0},
		{"host", "\"elsewhere\"", -EEXIST},
		{"date", "\"now\"", 0},
		{"ops_per_ns", "1.01", 0},
		{"thread_level", "\"multiple\"", 0},
		{"clock", "{\"source\": \"tsc\", \"read_ns\": 26}", 0},
		{"clock", "{\"source\": \"hpet\"}", -EEXIST},
		{"kernel", "\"Linux 6.2\"", -EEXIST},
		{"kernel", NULL, -EEXIST},
		{"environment", "{\"UCX_TLS\": \"tcp\"}", -EEXIST},
		{"environment", "{\"UCX_TLS\": \"sm\", \"FI_X\": \"\"}", -EEXIST},
		{"environment", "{}", -EEXIST},
		{"components", "[\"mca_pml_x\", \"libucp\"]", -EEXIST},
		{"transport", "{\"eager\": 8192}", -EEXIST},
	};
	struct fixture *f = *state;
	json_t *changed;
	size_t i;

	write_result(f);
	for (i = 0; i < COUNT(rows); i++) {
		changed = factors("here");
		json_object_del(changed, rows[i].factor);
		if (rows[i].value)
			json_object_set_new(changed, rows[i].factor,
					    json_loads(rows[i].value, JSON_DECODE_ANY, NULL));
		if (open_with(f, changed) != rows[i].err)
			fail_msg("%s: %s", rows[i].factor, rows[i].value);
	}
}

static json_t *places(const char *first, const char *second, const char *third)
{
	const char *cpus[] = {first, second, third, NULL};
	json_t *list = json_array(), *all = factors("here");
	size_t i;

	for (i = 0; cpus[i]; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "host", "here", "cpus", cpus[i]));
	json_object_set_new(all, "ranks", list);
	return all;
}

/* The ranks common to two runs must have the same bindings. The file keeps the bindings of all. */
TEST(binding)
{
	struct fixture *f = *state;
	struct result_file *file;

	write_result(f);
	assert_int_equal(open_with(f, places("0", "0", NULL)), -EEXIST);
	assert_int_equal(open_with(f, places("0-1", "0-1", "0-1")), -EEXIST);
	assert_int_equal(open_with(f, places("0", NULL, NULL)), 0);
	assert_int_equal(result_file_open(f->path, places("0", "1", "2"), false, &file), 0);
	assert_int_equal(result_file_add(file, f->r), 0);
	result_file_free(file);
	assert_int_equal(open_with(f, places("0", "1", "3")), -EEXIST);
	assert_int_equal(open_with(f, places("0", "1", "2")), 0);
}

/* MPICH's launcher gives each process a variable that looks like a user's. */
TEST(environment)
{
	static const struct {
		const char *name, *value;
		bool kept;
	} rows[] = {
		{"MPIR_CVAR_CH3_INTERFACE_HOSTNAME", "node7", false},
		{"OMPI_MCA_orte_ess_node_rank", "0", false},
		{"MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE", "1024", true},
	};
	json_t *all = json_object(), *value;
	size_t i;

	for (i = 0; i < COUNT(rows); i++)
		setenv(rows[i].name, rows[i].value, 1);
	host_factors(all);
	for (i = 0; i < COUNT(rows); i++) {
		value = json_object_get(json_object_get(all, "environment"), rows[i].name);
		assert_int_equal(value != NULL, rows[i].kept);
		if (value)
			assert_string_equal(json_string_value(value), rows[i].value);
		unsetenv(rows[i].name);
	}
	json_decref(all);
}

/* A bad path is found before anything is measured, and the check leaves nothing behind. */
TEST(unwritable)
{
	struct fixture *f = *state;
	char *inside = xasprintf("%s/none/run.json", f->dir);
	struct result_file *file;

	assert_int_equal(result_file_open(inside, factors("here"), false, &file), -ENOENT);
	assert_int_equal(result_file_open(f->dir, factors("here"), false, &file), -EINVAL);
	assert_int_equal(result_file_open("/dev/full", factors("here"), false, &file), -EINVAL);
	assert_int_equal(result_file_open("", factors("here"), false, &file), -EINVAL);
	free(inside);
}

/*
 * The directory disappears during the measurement. The next write includes what the last one could
 * not.
 */
TEST(lost_place)
{
	struct fixture *f = *state;
	struct result_file *file = open_file(f, "here", false);

	assert_int_equal(rmdir(f->dir), 0);
	assert_int_equal(result_file_add(file, f->r), -ENOENT);
	assert_int_equal(mkdir(f->dir, 0700), 0);
	assert_int_equal(result_file_add(file, f->other), 0);
	assert_holds(f->path, 1, 2);
	result_file_free(file);
}

/* Two runs at once that start without a file: the file has the results of both. */
TEST(two_runs)
{
	struct fixture *f = *state;
	struct result_file *one = open_file(f, "here", false), *two = open_file(f, "here", false);

	assert_int_equal(result_file_add(one, f->r), 0);
	assert_int_equal(result_file_add(two, f->r), 0);
	assert_int_equal(result_file_add(two, f->other), 0);
	assert_holds(f->path, 2, 3);
	assert_int_equal(result_file_add(one, f->other), 0);
	assert_holds(f->path, 2, 4);
	assert_int_equal(result_file_launch(one), 1);
	assert_int_equal(result_file_launch(two), 2);
	result_file_free(one);
	result_file_free(two);
}

/* The other run measures under other conditions: each has its own file. */
TEST(two_machines)
{
	struct fixture *f = *state;
	struct result_file *one = open_file(f, "here", false), *two = open_file(f, "there", false);
	char *other = xasprintf("%s.%d", f->path, (int)getpid());

	assert_int_equal(result_file_add(one, f->r), 0);
	assert_int_equal(result_file_add(two, f->r), 0);
	assert_int_equal(result_file_add(two, f->other), 0);
	assert_int_equal(result_file_add(one, f->other), 0);
	assert_holds(f->path, 1, 2);
	assert_holds(other, 1, 2);
	unlink(other);
	free(other);
	result_file_free(one);
	result_file_free(two);
}

/* A foreign file is refused and stays as it is. */
TEST(foreign_file)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{\"format\": \"other\", \"version\": 1, \"results\": []}",
		"{\"format\": \"povbench\", \"version\": 3, \"launches\": []}",
		"{\"format\": \"povbench\", \"version\": 2, \"results\": []}",
		"{\"format\": \"povbench\", \"version\": 1, \"results\": {}}",
	};
	struct fixture *f = *state;
	char back[128];
	size_t i, len;
	FILE *out;

	for (i = 0; i < COUNT(texts); i++) {
		out = fopen(f->path, "w");
		assert_non_null(out);
		fputs(texts[i], out);
		assert_int_equal(fclose(out), 0);
		assert_int_equal(open_with(f, factors("here")), -EINVAL);
		out = fopen(f->path, "r");
		len = fread(back, 1, sizeof(back) - 1, out);
		back[len] = '\0';
		fclose(out);
		assert_string_equal(back, texts[i]);
	}
}
