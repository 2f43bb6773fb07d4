/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a probe hit costs here and now: times functions of our own with and without the recorder's own
 * programs on them, in a child process that is a target for that moment.
 */
#ifndef POV_RECORD_PROBES_CALIBRATE_H
#define POV_RECORD_PROBES_CALIBRATE_H

#include <stdint.h>
#include <sys/types.h>

struct kernel;

struct probe_cost {
	double call_ns;	   /* added to a recorded call (entry and return) */
	double spin_ns;	   /* added to an empty poll */
	double stepped_ns; /* as call_ns, where the kernel single-steps the instruction */
	double counted_ns; /* as call_ns, where calls are counted only */
	uint32_t samples;
	double preload_ns; /* added to a call that its process records itself; 0: none does, or not known; … */
	double preload_counted_ns; /* … or that it counts itself */
};

/* Recipes of the functions that are used for it, to be put behind those of the function table. */
#define CALIBRATE_ROWS 3
struct pov_fn;
void calibrate_recipes(struct pov_fn *fns);

/* Under way between calibrate_start and calibrate_wait, in a process of its own; all 0: none. */
struct calibration {
	pid_t pid;
	int answer_fd;
};

/* first_row: of the recipes. 0 or -errno. */
int calibrate_start(struct kernel *k, uint32_t first_row, struct calibration *out);
/* The records it made are in the rings afterwards: drop them. 0 or -errno; then nothing was measured. */
int calibrate_wait(struct kernel *k, struct calibration *c, struct probe_cost *out);
/*
 * At the recording's end: the process then gives its probes back (perf events), or may still be doing so. Nobody waits for it.
 */
void calibrate_leave(struct calibration *c);

#endif
