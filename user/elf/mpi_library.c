/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Tells which MPI a file implements, which version, and the constants of its ABI. The families: Open MPI (handles
 * are addresses), MPICH and all that keep its ABI (handles are 32-bit numbers), and the ABI of MPI 5.0 (handles
 * are pointers that mean nothing to us). Member offsets of Open MPI: mpi_openmpi.c; names: mpi_named.c.
 */
#include "elf/mpi_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_file.h"
#include "elf/library_version.h"
#include "elf/mpi_named.h"
#include "elf/mpi_openmpi.h"

static bool is_implementation(const struct elf_file *f)
{
	static const char *const init[] = {"PMPI_Init", "PMPI_Init_thread", "PMPI_Session_init"};

	for (size_t i = 0; i < sizeof(init) / sizeof(init[0]); i++)
		if (elf_file_defines(f, init[i]))
			return true;
	return false;
}

static bool soname_is_mpich(const char *soname)
{
	size_t len = strlen(soname);

	/* The soname agreed on by MPICH, Intel MPI, Cray MPT and MVAPICH ends in their common ABI version. */
	return !strncmp(soname, "libmpich.so", 11) ||
	       (!strncmp(soname, "libmpi", 6) && len > 6 && !strcmp(soname + len - 6, ".so.12"));
}

static enum mpi_flavour flavour_find(const struct elf_file *f)
{
	static const char *const mpich[] = {"MPII_Version_string", "MPIR_Version_string",
					    "MPIR_Process", "MPIR_Err_create_code"};
	const struct elf_symbol *world = elf_file_find(f, "ompi_mpi_comm_world");
	const char *soname = elf_file_headers(f)->soname;

	if (!strncmp(soname, "libmpi_abi.so", 13))
		return MPI_ABI5;
	if (world && world->is_object)
		return MPI_OPENMPI;
	for (size_t i = 0; i < sizeof(mpich) / sizeof(mpich[0]); i++)
		if (elf_file_find(f, mpich[i]))
			return MPI_MPICH;
	return soname_is_mpich(soname) ? MPI_MPICH : MPI_UNKNOWN;
}

static void openmpi_fill(const struct elf_file *f, struct mpi_library *lib)
{
	struct pov_lib *l = &lib->layout;

	l->elem_bytes[POV_ELEM_HANDLE] = 8;
	l->elem_bytes[POV_ELEM_STATUS] = 24;
	l->flags = POV_LIB_HANDLE_PTR;
	l->skip[0] = 1; /* MPI_IN_PLACE */
	l->skip[1] = 2; /* MPI_UNWEIGHTED */
	l->skip[2] = 3; /* MPI_WEIGHTS_EMPTY */
	l->root = -4;
	mpi_openmpi_layout(f, l, lib->unsure, sizeof(lib->unsure));
}

static void mpich_fill(struct mpi_library *lib)
{
	struct pov_lib *l = &lib->layout;

	l->elem_bytes[POV_ELEM_HANDLE] = 4;
	l->elem_bytes[POV_ELEM_STATUS] = 20;
	l->flags = POV_LIB_TYPE_IN_HANDLE;
	l->skip[0] = 1;		  /* MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE */
	l->skip[1] = (pov_u64)-1; /* MPI_IN_PLACE */
	l->root = -3;
}

static void abi_fill(struct mpi_library *lib)
{
	struct pov_lib *l = &lib->layout;

	l->elem_bytes[POV_ELEM_HANDLE] = sizeof(void *);
	l->elem_bytes[POV_ELEM_STATUS] = 32;
	l->skip[0] = 1;	 /* MPI_IN_PLACE */
	l->skip[1] = 2;	 /* MPI_BUFFER_AUTOMATIC */
	l->skip[2] = 10; /* MPI_UNWEIGHTED */
	l->skip[3] = 11; /* MPI_WEIGHTS_EMPTY */
	l->root = -4;
}

int mpi_library_probe(const struct elf_file *f, struct mpi_library *out)
{
	struct mpi_library lib = {.layout = POV_LIB_UNKNOWN};

	if (!is_implementation(f))
		return 0;
	lib.flavour = flavour_find(f);
	switch (lib.flavour) {
	case MPI_OPENMPI:
		openmpi_fill(f, &lib);
		break;
	case MPI_MPICH:
		mpich_fill(&lib);
		break;
	case MPI_ABI5:
		abi_fill(&lib);
		break;
	default:
		snprintf(lib.unsure, sizeof(lib.unsure),
			 "an MPI of no known family: requests, datatypes and statuses stay unread");
		break;
	}
	mpi_named_fill(f, &lib);
	library_version_mpi(f, lib.version, sizeof(lib.version));
	*out = lib;
	return 1;
}

void mpi_library_release(struct mpi_library *lib)
{
	if (!lib)
		return;
	free(lib->named);
	lib->named = NULL;
	lib->named_cnt = 0;
}

const char *mpi_flavour_name(enum mpi_flavour f)
{
	switch (f) {
	case MPI_NONE:
		return "none";
	case MPI_OPENMPI:
		return "openmpi";
	case MPI_MPICH:
		return "mpich";
	case MPI_ABI5:
		return "mpi-abi";
	case MPI_UNKNOWN:
		break;
	}
	return "unknown";
}
