/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What povtrace and povtrace-mpi-t have agreed on. The lines that it prints are described in mpi_t_main.c. */
#ifndef POV_ADVISE_MPI_T_H
#define POV_ADVISE_MPI_T_H

#define MPI_T_SECONDS 10 /* after that a library has hung */

#endif
