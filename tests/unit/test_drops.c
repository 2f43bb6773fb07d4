/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Losses as records: each has bounds of what is missing, and each is counted once. */
#include "unit/test.h"
#include "record/drops.h"
#include "unit/trace_help.h"

#define RINGS 2
#define START 5000000000ull
#define UNIT (1ull << POV_DROP_UNIT_BITS)

static uint64_t counters[POV_COUNTERS], words[POV_DROPS];
static struct drops d;
static struct trace_writer *writer;

static int begin(void **state)
{
	memset(counters, 0, sizeof(counters));
	drops_init(&d, counters, words, RINGS, START);
	writer = writer_begin(temp_path("drops.pov"));
	return 0;
}

/* Notes a loss as the kernel half does (bpf/drop.bpf.c). */
static void note(unsigned int ring, unsigned int class, uint64_t cnt, uint64_t begin_ns)
{
	words[POV_COUNT_DROP(ring, class)] =
		(begin_ns >> POV_DROP_UNIT_BITS & POV_DROP_UNIT_MASK) << POV_DROP_CNT_BITS | cnt;
}

static void sample(uint64_t now_ns)
{
	drops_take(&d);
	drops_write(&d, writer, now_ns);
}

static void losses_are(const char *wanted)
{
	struct replay got;

	writer_end(writer);
	got = replay_good(temp_path("drops.pov"));
	assert_prints(wanted, out, replay_print(&got, out));
	free(got.words);
}

/* A call that began long before its record was lost. Its begin is rounded down to a unit. */
TEST(bounds)
{
	note(1, POV_CLASS_CALL, 3, START + 123456789);
	sample(START + 987654321);
	sample(START + 987654322);
	losses_are("lost ts=5987654321 tid=0 since=5123342336 cnt=3 ring=1 class=call\n");
	assert_int_equal(d.total, 3);
}

/* A loss without a time may have happened at any time since the recording began. */
TEST(timeless)
{
	counters[POV_COUNT_DROP(RINGS, POV_CLASS_SCHED)] = 7;
	sample(START + 10);
	counters[POV_COUNT_DROP(RINGS, POV_CLASS_SCHED)] = 9;
	sample(START + 20);
	losses_are("lost ts=5000000010 tid=0 since=5000000000 cnt=7 ring=2 class=sched\n"
		   "lost ts=5000000020 tid=0 since=5000000000 cnt=2 ring=2 class=sched\n");
	assert_int_equal(d.total, 9);
}

/* A loss after the recording's end is not part of it. */
TEST(past_the_end)
{
	uint64_t end_ns = START + 1000 * UNIT;

	note(0, POV_CLASS_SCHED, 5, end_ns + 2 * UNIT);
	note(1, POV_CLASS_SCHED, 6, end_ns - 2 * UNIT);
	sample(end_ns);
	losses_are("lost ts=5262144000 tid=0 since=5261492224 cnt=6 ring=1 class=sched\n");
}

EACH_TEST(begin, NULL);
