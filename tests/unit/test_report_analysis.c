/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Histogram, losses, lists of ranks, and names of sections. */
#include "unit/test.h"
#include "analysis/program_section.h"
#include "report/report.h"

/* ---- histogram ---- */

static int u64_compare(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

TEST(histogram_quantiles)
{
	static const double pcts[] = {1, 25, 50, 90, 99, 99.9};
	static uint64_t v[10007];
	struct histogram h = {0}, half = {0};
	uint64_t random = 1, truth, got, sum = 0;
	size_t i, n = COUNT(v);

	for (i = 0; i < n; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		v[i] = (random >> 20) >> (random % 43);
		sum += v[i];
		histogram_add(i % 2 ? &half : &h, v[i]);
	}
	histogram_merge(&h, &half);
	qsort(v, n, sizeof(v[0]), u64_compare);
	assert_int_equal(h.cnt, n);
	assert_int_equal(h.sum, sum);
	assert_int_equal(histogram_quantile(&h, 0), v[0]);
	assert_int_equal(histogram_quantile(&h, 100), v[n - 1]);
	for (i = 0; i < COUNT(pcts); i++) {
		truth = v[(size_t)((double)n * pcts[i] / 100.0)];
		got = histogram_quantile(&h, pcts[i]);
		assert_true((double)got <= (double)truth * 1.009 + 1 &&
			    (double)got >= (double)truth / 1.009 - 1);
	}
	histogram_release(&h);
	histogram_release(&half);
}

TEST(histogram_edges)
{
	struct histogram h = {0};
	uint64_t i;

	assert_int_equal(histogram_quantile(&h, 50), 0);
	for (i = 0; i < 64; i++)
		histogram_add(&h, i);
	for (i = 1; i < 64; i++) /* small values are exact */
		assert_int_equal(histogram_quantile(&h, 100.0 * (double)i / 64), i - 1);
	histogram_release(&h);
	histogram_add(&h, UINT64_MAX);
	histogram_add(&h, 64);
	assert_int_equal(histogram_quantile(&h, 50), 64);
	assert_int_equal(histogram_quantile(&h, 100), UINT64_MAX);
	histogram_release(&h);
	/* The middle of a bucket is another value, but the minimum is exact. */
	histogram_add(&h, 10001);
	histogram_add(&h, 10001);
	histogram_add(&h, 20000);
	assert_int_equal(histogram_quantile(&h, 0), 10001);
	histogram_release(&h);
}

/* ---- losses ---- */

static void lose(struct losses *a, uint64_t from_ns, uint64_t to_ns, uint16_t class)
{
	a->sink.lost(a, &(struct model_lost){
				.since_ns = from_ns, .ts_ns = to_ns, .cnt = 1, .class = class});
}

TEST(losses)
{
	struct losses a;
	uint32_t i;

	losses_init(&a);
	assert_int_equal(losses_in(&a, 0, UINT64_MAX), 0);
	lose(&a, 100, 200, POV_CLASS_CALL);
	lose(&a, 150, 300, POV_CLASS_CALL); /* of another ring */
	lose(&a, 500, 600, POV_CLASS_SPIN);
	assert_int_equal(losses_in(&a, 0, 99), 0);
	assert_int_equal(losses_in(&a, 0, 100), LOSS_CALL);
	assert_int_equal(losses_in(&a, 300, 400), LOSS_CALL);
	assert_int_equal(losses_in(&a, 301, 499), 0);
	assert_int_equal(losses_in(&a, 250, 550), LOSS_CALL | LOSS_SPIN);
	/* too many to keep separately: none is forgotten, and earlier ones stay known */
	for (i = 0; i < 2 * LOSS_SPANS_MAX; i++)
		lose(&a, 1000 + 10 * i, 1001 + 10 * i, POV_CLASS_CALL);
	for (i = 0; i < 2 * LOSS_SPANS_MAX; i++)
		assert_int_equal(losses_in(&a, 1001 + 10 * i, 1002 + 10 * i), LOSS_CALL);
	assert_int_equal(losses_in(&a, 1002, 1009), 0);
	assert_int_equal(losses_in(&a, 1001 + 10 * i, UINT64_MAX), 0);
	lose(&a, 5, 5, POV_CLASS_CNT); /* of an unknown class: anything, anywhere */
	assert_int_equal(losses_in(&a, 0, 1), LOSS_MISSED);
	assert_int_equal(losses_of_core(&a, 3), LOSS_MISSED);
	losses_release(&a);
}

/* ---- lists of ranks ---- */

TEST(rank_list)
{
	static const char *const bad[] = {"",	",",  "1,", "a",	  "3-1",  "-1",
					  "1-", "1:", "1 ", "4294967296", "1:2:3"};
	struct rank_list l = {0};
	size_t i;

	assert_true(rank_list_has(&l, 0, 5));
	assert_true(rank_list_has(&l, 0, -1));
	assert_int_equal(rank_list_parse("0,2,5-8", &l), 0);
	assert_int_equal(rank_list_parse("1:3", &l), 0);
	assert_true(rank_list_has(&l, 0, 0));
	assert_false(rank_list_has(&l, 0, 1));
	assert_true(rank_list_has(&l, 7, 8));
	assert_false(rank_list_has(&l, 0, 9));
	assert_false(rank_list_has(&l, 0, 3));
	assert_true(rank_list_has(&l, 1, 3));
	assert_false(rank_list_has(&l, 0, -1));
	rank_list_release(&l);
	for (i = 0; i < COUNT(bad); i++) {
		assert_true(rank_list_parse(bad[i], &l) < 0);
		rank_list_release(&l);
	}
}

/* Names of sections that are none; cases/threads.txt has others. */
TEST(no_section)
{
	static const char *const bad[] = {
		"",	 "..",	  "...",    "1.5..1", "1..1", "a..b..c", "a#0..b",
		"a#..b", "-1..2", "a b..c", "1x..",   "..#2", "0x1..2",
	};
	struct section s;

	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(section_parse(bad[i], &s), -EINVAL);
}

/* A function that was not counted lacks nothing. Bytes are not counted in layers below MPI. */
TEST(counted_losses)
{
	struct func_info mpi = {.layer_name = "mpi"}, ucp = {.layer_name = "ucp"};
	struct function_row f = {.func = &mpi, .left_out = LOSS_COUNTED};

	assert_int_equal(function_row_lost(&f, LOSS_COUNTED | LOSS_CALL), LOSS_COUNTED | LOSS_CALL);
	f.func = &ucp;
	assert_int_equal(function_row_lost(&f, LOSS_COUNTED), LOSS_COUNTED | LOSS_COUNTED_BYTES);
	f.left_out = 0;
	assert_int_equal(function_row_lost(&f, LOSS_COUNTED), 0);
}
