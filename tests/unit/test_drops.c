/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Losses as records: each with bounds of what is missing, each counted once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "collect/drops.h"
#include "trace/trace_text.h"
#include "unit/trace_help.h"

#define RINGS 2
#define START 5000000000ull
#define UNIT (1ull << POV_DROP_UNIT_BITS)

static uint64_t counters[POV_COUNTERS], words[POV_DROPS];
static struct drops d;
static struct trace_writer *writer;

static int begin(void **state)
{
	static const struct trace_writer_options plain = {};

	(void)state;
	memset(counters, 0, sizeof(counters));
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

/* The records that were written: RING CLASS: CNT SINCE..TS, since START. */
static void losses_are(const char *wanted)
{
	char text[256] = "";
	struct replay got;

	assert_int_equal(trace_writer_finish(writer), 0);
	got = replay_all(temp_path("drops.pov"), &(struct trace_merge_options){0});
	assert_int_equal(got.err, 0);
	for (size_t i = 0; i < got.cnt; i++) {
		const struct pov_lost *r = (const struct pov_lost *)got.words + i;

		assert_int_equal(r->hdr.kind, POV_KIND_LOST);
		sprintf(text + strlen(text), "%u %s: %u %llu..%llu; ", r->ring,
			text_class_names[r->class], (unsigned int)r->cnt,
			(unsigned long long)(r->since_ns - START),
			(unsigned long long)(r->hdr.ts_ns - START));
	}
	free(got.words);
	assert_string_equal(text, wanted);
}

/* A call that began long before its record found no room; its begin is rounded down to a unit. */
TEST(bounds)
{
	note(1, POV_CLASS_CALL, 3, START + 123456789);
	sample(START + 987654321);
	sample(START + 987654322);
	losses_are("1 call: 3 123342336..987654321; ");
	assert_int_equal(d.total, 3);
}

/* What fits into no word is missing since the recording began, for all that is known. */
TEST(timeless)
{
	counters[POV_COUNT_DROP(RINGS, POV_CLASS_SCHED)] = 7;
	sample(START + 10);
	counters[POV_COUNT_DROP(RINGS, POV_CLASS_SCHED)] = 9;
	sample(START + 20);
	losses_are("2 sched: 7 0..10; 2 sched: 2 0..20; ");
	assert_int_equal(d.total, 9);
}

/* What began past the recording's end is no part of it. */
TEST(past_the_end)
{
	uint64_t end_ns = START + 1000 * UNIT;

	note(0, POV_CLASS_SCHED, 5, end_ns + 2 * UNIT);
	note(1, POV_CLASS_SCHED, 6, end_ns - 2 * UNIT);
	sample(end_ns);
	losses_are("1 sched: 6 261492224..262144000; ");
}

EACH_TEST(begin, NULL);
