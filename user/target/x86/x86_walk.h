/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Follows all paths through a function's code and keeps, for each instruction, what is known before
 * it. Each question about code is a domain of its own: what is known, and how an instruction
 * changes it. x86-64 only.
 */
#ifndef POV_TARGET_X86_X86_WALK_H
#define POV_TARGET_X86_X86_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/x86/x86_code.h"

struct x86_range {
	uint64_t start, end;
};

struct x86_domain {
	size_t bytes; /* size of a state */
	/* Adds the state of another path that leads to the same place. Returns true on a change. */
	bool (*join)(void *state, const void *other);
	/* Changes the state by an instruction. False: the path is not followed any further. */
	bool (*step)(void *ctx, const struct x86_insn *insn, void *state);
};

struct x86_walk {
	const struct x86_domain *domain;
	void *ctx; /* for step */
	struct x86_reader *reader;
	const struct x86_range *range; /* parts of the function; paths end where they leave them */
	size_t range_cnt;

	struct x86_place **place; /* internal, by offset in the ranges */
	struct x86_place **queue; /* internal */
	uint32_t queue_cnt, queue_room;
};

/* Begins, or adds, a path at an address. */
void x86_walk_reach(struct x86_walk *w, uint64_t addr, const void *state);
/* Follows all paths that have begun. False: not in so many steps. */
bool x86_walk_run(struct x86_walk *w, uint64_t steps_max);
/* Returns the state before an instruction; NULL: no path leads there. */
const void *x86_walk_state(const struct x86_walk *w, uint64_t addr);
void x86_walk_release(struct x86_walk *w);

#endif
