/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Samples where threads of targets run outside MPI, with a clock on each CPU, POV_SAMPLES_HZ times
 * a second. Unlike context switches, samples are in proportion to time. The rest of the recording
 * works without them.
 */
#ifndef POV_RECORD_PLACE_SAMPLES_H
#define POV_RECORD_PLACE_SAMPLES_H

struct kernel;

/* Attaches the clocks. Prints the reason if this fails. */
void place_samples_attach(struct kernel *k);

#endif
