/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads a function's first instructions and picks the first one that the kernel emulates. All
 * instructions before it must leave the stack pointer, the live arguments and memory alone, and can
 * neither fault nor branch, and nothing may jump in between (x86_flow_objection). Rules with their
 * reasons: kmod-docs/PROBES.md.
 */
#include "target/elf/probe_site.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/table.h"
#include "target/elf/elf_file.h"
#include "target/x86/x86_code.h"

#define STACK_ARGS_BYTES 128

/* Returns true for instructions that only compute from registers and constants. */
static bool mnemonic_is_plain(ZydisMnemonic m)
{
	static const ZydisMnemonic plain[] = {
		ZYDIS_MNEMONIC_ENDBR64, ZYDIS_MNEMONIC_NOP,   ZYDIS_MNEMONIC_MOV,
		ZYDIS_MNEMONIC_MOVZX,	ZYDIS_MNEMONIC_MOVSX, ZYDIS_MNEMONIC_MOVSXD,
		ZYDIS_MNEMONIC_LEA,	ZYDIS_MNEMONIC_XOR,   ZYDIS_MNEMONIC_AND,
		ZYDIS_MNEMONIC_OR,	ZYDIS_MNEMONIC_ADD,   ZYDIS_MNEMONIC_SUB,
		ZYDIS_MNEMONIC_ADC,	ZYDIS_MNEMONIC_SBB,   ZYDIS_MNEMONIC_INC,
		ZYDIS_MNEMONIC_DEC,	ZYDIS_MNEMONIC_NEG,   ZYDIS_MNEMONIC_NOT,
		ZYDIS_MNEMONIC_CMP,	ZYDIS_MNEMONIC_TEST,  ZYDIS_MNEMONIC_SHL,
		ZYDIS_MNEMONIC_SHR,	ZYDIS_MNEMONIC_SAR,   ZYDIS_MNEMONIC_CDQ,
		ZYDIS_MNEMONIC_CQO,	ZYDIS_MNEMONIC_CDQE,  ZYDIS_MNEMONIC_PXOR,
		ZYDIS_MNEMONIC_XORPS};

	return table_any(sizeof(plain) / sizeof(*plain), i, plain[i] == m);
}

static bool register_is_live(ZydisRegister reg, unsigned int nargs_regs)
{
	static const ZydisRegister arg[] = {ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI,
					    ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX,
					    ZYDIS_REGISTER_R8,	ZYDIS_REGISTER_R9};

	for (unsigned int i = 0; i < nargs_regs && i < sizeof(arg) / sizeof(arg[0]); i++)
		if (arg[i] == reg)
			return true;
	return false;
}

/* Returns true for a load that cannot fault: from the file's own data, or of a stack argument. */
static bool load_is_safe(const struct elf_file *f, const struct x86_insn *insn,
			 const ZydisDecodedOperand *op)
{
	uint64_t addr;

	if (x86_rip_operand(insn, op, &addr))
		return elf_file_maps(f, addr, op->size / 8);
	return op->mem.base == ZYDIS_REGISTER_RSP && op->mem.index == ZYDIS_REGISTER_NONE &&
	       op->mem.segment != ZYDIS_REGISTER_FS && op->mem.segment != ZYDIS_REGISTER_GS &&
	       op->mem.disp.value >= 0 && op->mem.disp.value < STACK_ARGS_BYTES;
}

static const char *operand_objection(const struct elf_file *f, const struct x86_insn *insn,
				     const ZydisDecodedOperand *op, unsigned int nargs_regs)
{
	bool writes = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	ZydisRegister reg;

	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return NULL;
	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && insn->z.mnemonic != ZYDIS_MNEMONIC_NOP) {
		if (writes)
			return "writes memory";
		return load_is_safe(f, insn, op) ? NULL : "reads memory that may fault";
	}
	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || !writes)
		return NULL;
	reg = x86_whole_register(op->reg.value);
	if (reg == ZYDIS_REGISTER_RSP)
		return "moves the stack pointer";
	return register_is_live(reg, nargs_regs) ? "overwrites an argument" : NULL;
}

/* Returns NULL if a probe may be after this instruction instead of before it, else the reason. */
static const char *skip_objection(const struct elf_file *f, const struct x86_insn *insn,
				  unsigned int nargs_regs)
{
	const char *objection = NULL;

	for (unsigned int i = 0; i < insn->z.operand_count && !objection; i++)
		objection = operand_objection(f, insn, &insn->op[i], nargs_regs);
	if (!objection &&
	    (!mnemonic_is_plain(insn->z.mnemonic) || insn->z.attributes & ZYDIS_ATTRIB_HAS_LOCK))
		objection = "is not plain";
	return objection;
}

struct candidate {
	uint64_t skip;
	enum kernel_does does;
	ZydisMnemonic mnemonic;
};

/*
 * Decodes from the start to the first instruction that the kernel emulates, or that a probe must
 * not move past. *c is that emulated instruction, or else the first one that the kernel accepts.
 * *start is the function's first instruction. out->why receives why the search ended.
 */
static int candidate_find(const struct elf_file *f, const struct elf_symbol *sym,
			  unsigned int nargs_regs, struct candidate *start, struct candidate *c,
			  struct probe_site *out)
{
	const char *objection = NULL;
	struct x86_reader reader = {.f = f};
	struct x86_insn insn;
	uint64_t at = 0;

	*c = (struct candidate){.does = KERNEL_REFUSES};
	snprintf(out->why, sizeof(out->why), "no emulated instruction near the start");
	while (at <= PROBE_SITE_SKIP_MAX && (!sym->size || at < sym->size)) {
		enum kernel_does does;

		if (!x86_decode(&reader, sym->addr + at, &insn))
			return at ? 0 : -EINVAL;
		does = x86_kernel_does(&insn);
		if (at == 0) {
			x86_format(&insn, out->insn, sizeof(out->insn));
			*start = (struct candidate){at, does, insn.z.mnemonic};
		}
		if (does < c->does)
			*c = (struct candidate){at, does, insn.z.mnemonic};
		if (does == KERNEL_EMULATES)
			return 0;
		objection = skip_objection(f, &insn, nargs_regs);
		if (objection) {
			snprintf(out->why, sizeof(out->why), "%s at +%u %s",
				 ZydisMnemonicGetString(insn.z.mnemonic), (unsigned int)at,
				 objection);
			return 0;
		}
		at += insn.z.length;
	}
	return 0;
}

static int site_choose(const struct elf_file *f, const struct elf_symbol *sym,
		       unsigned int nargs_regs, struct probe_site *out)
{
	const char *objection = NULL;
	struct candidate start, c;
	int err = candidate_find(f, sym, nargs_regs, &start, &c, out);

	if (err)
		return err;
	if (c.does == KERNEL_REFUSES)
		return -ENOTSUP;
	if (c.skip)
		objection = x86_flow_objection(f, sym, c.skip);
	if (objection) {
		snprintf(out->why, sizeof(out->why), "%s at +%u, but %s",
			 ZydisMnemonicGetString(c.mnemonic), (unsigned int)c.skip, objection);
		if (start.does == KERNEL_REFUSES)
			return -ENOTSUP;
		c = start;
	} else if (c.does == KERNEL_EMULATES) {
		snprintf(out->why, sizeof(out->why),
			 c.skip ? "%s is emulated; nothing before it matters" : "%s is emulated",
			 ZydisMnemonicGetString(c.mnemonic));
	}
	out->skipped = (uint8_t)c.skip;
	out->offset = sym->offset + c.skip;
	out->cost = c.does == KERNEL_EMULATES ? SITE_EMULATED : SITE_STEPPED;
	return 0;
}

/* Takes the function's start. */
static int start_choose(const struct elf_file *f, const struct elf_symbol *sym,
			struct probe_site *out)
{
	uint8_t byte;

	if (elf_file_read_addr(f, sym->addr, &byte, sizeof(byte)) != (long)sizeof(byte))
		return -ENXIO;
	out->offset = sym->offset;
	out->cost = SITE_STEPPED;
	snprintf(out->insn, sizeof(out->insn), "?");
	snprintf(out->why, sizeof(out->why), "no decoder for this machine");
	return 0;
}

int probe_site_choose(const struct elf_file *f, const struct elf_symbol *sym,
		      unsigned int nargs_regs, struct probe_site *out)
{
	struct probe_site site = {0};
	uint64_t addr;
	int err;

	if (!sym->has_offset || elf_file_offset_to_addr(f, sym->offset, &addr) || addr != sym->addr)
		return -ENXIO;
	err = X86_IS_THIS_MACHINE ? site_choose(f, sym, nargs_regs, &site) :
				    start_choose(f, sym, &site);
	if (!err)
		*out = site;
	return err;
}

/*
 * Moves whole instructions until there is room for the jump. An instruction with a relative address
 * gets a 32-bit distance, which is filled in at its new place. A call is always the last one,
 * because it is as long as the jump. It must return to the original place, so that stack unwinding
 * finds no address without unwind information.
 */

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
 * Notes that the last instruction, which has `bytes` bytes, has a 32-bit distance to target at
 * offset `at`.
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
	const char *objection = X86_IS_THIS_MACHINE ? site_make(f, sym, &h) :
						      "no decoder for this machine";

	if (objection) {
		snprintf(why, bytes, "%s", objection);
		return -ENOTSUP;
	}
	*out = h;
	return 0;
}
