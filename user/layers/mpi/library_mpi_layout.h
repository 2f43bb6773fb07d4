/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Recognises an MPI implementation in an ELF file (a shared library, or linked statically into a
 * program), and finds the memory layout of its objects. It reads the layout from the file itself:
 * from objects with known values, and from the code of functions that return a member. What the
 * file does not show is unknown (POV_OFF_NONE, element width 0), never guessed. Offsets and method:
 * kmod-docs/PROBES_INSIDE.md.
 */
#ifndef POV_LAYERS_MPI_LIBRARY_MPI_LAYOUT_H
#define POV_LAYERS_MPI_LIBRARY_MPI_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "abi/config.h"

struct elf_file;

enum mpi_flavour { MPI_NONE = 0, MPI_OPENMPI, MPI_MPICH, MPI_ABI5, MPI_UNKNOWN };

struct mpi_named { /* a predefined object: MPI_COMM_WORLD, MPI_INT, MPI_SUM … */
	const char *name;
	uint64_t value; /* handle, or (Open MPI) virtual address in the file */
	uint32_t size;	/* datatypes: bytes of one element, else 0 */
};

struct mpi_library {
	enum mpi_flavour flavour;
	char version[64];	 /* from the file itself; "": unknown */
	struct pov_lib layout;	 /* for the kernel half */
	struct mpi_named *named; /* owned; mpi_library_release */
	uint32_t named_cnt;
	char unsure[160]; /* what failed the self-check, for the user; "": nothing */
};

/*
 * Returns 1 and fills *out if the file has an MPI implementation, else 0. A file that defines MPI_X
 * but not PMPI_X has none: it is a tool wrapped around one. Prints nothing.
 */
int mpi_library_probe(const struct elf_file *f, struct mpi_library *out);
void mpi_library_release(struct mpi_library *lib);
const char *
mpi_flavour_name(enum mpi_flavour f); /* "openmpi", "mpich", "mpi-abi", "unknown", "none" */

#endif
