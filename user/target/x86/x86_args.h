/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds where a function keeps its arguments, at a call inside it that has not returned. It follows
 * them from the entry, through registers and the stack, on all paths that lead there. x86-64 only.
 */
#ifndef POV_TARGET_X86_X86_ARGS_H
#define POV_TARGET_X86_X86_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_ARGS_MAX 16

enum x86_arg_place { X86_ARG_LOST, X86_ARG_IN_REG, X86_ARG_ON_STACK };

struct x86_arg {
	enum x86_arg_place place;
	uint8_t reg; /* IN_REG: DWARF number of a register that called functions preserve */
	/*
	 * ON_STACK: offset from the CFA, which is the stack pointer at the function's entry plus 8
	 */
	int32_t off;
};

/*
 * code has the function's bytes, which begin at address start; at is the address after the call.
 * Fills arg with the first cnt arguments. False: no path that can be followed leads there.
 */
bool x86_args_find(const uint8_t *code, size_t bytes, uint64_t start, uint64_t at,
		   struct x86_arg *arg, size_t cnt);

/*
 * What a caller has put into a register for a call, if it can still be found after the call has
 * begun.
 */
enum x86_passed_kind {
	X86_PASSED_UNKNOWN,
	X86_PASSED_CONSTANT,
	X86_PASSED_REG,
	X86_PASSED_MEMORY, /* memory of the frame */
	/*
	 * the word at an address of the process, such as the address of an object in a shared
	 * library
	 */
	X86_PASSED_LOADED,
};
struct x86_passed {
	enum x86_passed_kind kind;
	/* REG: a register that calls preserve. MEMORY: rbp or rsp as at the call. DWARF numbers. */
	uint8_t reg;
	int64_t value; /* CONSTANT: the value. MEMORY: offset from reg. LOADED: the address */
	uint8_t bytes; /* MEMORY: 4 or 8 */
};

/*
 * Finds the nth register argument (0 to 5) of a call, from the instructions just before it. code
 * has the caller's bytes, which begin at start; at is the address after the call.
 */
struct x86_passed x86_passed_find(const uint8_t *code, size_t bytes, uint64_t start, uint64_t at,
				  unsigned int nth);

#endif
