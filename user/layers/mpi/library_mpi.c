/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI libraries: finds which MPI a file implements, its version, and the constants of its ABI. The
 * families are: Open MPI (handles are addresses); MPICH and all that keep its ABI (handles are
 * 32-bit numbers); and the ABI of MPI 5.0 (handles are pointers without meaning for us).
 * library_mpi_openmpi.c finds Open MPI's member offsets, library_mpi_named.c the names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/mpi/library_mpi_layout.h"
#include "lib/json_get.h"
#include "target/elf/elf_file.h"
#include "target/elf/library_version.h"
#include "target/helper/library_kind.h"

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

	/*
	 * The soname on which MPICH, Intel MPI, Cray MPT and MVAPICH agreed ends in their common
	 * ABI version.
	 */
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
	pov_u64 skip[4]; /* for struct pov_lib */
	int32_t root, proc_null;
};

static const struct family families[] = {
	[MPI_NONE] = {.name = "none"},
	/* skip: MPI_IN_PLACE, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY */
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

static json_t *named_json(const struct mpi_library *mpi)
{
	json_t *a = json_array(), *row;

	for (uint32_t i = 0; i < mpi->named_cnt; i++) {
		row = json_pack("[s,o,I]", mpi->named[i].name, json_hex(mpi->named[i].value),
				(json_int_t)mpi->named[i].size);
		json_array_append_new(a, row);
	}
	return a;
}

static json_t *layout_json(const struct pov_lib *l)
{
	return json_pack("{s:i,s:i,s:b,s:b,s:i,s:i,s:i}", "handle_bytes",
			 l->elem_bytes[POV_ELEM_HANDLE], "status_bytes",
			 l->elem_bytes[POV_ELEM_STATUS], "handle_is_pointer",
			 (l->flags & POV_LIB_HANDLE_PTR) != 0, "type_in_handle",
			 (l->flags & POV_LIB_TYPE_IN_HANDLE) != 0, "type_size_off",
			 l->type_size_off, "undefined", l->undefined, "root", l->root);
}

/*
 * Lists predefined objects whose handles are addresses, with the symbols that a program may have
 * copied.
 */
static json_t *copies_json(const struct elf_file *elf, const struct mpi_library *mpi)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < mpi->named_cnt && (mpi->layout.flags & POV_LIB_HANDLE_PTR); i++) {
		const struct elf_symbol *own = elf_file_symbol_from(elf, mpi->named[i].value);

		if (own && own->addr == mpi->named[i].value)
			json_array_append_new(a, json_pack("[s,s]", mpi->named[i].name, own->name));
	}
	return a;
}

static bool mpi_describe(const struct elf_file *f, struct library_facts *out)
{
	struct mpi_library mpi;

	if (mpi_library_probe(f, &mpi) <= 0)
		return false;
	out->layout = mpi.layout;
	out->meta = json_pack("{s:s,s:s,s:s,s:o,s:o}", "flavour", mpi_flavour_name(mpi.flavour),
			      "version", mpi.version, "unsure", mpi.unsure, "layout",
			      layout_json(&mpi.layout), "named", named_json(&mpi));
	out->copies = copies_json(f, &mpi);
	mpi_library_release(&mpi);
	return true;
}

const struct library_kind library_kind_mpi = {
	.layer = "mpi",
	.describe = mpi_describe,
	.find = elf_file_find_mpi,
};
