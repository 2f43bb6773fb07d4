/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * UCX's upper layer: a file that defines ucp_init_version (ucp_init is a macro for it) and also an
 * internal function. A file with only the interface is a tool wrapped around UCX.
 */
#include <stddef.h>
#include <string.h>

#include "target/helper/library_kind.h"
#include "target/elf/elf_file.h"
#include "layers/func_table.h"

static bool ucp_describe(const struct elf_file *f, struct library_facts *out)
{
	char version[64] = "";

	if (!elf_file_defines(f, "ucp_init_version") || !elf_file_defines(f, "ucp_address_unpack"))
		return false;
	library_version_by_function(f, "ucp_get_version_string", version, sizeof(version));
	out->layout = (struct pov_lib)POV_LIB_UNKNOWN;
	out->meta = json_pack("{s:s,s:s,s:s}", "flavour", "ucx", "version", version, "unsure", "");
	out->copies = NULL;
	return true;
}

/* Functions at which UCP's own messages arrive are internal and differ between versions. */
static bool is_inside(const char *name)
{
	int row = func_table_find(name);

	return row >= 0 && !strcmp(func_table_get((size_t)row)->group, "arrival");
}

static unsigned int ucp_find(const struct elf_file *f, const char *name,
			     const struct elf_symbol *syms[2])
{
	syms[0] = elf_file_find(f, name);
	if (syms[0] && syms[0]->is_func && syms[0]->has_offset)
		return 1;
	return is_inside(name) ? FUNCTION_ELSEWHERE : 0;
}

const struct library_kind library_kind_ucp = {
	.layer = "ucp",
	.describe = ucp_describe,
	.find = ucp_find,
};
