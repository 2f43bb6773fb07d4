/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Asks a running process's MPI library for the rank in MPI_COMM_WORLD and its size, with the
 * library's own functions and objects (target/x86/x86_run.h). The process is neither stopped nor
 * changed.
 */
#ifndef POV_TARGET_MPI_WORLD_H
#define POV_TARGET_MPI_WORLD_H

#include <jansson.h>
#include <sys/types.h>

#include "lib/map.h"

struct code_files;

struct mpi_worlds {
	const struct code_files *files; /* borrowed */
	struct map opened; /* number of a library + 1 → its file, kept open for other ranks */
};

struct mpi_world {
	int rank, size;	     /* -1: unknown */
	const char *flavour; /* flavour of the library; NULL: the process maps none */
};

/*
 * copied has the predefined objects of which the program holds copies: [[name, address]]. Returns
 * 0, or -ENOENT: the process maps no MPI library, or one that is not initialised or already
 * finalised; or -ENOTSUP: the library's code cannot be interpreted. *out is filled in any case.
 */
int mpi_world_ask(struct mpi_worlds *w, pid_t pid, const json_t *copied, struct mpi_world *out);

#endif
