/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The file of results: read back as written, whole at every moment, of one set of factors, and nobody's lost. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/test.h"
#include "bench_launch_file.h"
#include "core/host.h"

/* But for the digits that the file leaves out. */
static void assert_same(const json_t *a, const json_t *b)
{
	char *x = json_dumps(a, JSON_SORT_KEYS | JSON_REAL_PRECISION(9));
	char *y = json_dumps(b, JSON_SORT_KEYS | JSON_REAL_PRECISION(9));

	assert_string_equal(x, y);
	free(x);
	free(y);
}

TEST_WITH(round_trip, setup, teardown)
{
	struct fixture *f = *state;
	struct result_file *file = open_file(f, "here");
	struct result *r = result_new(&f->about);
	json_t *read;

	assert_int_not_equal(access(f->path, F_OK), 0); /* nothing measured, nothing written */
	add_point(r, 64);
	result_sentence_set(r, "no overlap");
	assert_false(result_file_has(file, &f->about));
	assert_int_equal(result_file_add(file, r), 0);
	result_file_free(file);
	result_file_free(NULL);

	read = json_load_file(f->path, 0, NULL);
	assert_non_null(read);
	assert_same(json_array_get(results_of(read, 0), 0), result_json(r));
	assert_string_equal(json_string_value(json_object_get(read, "format")), "povbench");
	assert_int_equal(json_integer_value(json_object_get(read, "version")), 2);
	json_decref(read);
	result_free(r);
}

TEST_WITH(other_machine, setup, teardown)
{
	struct fixture *f = *state;
	struct result_file *file = open_file(f, "here");
	struct result *r = result_new(&f->about);

	assert_int_equal(result_file_add(file, r), 0);
	result_file_free(file);
	assert_int_equal(result_file_open(f->path, factors("elsewhere"), false, &file), -EEXIST);
	result_free(r);
}

/* Opens it with the factors changed. */
static int open_with(struct fixture *f, json_t *new, struct result_file **out)
{
	int err = result_file_open(f->path, new, false, out);

	if (!err)
		result_file_free(*out);
	return err;
}

static json_t *with(const char *factor, json_t *value)
{
	json_t *all = factors("here");

	json_object_set_new(all, factor, value);
	return all;
}

/* What decides a measurement must be the same, and what differs by itself need not. */
TEST_WITH(factors, setup, teardown)
{
	struct fixture *f = *state;
	struct result_file *file = open_file(f, "here");
	struct result *r = result_new(&f->about);
	json_t *less = factors("here");

	assert_int_equal(result_file_add(file, r), 0);
	result_file_free(file);
	assert_int_equal(open_with(f, factors("here"), &file), 0);
	assert_int_equal(open_with(f, with("date", json_string("now")), &file), 0);
	assert_int_equal(open_with(f, with("ops_per_ns", json_real(1.01)), &file), 0);
	assert_int_equal(open_with(f, with("thread_level", json_string("multiple")), &file), 0);
	assert_int_equal(
		open_with(f,
			  with("clock", json_pack("{s:s, s:f}", "source", "tsc", "read_ns", 26.)),
			  &file),
		0);
	assert_int_equal(open_with(f, with("clock", json_pack("{s:s}", "source", "hpet")), &file),
			 -EEXIST);
	assert_int_equal(open_with(f, with("kernel", json_string("Linux 6.2")), &file), -EEXIST);
	assert_int_equal(open_with(f, with("environment", json_pack("{s:s}", "UCX_TLS", "tcp")),
				   &file),
			 -EEXIST);
	assert_int_equal(
		open_with(f,
			  with("environment", json_pack("{s:s, s:s}", "UCX_TLS", "sm", "FI_X", "")),
			  &file),
		-EEXIST);
	assert_int_equal(open_with(f, with("environment", json_object()), &file), -EEXIST);
	assert_int_equal(
		open_with(f, with("components", json_pack("[s, s]", "mca_pml_x", "libucp")), &file),
		-EEXIST);
	assert_int_equal(open_with(f, with("transport", json_pack("{s:i}", "eager", 8192)), &file),
			 -EEXIST);
	json_object_del(less, "kernel");
	assert_int_equal(open_with(f, less, &file), -EEXIST);
	result_free(r);
}

static json_t *places(const char *first, const char *second, const char *third)
{
	json_t *list = json_pack("[{s:s, s:s}]", "host", "here", "cpus", first);

	if (second)
		json_array_append_new(list,
				      json_pack("{s:s, s:s}", "host", "here", "cpus", second));
	if (third)
		json_array_append_new(list, json_pack("{s:s, s:s}", "host", "here", "cpus", third));
	return with("ranks", list);
}

/* The ranks that two runs have in common are bound alike; the file knows the places of all. */
TEST_WITH(binding, setup, teardown)
{
	struct fixture *f = *state;
	struct result_file *file = open_file(f, "here");
	struct result *r = result_new(&f->about);

	assert_int_equal(result_file_add(file, r), 0);
	result_file_free(file);
	assert_int_equal(open_with(f, places("0", "0", NULL), &file), -EEXIST);
	assert_int_equal(open_with(f, places("0-1", "0-1", "0-1"), &file), -EEXIST);
	assert_int_equal(open_with(f, places("0", NULL, NULL), &file), 0);
	assert_int_equal(result_file_open(f->path, places("0", "1", "2"), false, &file), 0);
	assert_int_equal(result_file_add(file, r), 0);
	result_file_free(file);
	assert_int_equal(open_with(f, places("0", "1", "3"), &file), -EEXIST);
	assert_int_equal(open_with(f, places("0", "1", "2"), &file), 0);
	result_free(r);
}

/* Its launcher tells every process of MPICH a variable that looks like a user's. */
TEST(environment)
{
	json_t *all = json_object(), *environment;

	setenv("MPIR_CVAR_CH3_INTERFACE_HOSTNAME", "node7", 1);
	setenv("MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE", "1024", 1);
	setenv("OMPI_MCA_orte_ess_node_rank", "0", 1);
	host_factors(all);
	environment = json_object_get(all, "environment");
	assert_null(json_object_get(environment, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME"));
	assert_null(json_object_get(environment, "OMPI_MCA_orte_ess_node_rank"));
	assert_string_equal(
		json_string_value(json_object_get(environment, "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE")),
		"1024");
	unsetenv("MPIR_CVAR_CH3_INTERFACE_HOSTNAME");
	unsetenv("MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE");
	unsetenv("OMPI_MCA_orte_ess_node_rank");
	json_decref(all);
}

/* Found out before anything is measured; and nothing is left behind by finding out. */
TEST_WITH(unwritable, setup, teardown)
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

/* Of another benchmark. */
static struct result *another(const struct fixture *f)
{
	struct result_about about = f->about;

	about.benchmark = "receiver";
	return result_new(&about);
}

/* A place that goes away while measuring: what could not be written is, as soon as it can. */
TEST_WITH(lost_place, setup, teardown)
{
	struct fixture *f = *state;
	struct result_file *file = open_file(f, "here");
	struct result *r = result_new(&f->about), *other = another(f);

	assert_int_equal(rmdir(f->dir), 0);
	assert_int_equal(result_file_add(file, r), -ENOENT);
	assert_int_equal(mkdir(f->dir, 0700), 0);
	assert_int_equal(result_file_add(file, other), 0);
	assert_int_equal(results_in(f->path), 2);
	result_file_free(file);
	result_free(other);
	result_free(r);
}

/* Two runs at once, from an empty place: the file has what both measured. */
TEST_WITH(two_runs, setup, teardown)
{
	struct fixture *f = *state;
	struct result_file *one = open_file(f, "here"), *two = open_file(f, "here");
	struct result *r = result_new(&f->about), *other = another(f);

	assert_int_equal(result_file_add(one, r), 0);
	assert_int_equal(result_file_add(two, r), 0);
	assert_int_equal(result_file_add(two, other), 0);
	assert_int_equal(results_in(f->path), 3);
	assert_int_equal(result_file_add(one, other), 0);
	assert_int_equal(results_in(f->path), 4);
	assert_int_equal(launches_in(f->path), 2);
	assert_int_equal(result_file_launch(one), 1);
	assert_int_equal(result_file_launch(two), 2);
	result_free(other);
	result_file_free(one);
	result_file_free(two);
	result_free(r);
}

/* The other one measures under other conditions: each has a file. */
TEST_WITH(two_machines, setup, teardown)
{
	struct fixture *f = *state;
	struct result_file *one = open_file(f, "here"), *two = open_file(f, "there");
	char *other = xasprintf("%s.%d", f->path, (int)getpid());
	struct result *r = result_new(&f->about), *more = another(f);

	assert_int_equal(result_file_add(one, r), 0);
	assert_int_equal(result_file_add(two, r), 0);
	assert_int_equal(result_file_add(two, more), 0);
	assert_int_equal(result_file_add(one, more), 0);
	result_free(more);
	assert_int_equal(results_in(f->path), 2);
	assert_int_equal(results_in(other), 2);
	unlink(other);
	free(other);
	result_file_free(one);
	result_file_free(two);
	result_free(r);
}

TEST_WITH(foreign_file, setup, teardown)
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
	struct result_file *file;
	char back[128];
	size_t i, len;
	FILE *out;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		out = fopen(f->path, "w");
		assert_non_null(out);
		fputs(texts[i], out);
		assert_int_equal(fclose(out), 0);
		assert_int_equal(result_file_open(f->path, factors("here"), false, &file), -EINVAL);
		/* And it is still there. */
		out = fopen(f->path, "r");
		len = fread(back, 1, sizeof(back) - 1, out);
		back[len] = '\0';
		fclose(out);
		assert_string_equal(back, texts[i]);
	}
}
