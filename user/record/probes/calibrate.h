/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Measures the cost of a probe hit on this machine: times our own functions with and without the
 * recorder's BPF programs attached. This runs in a child process that is a target meanwhile.
 */
#ifndef POV_RECORD_PROBES_CALIBRATE_H
#define POV_RECORD_PROBES_CALIBRATE_H

#include <stdint.h>
#include <sys/types.h>

struct kernel;

struct probe_cost {
	double call_ns;	   /* added to a recorded call (entry and return) */
	double spin_ns;	   /* added to an empty poll */
	double stepped_ns; /* like call_ns, for a probed instruction that the kernel single-steps */
	double counted_ns; /* like call_ns, for calls that are only counted */
	uint32_t samples;
	double preload_ns; /* added to a call that its process records; 0: none does, or unknown */
	/* added to a call that its process counts; 0: none does, or unknown */
	double preload_counted_ns;
};

/*
 * Writes the recipes of the calibration functions. They belong after those of the function table.
 */
#define CALIBRATE_ROWS 3
struct pov_fn;
void calibrate_recipes(struct pov_fn *fns);

/*
 * A calibration that runs in its own process between calibrate_start and calibrate_wait. All zero:
 * none.
 */
struct calibration {
	pid_t pid;
	int answer_fd;
};

/* first_row is the row of the first calibration recipe. 0 or -errno. */
int calibrate_start(struct kernel *k, uint32_t first_row, struct calibration *out);
/*
 * Waits for the results. The rings then hold records of the calibration, which the caller must
 * drop. 0, or -errno if nothing was measured.
 */
int calibrate_wait(struct kernel *k, struct calibration *c, struct probe_cost *out);
/*
 * Call this at the end of the recording. The child may still be removing its probes (perf events);
 * nobody waits for it.
 */
void calibrate_leave(struct calibration *c);

#endif
