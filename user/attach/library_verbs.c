/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* libibverbs: what defines verbs_set_ops. */
#include <stddef.h>

#include "attach/library_kind.h"
#include "elf/elf_file.h"

static bool describe(const struct elf_file *f, struct library_facts *out)
{
	if (!elf_file_exports(f, "verbs_set_ops"))
		return false;
	out->layout = (struct pov_lib)POV_LIB_UNKNOWN;
	out->meta = json_pack("{s:s,s:s,s:s}", "flavour", "ibverbs", "version", "", "unsure", "");
	out->copies = NULL;
	return true;
}

static unsigned int find(const struct elf_file *f, const char *name,
			 const struct elf_symbol *syms[2])
{
	syms[0] = elf_file_find(f, name);
	return syms[0] && syms[0]->is_func && syms[0]->has_offset;
}

const struct library_kind library_kind_verbs = {
	.layer = "verbs",
	.describe = describe,
	.find = find,
};
