/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads a function's first instructions and picks the first one that the kernel emulates. All
 * instructions before it must leave the stack pointer, the live arguments and memory alone, and can
 * neither fault nor branch, and nothing may jump in between (x86_flow.c). Rules with their reasons:
 * kmod-docs/PROBES.md.
 */
#include "target/elf/probe_site.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/elf/elf_file.h"

#if defined(__x86_64__)

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

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (plain[i] == m)
			return true;
	return false;
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
 * Walks from the start in a straight line to the first emulated instruction, or else to the first
 * that the kernel accepts: *c. *start is the very first one. why receives what ended the walk.
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
	snprintf(out->why, sizeof(out->why), "nothing emulated within reach");
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
	int err;

	err = candidate_find(f, sym, nargs_regs, &start, &c, out);
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

#else

static int site_choose(const struct elf_file *f, const struct elf_symbol *sym,
		       unsigned int nargs_regs, struct probe_site *out)
{
	uint8_t byte;

	(void)nargs_regs;
	if (elf_file_read_addr(f, sym->addr, &byte, sizeof(byte)) != (long)sizeof(byte))
		return -ENXIO;
	out->offset = sym->offset;
	out->cost = SITE_STEPPED;
	snprintf(out->insn, sizeof(out->insn), "?");
	snprintf(out->why, sizeof(out->why), "no decoder for this machine");
	return 0;
}

#endif

int probe_site_choose(const struct elf_file *f, const struct elf_symbol *sym,
		      unsigned int nargs_regs, struct probe_site *out)
{
	struct probe_site site = {0};
	uint64_t addr;
	int err;

	if (!sym->has_offset || elf_file_offset_to_addr(f, sym->offset, &addr) || addr != sym->addr)
		return -ENXIO;
	err = site_choose(f, sym, nargs_regs, &site);
	if (!err)
		*out = site;
	return err;
}
