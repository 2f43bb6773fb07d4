/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Making and ending a space; for mpi_spaces.c, which keeps them. */
#ifndef POV_LAYER_MPI_SPACE_PRIV_H
#define POV_LAYER_MPI_SPACE_PRIV_H

#include "layer/mpi_space.h"

void mpi_space_init(struct mpi_space *s, const struct mpi_flavour_info *flavour);
void mpi_space_release(struct mpi_space *s);

#endif
