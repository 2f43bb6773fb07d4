/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Samples of where threads of targets run outside MPI: a clock on each CPU, POV_SAMPLES_HZ times a second. Unlike the switches they
 * are in proportion to time. Without them all else is recorded.
 */
#ifndef POV_RECORD_PLACE_SAMPLES_H
#define POV_RECORD_PLACE_SAMPLES_H

struct kernel;

/* Says why if it cannot. */
void place_samples_attach(struct kernel *k);

#endif
