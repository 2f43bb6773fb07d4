/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Making and releasing a struct mpi_process; for mpi_processes.c, which keeps them. */
#ifndef POV_LAYER_MPI_PROCESS_PRIV_H
#define POV_LAYER_MPI_PROCESS_PRIV_H

#include "layer/mpi_process.h"

void mpi_process_init(struct mpi_process *s, const struct mpi_flavour_info *flavour);
void mpi_process_release(struct mpi_process *s);
/* Frees the values, and leaves an empty map. */
void mpi_map_free(struct map *m, void (*value_free)(void *value));

#endif
