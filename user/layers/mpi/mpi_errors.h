/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Names of error classes by number. */
#ifndef POV_LAYERS_MPI_MPI_ERRORS_H
#define POV_LAYERS_MPI_MPI_ERRORS_H

#include <stdint.h>

enum mpi_errors { MPI_ERRORS_OPENMPI, MPI_ERRORS_MPICH, MPI_ERRORS_ABI, MPI_ERRORS_CNT };

/* "MPI_ERR_TRUNCATE", or NULL where a number has none; 0 is no error. */
const char *mpi_error_name(enum mpi_errors of, uint32_t class);

#endif
