/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* MPI libraries: what layers/mpi/library_mpi_layout.h finds in a file, as the trace and the kernel half have it. */
#include "target/helper/library_kind.h"
#include "lib/json_get.h"
#include "target/elf/elf_file.h"
#include "layers/mpi/library_mpi_layout.h"

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

/* Predefined objects of a library whose handles are addresses, and the symbols that a program may have copied. */
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

static bool describe(const struct elf_file *f, struct library_facts *out)
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
	.describe = describe,
	.find = elf_file_find_mpi,
};
