/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Parts of the strategy `collectives`: intervals over launches, and povbench's result files, some
 * of them damaged. golden/advise_collectives.bats tests the rest.
 */
#include "unit/test.h"
#include "advise/algorithms.h"
#include "advise/measured.h"
#include "unit/files.h"

/* ---- intervals ---- */

/*
 * Tails of the Mann-Whitney distribution from tables. 5 and 5 values at 5 %: 2; 7 and 7: 8; 8 and
 * 6: 8; 10 and 10: 23.
 */
TEST(shift_of_tables)
{
	static const struct {
		uint32_t na, nb, tail;
	} known[] = {{4, 4, 0}, {5, 5, 2}, {7, 7, 8}, {8, 6, 8}, {10, 10, 23}, {3, 5, 0}};
	double a[16], b[16];
	struct shift s;

	for (size_t i = 0; i < COUNT(known); i++) {
		/* The differences of all pairs are the distinct whole numbers 0, 1, 2 … */
		for (uint32_t k = 0; k < known[i].na; k++)
			a[k] = (double)(k * known[i].nb);
		for (uint32_t k = 0; k < known[i].nb; k++)
			b[k] = -(double)k;
		assert_true(shift_of(a, known[i].na, b, known[i].nb, false, 0.05, &s));
		assert_int_equal((int)s.low, known[i].tail);
		assert_int_equal((int)s.high, known[i].na * known[i].nb - 1 - known[i].tail);
		assert_true(s.median * 2 == known[i].na * known[i].nb - 1);
	}
}

TEST(shift_needs)
{
	double a[3] = {1, 2, 3}, b[3] = {1, 2, 3};
	struct shift s;

	assert_false(shift_of(a, 3, b, 3, false, 0.05, &s));
	assert_true(shift_of(a, 3, b, 3, false, 0.1, &s));
	assert_false(shift_of(a, 0, b, 3, false, 0.1, &s));
	assert_int_equal(shift_needs(0.05), 4);
	assert_int_equal(shift_needs(0.05 / 8), 6); /* 2 of 924 */
	assert_int_equal(shift_needs(0), 0);
}

/* No more than the level's share of equal samples are reported as different. */
TEST(shift_of_equal_ones)
{
	uint64_t random = 7;
	uint32_t apart = 0, i, k;
	struct shift s;

	for (i = 0; i < 2000; i++) {
		double v[14];

		for (k = 0; k < 14; k++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			v[k] = 1 + (double)(random >> 40);
		}
		assert_true(shift_of(v, 7, v + 7, 7, true, 0.05, &s));
		apart += s.low > 1 || s.high < 1;
	}
	assert_in_range(apart, 40, 110);
}

/* ---- result files ---- */

#define LAUNCH(results)                                                            \
	"{\"factors\":{\"host\":\"n1\",\"mpi\":{\"library\":\"Open MPI v4.1.4\"}," \
	"\"environment\":{\"OMPI_MCA_coll\":\"tuned\"},"                           \
	"\"ranks\":[{\"host\":\"n1\"},{\"host\":\"n2\"}]},\"results\":[" results "]}"
#define RESULT(name, ranks, algorithm, points)                                                  \
	"{\"benchmark\":\"" name "\",\"kind\":\"curve\",\"ranks\":" ranks                       \
	",\"took_ns\":1000,\"core_wait_ns\":41,\"options\":{" algorithm "},\"points\":[" points \
	"]}"
#define POINT(bytes, ns) "{\"bytes\":" bytes ",\"times\":{\"measured\":{\"median\":" ns "}}}"
#define FILE_OF(launches) "{\"format\":\"povbench\",\"version\":2,\"launches\":[" launches "]}"

static int text_read(const char *text, struct measured *m)
{
	const char *path = temp_path("measured.json");

	file_store(path, text, strlen(text));
	return measured_read(&path, 1, m);
}

/* Files that are unusable, and files with an unusable part. */
TEST(measured_hostile)
{
	static const char *const unusable[] = {
		"",
		"{",
		"[]",
		"null",
		"7",
		"\"povbench\"",
		"{\"format\":7}",
		FILE_OF(""),
		FILE_OF("7,null,[],{}"),
		"{\"format\":\"povbench\",\"version\":2,\"launches\":7}",
		FILE_OF("{\"results\":{}}"),
		FILE_OF("{\"factors\":7,\"results\":[7,null,[],\"x\",{}]}"),
		FILE_OF(LAUNCH(RESULT("_latency", "2", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latencyx", "2", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "1", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "-2", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "4294967298", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "\"2\"", "", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", POINT("-8", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", POINT("8", "0")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", POINT("8", "-1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", POINT("8", "1e300")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", POINT("8.5", "1")))),
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "", "7,null,[],{\"bytes\":8}"))),
		/* text that would become part of a command */
		FILE_OF(LAUNCH(RESULT("allreduce_latency", "2", "\"algorithm\":\"1; rm x\"",
				      POINT("8", "1")))),
		FILE_OF(LAUNCH(
			RESULT("allreduce_latency", "2", "\"algorithm\":\"\"", POINT("8", "1")))),
		FILE_OF(LAUNCH(RESULT("all$(x)_latency", "2", "", POINT("8", "1")))),
	};
	struct measured m;

	for (size_t i = 0; i < COUNT(unusable); i++)
		assert_true(text_read(unusable[i], &m) < 0);
	assert_true(measured_read((const char *[]){"/nowhere"}, 1, &m) < 0);
	assert_int_equal(
		text_read(FILE_OF("7," LAUNCH(RESULT("bcast_latency", "2", "\"algorithm\":7",
						     "7," POINT("8", "1")))),
			  &m),
		0);
	assert_int_equal(m.npoint, 1);
	assert_null(m.point[0].algorithm);
	measured_release(&m);
}

/* Replaces each byte of a good file in turn. */
TEST(measured_spoiled)
{
	static const char good[] = FILE_OF(
		LAUNCH(RESULT("allreduce_latency:ring", "2", "\"algorithm\":\"4\"",
			      POINT("8", "1234.5") "," POINT("64", "2000"))));
	static const char with[] = "\"{}[],:7\\\x80 ";
	char text[sizeof(good)];
	struct measured m;

	for (size_t i = 0; i < sizeof(good) - 1; i += 1) {
		memcpy(text, good, sizeof(good));
		text[i] = with[i % (sizeof(with) - 1)];
		if (!text_read(text, &m))
			measured_release(&m);
	}
}
