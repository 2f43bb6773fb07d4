/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The version of an MPI library, from the library's own file. */
#ifndef POV_ELF_MPI_VERSION_H
#define POV_ELF_MPI_VERSION_H

#include <stddef.h>

struct elf_file;

/* Such as "4.1.4", or a product's own words ("Intel(R) MPI Library 2021.9"); "" if the file does not tell. */
void mpi_version_find(const struct elf_file *f, char *version, size_t bytes);

#endif
