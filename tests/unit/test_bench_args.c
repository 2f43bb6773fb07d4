/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What a command line means to a benchmark, and the sizes that it uses by default. */
#include "unit/test.h"
#include "run.h"

static struct bench_options read_args(const struct args *args, const struct bench *alone)
{
	struct bench_options opt;

	assert_int_equal(args_read(args, alone, &opt), 0);
	return opt;
}

static void assert_sizes(const struct args *args, const char *name, uint64_t min, uint64_t max,
			 double step)
{
	struct bench_options opt = read_args(args, name ? bench_find(name) : NULL);

	assert_int_equal(opt.bytes_min, min);
	assert_int_equal(opt.bytes_max, max);
	assert_true(opt.step > step - 1e-9 && opt.step < step + 1e-9);
}

TEST(sizes)
{
	const struct args none = {0}, full = {.full = true}, quick = {.quick = true};
	const struct args typed = {.bytes = "8:1K"}, step = {.step = "4"};

	assert_sizes(&none, "latency", 0, 4 << 20, 2);
	assert_sizes(&none, "pingpong", 0, 4 << 20, 2);
	assert_sizes(&none, "bandwidth", 1, 4 << 20, 2);
	assert_sizes(&none, "get_latency", 1, 4 << 20, 2);
	assert_sizes(&none, "sender", 1, 128 << 20, 1.41421356237);
	assert_sizes(&none, NULL, 64, 4 << 20, 4);
	assert_sizes(&full, "latency", 1, 128 << 20, 1.41421356237);
	assert_sizes(&quick, "latency", 64, 4 << 20, 4);
	assert_sizes(&typed, "latency", 8, 1024, 2);
	assert_sizes(&step, "latency", 0, 4 << 20, 4);
}

/* 0 stands for the benchmark's default. */
TEST(window_and_pairs)
{
	const struct args none = {0}, typed = {.opt = {.window = 3, .pairs = 2}};
	struct bench_options opt = read_args(&none, bench_find("message_rate"));

	assert_int_equal(opt.window, 0);
	assert_int_equal(opt.pairs, 0);
	opt = read_args(&typed, bench_find("message_rate"));
	assert_int_equal(opt.window, 3);
	assert_int_equal(opt.pairs, 2);
}

TEST(names)
{
	assert_ptr_equal(bench_find("pingpong"), bench_find("latency"));
	assert_non_null(bench_find("latency"));
	assert_null(bench_find("pingpon"));
	assert_true(bench_is(bench_find("latency"), "pingpong"));
	assert_false(bench_is(bench_find("bandwidth"), "pingpong"));
}
