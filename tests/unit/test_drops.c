/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Losses as records: each with bounds of what is missing, each counted once.
 */
#include <stdlib.h>

#include "unit/test.h"
#include "collect/drops.h"
#include "trace_help.h"

#define RINGS 2
#define START 5000000000ull
#define UNIT (1ull << POV_DROP_UNIT_BITS)

static const struct trace_writer_options plain = {};

static uint64_t counters[POV_COUNTERS], words[POV_DROPS];
static struct drops d;
static struct trace_writer *writer;
static struct replay got;

static int begin(void **state)
{
	(void)state;
	for (int i = 0; i < POV_COUNTERS; i++)
		counters[i] = 0;
	drops_init(&d, counters, words, RINGS, START);
	return trace_writer_open(temp_path("drops.pov"), &plain, &writer);
}

/* As the kernel half notes it (bpf/drop.bpf.c). */
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

static void finish(void)
{
	assert_int_equal(trace_writer_finish(writer), 0);
	got = replay_all(temp_path("drops.pov"), &(struct trace_merge_options){0});
	assert_int_equal(got.err, 0);
}

static const struct pov_lost *lost(size_t n)
{
	const struct pov_lost *r = (const struct pov_lost *)got.words + n;

	assert_true(n < got.cnt);
	assert_int_equal(r->hdr.kind, POV_KIND_LOST);
	return r;
}

/* A call that began long before its record found no room. */
TEST(bounds)
{
	uint64_t begin_ns = START + 123456789, now_ns = START + 987654321;

	note(1, POV_CLASS_CALL, 3, begin_ns);
	sample(now_ns);
	sample(now_ns + 1);
	finish();
	assert_int_equal(got.cnt, 1);
	assert_int_equal(lost(0)->cnt, 3);
	assert_int_equal(lost(0)->ring, 1);
	assert_int_equal(lost(0)->class, POV_CLASS_CALL);
	assert_true(lost(0)->since_ns <= begin_ns && lost(0)->since_ns + UNIT > begin_ns);
	assert_int_equal(lost(0)->hdr.ts_ns, now_ns);
	assert_int_equal(d.total, 3);
	free(got.words);
}

/* What fits into no word is missing since the recording began, for all that is known. */
TEST(timeless)
{
	counters[POV_COUNT_DROP(RINGS, POV_CLASS_SCHED)] = 7;
	sample(START + 10);
	counters[POV_COUNT_DROP(RINGS, POV_CLASS_SCHED)] = 9;
	sample(START + 20);
	finish();
	assert_int_equal(got.cnt, 2);
	assert_int_equal(lost(0)->cnt, 7);
	assert_int_equal(lost(0)->since_ns, START);
	assert_int_equal(lost(1)->cnt, 2);
	assert_int_equal(lost(1)->since_ns, START);
	assert_int_equal(d.total, 9);
	free(got.words);
}

/* What began behind the recording's end is no part of it. */
TEST(behind_the_end)
{
	uint64_t end_ns = START + 1000 * UNIT;

	note(0, POV_CLASS_SCHED, 5, end_ns + 2 * UNIT);
	note(1, POV_CLASS_SCHED, 6, end_ns - 2 * UNIT);
	sample(end_ns);
	finish();
	assert_int_equal(got.cnt, 1);
	assert_int_equal(lost(0)->cnt, 6);
	assert_int_equal(lost(0)->hdr.ts_ns, end_ns);
	free(got.words);
}

EACH_TEST(begin, NULL);
