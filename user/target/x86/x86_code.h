/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads x86-64 code out of an ELF file, one decoded instruction at a time (Zydis 4.0 or later). Only what
 * probe sites and object layouts are found with; on other machines nothing here exists.
 */
#ifndef POV_TARGET_X86_X86_CODE_H
#define POV_TARGET_X86_X86_CODE_H
#if defined(__x86_64__)

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

#define X86_WINDOW_BYTES 4096

struct x86_reader { /* zeroed but for f */
	const struct elf_file *f;
	ZydisDecoder decoder;
	uint64_t addr; /* of buf[0] */
	size_t bytes;
	uint8_t buf[X86_WINDOW_BYTES];
};

struct x86_insn {
	uint64_t addr;
	const uint8_t *raw; /* in the reader's buffer, until it moves on */
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* false where there are no file bytes or no instruction. */
bool x86_decode(struct x86_reader *r, uint64_t addr, struct x86_insn *out);
/* AT&T syntax, cut to fit. */
void x86_format(const struct x86_insn *insn, char *text, size_t bytes);

/* A jump, conditional jump or call with its target in the instruction. */
bool x86_branch_target(const struct x86_insn *insn, uint64_t *target);
bool x86_is_call(const struct x86_insn *insn);
/* A jump that is not conditional, a return, a trap that does not come back: what follows is not reached from here. */
bool x86_ends_block(const struct x86_insn *insn);
bool x86_is_indirect_jump(const struct x86_insn *insn);
/* "jmp *slot(%rip)", as in the PLT. */
bool x86_is_slot_jump(const struct x86_insn *insn, uint64_t *slot_addr);
/* Address of a rip-relative memory operand. */
bool x86_rip_operand(const struct x86_insn *insn, const ZydisDecodedOperand *op, uint64_t *addr);
/* The 64-bit register that holds a register; ZYDIS_REGISTER_NONE for others than general ones. */
ZydisRegister x86_whole_register(ZydisRegister reg);
/* Whether it writes a 64-bit register or part of it. */
bool x86_insn_writes(const struct x86_insn *insn, ZydisRegister reg);

#endif
#endif
