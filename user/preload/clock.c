/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */

#include <linux/prctl.h>
#include <linux/time_types.h>

#include "preload/library.h"

#define CLOCK_MONOTONIC 1
#define LIMIT_NS 1000000ull
#define TRIES 2 /* pairs of readings; the closest is used, because a signal may interrupt one */
#define APART_NS_MAX 1000 /* pairs further apart are not used */

__thread struct cycle_clock cycle_clock;

static long (*vdso_clock)(long clock, struct __kernel_timespec *ts);
static bool is_readable; /* this process may read the counter */

void clock_begin(u64 vdso)
{
	int how;

	vdso_clock = (long (*)(long, struct __kernel_timespec *))loaded_vdso_symbol(
		vdso, "__vdso_clock_gettime");
	is_readable = !sys3(__NR_prctl, PR_GET_TSC, (long)&how, 0) && how == PR_TSC_ENABLE;
}

static u64 kernel_ns(void)
{
	struct __kernel_timespec ts;

	if (!vdso_clock || vdso_clock(CLOCK_MONOTONIC, &ts))
		sys3(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0);
	return (u64)ts.tv_sec * 1000000000u + (u64)ts.tv_nsec;
}

/* Returns the latest time that clock_now can have returned so far. */
static u64 clock_latest_ns(const struct cycle_clock *c)
{
	u64 past = c->limit ? cycles_read() - c->cycles : 0, ns;

	ns = c->ns + ((past < c->limit ? past : c->limit) * c->rate >> CYCLES_RATE_BITS);
	return ns > c->floor ? ns : c->floor;
}

/* Reads both clocks. Returns the cycles between the readings. */
static u64 read_both(struct cycle_clock *c)
{
	u64 closest = ~0ull, before, after, ns;

	for (int i = 0; i < TRIES; i++) {
		before = cycles_read();
		ns = kernel_ns();
		after = cycles_read();
		if (after - before >= closest)
			continue;
		closest = after - before;
		c->cycles = before + closest / 2;
		c->ns = ns;
	}
	return closest;
}

u64 clock_renew(void)
{
	u64 rate = __atomic_load_n(&setup->cycle_rate, __ATOMIC_RELAXED), ns, apart;
	struct cycle_clock *c = &cycle_clock;

	c->floor = clock_latest_ns(c);
	if (!rate || !is_readable) {
		c->limit = 0;
		ns = kernel_ns();
		return ns > c->floor ? ns : c->floor;
	}
	apart = read_both(c);
	c->rate = rate;
	c->limit = apart * rate >> CYCLES_RATE_BITS > APART_NS_MAX ?
			   0 :
			   (LIMIT_NS << CYCLES_RATE_BITS) / rate;
	return clock_latest_ns(c);
}
