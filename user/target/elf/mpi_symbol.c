/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the functions that are the C entry of an MPI call. MPI_X and PMPI_X are mostly two names of
 * one address. If they are two functions, MPI_X may be only a jump to PMPI_X, and probing both
 * would count twice.
 */
#include "target/elf/elf_file.h"

#include <stdio.h>
#include <string.h>

#include "target/x86/x86_code.h"

#define MPI_NAME_BYTES 128

/* Follows functions that consist only of a jump (through the PLT if needed). */
static bool is_jump_to(const struct elf_file *f, const struct elf_symbol *from,
		       const struct elf_symbol *to)
{
	uint64_t at = from->addr, slot;
	struct x86_reader reader = {.f = f};
	struct x86_insn insn;
	const char *name;

	for (int step = 0; step < 4 && x86_decode(&reader, at, &insn); step++) {
		if (insn.z.mnemonic == ZYDIS_MNEMONIC_ENDBR64 ||
		    insn.z.mnemonic == ZYDIS_MNEMONIC_NOP) {
			at += insn.z.length;
		} else if (x86_is_slot_jump(&insn, &slot)) {
			name = elf_file_slot_symbol(f, slot);
			return name && !strcmp(name, to->name);
		} else if (insn.z.mnemonic != ZYDIS_MNEMONIC_JMP ||
			   !x86_branch_target(&insn, &at)) {
			return false;
		} else if (at == to->addr) {
			return true;
		}
	}
	return false;
}

static const struct elf_symbol *function_find(const struct elf_file *f, const char *name)
{
	const struct elf_symbol *s = elf_file_find(f, name);

	return s && s->is_func && s->has_offset ? s : NULL;
}

unsigned int elf_file_find_mpi(const struct elf_file *f, const char *name,
			       const struct elf_symbol *syms[2])
{
	const struct elf_symbol *plain = function_find(f, name), *profiled;
	char pname[MPI_NAME_BYTES];

	snprintf(pname, sizeof(pname), "P%s", name);
	profiled = function_find(f, pname);
	if (!plain && !profiled)
		return 0;
	if (!plain || !profiled) {
		syms[0] = plain ? plain : profiled;
		return 1;
	}
	syms[0] = profiled;
	if (plain->addr == profiled->addr || is_jump_to(f, plain, profiled))
		return 1;
	syms[1] = plain;
	return 2;
}
