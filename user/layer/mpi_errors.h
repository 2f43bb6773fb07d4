/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Names of error classes by number; NULL where a number has none. */
#ifndef POV_LAYER_MPI_ERRORS_H
#define POV_LAYER_MPI_ERRORS_H

#define MPI_ERRORS_OPENMPI 84
#define MPI_ERRORS_MPICH 81
#define MPI_ERRORS_ABI 63

extern const char *const mpi_errors_openmpi[MPI_ERRORS_OPENMPI];
extern const char *const mpi_errors_mpich[MPI_ERRORS_MPICH];
extern const char *const mpi_errors_abi[MPI_ERRORS_ABI];

#endif
