/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Tells which MPI a file implements, which version, and the constants of its ABI. The families: Open MPI (handles
 * are addresses), MPICH and all that keep its ABI (handles are 32-bit numbers), and the ABI of MPI 5.0 (handles
 * are pointers that mean nothing to us). Member offsets of Open MPI: mpi_openmpi.c; names: mpi_named.c.
 */
#include "layers/mpi/library_mpi_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf/elf_file.h"
#include "target/elf/library_version.h"
#include "layers/mpi/library_mpi_named.h"
#include "layers/mpi/library_mpi_openmpi.h"

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

/* Constants of a family's ABI. */
struct family {
	const char *name;
	uint8_t handle_bytes, status_bytes;
	uint16_t flags;
	pov_u64 skip[4]; /* of struct pov_lib */
	int32_t root, proc_null;
};

static const struct family families[] = {
	[MPI_NONE] = {.name = "none"},
	/* skipped: MPI_IN_PLACE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY */
	[MPI_OPENMPI] = {"openmpi", 8, 24, POV_LIB_HANDLE_PTR, {1, 2, 3}, -4, -2},
	/* MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE, MPI_IN_PLACE */
	[MPI_MPICH] = {"mpich", 4, 20, POV_LIB_TYPE_IN_HANDLE, {1, (pov_u64)-1}, -3, -1},
	/* MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY */
	[MPI_ABI5] = {"mpi-abi", sizeof(void *), 32, 0, {1, 2, 10, 11}, -4, -3},
	[MPI_UNKNOWN] = {.name = "unknown"},
};

static void layout_fill(const struct family *family, struct pov_lib *l)
{
	l->elem_bytes[POV_ELEM_HANDLE] = family->handle_bytes;
	l->elem_bytes[POV_ELEM_STATUS] = family->status_bytes;
	l->flags = family->flags;
	memcpy(l->skip, family->skip, sizeof(l->skip));
	l->root = family->root;
	l->proc_null = family->proc_null;
}

int mpi_library_probe(const struct elf_file *f, struct mpi_library *out)
{
	struct mpi_library lib = {.layout = POV_LIB_UNKNOWN};

	if (!is_implementation(f))
		return 0;
	lib.flavour = flavour_find(f);
	if (lib.flavour == MPI_UNKNOWN)
		snprintf(lib.unsure, sizeof(lib.unsure),
			 "an MPI of no known family: requests, datatypes and statuses stay unread");
	else
		layout_fill(&families[lib.flavour], &lib.layout);
	if (lib.flavour == MPI_OPENMPI)
		mpi_openmpi_layout(f, &lib.layout, lib.unsure, sizeof(lib.unsure));
	mpi_named_fill(f, &lib);
	library_version_mpi(f, lib.version, sizeof(lib.version));
	*out = lib;
	return 1;
}

void mpi_library_release(struct mpi_library *lib)
{
	free(lib->named);
	lib->named = NULL;
	lib->named_cnt = 0;
}

const char *mpi_flavour_name(enum mpi_flavour f)
{
	return families[f].name;
}
