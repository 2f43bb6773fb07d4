/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/host/cycle_rate.h"

#include <stdio.h>
#include <string.h>

#include "lib/cycles.h"
#include "lib/log.h"
#include "record/kernel.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define FIRST_NS 20000000ull   /* a first rate, good to 2 ppm */
#define AGAIN_NS 1000000000ull /* and better ones */
#define TRIES 5
#define APART_NS_MAX 1000 /* two readings further apart were interrupted */
/* The kernel slews its clock by at most 500 ppm; one of the rates may be a first one. */
#define CHANGE_PPM_MAX 1000

static bool clocksource_fits(void)
{
	FILE *f = fopen(CLOCKSOURCE, "re");
	char name[64] = "";

	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		*name = '\0';
	fclose(f);
	name[strcspn(name, "\n")] = '\0';
	return cycles_are(name);
}

/* The closest pair of several; false: all were interrupted. */
static bool read_both(uint64_t *cycles, uint64_t *ns)
{
	uint64_t closest = UINT64_MAX, before, now, after;

	for (int i = 0; i < TRIES; i++) {
		before = kernel_now_ns();
		now = cycles_read();
		after = kernel_now_ns();
		if (after - before >= closest)
			continue;
		closest = after - before;
		*cycles = now;
		*ns = before + closest / 2;
	}
	return closest <= APART_NS_MAX;
}

void cycle_rate_begin(struct cycle_rate *r)
{
	*r = (struct cycle_rate){0};
	r->usable = cycles_readable() && clocksource_fits() && read_both(&r->cycles, &r->ns);
}

static bool is_near(uint64_t rate, uint64_t last)
{
	uint64_t apart = rate > last ? rate - last : last - rate;

	return !last || apart <= last / 1000000 * CHANGE_PPM_MAX;
}

uint64_t cycle_rate_get(struct cycle_rate *r)
{
	uint64_t cycles, ns, rate, past;

	if (!r->usable || kernel_now_ns() - r->ns < (r->rate ? AGAIN_NS : FIRST_NS) ||
	    !read_both(&cycles, &ns))
		return r->rate;
	past = cycles - r->cycles;
	rate = past ? (uint64_t)(((__uint128_t)(ns - r->ns) << CYCLES_RATE_BITS) / past) : 0;
	if (!rate || rate >> CYCLES_RATE_BITS > 1 || !is_near(rate, r->rate)) {
		log_debug("clock: the CPU's counter is not steady");
		r->usable = false;
		rate = 0;
	}
	r->cycles = cycles;
	r->ns = ns;
	return r->rate = rate;
}
