/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See x86_args.h. Where paths meet, only what is the same on all of them is kept. An argument that
 * cannot be followed is lost.
 */
#include "target/x86/x86_args.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "target/x86/x86_walk.h"

#define CODE_BYTES_MAX 65536
#define SLOTS_BELOW 256 /* tracked words of the frame */
#define SLOTS_ABOVE 16	/* tracked words above its return address */
#define STEPS_MAX 400000
#define UNKNOWN INT32_MIN

/* Registers and stack words hold an argument's number + 1, or 0. */
struct state {
	int32_t sp; /* the stack pointer, relative to the CFA, or UNKNOWN */
	int32_t fp; /* rbp relative to the CFA, if it is a frame pointer, or UNKNOWN */
	uint8_t reg[X86_REGISTERS];
	uint8_t slot[SLOTS_BELOW + SLOTS_ABOVE]; /* the lowest word comes first */
};

static const uint8_t dwarf_of[X86_REGISTERS] = {0, 2, 1,  3,  7,  6,  4,  5,
						8, 9, 10, 11, 12, 13, 14, 15};

/* Returns a tracked stack word by its offset from the CFA, or NULL. */
static uint8_t *slot_at(struct state *s, int64_t off)
{
	int64_t i = off / 8 + SLOTS_BELOW;

	return off % 8 || i < 0 || i >= SLOTS_BELOW + SLOTS_ABOVE ? NULL : &s->slot[i];
}

/* Returns the offset from the CFA of a memory operand in the frame, or UNKNOWN. */
static int64_t frame_off(const struct state *s, const ZydisDecodedOperand *op)
{
	int32_t from;

	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.index != ZYDIS_REGISTER_NONE)
		return UNKNOWN;
	from = x86_register_index(op->mem.base) == X86_RSP ? s->sp :
	       x86_register_index(op->mem.base) == X86_RBP ? s->fp :
							     UNKNOWN;
	return from == UNKNOWN ? UNKNOWN :
				 from + (op->mem.disp.has_displacement ? op->mem.disp.value : 0);
}

static void reg_lose(struct state *s, int reg)
{
	if (reg < 0)
		return;
	s->reg[reg] = 0;
	if (reg == X86_RSP)
		s->sp = UNKNOWN;
	if (reg == X86_RBP)
		s->fp = UNKNOWN;
}

static void stack_lose(struct state *s, int64_t off, uint32_t bytes)
{
	for (int64_t at = off - (off % 8 + 8) % 8; at < off + bytes; at += 8) {
		uint8_t *slot = slot_at(s, at);

		if (slot)
			*slot = 0;
	}
}

static void push_pop(struct state *s, const struct x86_insn *insn)
{
	bool push = insn->z.mnemonic == ZYDIS_MNEMONIC_PUSH;
	int reg = x86_operand_register(&insn->op[0]);
	uint8_t *slot;

	if (s->sp == UNKNOWN) {
		if (!push)
			reg_lose(s, reg);
		return;
	}
	if (push)
		s->sp -= 8;
	slot = slot_at(s, s->sp);
	if (push && slot)
		*slot = reg >= 0 ? s->reg[reg] : 0;
	if (push)
		return;
	reg_lose(s, reg);
	if (reg >= 0 && reg != X86_RSP)
		s->reg[reg] = slot ? *slot : 0;
	s->sp += 8;
}

/* Returns true for a move of at least 32 bits: an int argument has no more. */
static bool is_move(const struct x86_insn *insn)
{
	return (insn->z.mnemonic == ZYDIS_MNEMONIC_MOV ||
		insn->z.mnemonic == ZYDIS_MNEMONIC_MOVSXD) &&
	       insn->op[0].size >= 32;
}

static bool move_step(struct state *s, const struct x86_insn *insn)
{
	const ZydisDecodedOperand *op = insn->op;
	int to = x86_operand_register(&op[0]), from = x86_operand_register(&op[1]);
	int64_t off;
	uint8_t *slot;

	if (!is_move(insn))
		return false;
	if (to == X86_RBP && from == X86_RSP) {
		s->reg[X86_RBP] = 0;
		s->fp = s->sp;
		return true;
	}
	if (to == X86_RSP) {
		s->sp = from == X86_RBP ? s->fp : UNKNOWN;
		return true;
	}
	if (to >= 0 && from >= 0) {
		uint8_t what = s->reg[from];

		reg_lose(s, to);
		s->reg[to] = what;
		return true;
	}
	if (to >= 0 && op[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		off = frame_off(s, &op[1]);
		slot = off == UNKNOWN ? NULL : slot_at(s, off);
		reg_lose(s, to);
		s->reg[to] = slot ? *slot : 0;
		return true;
	}
	off = op[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? frame_off(s, &op[0]) : UNKNOWN;
	if (off == UNKNOWN)
		return false;
	stack_lose(s, off, op[0].size / 8);
	slot = slot_at(s, off);
	if (slot)
		*slot = from >= 0 ? s->reg[from] : 0;
	return true;
}

/* Handles add and sub of a constant to the stack pointer, and lea of a frame address into it. */
static bool stack_moves(struct state *s, const struct x86_insn *insn)
{
	const ZydisDecodedOperand *op = insn->op;
	bool sub = insn->z.mnemonic == ZYDIS_MNEMONIC_SUB;
	bool add = insn->z.mnemonic == ZYDIS_MNEMONIC_ADD;
	int to = x86_operand_register(&op[0]);
	int64_t off;

	if (to == X86_RSP && (sub || add) && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		if (s->sp != UNKNOWN)
			s->sp += (int32_t)(sub ? -op[1].imm.value.s : op[1].imm.value.s);
		return true;
	}
	if (insn->z.mnemonic != ZYDIS_MNEMONIC_LEA)
		return false;
	off = frame_off(s, &op[1]);
	reg_lose(s, to);
	if (to == X86_RSP)
		s->sp = off == UNKNOWN ? UNKNOWN : (int32_t)off;
	else if (off != UNKNOWN) /* other code may write there from now on */
		stack_lose(s, off, 8);
	return true;
}

static void others_write(struct state *s, const struct x86_insn *insn)
{
	for (unsigned int i = 0; i < insn->z.operand_count; i++) {
		const ZydisDecodedOperand *op = &insn->op[i];
		int64_t off = frame_off(s, op);

		if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		reg_lose(s, x86_operand_register(op));
		if (off != UNKNOWN)
			stack_lose(s, off, op->size / 8);
	}
}

static void call_step(struct state *s)
{
	for (int i = 0; i < X86_REGISTERS; i++)
		if (!(X86_CALL_PRESERVES >> i & 1))
			s->reg[i] = 0;
}

/* Sets *ctx, a bool, if a path leads to an unknown place. */
static bool args_step(void *ctx, const struct x86_insn *insn, void *state)
{
	struct state *s = state;

	if (x86_is_indirect_jump(insn))
		*(bool *)ctx = true;
	else if (x86_is_call(insn))
		call_step(s);
	else if (insn->z.mnemonic == ZYDIS_MNEMONIC_PUSH || insn->z.mnemonic == ZYDIS_MNEMONIC_POP)
		push_pop(s, insn);
	else if (insn->z.mnemonic == ZYDIS_MNEMONIC_LEAVE)
		s->sp = s->fp == UNKNOWN ? UNKNOWN : s->fp + 8, reg_lose(s, X86_RBP);
	else if (!move_step(s, insn) && !stack_moves(s, insn))
		others_write(s, insn);
	return true;
}

static bool number_meet(int32_t *to, int32_t from)
{
	if (*to == UNKNOWN || *to == from)
		return false;
	*to = UNKNOWN;
	return true;
}

static bool holders_meet(uint8_t *to, const uint8_t *from, size_t cnt)
{
	bool less = false;

	for (size_t i = 0; i < cnt; i++)
		if (to[i] && to[i] != from[i])
			to[i] = 0, less = true;
	return less;
}

static bool state_meet(void *into, const void *other)
{
	struct state *to = into;
	const struct state *from = other;
	bool less = holders_meet(to->reg, from->reg, sizeof(to->reg));

	less |= holders_meet(to->slot, from->slot, sizeof(to->slot));
	less |= number_meet(&to->sp, from->sp);
	less |= number_meet(&to->fp, from->fp);
	return less;
}

static struct state entry_state(size_t cnt)
{
	struct state s = {.sp = -8, .fp = UNKNOWN};

	for (size_t i = 0; i < cnt; i++) {
		if (i < sizeof(x86_argument_register))
			s.reg[x86_argument_register[i]] = (uint8_t)(i + 1);
		else
			*slot_at(&s, (int64_t)(i - sizeof(x86_argument_register)) *
					     8) = (uint8_t)(i + 1);
	}
	return s;
}

static bool is_preserved(int reg)
{
	return reg != X86_RSP && X86_CALL_PRESERVES >> reg & 1;
}

static void places_take(const struct state *s, struct x86_arg *arg, size_t cnt)
{
	for (int i = SLOTS_BELOW + SLOTS_ABOVE - 1; i >= 0; i--)
		if (s->slot[i] && s->slot[i] <= cnt)
			arg[s->slot[i] - 1] = (struct x86_arg){.place = X86_ARG_ON_STACK,
							       .off = (i - SLOTS_BELOW) * 8};
	for (int i = 0; i < X86_REGISTERS; i++)
		if (is_preserved(i) && s->reg[i] && s->reg[i] <= cnt)
			arg[s->reg[i] - 1] = (struct x86_arg){.place = X86_ARG_IN_REG,
							      .reg = dwarf_of[i]};
}

static const struct x86_domain args_domain = {
	.bytes = sizeof(struct state),
	.join = state_meet,
	.step = args_step,
};

bool x86_args_find(const uint8_t *code, size_t bytes, uint64_t start, uint64_t at,
		   struct x86_arg *arg, size_t cnt)
{
	const struct x86_range range = {start, start + bytes};
	struct x86_reader reader;
	bool is_lost = false;
	struct x86_walk w = {.domain = &args_domain,
			     .ctx = &is_lost,
			     .reader = &reader,
			     .range = &range,
			     .range_cnt = 1};
	const struct state *found = NULL;
	struct state entry;

	memset(arg, 0, cnt * sizeof(*arg));
	if (!bytes || bytes > CODE_BYTES_MAX || cnt > X86_ARGS_MAX || at - start >= bytes)
		return false;
	x86_reader_init(&reader, code, bytes, start);
	entry = entry_state(cnt);
	x86_walk_reach(&w, start, &entry);
	if (x86_walk_run(&w, STEPS_MAX) && !is_lost)
		found = x86_walk_state(&w, at);
	if (found)
		places_take(found, arg, cnt);
	x86_walk_release(&w);
	return found;
}

/* ---- values that a caller passes ---- */

#define BACK_MAX 64 /* limit of instructions before the call */
#define JUMPS_SEVERAL UINT32_MAX

/* The jumps inside a function. */
struct jumps {
	struct x86_reader reader;
	uint64_t start;
	uint32_t *offset; /* offsets of instructions before the given address; owned */
	uint32_t *from;	  /* by offset: the only jump to it, + 1; owned */
	size_t cnt;	  /* number of offsets */
	bool unknown;	  /* some jumps have computed targets */
};

static bool is_jump(const struct x86_insn *insn)
{
	return insn->z.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       insn->z.meta.category == ZYDIS_CATEGORY_COND_BR;
}

static void jump_note(struct jumps *j, const struct x86_insn *insn, size_t bytes)
{
	uint64_t to;

	if (!x86_branch_target(insn, &to))
		j->unknown = true;
	else if (to - j->start < bytes)
		j->from[to - j->start] = j->from[to - j->start] ?
						 JUMPS_SEVERAL :
						 (uint32_t)(insn->addr - j->start) + 1;
}

static void jumps_find(struct jumps *j, size_t bytes, uint64_t before)
{
	struct x86_insn insn;

	j->offset = xcalloc(bytes + 1, sizeof(*j->offset));
	j->from = xcalloc(bytes + 1, sizeof(*j->from));
	for (size_t off = 0; x86_decode(&j->reader, j->start + off, &insn); off += insn.z.length) {
		if (off < before)
			j->offset[j->cnt++] = (uint32_t)off;
		if (is_jump(&insn))
			jump_note(j, &insn, bytes);
	}
}

/* Returns the index of an instruction; cnt: none begins there. */
static size_t instruction_at(const struct jumps *j, uint32_t off)
{
	size_t i = 0;

	while (i < j->cnt && j->offset[i] != off)
		i++;
	return i;
}

/*
 * Finds the instruction that runs before the ith one on the only path to it: the one above it
 * (except for padding) or a jump. False: there are several paths, or none is known.
 */
static bool way_back(struct jumps *j, size_t *i, struct x86_insn *out)
{
	uint32_t from = j->from[j->offset[*i]];

	do {
		if (!*i)
			return false;
		x86_decode(&j->reader, j->start + j->offset[--*i], out);
	} while (from && out->z.mnemonic == ZYDIS_MNEMONIC_NOP);
	if (from == JUMPS_SEVERAL || (from != 0) != x86_ends_block(out))
		return false;
	if (from) {
		*i = instruction_at(j, from - 1);
		if (*i == j->cnt)
			return false;
		x86_decode(&j->reader, j->start + j->offset[*i], out);
	}
	return !x86_is_call(out) && !(is_jump(out) && j->unknown);
}

/*
 * Lists the instructions that ran before an address, the last one first, as far back as only one
 * path leads there.
 */
static size_t block_before(const uint8_t *code, size_t bytes, uint64_t start, uint64_t at,
			   struct x86_insn *out)
{
	struct jumps j = {.start = start};
	size_t n = 0, i;

	x86_reader_init(&j.reader, code, bytes, start);
	jumps_find(&j, bytes, at - start);
	i = j.cnt - 1; /* the call itself is the last one before `at` */
	while (j.cnt && n < BACK_MAX && way_back(&j, &i, &out[n]))
		n++;
	free(j.offset);
	free(j.from);
	return n;
}

/*
 * Returns the last instruction, from index `from` on backwards, that writes the register; cnt:
 * none.
 */
static size_t writer_of(const struct x86_insn *b, size_t cnt, size_t from, int reg)
{
	while (from < cnt && !(x86_written(&b[from]) >> reg & 1))
		from++;
	return from;
}

static bool writes_memory(const struct x86_insn *insn)
{
	return table_any(insn->z.operand_count, n,
			 insn->op[n].type == ZYDIS_OPERAND_TYPE_MEMORY &&
				 insn->op[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
}

/* Returns memory of the frame, if no later instruction writes it. */
static struct x86_passed memory_passed(const struct x86_insn *b, size_t i)
{
	const ZydisDecodedOperand *op = &b[i].op[1];
	struct x86_passed p = {.kind = X86_PASSED_UNKNOWN};
	int base = x86_register_index(op->mem.base);

	if ((base != X86_RBP && base != X86_RSP) || op->mem.index != ZYDIS_REGISTER_NONE ||
	    (op->size != 32 && op->size != 64))
		return p;
	for (size_t k = 0; k < i; k++)
		if (x86_written(&b[k]) >> base & 1 || writes_memory(&b[k]))
			return p;
	p.kind = X86_PASSED_MEMORY;
	p.reg = dwarf_of[base];
	p.value = op->mem.disp.has_displacement ? op->mem.disp.value : 0;
	p.bytes = (uint8_t)(op->size / 8);
	return p;
}

/* Returns a value that is addressed relative to the instruction: an address, or the word at one. */
static struct x86_passed near_passed(const struct x86_insn *w)
{
	struct x86_passed p = {.kind = X86_PASSED_UNKNOWN};
	uint64_t addr;

	if (w->op[0].size != 64 || !x86_rip_operand(w, &w->op[1], &addr))
		return p;
	p.value = (int64_t)addr;
	if (w->z.mnemonic == ZYDIS_MNEMONIC_LEA)
		p.kind = X86_PASSED_CONSTANT;
	else if (w->z.mnemonic == ZYDIS_MNEMONIC_MOV)
		p.kind = X86_PASSED_LOADED;
	return p;
}

static struct x86_passed passed_in(const struct x86_insn *b, size_t cnt, int reg)
{
	const struct x86_passed none = {.kind = X86_PASSED_UNKNOWN};

	for (size_t i = 0; i <= cnt; i++) {
		const struct x86_insn *w;

		i = writer_of(b, cnt, i, reg);
		if (i == cnt)
			return none;
		w = &b[i];
		if (w->z.mnemonic == ZYDIS_MNEMONIC_XOR && x86_operand_register(&w->op[1]) == reg)
			return (struct x86_passed){.kind = X86_PASSED_CONSTANT};
		if (near_passed(w).kind != X86_PASSED_UNKNOWN)
			return near_passed(w);
		if (!is_move(w) || x86_operand_register(&w->op[0]) != reg)
			return none;
		if (w->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return (struct x86_passed){.kind = X86_PASSED_CONSTANT,
						   .value = w->op[1].imm.value.s};
		if (w->op[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return memory_passed(b, i);
		reg = x86_operand_register(&w->op[1]);
		if (reg < 0)
			return none;
		if (is_preserved(reg) && writer_of(b, i, 0, reg) == i)
			return (struct x86_passed){.kind = X86_PASSED_REG, .reg = dwarf_of[reg]};
	}
	return none;
}

struct x86_passed x86_passed_find(const uint8_t *code, size_t bytes, uint64_t start, uint64_t at,
				  unsigned int nth)
{
	struct x86_passed p = {.kind = X86_PASSED_UNKNOWN};
	struct x86_insn *b;

	if (nth >= sizeof(x86_argument_register) || !bytes || bytes > CODE_BYTES_MAX ||
	    at <= start || at - start > bytes)
		return p;
	b = xcalloc(BACK_MAX, sizeof(*b));
	p = passed_in(b, block_before(code, bytes, start, at, b), x86_argument_register[nth]);
	free(b);
	return p;
}
