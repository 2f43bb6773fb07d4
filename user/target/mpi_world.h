/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the MPI library of a running process says of it: its rank in MPI_COMM_WORLD and that one's size, by its own functions and objects
 * (target/x86/x86_run.h). The process is not stopped, and nothing of it is changed.
 */
#ifndef POV_TARGET_MPI_WORLD_H
#define POV_TARGET_MPI_WORLD_H

#include <jansson.h>
#include <sys/types.h>

#include "lib/map.h"

struct code_files;

struct mpi_worlds {
	const struct code_files *files; /* borrowed */
	struct map
		opened; /* number of a library + 1 → its file, which stays open from rank to rank */
};

struct mpi_world {
	int rank, size;	     /* -1: not known */
	const char *flavour; /* of the library that was asked; NULL: the process maps none */
};

/*
 * copied: predefined objects that the program holds instead of the library, [[name, address]]. 0; -ENOENT: the process maps no MPI library, or
 * that is not initialised, or finalised; -ENOTSUP: the library's code is none that can be followed. *out is filled in any case.
 */
int mpi_world_ask(struct mpi_worlds *w, pid_t pid, const json_t *copied, struct mpi_world *out);

#endif
