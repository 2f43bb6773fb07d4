/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The predefined objects of each MPI family, for mpi_library.c. */
#ifndef POV_LAYERS_MPI_LIBRARY_MPI_NAMED_H
#define POV_LAYERS_MPI_LIBRARY_MPI_NAMED_H

#include "layers/mpi/library_mpi_layout.h"

struct elf_file;

/* Fills lib->named by lib->flavour; of Open MPI with those that the file defines, their sizes read by lib->layout. */
void mpi_named_fill(const struct elf_file *f, struct mpi_library *lib);

#endif
