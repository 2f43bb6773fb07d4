/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shared by povtrace and povtrace-mpi-t. mpi_t_main.c describes the lines that it prints. */
#ifndef POV_ADVISE_MPI_T_H
#define POV_ADVISE_MPI_T_H

#define MPI_T_SECONDS 10 /* after this time, the library counts as hung */

#endif
