/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Factors of a measurement that MPI provides: library, transport, thresholds, rank locations. */
#ifndef POVBENCH_MPI_FACTORS_H
#define POVBENCH_MPI_FACTORS_H

#include <jansson.h>

#include "core/comm.h"

/* All ranks call it. Rank 0 passes the object to add to, the others null. */
void mpi_factors(struct comm *c, json_t *into);

#endif
