/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Follows a function's stack pointer, and rbp where it is a copy of it, from the start along all ways. A jump with the stack as
 * it was at the start may leave the function; any other one stays in it.
 */
#include "target/x86/x86_body.h"

#if defined(__x86_64__)

#include <stdlib.h>

#include "lib/log.h"

#define DEPTH_MAX (1 << 30)

struct flow {
	struct x86_body *b;
	size_t *queue; /* steps whose depth has changed */
	size_t cnt;
};

static int32_t depth_add(int32_t depth, int64_t bytes)
{
	int64_t sum = depth + bytes;

	return depth == X86_DEPTH_ANY || sum > DEPTH_MAX || sum < -DEPTH_MAX ? X86_DEPTH_ANY :
									       (int32_t)sum;
}

static bool operand_is(const ZydisDecodedOperand *op, ZydisRegister reg)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == reg;
}

/* "lea n(%rsp), %rsp", "lea n(%rbp), %rsp" */
static int32_t depth_of_address(const ZydisDecodedOperand *op, struct x86_depth d)
{
	if (op->mem.index != ZYDIS_REGISTER_NONE)
		return X86_DEPTH_ANY;
	if (op->mem.base == ZYDIS_REGISTER_RSP)
		return depth_add(d.sp, -op->mem.disp.value);
	return op->mem.base == ZYDIS_REGISTER_RBP ? depth_add(d.fp, -op->mem.disp.value) :
						    X86_DEPTH_ANY;
}

static int32_t depth_of_value(const struct x86_insn *insn, struct x86_depth d)
{
	const ZydisDecodedOperand *from = &insn->op[1];
	bool is_constant = from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	switch (insn->z.mnemonic) {
	case ZYDIS_MNEMONIC_SUB:
		return is_constant ? depth_add(d.sp, from->imm.value.s) : X86_DEPTH_ANY;
	case ZYDIS_MNEMONIC_ADD:
		return is_constant ? depth_add(d.sp, -from->imm.value.s) : X86_DEPTH_ANY;
	case ZYDIS_MNEMONIC_MOV:
		return operand_is(from, ZYDIS_REGISTER_RBP) ? d.fp :
		       operand_is(from, ZYDIS_REGISTER_RSP) ? d.sp :
							      X86_DEPTH_ANY;
	case ZYDIS_MNEMONIC_LEA:
		return depth_of_address(from, d);
	default:
		return X86_DEPTH_ANY;
	}
}

static struct x86_depth depth_after(const struct x86_insn *insn, struct x86_depth d)
{
	int64_t word = insn->z.operand_width / 8;

	if (x86_is_call(insn)) /* which takes its return address away again */
		return d;
	if (insn->z.mnemonic == ZYDIS_MNEMONIC_LEAVE)
		return (struct x86_depth){depth_add(d.fp, -8), X86_DEPTH_ANY};
	if (insn->z.meta.category == ZYDIS_CATEGORY_PUSH) {
		d.sp = depth_add(d.sp, word);
		return d;
	}
	if (insn->z.meta.category == ZYDIS_CATEGORY_POP) {
		d.sp = operand_is(&insn->op[0], ZYDIS_REGISTER_RSP) ? X86_DEPTH_ANY :
								      depth_add(d.sp, -word);
		if (operand_is(&insn->op[0], ZYDIS_REGISTER_RBP))
			d.fp = X86_DEPTH_ANY;
		return d;
	}
	if (x86_insn_writes(insn, ZYDIS_REGISTER_RSP))
		d.sp = depth_of_value(insn, d);
	else if (x86_insn_writes(insn, ZYDIS_REGISTER_RBP))
		d.fp = insn->z.mnemonic == ZYDIS_MNEMONIC_MOV ? depth_of_value(insn, d) :
								X86_DEPTH_ANY;
	return d;
}

/* ---- along the ways ---- */

static int32_t depth_merged(int32_t a, int32_t b)
{
	return a == X86_DEPTH_NONE || a == b ? b : X86_DEPTH_ANY;
}

static void step_reach(struct flow *w, struct x86_step *s, struct x86_depth d)
{
	struct x86_depth both = {depth_merged(s->depth.sp, d.sp), depth_merged(s->depth.fp, d.fp)};

	if (both.sp == s->depth.sp && both.fp == s->depth.fp)
		return;
	s->depth = both;
	if (s->queued)
		return;
	s->queued = true;
	w->queue[w->cnt++] = (size_t)(s - w->b->step);
}

static void step_leave(struct flow *w, const struct x86_step *s)
{
	struct x86_step *next = x86_body_step(w->b, s->addr + s->bytes), *to;
	struct x86_depth d = {X86_DEPTH_ANY, X86_DEPTH_ANY};
	struct x86_insn insn;

	if (x86_decode(&w->b->reader, s->addr, &insn))
		d = depth_after(&insn, s->depth);
	if (next && (s->next == X86_GOES_ON || s->next == X86_BRANCHES))
		step_reach(w, next, d);
	if (s->next != X86_JUMPS && s->next != X86_BRANCHES)
		return;
	to = x86_body_step(w->b, s->to);
	if (to)
		step_reach(w, to, d);
}

static void flow_run(struct flow *w)
{
	while (w->cnt) {
		struct x86_step *s = &w->b->step[w->queue[--w->cnt]];

		s->queued = false;
		step_leave(w, s);
	}
}

/* What jumps through tables have in common; X86_DEPTH_NONE if no way leads to any. A jump from deep in the stack is one. */
static struct x86_depth tables_depth(const struct x86_body *b)
{
	struct x86_depth d = {X86_DEPTH_NONE, X86_DEPTH_NONE};

	for (const struct x86_step *s = b->step; s < b->step + b->cnt; s++) {
		if (s->next != X86_JUMPS_INDIRECTLY || s->depth.sp == X86_DEPTH_NONE ||
		    (!s->is_table && s->depth.sp == 0))
			continue;
		d.sp = depth_merged(d.sp, s->depth.sp);
		d.fp = depth_merged(d.fp, s->depth.fp);
	}
	return d;
}

/* Tables lead to the blocks to which nothing else does. */
static bool tables_leave(struct flow *w)
{
	struct x86_depth d = tables_depth(w->b);

	for (size_t i = 1; i < w->b->cnt && d.sp != X86_DEPTH_NONE; i++)
		if (w->b->step[i].depth.sp == X86_DEPTH_NONE &&
		    w->b->step[i - 1].next > X86_BRANCHES)
			step_reach(w, &w->b->step[i], d);
	return w->cnt;
}

void x86_depth_flow(struct x86_body *b)
{
	struct flow w = {.b = b, .queue = xcalloc(b->cnt, sizeof(*w.queue))};

	step_reach(&w, &b->step[0], (struct x86_depth){0, X86_DEPTH_ANY});
	do
		flow_run(&w);
	while (tables_leave(&w));
	free(w.queue);
}

#endif
