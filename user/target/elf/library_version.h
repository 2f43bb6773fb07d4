/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The version of a communication library, from the library's own file. */
#ifndef POV_TARGET_ELF_LIBRARY_VERSION_H
#define POV_TARGET_ELF_LIBRARY_VERSION_H

#include <stddef.h>

struct elf_file;

/* Of an MPI library. Such as "4.1.4", or a product's own words ("Intel(R) MPI Library 2021.9"); "" if the file does not tell. */
void library_version_mpi(const struct elf_file *f, char *version, size_t bytes);
/* A version that a function refers to, or what it calls; "" if there is none. */
void library_version_by_function(const struct elf_file *f, const char *function, char *version,
				 size_t bytes);

#endif
