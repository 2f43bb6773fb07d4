/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Overlap benchmarks on machines with disturbed computations (model.h), where either everything
 * overlaps or nothing does. Seeds choose the machines, benchmarks and amounts. A map must show the
 * truth or nothing.
 */
#ifndef POVBENCH_DISTURBED_H
#define POVBENCH_DISTURBED_H

/* Runs seeds from 1 on. Prints errors as TAP and returns the number of seeds with an error. */
unsigned int disturbed_run(unsigned int seeds);

#endif
