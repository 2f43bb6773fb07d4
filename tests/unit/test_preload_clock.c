/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The clock of processes that record their calls themselves, against CLOCK_MONOTONIC; and the rate of the CPU's counter, which the collector
 * measures for it. Where the kernel's clock is not made of that counter there is no rate, and the clock is the C library's.
 */

#include "unit/test.h"
#include "collect/cycle_rate.h"
#include "preload/clock.c"

#define APART_NS 2000 /* of two readings of the two clocks */
#define RATE_WAIT_NS 30000000
#define TOO_EARLY_NS 10000000 /* for a first rate */

static struct pov_preload_setup own;
const struct pov_preload_setup *setup = &own;

static void wait_ns(long ns)
{
	const struct timespec t = {.tv_nsec = ns};

	nanosleep(&t, NULL);
}

/* 0: there is none here. */
static uint64_t rate_find(struct cycle_rate *r)
{
	uint64_t rate, begun = library_ns();

	cycle_rate_begin(r);
	rate = cycle_rate_get(r);
	if (library_ns() - begun < TOO_EARLY_NS)
		assert_int_equal(rate, 0);
	for (int i = 0; i < 20 && r->usable && !rate; i++) {
		wait_ns(RATE_WAIT_NS);
		rate = cycle_rate_get(r);
	}
	return rate;
}

static void check_near(int readings, bool naps, uint64_t ahead_ns)
{
	uint64_t before, now, last = 0;

	for (int i = 0; i < readings; i++) {
		before = library_ns();
		now = clock_now();
		assert_true(now + APART_NS >= before);
		assert_true(now <= library_ns() + APART_NS + ahead_ns);
		assert_true(now >= last);
		last = now;
		if (naps && !(i % 50))
			wait_ns(i * 1000L);
	}
}

TEST(is_the_kernels)
{
	struct cycle_rate r;

	cycle_clock = (struct cycle_clock){0};
	own.cycle_rate = rate_find(&r);
	check_near(100000, false, 0);
	check_near(3000, true, 0);
}

TEST(without_a_rate)
{
	own.cycle_rate = 0;
	check_near(10000, false, 0); /* also a thread that had one */
	cycle_clock = (struct cycle_clock){0};
	check_near(10000, false, 0);
}

/* The kernel may slew its clock by 500 ppm before the rate is measured again: never back, and off by a millisecond's slew at most. */
static void check_slewed(uint64_t rate)
{
	uint64_t end = library_ns() + 50000000, last = 0, before, now;

	cycle_clock = (struct cycle_clock){0};
	own.cycle_rate = rate;
	do {
		before = library_ns();
		now = clock_now();
		assert_true(now >= last);
		assert_true(now + APART_NS + 1000 >= before);
		assert_true(now <= library_ns() + APART_NS + 1000);
		last = now;
	} while (now < end);
}

TEST(slewed)
{
	struct cycle_rate r;
	uint64_t rate = rate_find(&r);

	if (!rate)
		skip();
	check_slewed(rate + rate / 2000);
	check_slewed(rate - rate / 2000);
}

/*
 * The machine slept, or the process was moved to another one: what the counter says has nothing to do with
 * what it said. What was told last is not known then, but for a millisecond.
 */
TEST(counter_jumps)
{
	struct cycle_rate r;

	own.cycle_rate = rate_find(&r);
	cycle_clock = (struct cycle_clock){0};
	check_near(10, false, 0);
	cycle_clock.cycles += 1ull << 40; /* it begins anew */
	check_near(1000, false, LIMIT_NS);
	cycle_clock.cycles -= 1ull << 40;
	check_near(1000, false, LIMIT_NS);
}

/* Two rates that differ by more than a kernel slews: the counter is not to be trusted any more. */
TEST(unsteady)
{
	struct cycle_rate r;

	if (!rate_find(&r))
		skip();
	r.ns -= 2000000000;
	r.cycles -= 1000000;
	assert_int_equal(cycle_rate_get(&r), 0);
	assert_false(r.usable);
	wait_ns(RATE_WAIT_NS);
	assert_int_equal(cycle_rate_get(&r), 0);
}
