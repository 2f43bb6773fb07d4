/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Moves whole instructions until there is room for the jump. One with an address relative to its
 * own gets a 32-bit distance, which is filled in at its new place. A call is always the last one,
 * because it is as long as the jump. It must return to the original place, so that stack unwinding
 * finds no address without unwind information.
 */
#include "target/elf/probe_site.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/elf/elf_file.h"

#if defined(__x86_64__)

#include "target/x86/x86_code.h"

/* Adds bytes to the moved code; false if there is no room. */
static bool moved_add(struct pov_hook *h, const uint8_t *code, size_t bytes)
{
	if (h->moved_bytes + bytes > POV_HOOK_MOVED)
		return false;
	memcpy(h->moved + h->moved_bytes, code, bytes);
	h->moved_bytes += (pov_u8)bytes;
	return true;
}

/*
 * Notes that the 32 bits at offset `at` of the last instruction, which has `bytes`, must lead to
 * target.
 */
static bool target_add(struct pov_hook *h, size_t at, size_t bytes, uint64_t target)
{
	if (h->targets == POV_HOOK_TARGETS)
		return false;
	h->ref[h->targets].at = (pov_u8)(h->moved_bytes - bytes + at);
	h->ref[h->targets].end = h->moved_bytes;
	h->target[h->targets++] = target;
	return true;
}

static const char *jump_move(struct pov_hook *h, const struct x86_insn *insn, uint64_t target)
{
	uint8_t near[6] = {0xe9}, op = insn->raw[insn->z.length > 5 ? 1 : 0];
	size_t bytes = 5;

	if (insn->z.mnemonic != ZYDIS_MNEMONIC_JMP) {
		if ((op & 0xf0) != 0x70 && (op & 0xf0) != 0x80)
			return "its first jump has no long form";
		near[0] = 0x0f;
		near[1] = 0x80 | (op & 0xf);
		bytes = 6;
	}
	return moved_add(h, near, bytes) && target_add(h, bytes - 4, bytes, target) ?
		       NULL :
		       "its first instructions refer to too much";
}

static const char *plain_move(struct pov_hook *h, const struct x86_insn *insn)
{
	uint64_t target;
	bool fits = moved_add(h, insn->raw, insn->z.length);

	for (unsigned int i = 0; i < insn->z.operand_count && fits; i++)
		if (x86_rip_operand(insn, &insn->op[i], &target)) {
			fits = insn->z.raw.disp.size == 32 &&
			       target_add(h, insn->z.raw.disp.offset, insn->z.length, target);
			break; /* an instruction has only one address */
		}
	return fits ? NULL : "its first instructions refer to too much";
}

static const char *call_move(struct pov_hook *h, uint64_t target)
{
	if (h->targets == POV_HOOK_TARGETS)
		return "its first instructions refer to too much";
	h->target[h->targets++] = target;
	h->flags |= POV_HOOK_CALLS;
	return NULL;
}

static const char *insn_move(struct pov_hook *h, const struct x86_insn *insn)
{
	bool call = x86_is_call(insn);
	uint64_t target;

	if (call && (!x86_branch_target(insn, &target) || insn->z.length != POV_HOOK_JUMP))
		return "its first call is not a plain one";
	if (call)
		return call_move(h, target);
	if (x86_branch_target(insn, &target))
		return jump_move(h, insn, target);
	return plain_move(h, insn);
}

/* Returns true for the padding that compilers put between functions. */
static bool is_padding(const struct elf_file *f, uint64_t from, uint64_t to)
{
	struct x86_reader reader = {.f = f};
	struct x86_insn insn;

	while (from < to) {
		if (!x86_decode(&reader, from, &insn) || (insn.z.mnemonic != ZYDIS_MNEMONIC_NOP &&
							  insn.z.mnemonic != ZYDIS_MNEMONIC_INT3))
			return false;
		from += insn.z.length;
	}
	return true;
}

static const char *instructions_move(const struct elf_file *f, const struct elf_symbol *sym,
				     struct pov_hook *h)
{
	struct x86_reader reader = {.f = f};
	const char *objection = NULL;
	struct x86_insn insn;
	bool ended = false;

	for (h->bytes = 0; h->bytes < POV_HOOK_JUMP && !ended && !objection;
	     h->bytes += insn.z.length) {
		if (!x86_decode(&reader, h->address + h->bytes, &insn))
			return "it begins with bytes that are no instruction";
		objection = insn_move(h, &insn);
		ended = x86_ends_block(&insn);
	}
	if (objection)
		return objection;
	if (!ended && !(h->flags & POV_HOOK_CALLS))
		h->flags |= POV_HOOK_GOES_ON;
	if (h->bytes >= POV_HOOK_JUMP)
		return NULL;
	if (h->address + h->bytes != sym->addr + sym->size ||
	    !is_padding(f, h->address + h->bytes, h->address + POV_HOOK_JUMP))
		return "it is shorter than a jump";
	h->bytes = POV_HOOK_JUMP;
	return NULL;
}

static const char *site_make(const struct elf_file *f, const struct elf_symbol *sym,
			     struct pov_hook *h)
{
	struct x86_reader reader = {.f = f};
	const char *objection;
	struct x86_insn insn;

	if (!x86_decode(&reader, sym->addr, &insn))
		return "it begins with bytes that are no instruction";
	h->address = sym->addr;
	if (insn.z.mnemonic == ZYDIS_MNEMONIC_ENDBR64) /* the required target of indirect calls */
		h->address += h->skipped = insn.z.length;
	objection = instructions_move(f, sym, h);
	if (!objection)
		objection = x86_flow_objection(f, sym, h->address + h->bytes - 1 - sym->addr);
	if (!objection && elf_file_read_addr(f, h->address, h->code, h->bytes) != h->bytes)
		objection = "its code is not in the file";
	return objection;
}

int hook_site_make(const struct elf_file *f, const struct elf_symbol *sym, struct pov_hook *out,
		   char *why, size_t bytes)
{
	struct pov_hook h = {
		.row = out->row, .nargs = out->nargs, .flags = out->flags & POV_HOOK_ANY_ARGS};
	const char *objection = site_make(f, sym, &h);

	if (objection) {
		snprintf(why, bytes, "%s", objection);
		return -ENOTSUP;
	}
	*out = h;
	return 0;
}

#else

int hook_site_make(const struct elf_file *f, const struct elf_symbol *sym, struct pov_hook *out,
		   char *why, size_t bytes)
{
	(void)f, (void)sym, (void)out;
	snprintf(why, bytes, "no decoder for this machine");
	return -ENOTSUP;
}

#endif
