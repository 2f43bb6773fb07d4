/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Meta objects that describe the machine: its name, CPUs and caches (hwloc), and clocks. Also the
 * rate of its cycle counter.
 */
#ifndef POV_RECORD_HOST_HOST_H
#define POV_RECORD_HOST_HOST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

json_t *host_describe(void);	    /* "host"; the caller owns it */
json_t *host_clocks_describe(void); /* "clocks", all read at the same moment; the caller owns it */

/*
 * Describes the machine's RDMA adapters and their ports' addresses as meta object "adapters", which
 * the caller owns. NULL if there is no adapter. root is "/sys/class/infiniband".
 */
json_t *adapters_describe(const char *root);

/*
 * The rate of the CPU's cycle counter in terms of CLOCK_MONOTONIC. The kernel slews that clock, so
 * the rate is measured repeatedly.
 */
struct cycle_rate {
	bool usable;
	uint64_t cycles, ns; /* both read at the last measurement */
	/* ns per cycle (fixed point, CYCLES_RATE_BITS of lib/cycles.h); 0: unknown */
	uint64_t rate;
};

/* Leaves r unusable if the kernel's clock does not use this counter. */
void cycle_rate_begin(struct cycle_rate *r);
/*
 * Call this regularly. Measures the rate again if the last measurement is old enough, and returns
 * the newest rate. 0: not known yet. If the counter turns out not to be steady, returns 0 from then
 * on.
 */
uint64_t cycle_rate_get(struct cycle_rate *r);

#endif
