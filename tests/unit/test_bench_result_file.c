/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The file of results: it reads back as written, is complete at every moment, and has one set of
 * factors.
 */
#include <sys/stat.h>

#include "unit/test.h"
#include "bench_result.h"
#include "core/host.h"

EACH_TEST(setup, teardown);

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
