/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The factors of a measurement that the node tells: machine, kernel, clock. */
#ifndef POVBENCH_HOST_H
#define POVBENCH_HOST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Adds host, cpu, kernel, clock, environment, date and povbench's version. What cannot be had is left out. */
void host_factors(json_t *into);

/*
 * How long this process's main thread has been ready to run without getting a core, ns, since it began. False if the
 * kernel does not count it.
 */
bool host_core_wait_ns(uint64_t *out);

#endif
