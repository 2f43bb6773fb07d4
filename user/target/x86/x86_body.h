/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * All instructions of a function, with the parts of it that a compiler has put elsewhere (".cold"), and how deep the stack is at
 * each. x86-64.
 */
#ifndef POV_TARGET_X86_X86_BODY_H
#define POV_TARGET_X86_X86_BODY_H
#if defined(__x86_64__)

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/x86/x86_code.h"

#define X86_PARTS_MAX 64
#define X86_DEPTH_NONE INT32_MIN /* no way leads there */
#define X86_DEPTH_ANY INT32_MAX	 /* ways differ, or it cannot be told */

enum x86_next { /* where control goes after an instruction */
		X86_GOES_ON,
		X86_BRANCHES, /* a conditional jump */
		X86_JUMPS,
		X86_JUMPS_INDIRECTLY,
		X86_RETURNS,
		X86_STOPS, /* it traps */
};

struct x86_depth {  /* in bytes below the stack pointer at the function's start */
	int32_t sp; /* the stack pointer */
	int32_t fp; /* rbp, if it is a frame pointer */
};

struct x86_step { /* an instruction */
	uint64_t addr;
	uint64_t to;		/* target of a direct jump */
	struct x86_depth depth; /* before it; filled by x86_depth_flow */
	uint8_t next;		/* enum x86_next */
	uint8_t bytes;
	bool is_table; /* an indirect jump through a table of places in the function */
	bool queued;   /* x86_depth_flow's own */
};

struct x86_part {
	uint64_t start, end;
	size_t first, cnt; /* its steps */
};

struct x86_body {
	const struct elf_file *f;
	const struct elf_symbol *sym;
	struct x86_part part[X86_PARTS_MAX]; /* the function's own symbol first */
	size_t part_cnt;
	struct x86_step *step; /* part by part, in order of address */
	size_t cnt, room;
	bool label_taken; /* the address of a place within it is taken, as for a computed goto */
	struct x86_reader reader;
};

/* NULL, or why its body is not known whole (a constant text). Free it by x86_body_free in any case. */
const char *x86_body_read(const struct elf_file *f, const struct elf_symbol *sym,
			  struct x86_body **out);
void x86_body_free(struct x86_body *b);
/* The step at an address; NULL if no instruction of the body begins there. */
struct x86_step *x86_body_step(const struct x86_body *b, uint64_t addr);
/* "jmp *slot(%rip)" at an address, where other files' functions are reached. */
bool x86_body_stub(struct x86_body *b, uint64_t addr, uint64_t *slot);
bool x86_body_holds(const struct x86_body *b, uint64_t addr);
/* The part of a step. */
const struct x86_part *x86_body_part(const struct x86_body *b, const struct x86_step *s);
/* Fills depth, following all ways but those through tables, which lead to whatever nothing else leads to. */
void x86_depth_flow(struct x86_body *b);

#endif
#endif
