/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads a function's first instructions and picks the first one that the kernel emulates, provided that all
 * before it leave the stack pointer, the live arguments and memory alone, cannot fault and cannot branch, and
 * that nothing jumps in between (x86_flow.c). Which instructions are emulated, refused or single-stepped
 * follows arch/x86/kernel/uprobes.c of Linux 5.15 to 6.18. Rules and their argument: kmod-docs/PROBES.md.
 */
#include "elf/probe_site.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "elf/elf_file.h"

#if defined(__x86_64__)

#include "elf/x86_code.h"
#include "elf/x86_flow.h"

#define STACK_ARGS_BYTES 128

enum kernel_does { KERNEL_EMULATES, KERNEL_STEPS, KERNEL_REFUSES };

struct prefixes {
	bool refused; /* one of those no probe may stand on */
	bool opsize;  /* 0x66 */
	bool any;     /* any but REX */
	uint8_t rex;
	unsigned int len;
};

static void prefixes_read(const uint8_t *raw, unsigned int len, struct prefixes *p)
{
	*p = (struct prefixes){0};
	for (; p->len < len; p->len++) {
		switch (raw[p->len]) {
		case 0x26: /* es */
		case 0x2e: /* cs */
		case 0x36: /* ss */
		case 0x3e: /* ds, also notrack */
		case 0xf0: /* lock */
			p->refused = true;
			break;
		case 0x66:
			p->opsize = true;
			break;
		case 0x64:
		case 0x65:
		case 0x67:
		case 0xf2:
		case 0xf3:
			break;
		default:
			if ((raw[p->len] & 0xf0) == 0x40 && p->len + 1 < len)
				p->rex = raw[p->len++];
			return;
		}
		p->any = true;
	}
}

static bool is_one_of(ZydisMnemonic m, const ZydisMnemonic *list, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (list[i] == m)
			return true;
	return false;
}

/* What traps by itself, and what is coded with EVEX. */
static bool kernel_refuses(const struct x86_insn *insn)
{
	static const ZydisMnemonic traps[] = {ZYDIS_MNEMONIC_INT1,     ZYDIS_MNEMONIC_INT3,
					      ZYDIS_MNEMONIC_INT,      ZYDIS_MNEMONIC_SYSCALL,
					      ZYDIS_MNEMONIC_SYSENTER, ZYDIS_MNEMONIC_UD0,
					      ZYDIS_MNEMONIC_UD1,      ZYDIS_MNEMONIC_UD2,
					      ZYDIS_MNEMONIC_HLT,      ZYDIS_MNEMONIC_CLI,
					      ZYDIS_MNEMONIC_STI};

	return is_one_of(insn->z.mnemonic, traps, sizeof(traps) / sizeof(traps[0])) ||
	       insn->z.meta.category == ZYDIS_CATEGORY_IO ||
	       insn->z.meta.category == ZYDIS_CATEGORY_IOSTRINGOP ||
	       insn->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ||
	       insn->z.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
}

static enum kernel_does kernel_does(const struct x86_insn *insn)
{
	const uint8_t *op;
	struct prefixes p;

	prefixes_read(insn->raw, insn->z.length, &p);
	if (p.refused || kernel_refuses(insn))
		return KERNEL_REFUSES;
	if (insn->z.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || p.len >= insn->z.length)
		return KERNEL_STEPS;
	op = insn->raw + p.len;
	if (*op >= 0x50 && *op <= 0x57) /* push reg */
		return !p.any && (!p.rex || p.rex == 0x41) ? KERNEL_EMULATES : KERNEL_STEPS;
	if (*op == 0x90) {
		/* With REX.B this is xchg %r8,%rax, which older kernels take for a nop. */
		if (p.opsize || p.rex & 1)
			return KERNEL_REFUSES;
		return p.any ? KERNEL_STEPS : KERNEL_EMULATES;
	}
	if (*op == 0xeb || *op == 0xe9 || *op == 0xe8 || (*op & 0xf0) == 0x70 ||
	    (*op == 0x0f && insn->z.length - p.len > 1 && (op[1] & 0xf0) == 0x80))
		return p.opsize ? KERNEL_REFUSES : KERNEL_EMULATES;
	return KERNEL_STEPS;
}

/* Computes from registers and constants, and does nothing else. */
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

	return is_one_of(m, plain, sizeof(plain) / sizeof(plain[0]));
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

/* A load that cannot fault: of the file's own data, or of a stack argument. */
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

/* NULL if a probe may stand behind this instruction as well as before it. */
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
 * Walks the straight line from the start to the first emulated instruction, or else the first the
 * kernel accepts: *c; *start is the very first. Says in why what ended the walk.
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
		does = kernel_does(&insn);
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
