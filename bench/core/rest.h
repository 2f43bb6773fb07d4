/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ranks that take no part in a measurement sleep (an MPI barrier would have them busy-wait on the very cores that are
 * measured).
 */
#ifndef POVBENCH_REST_H
#define POVBENCH_REST_H

#include "core/comm.h"

/* Sleeps until rank 0 wakes this one. */
void rest_until_woken(struct comm *c);
void rest_wake(struct comm *c, int rank);

#endif
