/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Which findings tell of time that others tell of. */

#include "unit/test.h"
#include "finding/find.h"

static struct contest contest[] = {{.ns = 700}, {.ns = 100}, {.ns = 250}, {.ns = 1000}};
static uint32_t all[] = {0, 1, 2, 3};

static void find(struct finding *found, uint32_t n)
{
	struct findings f = {.finding = found, .n = n, .contest = contest, .ncontest = 4};

	find_same_time(&f);
}

/* Of a finding's 1050 ns another one tells 800, then, with one more contest, 950 of 1050. */
TEST(four_fifths)
{
	struct finding found[] = {
		{.kind = "preempted_in_mpi", .contest = all, .ncontest = 3},
		{.kind = "core_held_by_others", .contest = all, .ncontest = 2},
		{.kind = "late_sender"},
	};

	find(found, 3);
	assert_null(found[0].told_by);
	contest[2].ns = 200;
	find(found, 3);
	assert_string_equal(found[0].told_by, "core_held_by_others");
	assert_null(found[1].told_by); /* whatever else tells of it: it says more of the cause */
	assert_null(found[2].told_by); /* of no core at all */
	contest[2].ns = 250;
}

/* What is told by two others is named after the one that tells most of it; and what is told itself tells of nothing. */
TEST(by_several)
{
	struct finding found[] = {
		{.kind = "polling_holds_core", .contest = all, .ncontest = 4},
		{.kind = "threads_share_cores", .contest = all + 1, .ncontest = 3},
		{.kind = "communication_starved", .contest = all + 3, .ncontest = 1},
		{.kind = "oversubscribed", .contest = all, .ncontest = 1},
	};

	find(found, 4);
	assert_null(found[1].told_by); /* 1000 of 1350 */
	assert_null(found[2].told_by);
	assert_null(found[3].told_by);
	assert_string_equal(found[0].told_by, "threads_share_cores");
	contest[2].ns = 100;
	find(found, 4);
	assert_string_equal(found[1].told_by, "communication_starved");
	assert_string_equal(found[0].told_by, "communication_starved");
	contest[2].ns = 250;
}
