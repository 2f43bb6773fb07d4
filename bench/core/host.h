/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Factors of a measurement that the node provides: machine, kernel, clock. */
#ifndef POVBENCH_HOST_H
#define POVBENCH_HOST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Adds host, cpu, kernel, clock, environment, date and povbench's version, if available. */
void host_factors(json_t *into);

/*
 * Time in ns, since its start, that this process's main thread was ready to run but had no core.
 * Returns false if the kernel does not count it.
 */
bool host_core_wait_ns(uint64_t *out);

/*
 * True if the code of a timed MPI function in memory differs from its file. Then it has a tracer's
 * probe, and each call takes about a microsecond more. False also if the code cannot be read.
 */
bool probed_mpi(void);

#endif
