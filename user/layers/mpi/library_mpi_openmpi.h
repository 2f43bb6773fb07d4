/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Where Open MPI keeps the members of its objects, for mpi_library.c. */
#ifndef POV_LAYERS_MPI_LIBRARY_MPI_OPENMPI_H
#define POV_LAYERS_MPI_LIBRARY_MPI_OPENMPI_H

#include <stddef.h>

#include "abi/config.h"

struct elf_file;

/*
 * Fills the member offsets of *layout from what the file tells; POV_OFF_NONE where it does not. What is
 * missing or odd is said in unsure ("" if nothing).
 */
void mpi_openmpi_layout(const struct elf_file *f, struct pov_lib *layout, char *unsure,
			size_t bytes);

#endif
