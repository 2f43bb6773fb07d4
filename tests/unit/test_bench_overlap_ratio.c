/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The overlap figures of all suites for one measurement; check `peers` of povbench/cases.txt has
 * their formulas.
 */
#include <math.h>

#include "unit/test.h"
#include "bench_near.h"
#include "core/overlap_ratio.h"

#define EXACT 1e-9

static struct overlap_ratios ratios_of(double comm, double comp, double measured)
{
	struct overlap_times t = {.comm = comm, .comp = comp, .measured = measured};
	struct overlap_ratios r;

	overlap_ratios(&t, &r);
	return r;
}

TEST(ends)
{
	static const struct {
		double measured; /* communication takes 100, computation 300 */
		struct overlap_ratios r;
	} rows[] = {
		/* perfect: imb_pct cannot reach 100 here */
		{300, {.osu_pct = 100, .imb_pct = 100.0 / 3, .imb_io_pct = 100, .mpiperf = 1}},
		/* one after the other */
		{400, {.ratio = 1, .osu_pct = 0, .imb_pct = 0, .imb_io_pct = 0, .mpiperf = 0}},
		/* worse: only our ratio and mpiperf's show by how much */
		{600, {.ratio = 3, .osu_pct = 0, .imb_pct = 0, .imb_io_pct = 0, .mpiperf = -2}},
		/* T_comm measured too long */
		{250,
		 {.ratio = -0.5, .osu_pct = 150, .imb_pct = 50, .imb_io_pct = 100, .mpiperf = 1.5}},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct overlap_ratios r = ratios_of(100, 300, rows[i].measured);

		assert_near(r.ratio, rows[i].r.ratio, EXACT);
		assert_near(r.osu_pct, rows[i].r.osu_pct, EXACT);
		assert_near(r.imb_pct, rows[i].r.imb_pct, EXACT);
		assert_near(r.imb_io_pct, rows[i].r.imb_io_pct, EXACT);
		assert_near(r.mpiperf, rows[i].r.mpiperf, EXACT);
	}
}

TEST(nothing_to_overlap)
{
	struct overlap_ratios r;

	r = ratios_of(0, 300, 300);
	assert_true(isnan(r.ratio) && isnan(r.osu_pct) && isnan(r.imb_pct));
	assert_true(isnan(r.imb_io_pct) && isnan(r.mpiperf) && isnan(r.sandia));
	r = ratios_of(100, 0, 100);
	assert_true(isnan(r.ratio));
}
