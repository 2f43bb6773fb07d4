/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Decodes ELF files through a window of file bytes. What the kernel does with a probe follows
 * arch/x86/kernel/uprobes.c of Linux 5.15 to 6.18.
 */
#include "target/x86/x86_code.h"

#if defined(__x86_64__)

#include <stdio.h>
#include <string.h>

#include "target/elf/elf_file.h"

const uint8_t x86_argument_register[6] = {X86_RDI, X86_RSI, X86_RDX, X86_RCX, X86_R8, X86_R9};

void x86_reader_init(struct x86_reader *r, const uint8_t *code, size_t bytes, uint64_t addr)
{
	r->f = NULL;
	ZydisDecoderInit(&r->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	r->code = code;
	r->bytes = bytes;
	r->addr = addr;
}

bool x86_decode(struct x86_reader *r, uint64_t addr, struct x86_insn *out)
{
	uint64_t at = addr - r->addr;
	long n;

	if (!r->f && (addr < r->addr || at >= r->bytes))
		return false;
	if (r->f &&
	    (addr < r->addr || at >= r->bytes || r->bytes - at < ZYDIS_MAX_INSTRUCTION_LENGTH)) {
		n = elf_file_read_addr(r->f, addr, r->buf, sizeof(r->buf));
		if (n <= 0) {
			r->bytes = 0;
			return false;
		}
		ZydisDecoderInit(&r->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		r->addr = addr;
		r->code = r->buf;
		r->bytes = (size_t)n;
		at = 0;
	}
	out->addr = addr;
	out->raw = r->code + at;
	return ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&r->decoder, out->raw, r->bytes - at, &out->z, out->op));
}

void x86_format(const struct x86_insn *insn, char *text, size_t bytes)
{
	ZydisFormatter formatter;
	char buf[128];

	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL,
				  ZYAN_TRUE);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
				  ZYDIS_PADDING_DISABLED);
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &insn->z, insn->op,
							  insn->z.operand_count_visible, buf,
							  sizeof(buf), insn->addr, NULL)))
		snprintf(buf, sizeof(buf), "?");
	snprintf(text, bytes, "%.*s", (int)bytes - 1, buf);
}

bool x86_branch_target(const struct x86_insn *insn, uint64_t *target)
{
	return insn->z.operand_count_visible > 0 &&
	       insn->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && insn->op[0].imm.is_relative &&
	       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&insn->z, &insn->op[0], insn->addr, target));
}

bool x86_is_call(const struct x86_insn *insn)
{
	return insn->z.meta.category == ZYDIS_CATEGORY_CALL;
}

bool x86_ends_block(const struct x86_insn *insn)
{
	return insn->z.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       insn->z.meta.category == ZYDIS_CATEGORY_RET ||
	       insn->z.mnemonic == ZYDIS_MNEMONIC_UD0 || insn->z.mnemonic == ZYDIS_MNEMONIC_UD1 ||
	       insn->z.mnemonic == ZYDIS_MNEMONIC_UD2 || insn->z.mnemonic == ZYDIS_MNEMONIC_HLT;
}

enum x86_next x86_next_of(const struct x86_insn *insn, uint64_t *to)
{
	switch (insn->z.meta.category) {
	case ZYDIS_CATEGORY_RET:
		return X86_RETURNS;
	case ZYDIS_CATEGORY_COND_BR:
		return x86_branch_target(insn, to) ? X86_BRANCHES : X86_GOES_ON;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return x86_branch_target(insn, to) ? X86_JUMPS : X86_JUMPS_INDIRECTLY;
	default:
		return x86_ends_block(insn) ? X86_STOPS : X86_GOES_ON;
	}
}

bool x86_is_indirect_jump(const struct x86_insn *insn)
{
	uint64_t target;

	return insn->z.meta.category == ZYDIS_CATEGORY_UNCOND_BR &&
	       !x86_branch_target(insn, &target);
}

bool x86_is_slot_jump(const struct x86_insn *insn, uint64_t *slot_addr)
{
	return insn->z.mnemonic == ZYDIS_MNEMONIC_JMP && insn->z.operand_count_visible == 1 &&
	       x86_rip_operand(insn, &insn->op[0], slot_addr);
}

bool x86_rip_operand(const struct x86_insn *insn, const ZydisDecodedOperand *op, uint64_t *addr)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RIP &&
	       op->mem.index == ZYDIS_REGISTER_NONE && op->mem.segment != ZYDIS_REGISTER_FS &&
	       op->mem.segment != ZYDIS_REGISTER_GS &&
	       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&insn->z, op, insn->addr, addr));
}

ZydisRegister x86_whole_register(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? whole : ZYDIS_REGISTER_NONE;
}

int x86_register_index(ZydisRegister reg)
{
	ZydisRegister whole = x86_whole_register(reg);

	return whole == ZYDIS_REGISTER_NONE ? -1 : (int)(whole - ZYDIS_REGISTER_RAX);
}

int x86_operand_register(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER ? x86_register_index(op->reg.value) : -1;
}

unsigned int x86_written(const struct x86_insn *insn)
{
	unsigned int set = 0;

	for (unsigned int i = 0; i < insn->z.operand_count; i++)
		if (insn->op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    x86_operand_register(&insn->op[i]) >= 0)
			set |= 1u << x86_operand_register(&insn->op[i]);
	return set;
}

/* ---- probes ---- */

struct prefixes {
	bool refused; /* one on which the kernel allows no probe */
	bool opsize;  /* 0x66 */
	bool any;     /* any except REX */
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

/* Returns true for instructions that trap by themselves, and for those with EVEX encoding. */
static bool kernel_refuses(const struct x86_insn *insn)
{
	static const ZydisMnemonic traps[] = {ZYDIS_MNEMONIC_INT1,     ZYDIS_MNEMONIC_INT3,
					      ZYDIS_MNEMONIC_INT,      ZYDIS_MNEMONIC_SYSCALL,
					      ZYDIS_MNEMONIC_SYSENTER, ZYDIS_MNEMONIC_UD0,
					      ZYDIS_MNEMONIC_UD1,      ZYDIS_MNEMONIC_UD2,
					      ZYDIS_MNEMONIC_HLT,      ZYDIS_MNEMONIC_CLI,
					      ZYDIS_MNEMONIC_STI};

	for (size_t i = 0; i < sizeof(traps) / sizeof(traps[0]); i++)
		if (traps[i] == insn->z.mnemonic)
			return true;
	return insn->z.meta.category == ZYDIS_CATEGORY_IO ||
	       insn->z.meta.category == ZYDIS_CATEGORY_IOSTRINGOP ||
	       insn->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX ||
	       insn->z.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
}

enum kernel_does x86_kernel_does(const struct x86_insn *insn)
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
		/* With REX.B this is xchg %r8,%rax, which older kernels mistake for a nop. */
		if (p.opsize || p.rex & 1)
			return KERNEL_REFUSES;
		return p.any ? KERNEL_STEPS : KERNEL_EMULATES;
	}
	if (*op == 0xeb || *op == 0xe9 || *op == 0xe8 || (*op & 0xf0) == 0x70 ||
	    (*op == 0x0f && insn->z.length - p.len > 1 && (op[1] & 0xf0) == 0x80))
		return p.opsize ? KERNEL_REFUSES : KERNEL_EMULATES;
	return KERNEL_STEPS;
}

#endif
