/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Findings about time that other findings already explain. */
#include "unit/test.h"
#include "analysis/find.h"

static struct contest contest[] = {{.ns = 700}, {.ns = 100}, {.ns = 250}, {.ns = 1000}};
static uint32_t all[] = {0, 1, 2, 3};

static void find(struct finding *found, uint32_t n)
{
	struct findings f = {.finding = found, .n = n, .contest = contest, .ncontest = 4};

	find_same_time(&f);
}

/* Another finding explains 800 of a finding's 1050 ns, then, with one more contest, 950. */
TEST(four_fifths)
{
	struct finding found[] = {
		{.kind = "preempted_in_mpi", .contest = all, .ncontest = 3},
		{.kind = "core_held_by_others", .contest = all, .ncontest = 2},
		{.kind = "late_sender"},
	};

	find(found, 3);
	assert_null(found[0].explained_by);
	contest[2].ns = 200;
	find(found, 3);
	assert_string_equal(found[0].explained_by, "core_held_by_others");
	assert_null(
		found[1].explained_by); /* it is closer to the cause, whatever else explains it */
	assert_null(found[2].explained_by); /* has no contests */
	contest[2].ns = 250;
}

/*
 * A finding that two others explain names the one that explains most of it. An explained finding
 * explains nothing.
 */
TEST(by_several)
{
	struct finding found[] = {
		{.kind = "polling_holds_core", .contest = all, .ncontest = 4},
		{.kind = "threads_share_cores", .contest = all + 1, .ncontest = 3},
		{.kind = "communication_starved", .contest = all + 3, .ncontest = 1},
		{.kind = "oversubscribed", .contest = all, .ncontest = 1},
	};

	find(found, 4);
	assert_null(found[1].explained_by); /* 1000 of 1350 */
	assert_null(found[2].explained_by);
	assert_null(found[3].explained_by);
	assert_string_equal(found[0].explained_by, "threads_share_cores");
	contest[2].ns = 100;
	find(found, 4);
	assert_string_equal(found[1].explained_by, "communication_starved");
	assert_string_equal(found[0].explained_by, "communication_starved");
	contest[2].ns = 250;
}
