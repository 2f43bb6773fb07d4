/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Curves as tables in the format of the OSU benchmarks: other lines than rows begin with '#', and
 * sizes are plain numbers.
 */
#include "unit/test.h"
#include "bench_result.h"
#include "core/result_file.h"

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

TEST(latency)
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

TEST(rate)
{
	struct result *r = curve(*state, "bandwidth", "a window of sends");
	struct result_point *p = point(r, 1, 100);

	result_value(p, "messages_per_s", 1e7);
	result_param(p, "window", 64);
	assert_table(r,
		"# povbench bandwidth, 2 ranks: a window of sends\n"
		"# Size (B)    Bandwidth (MB/s)  Messages/s    p50 (us)    p99 (us)      Window\n"
		"1                        10.00    10000000       0.100       0.394          64\n\n");
}

/* A value that only one row has gets a column in all. */
TEST(pairs)
{
	struct result *r = curve(*state, "message_rate", "windows in pairs");
	struct result_point *p = point(r, 1, 100);

	result_value(p, "messages_per_s", 1e7);
	p = point(r, 2, 100);
	result_value(p, "messages_per_s", 1e7);
	result_param(p, "pairs", 3);
	assert_table(r,
		"# povbench message_rate, 2 ranks: windows in pairs\n"
		"# Size (B)    Bandwidth (MB/s)  Messages/s    p50 (us)    p99 (us)       Pairs\n"
		"1                        10.00    10000000       0.100       0.394           -\n"
		"2                        20.00    10000000       0.100       0.394           3\n\n");
}

TEST(nothing)
{
	assert_table(curve(*state, "latency", "half a ping-pong"),
		      "# povbench latency, 2 ranks: half a ping-pong\n# Size (B)  \n\n");
}

EACH_TEST(setup, teardown);
