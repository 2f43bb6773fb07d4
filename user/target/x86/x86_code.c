/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Decoding of x86-64 code in ELF files: a window of file bytes, and questions about one instruction. */
#include "target/x86/x86_code.h"

#if defined(__x86_64__)

#include <stdio.h>
#include <string.h>

#include "target/elf/elf_file.h"

bool x86_decode(struct x86_reader *r, uint64_t addr, struct x86_insn *out)
{
	uint64_t at = addr - r->addr;
	long n;

	if (addr < r->addr || at >= r->bytes || r->bytes - at < ZYDIS_MAX_INSTRUCTION_LENGTH) {
		n = elf_file_read_addr(r->f, addr, r->buf, sizeof(r->buf));
		if (n <= 0) {
			r->bytes = 0;
			return false;
		}
		ZydisDecoderInit(&r->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		r->addr = addr;
		r->bytes = (size_t)n;
		at = 0;
	}
	out->addr = addr;
	out->raw = r->buf + at;
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

bool x86_insn_writes(const struct x86_insn *insn, ZydisRegister reg)
{
	for (unsigned int i = 0; i < insn->z.operand_count; i++)
		if (insn->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    insn->op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    x86_whole_register(insn->op[i].reg.value) == reg)
			return true;
	return false;
}

#endif
