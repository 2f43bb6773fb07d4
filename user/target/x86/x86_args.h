/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where a function keeps the arguments it was called with, at a call that it has made and that has not returned: follows them from its
 * entry, through registers and its stack, on all ways that lead there. x86-64.
 */
#ifndef POV_TARGET_X86_X86_ARGS_H
#define POV_TARGET_X86_X86_ARGS_H
#if defined(__x86_64__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_ARGS_MAX 16

enum x86_arg_place { X86_ARG_LOST, X86_ARG_IN_REG, X86_ARG_ON_STACK };

struct x86_arg {
	enum x86_arg_place place;
	uint8_t reg; /* IN_REG: as DWARF numbers them: one that a called function preserves */
	int32_t off; /* ON_STACK: from the stack pointer at the function's entry plus 8 (the CFA) */
};

/*
 * code: the function's bytes, which begin at address start; at: address in it after the call. arg: the first cnt arguments. False: no way
 * leads there that can be followed.
 */
bool x86_args_find(const uint8_t *code, size_t bytes, uint64_t start, uint64_t at,
		   struct x86_arg *arg, size_t cnt);

/* What a caller has put into a register for a call: known if it can be had after the call has begun. */
enum x86_passed_kind {
	X86_PASSED_UNKNOWN,
	X86_PASSED_CONSTANT,
	X86_PASSED_REG,
	X86_PASSED_MEMORY, /* of the frame */
	X86_PASSED_LOADED, /* a word at an address of the process, as that of an object in a shared library is */
};
struct x86_passed {
	enum x86_passed_kind kind;
	uint8_t reg; /* REG: preserved by calls. MEMORY: rbp or rsp, as they are at the call. As DWARF numbers them */
	int64_t value; /* CONSTANT; MEMORY: offset from reg; LOADED: the address */
	uint8_t bytes; /* MEMORY: 4 or 8 */
};

/*
 * code: of the caller, which begins at start; at: behind the call. The nth argument that is passed in a register, from 0 (5 at most), by the
 * instructions straight before the call.
 */
struct x86_passed x86_passed_find(const uint8_t *code, size_t bytes, uint64_t start, uint64_t at,
				  unsigned int nth);

#endif
#endif
