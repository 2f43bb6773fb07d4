/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A function of the same name for each of the MPI functions that the table knows (bpf/mpi.def), MPI_X and PMPI_X, that calls the next
 * one of that name. Every argument is an integer or a pointer, and so is what is returned: one shim serves every MPI library.
 */
#ifndef POV_PRELOAD_SHIMS_H
#define POV_PRELOAD_SHIMS_H

#include "preload/in_process.h"

extern const u32 shims_cnt;
/* Address of function `row` in the MPI library itself, below all who are called by its name, too; 0: not found. */
u64 shims_library(u32 row);

#endif
