/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds the offsets of members in Open MPI's objects, for mpi_library.c. */
#ifndef POV_LAYERS_MPI_LIBRARY_MPI_OPENMPI_H
#define POV_LAYERS_MPI_LIBRARY_MPI_OPENMPI_H

#include <stddef.h>

#include "abi/config.h"

struct elf_file;

/*
 * Fills the member offsets of *layout from the file; POV_OFF_NONE if unknown. unsure describes what
 * is missing or odd ("": nothing).
 */
void mpi_openmpi_layout(const struct elf_file *f, struct pov_lib *layout, char *unsure,
			size_t bytes);

#endif
