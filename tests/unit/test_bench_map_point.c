/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Why a point of a map has no ratio, from its times. */
#include <math.h>

#include "unit/test.h"
#include "core/classify.h"
#include "core/result_file.h"
#include "overlap/map.h"

#define CLOCK_NS 25.0

/* Fills in 100 samples from ns to ns + width. */
static void spread(struct samples *out, double ns, double width)
{
	int i;

	*out = (struct samples){0};
	for (i = 0; i < 100; i++)
		samples_add(out, ns + width * i / 99);
}

/* T_comm is `before`, and longer by `more` after the points. */
static void assert_blank(double before, double more, double comp_ns, const char *expected)
{
	const struct result_about about = {
		.benchmark = "sender", .group = "overlap", .kind = RESULT_MAP, .ranks = 2};
	const struct map_pattern pattern = {.ack_latency = true};
	struct bench_run run = {.result = result_new(&about)};
	struct map m = {.run = &run, .pattern = &pattern, .bytes = 64, .clock_ns = CLOCK_NS};
	struct map_cell cell = {0};
	const struct result_point *p;

	spread(&m.before, before, 0);
	spread(&m.after, before + more, 0);
	spread(&cell.alone, comp_ns, 0);
	spread(&cell.beside, before, 0);
	spread(&cell.measured, before + comp_ns, 0);
	map_point_write(&m, &cell, (uint64_t)comp_ns);
	p = result_point_at(run.result, 0);
	assert_string_equal(classify_text(run.result, 0, "blank"), expected);
	assert_int_equal(isnan(result_number(p, "ratio")), *expected != 0);
	assert_int_equal(isnan(result_number(p, "ratio_low")), *expected != 0);
	samples_release(&cell.measured);
	samples_release(&cell.beside);
	samples_release(&cell.alone);
	samples_release(&m.after);
	samples_release(&m.before);
	result_free(run.result);
}

TEST(blank)
{
	static const struct {
		double before, more, comp;
		const char *why;
	} rows[] = {
		{1000, 0, 1000, ""},
		{1000, 190, 1000, ""},
		{10000, 190, 1000, ""},
		{1000, 0, 99, "T_comp is too short for the clock"},
		{99, 0, 1000, "T_comm is too short for the clock"},
		{1000, 250, 100000, "T_comm is not known well enough"},
		{1000, 250, 150, "T_comm is not known well enough"},
		{10000, 250, 1000, "T_comp is too short for how well T_comm is known"},
		{100000, 5000, 20000, "T_comp is too short for how well T_comm is known"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_blank(rows[i].before, rows[i].more, rows[i].comp, rows[i].why);
}
