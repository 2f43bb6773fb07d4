/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Overlap benchmarks on machines whose computations are disturbed (model.h) and where either everything overlaps or
 * nothing does. Machines, benchmarks and the amounts are drawn by seeds. What a map says must be that, or nothing.
 */
#ifndef POVBENCH_DISTURBED_H
#define POVBENCH_DISTURBED_H

/* Seeds from 1 on. Prints, as TAP, what is wrong; returns the number of seeds with something. */
unsigned int disturbed_run(unsigned int seeds);

#endif
