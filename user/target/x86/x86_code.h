/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads x86-64 code of an ELF file or in memory, one decoded instruction at a time (Zydis 4.0 or
 * later), and answers questions about one instruction. On other machines no instruction is decoded,
 * so that nothing is known about code there.
 */
#ifndef POV_TARGET_X86_X86_CODE_H
#define POV_TARGET_X86_X86_CODE_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct elf_symbol;

#if defined(__x86_64__)
#define X86_IS_THIS_MACHINE true
#else
#define X86_IS_THIS_MACHINE false
#endif

#define X86_WINDOW_BYTES 4096

struct x86_reader { /* zero-initialised except f; or all set by x86_reader_init */
	const struct elf_file *f;
	ZydisDecoder decoder;
	uint64_t addr;	     /* address of code[0] */
	const uint8_t *code; /* buf, or the caller's */
	size_t bytes;
	uint8_t buf[X86_WINDOW_BYTES];
};

/* General registers, as instructions number them. */
enum {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_R8,
	X86_R9,
	X86_REGISTERS = 16
};
#define X86_CALL_PRESERVES 0xf038u /* bit set: rbx, rsp, rbp, r12 to r15 */
extern const uint8_t x86_argument_register[6];

enum x86_next { /* where control goes after an instruction */
		X86_GOES_ON,
		X86_BRANCHES, /* a conditional jump */
		X86_JUMPS,
		X86_JUMPS_INDIRECTLY,
		X86_RETURNS,
		X86_STOPS, /* it traps */
};

/* What the kernel does with a probe on an instruction; the cheapest first. */
enum kernel_does { KERNEL_EMULATES, KERNEL_STEPS, KERNEL_REFUSES };

struct x86_insn {
	uint64_t addr;
	const uint8_t *raw; /* in the reader's code, until the next decode moves it */
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* Reads code in memory, loaded at addr; the caller keeps it. */
void x86_reader_init(struct x86_reader *r, const uint8_t *code, size_t bytes, uint64_t addr);
/* Decodes one instruction. False: no bytes, or no instruction. */
bool x86_decode(struct x86_reader *r, uint64_t addr, struct x86_insn *out);
/* Formats in AT&T syntax, cut to fit. */
void x86_format(const struct x86_insn *insn, char *text, size_t bytes);

/* Returns true for a jump, conditional jump or call whose target is in the instruction. */
bool x86_branch_target(const struct x86_insn *insn, uint64_t *target);
bool x86_is_call(const struct x86_insn *insn);
/*
 * Returns true for an unconditional jump, a return, or a trap that does not return: control does
 * not continue after it.
 */
bool x86_ends_block(const struct x86_insn *insn);
/* Sets *to for a direct jump. */
enum x86_next x86_next_of(const struct x86_insn *insn, uint64_t *to);
bool x86_is_indirect_jump(const struct x86_insn *insn);
/* Returns true for "jmp *slot(%rip)", as in the PLT. */
bool x86_is_slot_jump(const struct x86_insn *insn, uint64_t *slot_addr);
/* Computes the address of a rip-relative memory operand. */
bool x86_rip_operand(const struct x86_insn *insn, const ZydisDecodedOperand *op, uint64_t *addr);
/*
 * Returns the 64-bit register that contains a register; ZYDIS_REGISTER_NONE for other than general
 * ones.
 */
ZydisRegister x86_whole_register(ZydisRegister reg);
/* Returns the number of the general register that contains a register, or -1. */
int x86_register_index(ZydisRegister reg);
/* Does the same for an operand; -1 also for other operands than registers. */
int x86_operand_register(const ZydisDecodedOperand *op);
/* Returns the bit set of general registers that an instruction writes, completely or in part. */
unsigned int x86_written(const struct x86_insn *insn);
enum kernel_does x86_kernel_does(const struct x86_insn *insn);

/*
 * Proves that a function's first bytes are entered only at its start. Returns NULL if no code of
 * the function, including its parts elsewhere, can jump to its bytes 1 to skip. Else a constant
 * text: why this is not certain. Method and assumption: kmod-docs/PROBES.md.
 */
const char *x86_flow_objection(const struct elf_file *f, const struct elf_symbol *sym,
			       uint64_t skip);

#endif
