/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * All instructions of a function, including the parts that the compiler has put elsewhere
 * (".cold"), and the stack's depth at each. x86-64 only.
 */
#ifndef POV_TARGET_X86_X86_BODY_H
#define POV_TARGET_X86_X86_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/x86/x86_walk.h"

#define X86_PARTS_MAX 64
#define X86_DEPTH_NONE INT32_MIN /* no path leads there */
#define X86_DEPTH_ANY INT32_MAX	 /* paths differ, or it is unknown */

struct x86_depth {  /* in bytes below the stack pointer at the function's start */
	int32_t sp; /* the stack pointer */
	int32_t fp; /* rbp, if it is a frame pointer */
};

struct x86_step { /* an instruction */
	uint64_t addr;
	uint64_t to;		/* target of a direct jump */
	struct x86_depth depth; /* depth before it; set by x86_depth_flow */
	uint8_t next;		/* enum x86_next */
	uint8_t bytes;
	bool is_table; /* an indirect jump through a table of places in the function */
};

struct x86_part { /* range of its steps */
	size_t first, cnt;
};

struct x86_body {
	const struct elf_file *f;
	const struct elf_symbol *sym;
	/* the part of the function's own symbol comes first */
	struct x86_range range[X86_PARTS_MAX];
	struct x86_part part[X86_PARTS_MAX]; /* the same parts */
	size_t part_cnt;
	struct x86_step *step; /* sorted by part, then by address */
	uint32_t cnt;
	/* the code takes the address of a place inside it, as for a computed goto */
	bool label_taken;
	struct x86_reader reader;
};

/*
 * Reads a body. NULL, or a constant text: why the body is not completely known. Call x86_body_free
 * in both cases.
 */
const char *x86_body_read(const struct elf_file *f, const struct elf_symbol *sym,
			  struct x86_body **out);
void x86_body_free(struct x86_body *b);
/* Returns the step at an address; NULL if no instruction of the body begins there. */
struct x86_step *x86_body_step(const struct x86_body *b, uint64_t addr);
/*
 * Returns true for "jmp *slot(%rip)" at an address, through which other files' functions are
 * reached.
 */
bool x86_body_stub(struct x86_body *b, uint64_t addr, uint64_t *slot);
bool x86_body_holds(const struct x86_body *b, uint64_t addr);
/* Returns the part that contains a step. */
const struct x86_part *x86_body_part(const struct x86_body *b, const struct x86_step *s);
/*
 * Sets depth by following all paths except those through tables, which are assumed to lead to every
 * place that no other path reaches.
 */
void x86_depth_flow(struct x86_body *b);

#endif
