/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Launches in one file: added one by one, with the same options, and resumed after an interruption.
 */
#include <math.h>

#include "unit/test.h"
#include "bench_near.h"
#include "bench_result.h"

EACH_TEST(setup, teardown);

/* A new launch contains nothing of earlier ones. */
TEST(launches)
{
	struct fixture *f = *state;
	struct result_file *file;
	json_t *read, *list;
	size_t i;

	add_point(f->r, 64);
	for (i = 1; i <= 3; i++) {
		file = open_file(f, "here", false);
		assert_int_equal(result_file_launch(file), i);
		assert_false(result_file_holds(file));
		assert_false(result_file_has(file, &f->about));
		assert_int_equal(result_file_add(file, f->r), 0);
		assert_true(result_file_has(file, &f->about));
		assert_int_equal(result_file_launch(file), i);
		result_file_free(file);
		assert_holds(f->path, i, i);
	}
	read = json_load_file(f->path, 0, NULL);
	list = json_object_get(read, "launches");
	for (i = 0; i < 3; i++) {
		assert_non_null(json_object_get(json_array_get(list, i), "factors"));
		assert_false(json_equal(json_object_get(json_array_get(list, i), "id"),
					json_object_get(json_array_get(list, (i + 1) % 3), "id")));
	}
	json_decref(read);
}

/* All launches need the same options for the same benchmark and ranks. */
TEST(options)
{
	struct fixture *f = *state;
	struct result_about other = f->about;
	struct result_file *file;

	write_result(f);
	file = open_file(f, "here", false);
	assert_int_equal(result_file_check(file, &f->about), 0);
	other.options = json_pack("{s:i, s:s}", "samples", 51, "step", "1.41421");
	assert_int_equal(result_file_check(file, &other), -EEXIST);
	other.ranks = 3;
	assert_int_equal(result_file_check(file, &other), 0);
	other.ranks = 2;
	other.benchmark = "receiver";
	assert_int_equal(result_file_check(file, &other), 0);
	json_decref(other.options);
	result_file_free(file);
}

TEST(resume_result)
{
	struct fixture *f = *state;
	struct result_about receiver = f->about;
	/* begins a launch, since there is none yet */
	struct result_file *file = open_file(f, "here", true);
	json_t *read;

	assert_false(result_file_holds(file));
	assert_int_equal(result_file_add(file, f->r), 0);
	result_file_free(file);
	file = open_file(f, "here", true);
	assert_true(result_file_holds(file));
	assert_true(result_file_has(file, &f->about));
	receiver.benchmark = "receiver";
	assert_false(result_file_has(file, &receiver));
	assert_int_equal(result_file_add(file, f->other), 0);
	result_file_free(file);
	assert_holds(f->path, 1, 2);
	read = json_load_file(f->path, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(
				 json_array_get(json_object_get(read, "launches"), 0), "resumed")),
			 1);
	json_decref(read);
}

/* Points written before the interruption are reused, each in its place; the others are measured. */
TEST(resume_point)
{
	static const struct result_axis first = {"bytes", 64}, second = {"bytes", 128};
	struct fixture *f = *state;
	struct result_file *file = open_file(f, "here", false);
	struct result *r;
	const json_t *part;

	add_point(f->r, 64);
	result_file_keep(file, f->r, 1000);
	result_file_free(file);

	file = open_file(f, "here", true);
	assert_false(result_file_has(file, &f->about));
	part = result_file_part(file, &f->about);
	assert_non_null(part);
	r = result_new(&f->about);
	result_go_on(r, part);
	assert_false(result_point_take(r, &second, 1));
	assert_true(result_point_take(r, &first, 1));
	assert_near(result_number(result_point_at(r, 0), "measured"), 5 * 1000.5, 1e-6);
	add_point(r, 128);
	result_effort(r, 500, 7);
	assert_int_equal(json_integer_value(json_object_get(result_json(r), "took_ns")), 1500);
	assert_null(json_object_get(result_json(r), "core_wait_ns"));
	assert_int_equal(result_file_add(file, r), 0);
	assert_true(result_file_has(file, &f->about));
	assert_null(result_file_part(file, &f->about));
	assert_holds(f->path, 1, 1);
	result_file_free(file);
	result_free(r);
}

/* A file of version 1 is one launch and takes further ones. */
TEST(first_version)
{
	struct fixture *f = *state;
	json_t *old = json_pack("{s:s, s:i, s:o, s:[O]}", "format", "povbench", "version", 1,
				"factors", factors("here"), "results", result_json(f->r));
	struct result_file *file;

	assert_int_equal(json_dump_file(old, f->path, 0), 0);
	json_decref(old);
	assert_int_equal(result_file_open(f->path, factors("elsewhere"), false, &file), -EEXIST);
	file = open_file(f, "here", true);
	assert_true(result_file_has(file, &f->about));
	result_file_free(file);
	file = open_file(f, "here", false);
	assert_int_equal(result_file_launch(file), 2);
	assert_int_equal(result_file_add(file, f->r), 0);
	assert_holds(f->path, 2, 2);
	result_file_free(file);
}
