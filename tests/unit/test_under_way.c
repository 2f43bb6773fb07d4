/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What is under way when a file is cut is in it once: whatever of it ends while it is read, and whenever its record comes. Moments: 1000
 * is the cut; spins and counts are read for the second time when they have come to 1100.
 */
#include <string.h>

#include "unit/test.h"
#include "abi/event.h"
#include "collect/under_way.h"

#define CUT 1000
#define TID 7

union any {
	struct pov_hdr hdr;
	struct pov_call call;
	struct pov_spin spin;
	struct pov_counted counted;
};

static union any told[8];
static size_t told_cnt;

static void on_told(void *ctx, const struct pov_hdr *rec)
{
	(void)ctx;
	assert_true(told_cnt < 8);
	memcpy(&told[told_cnt++], rec, rec->size < sizeof(told[0]) ? rec->size : sizeof(told[0]));
}

static union any of_kind(uint8_t kind, size_t bytes, uint64_t begin_ns, uint64_t end_ns)
{
	union any r = {.hdr = {.kind = kind, .size = (uint16_t)bytes, .tid = TID, .ts_ns = end_ns}};

	r.call.dur_ns = end_ns - begin_ns;
	return r;
}

static union any spin(uint64_t begin_ns, uint64_t end_ns)
{
	return of_kind(POV_KIND_SPIN, sizeof(struct pov_spin), begin_ns, end_ns);
}

static union any counted(uint16_t func, uint64_t begin_ns, uint64_t end_ns)
{
	union any r = of_kind(POV_KIND_COUNTED, sizeof(struct pov_counted), begin_ns, end_ns);

	r.counted.func = func;
	return r;
}

static union any call(uint64_t begin_ns, uint64_t end_ns)
{
	return of_kind(POV_KIND_CALL, sizeof(struct pov_call), begin_ns, end_ns);
}

/* Read twice with what is there each time (NULL: nothing); before and behind come records. */
static uint64_t cut(const union any *first, const union any *second, const union any *before,
		    const union any *behind)
{
	struct under_way u;

	told_cnt = 0;
	under_way_init(&u, CUT);
	if (before)
		under_way_record(&u, &before->hdr);
	if (first)
		under_way_open(&u, &first->hdr);
	under_way_again(&u);
	if (second)
		under_way_open(&u, &second->hdr);
	if (behind)
		under_way_record(&u, &behind->hdr);
	return under_way_tell(&u, on_told, NULL);
}

TEST(still_under_way)
{
	union any s = spin(500, 1100), c = counted(3, 400, 1100), l = call(300, CUT);

	assert_int_equal(cut(&s, &s, NULL, NULL), 0);
	assert_int_equal(told_cnt, 1);
	assert_int_equal(told[0].hdr.ts_ns, CUT);
	assert_int_equal(told[0].spin.dur_ns, 500);
	assert_true(told[0].hdr.flags & POV_SPIN_OPEN);
	cut(&c, &c, NULL, NULL);
	assert_int_equal(told_cnt, 1);
	assert_int_equal(told[0].counted.dur_ns, 600);
	assert_int_equal(cut(&l, &l, NULL, NULL), 1);
	assert_int_equal(told_cnt, 1);
}

/* The last poll was before the cut, and the spin is told when something else happens: it is in the file as that record. */
TEST(ended_before_and_told_behind)
{
	union any s = spin(500, 900), c = counted(3, 400, 900), other = counted(4, 400, 900);

	cut(&s, &s, NULL, &s);
	assert_int_equal(told_cnt, 0);
	cut(&c, &c, NULL, &c);
	assert_int_equal(told_cnt, 0);
	cut(&c, &c, NULL, &other); /* another function's count */
	assert_int_equal(told_cnt, 1);
}

/* It ends between the cut and the reading: its record belongs to what comes next, so the file has what was there at the cut. */
TEST(ended_while_it_was_read)
{
	union any s = spin(500, 1050), c = counted(3, 400, 1050), l = call(300, 1050);
	union any next = spin(1060, 1100);

	cut(NULL, &next, &s, NULL);
	assert_int_equal(told_cnt, 1);
	assert_int_equal(told[0].spin.dur_ns, 500);
	cut(NULL, NULL, NULL, &c);
	assert_int_equal(told_cnt, 1);
	assert_int_equal(told[0].counted.dur_ns, 600);
	assert_int_equal(cut(NULL, NULL, NULL, &l), 1);
	assert_int_equal(told[0].call.dur_ns, 700);
	assert_true(told[0].hdr.flags & POV_CALL_OPEN);
}

TEST(of_another_time)
{
	union any before = call(300, 900), behind = call(1010, 1050), s = spin(1010, 1050);

	cut(NULL, NULL, &before, &behind);
	assert_int_equal(told_cnt, 0);
	cut(NULL, &s, NULL, &s);
	assert_int_equal(told_cnt, 0);
}
