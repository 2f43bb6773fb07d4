/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The factors of a measurement that the node tells: machine, kernel, clock. */
#ifndef POVBENCH_HOST_H
#define POVBENCH_HOST_H

#include <jansson.h>

/* Adds host, cpu, governor, kernel, clock, environment, date and povbench's version. What cannot be had is left out. */
void host_factors(json_t *into);

#endif
