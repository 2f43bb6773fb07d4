/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* How fast the CPU's counter runs by CLOCK_MONOTONIC, which the kernel slews: measured again and again. */
#ifndef POV_RECORD_HOST_CYCLE_RATE_H
#define POV_RECORD_HOST_CYCLE_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct cycle_rate {
	bool usable;
	uint64_t cycles, ns; /* both, when last measured */
	uint64_t rate;	     /* ns a cycle (CYCLES_RATE_BITS of lib/cycles.h); 0: not known */
};

/* Not usable where the kernel's clock is not made of that counter. */
void cycle_rate_begin(struct cycle_rate *r);
/*
 * To be called now and then: the rate since the last measurement, taken once that is long enough ago. 0: not known by now; for good if
 * the counter turns out not to be steady.
 */
uint64_t cycle_rate_get(struct cycle_rate *r);

#endif
