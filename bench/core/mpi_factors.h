/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The factors of a measurement that MPI tells: library, transport, thresholds, where the ranks are. */
#ifndef POVBENCH_MPI_FACTORS_H
#define POVBENCH_MPI_FACTORS_H

#include <jansson.h>

#include "core/comm.h"

/* All ranks call it; rank 0 gives an object to add to, the others null. */
void mpi_factors(struct comm *c, json_t *into);

#endif
