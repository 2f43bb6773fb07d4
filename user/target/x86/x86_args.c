/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See x86_args.h. What cannot be followed is lost: only what is the same on all ways counts. */
#if defined(__x86_64__)
#include "target/x86/x86_args.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"

#define CODE_BYTES_MAX 65536
#define REGS 16
#define SLOTS_BELOW 256 /* words of the frame, … */
#define SLOTS_ABOVE 16	/* … and above its return address */
#define STEPS_MAX 400000
#define UNKNOWN INT32_MIN

/* Before an instruction. What an argument's number + 1 says is in registers, and in words of the stack. */
struct state {
	bool seen;
	int32_t sp,
		fp; /* from the CFA; UNKNOWN. fp: of rbp, if it is a copy of the stack pointer */
	uint8_t reg[REGS];
	uint8_t slot[SLOTS_BELOW + SLOTS_ABOVE]; /* the first one is the lowest */
};

struct follow {
	const uint8_t *code;
	size_t bytes;
	uint64_t start;
	ZydisDecoder decoder;
	struct state *state; /* by offset; owned */
	uint32_t *queue;     /* offsets to go on from; owned */
	size_t nqueue;
	bool *queued; /* owned */
};

/* Zydis numbers rax rcx rdx rbx rsp rbp rsi rdi; DWARF rax rdx rcx rbx rsi rdi rbp rsp. */
static const uint8_t dwarf_of[REGS] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
#define REG_RBP 6
#define REG_RSP 7

static int reg_of(ZydisRegister r)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return -1;
	return dwarf_of[whole - ZYDIS_REGISTER_RAX];
}

/* A word of the stack by its place from the CFA; NULL: not one of those that are followed. */
static uint8_t *slot_at(struct state *s, int64_t off)
{
	int64_t i = off / 8 + SLOTS_BELOW;

	return off % 8 || i < 0 || i >= SLOTS_BELOW + SLOTS_ABOVE ? NULL : &s->slot[i];
}

/* A memory operand in the frame: its place from the CFA; UNKNOWN. */
static int64_t frame_off(const struct state *s, const ZydisDecodedOperand *op)
{
	int base = reg_of(op->mem.base);
	int32_t from = base == REG_RSP ? s->sp : base == REG_RBP ? s->fp : UNKNOWN;

	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.index != ZYDIS_REGISTER_NONE ||
	    from == UNKNOWN)
		return UNKNOWN;
	return from + (op->mem.disp.has_displacement ? op->mem.disp.value : 0);
}

static void reg_lose(struct state *s, int reg)
{
	if (reg < 0)
		return;
	s->reg[reg] = 0;
	if (reg == REG_RSP)
		s->sp = UNKNOWN;
	if (reg == REG_RBP)
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

static void push_pop(struct state *s, const ZydisDecodedInstruction *z,
		     const ZydisDecodedOperand *op)
{
	bool push = z->mnemonic == ZYDIS_MNEMONIC_PUSH;
	int reg = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? reg_of(op[0].reg.value) : -1;
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
	if (reg >= 0 && reg != REG_RSP)
		s->reg[reg] = slot ? *slot : 0;
	s->sp += 8;
}

/* Of 32 bits too: an argument that is an int has no more. */
static bool is_move(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op)
{
	return (z->mnemonic == ZYDIS_MNEMONIC_MOV || z->mnemonic == ZYDIS_MNEMONIC_MOVSXD) &&
	       op[0].size >= 32;
}

static bool move(struct state *s, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op)
{
	int to = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? reg_of(op[0].reg.value) : -1;
	int from = op[1].type == ZYDIS_OPERAND_TYPE_REGISTER ? reg_of(op[1].reg.value) : -1;
	int64_t off;
	uint8_t *slot;

	if (!is_move(z, op))
		return false;
	if (to == REG_RBP && from == REG_RSP) {
		s->reg[REG_RBP] = 0;
		s->fp = s->sp;
		return true;
	}
	if (to == REG_RSP) {
		s->sp = from == REG_RBP ? s->fp : UNKNOWN;
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

/* add and sub of a constant to the stack pointer; lea of a place of the frame into it. */
static bool stack_moves(struct state *s, const ZydisDecodedInstruction *z,
			const ZydisDecodedOperand *op)
{
	bool sub = z->mnemonic == ZYDIS_MNEMONIC_SUB, add = z->mnemonic == ZYDIS_MNEMONIC_ADD;
	int to = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? reg_of(op[0].reg.value) : -1;
	int64_t off;

	if (to == REG_RSP && (sub || add) && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		if (s->sp != UNKNOWN)
			s->sp += (int32_t)(sub ? -op[1].imm.value.s : op[1].imm.value.s);
		return true;
	}
	if (z->mnemonic != ZYDIS_MNEMONIC_LEA)
		return false;
	off = frame_off(s, &op[1]);
	reg_lose(s, to);
	if (to == REG_RSP)
		s->sp = off == UNKNOWN ? UNKNOWN : (int32_t)off;
	else if (off != UNKNOWN) /* others may write there from now on */
		stack_lose(s, off, 8);
	return true;
}

static void others_write(struct state *s, const ZydisDecodedInstruction *z,
			 const ZydisDecodedOperand *op)
{
	for (unsigned int i = 0; i < z->operand_count; i++) {
		if (!(op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (op[i].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			reg_lose(s, reg_of(op[i].reg.value));
		} else if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
			int64_t off = frame_off(s, &op[i]);

			if (off != UNKNOWN)
				stack_lose(s, off, op[i].size / 8);
		}
	}
}

static void called(struct state *s)
{
	static const uint8_t lost[] = {0, 1, 2, 4, 5, 8, 9, 10, 11};

	for (size_t i = 0; i < sizeof(lost); i++)
		s->reg[lost[i]] = 0;
}

static void step(struct state *s, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *op)
{
	if (z->meta.category == ZYDIS_CATEGORY_CALL)
		called(s);
	else if (z->mnemonic == ZYDIS_MNEMONIC_PUSH || z->mnemonic == ZYDIS_MNEMONIC_POP)
		push_pop(s, z, op);
	else if (z->mnemonic == ZYDIS_MNEMONIC_LEAVE)
		s->sp = s->fp == UNKNOWN ? UNKNOWN : s->fp + 8, reg_lose(s, REG_RBP);
	else if (!move(s, z, op) && !stack_moves(s, z, op))
		others_write(s, z, op);
}

/* ---- ways ---- */

static bool state_meet(struct state *to, const struct state *from)
{
	bool less = false;

	if (!to->seen) {
		*to = *from;
		to->seen = true;
		return true;
	}
	for (int i = 0; i < REGS; i++)
		if (to->reg[i] && to->reg[i] != from->reg[i])
			to->reg[i] = 0, less = true;
	for (int i = 0; i < SLOTS_BELOW + SLOTS_ABOVE; i++)
		if (to->slot[i] && to->slot[i] != from->slot[i])
			to->slot[i] = 0, less = true;
	if (to->sp != UNKNOWN && to->sp != from->sp)
		to->sp = UNKNOWN, less = true;
	if (to->fp != UNKNOWN && to->fp != from->fp)
		to->fp = UNKNOWN, less = true;
	return less;
}

static void way_add(struct follow *f, uint64_t addr, const struct state *s)
{
	uint64_t off = addr - f->start;

	if (off >= f->bytes || !state_meet(&f->state[off], s) || f->queued[off])
		return;
	f->queued[off] = true;
	f->queue[f->nqueue++] = (uint32_t)off;
}

static bool goes_on(const ZydisDecodedInstruction *z)
{
	return z->meta.category != ZYDIS_CATEGORY_UNCOND_BR &&
	       z->meta.category != ZYDIS_CATEGORY_RET && z->mnemonic != ZYDIS_MNEMONIC_UD2 &&
	       z->mnemonic != ZYDIS_MNEMONIC_HLT;
}

/* False: a way leads where nobody knows. */
static bool follow_one(struct follow *f, uint32_t off)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	struct state s = f->state[off];
	ZydisDecodedInstruction z;
	uint64_t addr = f->start + off, to;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeFull(&f->decoder, f->code + off, f->bytes - off, &z, op)))
		return true;
	if (z.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	    z.meta.category == ZYDIS_CATEGORY_COND_BR) {
		if (op[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return false;
		to = addr + z.length + (uint64_t)op[0].imm.value.s;
		way_add(f, to, &s);
	}
	if (!goes_on(&z))
		return true;
	step(&s, &z, op);
	way_add(f, addr + z.length, &s);
	return true;
}

static struct state entry_state(size_t cnt)
{
	static const uint8_t in_reg[] = {5, 4, 1, 2, 8, 9};
	struct state s = {.seen = true, .sp = -8, .fp = UNKNOWN};

	for (size_t i = 0; i < cnt; i++) {
		if (i < sizeof(in_reg))
			s.reg[in_reg[i]] = (uint8_t)(i + 1);
		else
			*slot_at(&s, (int64_t)(i - sizeof(in_reg)) * 8) = (uint8_t)(i + 1);
	}
	return s;
}

static void places_take(const struct state *s, struct x86_arg *arg, size_t cnt)
{
	static const uint8_t preserved[] = {3, 6, 12, 13, 14, 15};

	for (int i = SLOTS_BELOW + SLOTS_ABOVE - 1; i >= 0; i--)
		if (s->slot[i] && s->slot[i] <= cnt)
			arg[s->slot[i] - 1] = (struct x86_arg){.place = X86_ARG_ON_STACK,
							       .off = (i - SLOTS_BELOW) * 8};
	for (size_t i = 0; i < sizeof(preserved); i++)
		if (s->reg[preserved[i]] && s->reg[preserved[i]] <= cnt)
			arg[s->reg[preserved[i]] - 1] = (struct x86_arg){.place = X86_ARG_IN_REG,
									 .reg = preserved[i]};
}

bool x86_args_find(const uint8_t *code, size_t bytes, uint64_t start, uint64_t at,
		   struct x86_arg *arg, size_t cnt)
{
	struct follow f = {.code = code, .bytes = bytes, .start = start};
	struct state entry;
	bool whole = true, found;
	uint32_t steps = 0;

	memset(arg, 0, cnt * sizeof(*arg));
	if (!bytes || bytes > CODE_BYTES_MAX || cnt > X86_ARGS_MAX || at - start >= bytes)
		return false;
	ZydisDecoderInit(&f.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	f.state = xcalloc(bytes, sizeof(*f.state));
	f.queue = xcalloc(bytes, sizeof(*f.queue));
	f.queued = xcalloc(bytes, sizeof(*f.queued));
	entry = entry_state(cnt);
	way_add(&f, start, &entry);
	while (f.nqueue && whole && steps++ < STEPS_MAX) {
		uint32_t off = f.queue[--f.nqueue];

		f.queued[off] = false;
		whole = follow_one(&f, off);
	}
	found = whole && !f.nqueue && f.state[at - start].seen;
	if (found)
		places_take(&f.state[at - start], arg, cnt);
	free(f.state);
	free(f.queue);
	free(f.queued);
	return found;
}

/* ---- what a caller passes ---- */

#define BACK_MAX 64 /* instructions before the call */

struct before {
	uint64_t next; /* address behind it */
	ZydisDecodedInstruction z;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* Where jumps within a function lead. */
struct jumps {
	const uint8_t *code;
	size_t bytes;
	ZydisDecoder decoder;
	uint32_t *offset; /* of instructions before the address looked at; owned */
	uint32_t *from;	  /* by offset: the only jump that leads there, + 1; owned */
	size_t cnt;	  /* of offset */
	bool unknown;	  /* some lead to addresses that are reckoned */
};
#define JUMPS_SEVERAL UINT32_MAX

static bool is_jump(const ZydisDecodedInstruction *z)
{
	return z->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       z->meta.category == ZYDIS_CATEGORY_COND_BR;
}

static void jump_note(struct jumps *j, size_t off, const struct before *b)
{
	uint64_t to = off + b->z.length + (uint64_t)b->op[0].imm.value.s;

	if (b->op[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		j->unknown = true;
	else if (to < j->bytes)
		j->from[to] = j->from[to] ? JUMPS_SEVERAL : (uint32_t)off + 1;
}

static void jumps_find(struct jumps *j, uint64_t before)
{
	struct before b;

	j->offset = xcalloc(j->bytes + 1, sizeof(*j->offset));
	j->from = xcalloc(j->bytes + 1, sizeof(*j->from));
	ZydisDecoderInit(&j->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t off = 0; off < j->bytes; off += b.z.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&j->decoder, j->code + off, j->bytes - off,
							 &b.z, b.op)))
			break;
		if (off < before)
			j->offset[j->cnt++] = (uint32_t)off;
		if (is_jump(&b.z))
			jump_note(j, off, &b);
	}
}

/* The index of an instruction; cnt: it is not one of them. */
static size_t instruction_at(const struct jumps *j, uint32_t off)
{
	size_t i = 0;

	while (i < j->cnt && j->offset[i] != off)
		i++;
	return i;
}

static void decode_at(const struct jumps *j, size_t i, struct before *out)
{
	uint32_t off = j->offset[i];

	ZydisDecoderDecodeFull(&j->decoder, j->code + off, j->bytes - off, &out->z, out->op);
}

/*
 * The instruction that runs before the ith one, on the only way there: the one above it (but for padding) or a jump. False: there are
 * several ways, or none that is known.
 */
static bool way_back(const struct jumps *j, size_t *i, struct before *out)
{
	uint32_t from = j->from[j->offset[*i]];

	do {
		if (!*i)
			return false;
		decode_at(j, --*i, out);
	} while (from && out->z.mnemonic == ZYDIS_MNEMONIC_NOP);
	if (from == JUMPS_SEVERAL || !from != goes_on(&out->z))
		return false;
	if (from) {
		*i = instruction_at(j, from - 1);
		if (*i == j->cnt)
			return false;
		decode_at(j, *i, out);
	}
	return out->z.meta.category != ZYDIS_CATEGORY_CALL && !(is_jump(&out->z) && j->unknown);
}

/* The instructions that have run before an address, the last one first, as far back as only one way leads there. */
static size_t block_before(const uint8_t *code, size_t bytes, uint64_t start, uint64_t at,
			   struct before *out)
{
	struct jumps j = {.code = code, .bytes = bytes};
	size_t n = 0, i;

	jumps_find(&j, at - start);
	i = j.cnt - 1; /* the call itself is the last one before `at` */
	while (j.cnt && n < BACK_MAX && way_back(&j, &i, &out[n])) {
		out[n].next = start + j.offset[i] + out[n].z.length;
		n++;
	}
	free(j.offset);
	free(j.from);
	return n;
}

static bool writes_reg(const struct before *b, int reg)
{
	for (unsigned int i = 0; i < b->z.operand_count; i++)
		if (b->op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    b->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    reg_of(b->op[i].reg.value) == reg)
			return true;
	return false;
}

static bool is_preserved(int reg)
{
	return reg == 3 || reg == REG_RBP || reg >= 12;
}

/* The last instruction before [from] that writes it; cnt: none. */
static size_t writer_of(const struct before *b, size_t cnt, size_t from, int reg)
{
	while (from < cnt && !writes_reg(&b[from], reg))
		from++;
	return from;
}

/* Memory of the frame that nothing among the later instructions writes. */
static struct x86_passed memory_passed(const struct before *b, size_t i)
{
	const ZydisDecodedOperand *op = &b[i].op[1];
	struct x86_passed p = {.kind = X86_PASSED_UNKNOWN};
	int base = reg_of(op->mem.base);

	if ((base != REG_RBP && base != REG_RSP) || op->mem.index != ZYDIS_REGISTER_NONE ||
	    (op->size != 32 && op->size != 64))
		return p;
	for (size_t k = 0; k < i; k++) {
		if (writes_reg(&b[k], base))
			return p;
		for (unsigned int n = 0; n < b[k].z.operand_count; n++)
			if (b[k].op[n].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			    b[k].op[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
				return p;
	}
	p.kind = X86_PASSED_MEMORY;
	p.reg = (uint8_t)base;
	p.value = op->mem.disp.has_displacement ? op->mem.disp.value : 0;
	p.bytes = (uint8_t)(op->size / 8);
	return p;
}

/* What is found by its distance from the instruction: an address, or a word that holds one. */
static struct x86_passed near_passed(const struct before *w)
{
	const ZydisDecodedOperand *op = &w->op[1];
	struct x86_passed p = {.kind = X86_PASSED_UNKNOWN};

	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.base != ZYDIS_REGISTER_RIP ||
	    w->op[0].size != 64)
		return p;
	p.value = (int64_t)w->next + op->mem.disp.value;
	if (w->z.mnemonic == ZYDIS_MNEMONIC_LEA)
		p.kind = X86_PASSED_CONSTANT;
	else if (w->z.mnemonic == ZYDIS_MNEMONIC_MOV)
		p.kind = X86_PASSED_LOADED;
	return p;
}

static struct x86_passed passed_in(const struct before *b, size_t cnt, int reg)
{
	const struct x86_passed none = {.kind = X86_PASSED_UNKNOWN};

	for (size_t i = 0; i <= cnt; i++) {
		const struct before *w;

		i = writer_of(b, cnt, i, reg);
		if (i == cnt)
			return none;
		w = &b[i];
		if (w->z.mnemonic == ZYDIS_MNEMONIC_XOR &&
		    w->op[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    reg_of(w->op[1].reg.value) == reg)
			return (struct x86_passed){.kind = X86_PASSED_CONSTANT};
		if (near_passed(w).kind != X86_PASSED_UNKNOWN)
			return near_passed(w);
		if (!is_move(&w->z, w->op) || reg_of(w->op[0].reg.value) != reg)
			return none;
		if (w->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return (struct x86_passed){.kind = X86_PASSED_CONSTANT,
						   .value = w->op[1].imm.value.s};
		if (w->op[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return memory_passed(b, i);
		reg = reg_of(w->op[1].reg.value);
		if (reg < 0)
			return none;
		if (is_preserved(reg) && writer_of(b, i, 0, reg) == i)
			return (struct x86_passed){.kind = X86_PASSED_REG, .reg = (uint8_t)reg};
	}
	return none;
}

struct x86_passed x86_passed_find(const uint8_t *code, size_t bytes, uint64_t start, uint64_t at,
				  unsigned int nth)
{
	static const uint8_t in_reg[] = {5, 4, 1, 2, 8, 9};
	struct x86_passed p = {.kind = X86_PASSED_UNKNOWN};
	struct before *b;

	if (nth >= sizeof(in_reg) || !bytes || bytes > CODE_BYTES_MAX || at <= start ||
	    at - start > bytes)
		return p;
	b = xcalloc(BACK_MAX, sizeof(*b));
	p = passed_in(b, block_before(code, bytes, start, at, b), in_reg[nth]);
	free(b);
	return p;
}
#endif
