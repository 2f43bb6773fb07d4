/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The predefined objects of each MPI family, for mpi_library.c. */
#ifndef POV_ELF_MPI_NAMED_H
#define POV_ELF_MPI_NAMED_H

#include <stdint.h>

#include "elf/mpi_library.h"

/* Each returns how many it put into *out, which the caller frees (NULL if 0). */

/* Open MPI: those of its objects that the file defines; sizes are read from the file. */
uint32_t mpi_named_objects(const struct elf_file *f, uint16_t type_size_off,
			   struct mpi_named **out);
uint32_t mpi_named_mpich(struct mpi_named **out);
uint32_t mpi_named_abi(struct mpi_named **out);

#endif
