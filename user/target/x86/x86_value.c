/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A register may hold several values: the function's first argument, its second one, and values
 * loaded through the first. Each value that any instruction of the function computes is one bit of
 * a set. Memory is not modelled: values spilled to the stack are lost, so unoptimised code shows
 * nothing.
 */
#include "target/x86/x86_value.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "target/elf/elf_file.h"
#include "target/x86/x86_walk.h"

#define FUNCTION_BYTES_MAX 65536
#define VALUES_MAX 64
#define STEPS_MAX 20000
#define SECOND 1u /* bit of the second argument */
#define FIRST 2u  /* bit of the first argument */

typedef uint64_t value_set;

struct value_search {
	enum x86_value_want want;
	struct x86_loads value[VALUES_MAX]; /* through the first argument, by bit */
	unsigned int value_cnt;
	struct x86_loads found;
	bool any, ambiguous;
};

struct value_state {
	value_set reg[X86_REGISTERS];
};

static bool loads_equal(const struct x86_loads *a, const struct x86_loads *b)
{
	return a->loads == b->loads && a->off[0] == b->off[0] && a->off[1] == b->off[1];
}

static void value_found(struct value_search *s, value_set set)
{
	for (unsigned int i = 0; i < s->value_cnt; i++) {
		if (!(set >> i & 1) || !s->value[i].loads)
			continue;
		s->ambiguous |= s->any && !loads_equal(&s->found, &s->value[i]);
		s->found = s->value[i];
		s->any = true;
	}
}

static value_set value_bit(struct value_search *s, struct x86_loads l)
{
	unsigned int i = 0;

	while (i < s->value_cnt && !(loads_equal(&s->value[i], &l) && s->value[i].bytes == l.bytes))
		i++;
	if (i == VALUES_MAX)
		return 0;
	if (i == s->value_cnt)
		s->value[s->value_cnt++] = l;
	return (value_set)1 << i;
}

/* Returns the values that a memory operand loads through the first argument. */
static value_set value_loaded(struct value_search *s, const struct value_state *st,
			      const ZydisDecodedOperand *op)
{
	int base = op->mem.index == ZYDIS_REGISTER_NONE ? x86_register_index(op->mem.base) : -1;
	value_set set = 0;

	if (base < 0 || op->mem.disp.value < 0 || op->mem.disp.value > INT16_MAX)
		return 0;
	for (unsigned int i = 1, cnt = s->value_cnt; i < cnt; i++) {
		struct x86_loads l = s->value[i];

		if (!(st->reg[base] >> i & 1) || l.loads == X86_LOADS_MAX ||
		    (l.loads && l.bytes != 8))
			continue;
		l.off[l.loads++] = (int32_t)op->mem.disp.value;
		l.bytes = (uint8_t)(op->size / 8);
		set |= value_bit(s, l);
	}
	return set;
}

static void store_step(struct value_search *s, const struct value_state *st,
		       const struct x86_insn *insn)
{
	const ZydisDecodedOperand *to = &insn->op[0];
	int base = x86_register_index(to->mem.base), src = x86_operand_register(&insn->op[1]);

	if (s->want == X86_STORED && !to->mem.disp.value && to->mem.index == ZYDIS_REGISTER_NONE &&
	    base >= 0 && src >= 0 && st->reg[base] & SECOND)
		value_found(s, st->reg[src]);
}

static void call_step(struct value_search *s, struct value_state *st)
{
	for (size_t i = 0; i < sizeof(x86_argument_register) && s->want == X86_PASSED; i++)
		for (unsigned int k = 0; k < s->value_cnt; k++)
			if (s->value[k].loads == 1 && s->value[k].bytes == 4)
				value_found(s,
					    st->reg[x86_argument_register[i]] & (value_set)1 << k);
	for (int i = 0; i < X86_REGISTERS; i++)
		if (!(X86_CALL_PRESERVES >> i & 1))
			st->reg[i] = 0;
}

static value_set value_moved(struct value_search *s, const struct value_state *st,
			     const ZydisDecodedOperand *from)
{
	int reg = x86_operand_register(from);
	value_set set = 0;

	if (from->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return value_loaded(s, st, from);
	if (reg < 0 || (from->size != 64 && from->size != 32))
		return 0;
	if (from->size == 64)
		return st->reg[reg];
	for (unsigned int i = 0; i < s->value_cnt; i++) /* Half of a pointer is useless. */
		set |= s->value[i].loads ? st->reg[reg] & (value_set)1 << i : 0;
	return set;
}

static bool value_step(void *ctx, const struct x86_insn *insn, void *state)
{
	bool is_move = insn->z.mnemonic == ZYDIS_MNEMONIC_MOV ||
		       insn->z.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
	struct value_state *st = state;
	struct value_search *s = ctx;
	value_set set;

	if (x86_is_call(insn)) {
		call_step(s, st);
		return s->want != X86_PASSED || !s->any;
	}
	if (is_move && insn->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		store_step(s, st, insn);
		return true;
	}
	set = is_move ? value_moved(s, st, &insn->op[1]) : 0;
	for (unsigned int i = 0; i < insn->z.operand_count; i++) {
		const ZydisDecodedOperand *op = &insn->op[i];

		/* A conditional move may leave the old value, as in clamping a size. */
		if (op->actions & ZYDIS_OPERAND_ACTION_WRITE && x86_operand_register(op) >= 0)
			st->reg[x86_operand_register(op)] = set;
	}
	return true;
}

static bool value_join(void *state, const void *other)
{
	const struct value_state *from = other;
	struct value_state *to = state;
	bool grew = false;

	for (int i = 0; i < X86_REGISTERS; i++) {
		grew |= from->reg[i] & ~to->reg[i];
		to->reg[i] |= from->reg[i];
	}
	return grew;
}

int x86_value_find(const struct elf_file *f, const struct elf_symbol *sym, enum x86_value_want want,
		   struct x86_loads *out)
{
	static const struct x86_domain domain = {
		.bytes = sizeof(struct value_state),
		.join = value_join,
		.step = value_step,
	};
	/*
	 * Its first values are those that no load has reached: the second argument, and the first.
	 */
	struct value_search s = {.want = want, .value_cnt = 2};
	const struct x86_range range = {sym->addr, sym->addr + sym->size};
	struct x86_reader reader = {.f = f};
	struct x86_walk w = {
		.domain = &domain, .ctx = &s, .reader = &reader, .range = &range, .range_cnt = 1};
	const struct value_state entry = {.reg = {[X86_RDI] = FIRST, [X86_RSI] = SECOND}};

	if (sym->size == 0 || sym->size > FUNCTION_BYTES_MAX || range.end < range.start)
		return -ENOENT;
	x86_walk_reach(&w, range.start, &entry);
	x86_walk_run(&w, STEPS_MAX);
	x86_walk_release(&w);
	if (!s.any)
		return -ENOENT;
	if (s.ambiguous)
		return -ENOTUNIQ;
	*out = s.found;
	return 0;
}
