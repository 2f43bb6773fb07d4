/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a probe hit costs here and now: times a function of our own with and without the recorder's own
 * programs on it, in a child process that is a target for that moment.
 */
#ifndef POV_COLLECT_CALIBRATE_H
#define POV_COLLECT_CALIBRATE_H

#include <stdint.h>

struct kernel;

struct probe_cost {
	double call_ns;	   /* added to a recorded call (entry and return) */
	double spin_ns;	   /* added to an empty poll */
	double stepped_ns; /* as call_ns, where the kernel single-steps the instruction */
	uint32_t samples;
};

/* Rows of the function table used for it; their recipes are set by calibrate_recipes. */
#define CALIBRATE_ROW_CALL (POV_FUNCS_MAX - 1)
#define CALIBRATE_ROW_SPIN (POV_FUNCS_MAX - 2)

struct pov_fn;
void calibrate_recipes(struct pov_fn *fns);
/* The records it makes are in the rings afterwards, under *pid: drop them. 0 or -errno (said in debug). */
int calibrate_run(struct kernel *k, struct probe_cost *out, uint32_t *pid);

#endif
