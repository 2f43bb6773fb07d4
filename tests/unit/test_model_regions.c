/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Regions: which end belongs to which begin, what was left without returning, when it is told, and its times. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "unit/model_fixture.h"

#define TOLD(f, ...) assert_told(f, (const char *const[]){__VA_ARGS__, NULL})

enum { MAIN, SOLVE, STEP };

/* One rank, thread 100, running on CPU 0 from the start. */
static void begin(struct mfix *f)
{
	mfix_begin(f, "\"sched\":\"all\",\"rings\":2,\"cpus_per_ring\":1,"
		      "\"regions\":[\"main\",\"solve\",\"step\"]");
	mfix_functions(f);
	mfix_rank(f, 1000, 100, 0, "app");
	put_task(f, 1000, 100, 100, 0, 1, 0, "app");
	put_switch(f, 1001, 1, 0, 0, 60);
}

static void enter(struct mfix *f, uint64_t ts, uint16_t region, uint64_t sp)
{
	put_region(f, ts, 100, region, sp, 0);
}

static void leave(struct mfix *f, uint64_t ts, uint16_t region, uint64_t sp)
{
	put_region(f, ts, 100, region, sp, POV_REGION_END);
}

static void finish(struct mfix *f, uint64_t end)
{
	mfix_end(f, end);
	mfix_open(f, true);
	mfix_run(f);
}

TEST(nesting_and_times)
{
	struct mfix f;

	begin(&f);
	enter(&f, 1010, MAIN, 0x900);
	enter(&f, 1020, SOLVE, 0x800);
	put_switch(&f, 1030, 0, 100, SLEEPS, 61);
	put_waking(&f, 1045, 1, 60, 100, 0);
	put_switch(&f, 1050, 0, 61, SLEEPS, 100);
	enter(&f, 1055, SOLVE, 0x700);
	leave(&f, 1060, SOLVE, 0x700);
	/* calls wait for nothing because of a region, nor do regions take part in their depth */
	put_call(&f, 1062, 1066, 0, 100, 100, "MPI_Barrier", 0, 0);
	leave(&f, 1070, SOLVE, 0x800);
	leave(&f, 1080, MAIN, 0x900);
	finish(&f, 1200);
	TOLD(&f, "region main 100 d0 begins 1010", "region solve 100 d1 begins 1020",
	     "region solve 100 d2 again begins 1055",
	     "region solve 100 d2 again returned 1055..1060 R5 Q0 B0 U0",
	     "call MPI_Barrier 100 d0 1062..1066 R4 Q0 B0 U0",
	     "region solve 100 d1 returned 1020..1070 R30 Q5 B15 U0",
	     "region main 100 d0 returned 1010..1080 R50 Q5 B15 U0");
	mfix_release(&f);
}

TEST(left_without_returning)
{
	struct mfix f;

	begin(&f);
	enter(&f, 1010, MAIN, 0x900);
	enter(&f, 1020, SOLVE, 0x800);
	enter(&f, 1030, STEP, 0x700);
	/* noticed by a function that is called where solve had been, */
	enter(&f, 1040, STEP, 0x800);
	leave(&f, 1050, STEP, 0x800);
	/* and by the return of what was around them */
	enter(&f, 1060, SOLVE, 0x800);
	enter(&f, 1070, STEP, 0x700);
	leave(&f, 1080, MAIN, 0x900);
	finish(&f, 1200);
	TOLD(&f, "region step 100 d2 unwound 1030..1040 R10 Q0 B0 U0",
	     "region solve 100 d1 unwound 1020..1040 R20 Q0 B0 U0",
	     "region step 100 d1 begins 1040",
	     "region step 100 d1 returned 1040..1050 R10 Q0 B0 U0",
	     "region step 100 d2 unwound 1070..1080 R10 Q0 B0 U0",
	     "region solve 100 d1 unwound 1060..1080 R20 Q0 B0 U0",
	     "region main 100 d0 returned 1010..1080 R70 Q0 B0 U0");
	mfix_release(&f);
}

/* Two that return at once have one stack pointer. */
TEST(ends_by_a_jump)
{
	struct mfix f;

	begin(&f);
	enter(&f, 1010, SOLVE, 0x800);
	put_region(&f, 1020, 100, STEP, 0x800, POV_REGION_CHAINED);
	leave(&f, 1030, STEP, 0x800);
	leave(&f, 1040, SOLVE, 0x800);
	finish(&f, 1200);
	TOLD(&f, "region step 100 d1 returned 1020..1030 R10 Q0 B0 U0",
	     "region solve 100 d0 returned 1010..1040 R30 Q0 B0 U0");
	assert_not_told(&f, "unwound");
	mfix_release(&f);
}

/* Begun before the recording, or lost: an end shows that what lay within is over, and is nothing itself. */
TEST(end_without_begin)
{
	struct mfix f;

	begin(&f);
	leave(&f, 1010, SOLVE, 0x800);
	enter(&f, 1020, STEP, 0x700);
	leave(&f, 1030, SOLVE, 0x800);
	finish(&f, 1200);
	TOLD(&f, "region step 100 d0 begins 1020",
	     "region step 100 d0 unwound 1020..1030 R10 Q0 B0 U0");
	assert_not_told(&f, "region solve");
	mfix_release(&f);
}

TEST(open_at_the_end)
{
	struct mfix f;

	begin(&f);
	put_task(&f, 1002, 200, 200, 1, 0, 1, "other");
	put_region(&f, 1010, 200, SOLVE, 0x800, 0);
	enter(&f, 1010, MAIN, 0x900);
	enter(&f, 1020, SOLVE, 0x800);
	put_exit(&f, 1050, 200, 200, 0);
	finish(&f, 1200);
	TOLD(&f, "region solve 200 d0 begins 1010", "region main 100 d0 begins 1010",
	     "region solve 100 d1 begins 1020");
	TOLD(&f, "region solve 100 d1 open 1020..1200 R180 Q0 B0 U0",
	     "region main 100 d0 open 1010..1200 R190 Q0 B0 U0");
	assert_non_null(strstr(f.text, "region solve 200 d0 open 1010.."));
	mfix_release(&f);
}

TEST(exec_ends_them)
{
	struct mfix f;

	begin(&f);
	enter(&f, 1010, MAIN, 0x900);
	put_exec(&f, 1050, 100, "next");
	enter(&f, 1060, MAIN, 0x700);
	leave(&f, 1070, MAIN, 0x700);
	finish(&f, 1200);
	TOLD(&f, "region main 100 d0 unwound 1010..1050 R40 Q0 B0 U0",
	     "region main 100 d0 returned 1060..1070 R10 Q0 B0 U0");
	mfix_release(&f);
}

/* Of one that the recording's list does not have nothing can be said. */
TEST(unknown_region)
{
	struct mfix f;

	begin(&f);
	enter(&f, 1010, 3, 0x900);
	enter(&f, 1020, UINT16_MAX, 0x900);
	finish(&f, 1200);
	assert_not_told(&f, "region");
	assert_int_equal(model_get_stats(f.model)->bad_records, 2);
	mfix_release(&f);
}

/* A pass leaves nothing behind for the next one. */
TEST(again)
{
	struct mfix f;
	char *first;

	begin(&f);
	enter(&f, 1010, MAIN, 0x900);
	finish(&f, 1200);
	first = strdup(f.text);
	mfix_run(&f);
	assert_string_equal(f.text, first);
	free(first);
	mfix_release(&f);
}
