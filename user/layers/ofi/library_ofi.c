/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * libfabric, which has most providers inside, and files with one provider each, which it loads. The providers' functions have no
 * names (layers/ofi/library_ofi_ops.h).
 */
#include <stddef.h>
#include <stdio.h>

#include "target/helper/library_kind.h"
#include "target/elf/elf_file.h"
#include "layers/ofi/library_ofi_ops.h"
#include "target/x86/x86_code.h"

static bool is_fabric(const struct elf_file *f)
{
	return elf_file_defines(f, "fi_getinfo") && elf_file_defines(f, "fi_fabric");
}

/* fi_version returns a number: FI_VERSION(major, minor). */
static void version_read(const struct elf_file *f, char *version, size_t bytes)
{
#if defined(__x86_64__)
	const struct elf_symbol *s = elf_file_find(f, "fi_version");
	struct x86_reader reader = {.f = f};
	uint64_t addr = s && s->is_func ? s->addr : 0, v;
	struct x86_insn insn;

	for (int i = 0; addr && i < 3 && x86_decode(&reader, addr, &insn); i++) {
		addr += insn.z.length;
		if (insn.z.mnemonic != ZYDIS_MNEMONIC_MOV ||
		    insn.op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			continue;
		v = insn.op[1].imm.value.u;
		snprintf(version, bytes, "%u.%u", (unsigned int)(v >> 16 & 0xffff),
			 (unsigned int)(v & 0xffff));
		return;
	}
#else
	(void)f;
	(void)bytes;
#endif
	version[0] = '\0';
}

static bool describe(const struct elf_file *f, struct library_facts *out)
{
	char version[32];

	if (!is_fabric(f) && !elf_file_defines(f, "fi_prov_ini"))
		return false;
	version_read(f, version, sizeof(version));
	out->layout = (struct pov_lib)POV_LIB_UNKNOWN;
	out->meta = json_pack("{s:s,s:s,s:s}", "flavour",
			      is_fabric(f) ? "libfabric" : "libfabric provider", "version", version,
			      "unsure", "");
	out->copies = NULL;
	return true;
}

/* None has a name. */
static unsigned int find(const struct elf_file *f, const char *name,
			 const struct elf_symbol *syms[2])
{
	(void)f;
	(void)name;
	syms[0] = NULL;
	return 0;
}

static size_t inner(const struct elf_file *f, struct inner_function out[INNER_FUNCTIONS_MAX])
{
	struct fabric_function found[INNER_FUNCTIONS_MAX];
	size_t cnt = fabric_ops_find(f, found, INNER_FUNCTIONS_MAX);

	for (size_t i = 0; i < cnt; i++)
		out[i] = (struct inner_function){.name = found[i].name, .addr = found[i].addr};
	return cnt;
}

const struct library_kind library_kind_ofi = {
	.layer = "ofi",
	.describe = describe,
	.find = find,
	.inner = inner,
};
