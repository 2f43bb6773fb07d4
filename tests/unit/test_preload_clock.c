/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The clock of processes that record their own calls, compared with CLOCK_MONOTONIC. The collector
 * measures the rate of the CPU's counter for it. If the kernel's clock does not use that counter,
 * there is no rate, and the kernel's clock is used.
 */
#include <sys/auxv.h>
#include <time.h>

#include "unit/test.h"
#include "record/host/host.h"
#include "preload/clock.c"
#include "preload/loaded.c"

/* A correct clock is this near to the interval between two readings of the other. */
#define APART_NS 2000
/* More readings outside than this fail; a busy machine interrupts a few. */
#define OUTLIERS_PCT 5
#define RATE_WAIT_NS 30000000
#define TOO_EARLY_NS 10000000 /* too early for a first rate */

static struct pov_preload_setup own;
const struct pov_preload_setup *setup = &own;

static void wait_ns(long ns)
{
	const struct timespec t = {.tv_nsec = ns};

	nanosleep(&t, NULL);
}

/* Returns the rate; 0: this machine has none. */
static uint64_t rate_find(struct cycle_rate *r)
{
	uint64_t rate, begun = kernel_ns();

	clock_begin(getauxval(AT_SYSINFO_EHDR));
	cycle_rate_begin(r);
	rate = cycle_rate_get(r);
	if (kernel_ns() - begun < TOO_EARLY_NS)
		assert_int_equal(rate, 0);
	for (int i = 0; i < 20 && r->usable && !rate; i++) {
		wait_ns(RATE_WAIT_NS);
		rate = cycle_rate_get(r);
	}
	return rate;
}

struct comparison {
	uint64_t last;
	int readings, outliers;
};

/* Reads the clock between two readings of the kernel's clock. */
static uint64_t reading_compare(struct comparison *c, uint64_t slack_ns, uint64_t ahead_ns)
{
	uint64_t before = kernel_ns(), now = clock_now(), after = kernel_ns();

	assert_true(now >= c->last);
	c->last = now;
	c->readings++;
	c->outliers += now + slack_ns < before || now > after + slack_ns + ahead_ns;
	return now;
}

static void comparison_check(const struct comparison *c)
{
	assert_true(c->outliers * 100 <= c->readings * OUTLIERS_PCT);
}

static void check_near(int readings, bool naps, uint64_t ahead_ns)
{
	struct comparison c = {0};

	for (int i = 0; i < readings; i++) {
		reading_compare(&c, APART_NS, ahead_ns);
		if (naps && !(i % 50))
			wait_ns(i * 1000L);
	}
	comparison_check(&c);
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
	check_near(10000, false, 0); /* also for a thread that had a rate */
	cycle_clock = (struct cycle_clock){0};
	check_near(10000, false, 0);
}

/*
 * The kernel may slew its clock by 500 ppm between two measurements of the rate. The clock must
 * then never go back, and be off by no more than the slew of a millisecond.
 */
static void check_slewed(uint64_t rate)
{
	uint64_t end = kernel_ns() + 50000000;
	struct comparison c = {0};

	cycle_clock = (struct cycle_clock){0};
	own.cycle_rate = rate;
	while (reading_compare(&c, APART_NS + 1000, 0) < end)
		;
	comparison_check(&c);
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
 * After the machine slept or migrated, the counter has another meaning. The clock may then be a
 * millisecond ahead.
 */
TEST(counter_jumps)
{
	struct cycle_rate r;

	own.cycle_rate = rate_find(&r);
	cycle_clock = (struct cycle_clock){0};
	check_near(10, false, 0);
	cycle_clock.cycles += 1ull << 40; /* the counter restarts */
	check_near(1000, false, LIMIT_NS);
	cycle_clock.cycles -= 1ull << 40;
	check_near(1000, false, LIMIT_NS);
}

/* If two rates differ by more than a kernel slews, the counter is no longer used. */
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
