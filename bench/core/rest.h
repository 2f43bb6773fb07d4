/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Lets idle ranks sleep during a measurement. (In an MPI barrier they would poll on the very cores
 * that are measured.)
 */
#ifndef POVBENCH_REST_H
#define POVBENCH_REST_H

#include "core/comm.h"

/* Sleeps until rank 0 wakes this rank. */
void rest_until_woken(struct comm *c);
void rest_wake(struct comm *c, int rank);

#endif
