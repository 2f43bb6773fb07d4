/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Searches byte by byte for what looks like a call of the function, and then runs the function that
 * contains it over sets of addresses: at each instruction, those that each register may hold. Both
 * ways of each branch are taken until nothing new appears. Bytes that only look like a call do no
 * harm, because no instruction begins there. Pointers in the file itself are loaded with the file's
 * values; for any other loaded pointer, only the distance from it is known.
 */
#include "target/elf/passed_table.h"

#include "target/elf/elf_file.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "target/x86/x86_walk.h"

#define CODE_BYTES_MAX (8u << 20)
#define FUNCTION_BYTES_MAX 65536
#define SLOTS_MAX 8
#define STUBS_MAX 8
#define CALLERS_MAX 32
#define ADDRESSES_MAX 64 /* per function: one bit each */
#define CALL 0xe8
#define JMP 0xe9
#define CALL_BYTES 5	/* opcode, then the distance from its end */
#define STUB_BYTES 5	/* bytes that may come before a stub's jump: endbr64, bnd */
#define BY_SLOT_BYTES 6 /* opcode 0xff, then 0x15 (call) or 0x25 (jmp), then the distance */

/* A segment of code. */
struct code {
	uint8_t *bytes;
	size_t cnt;
	uint64_t addr;
};

struct search {
	const struct elf_file *f;
	uint64_t slot[SLOTS_MAX]; /* slots with the function's address */
	size_t slot_cnt;
	uint64_t stub[STUBS_MAX]; /* stubs that jump through them */
	size_t stub_cnt;
	struct x86_reader reader;
	unsigned int arg; /* register of the argument */
	struct passed *out;
};

/*
 * The values that a register may hold. Bit sets: indexes into caller.addresses and caller.offsets.
 */
struct value {
	uint64_t addresses;
	uint64_t offsets;
};

struct state {
	struct value reg[X86_REGISTERS];
};

/* An address, or an offset from a loaded pointer. */
struct place {
	uint64_t at;
	/*
	 * a constant was already added; a second one is not, because a loop would add without end
	 */
	bool moved;
};

struct places {
	struct place v[ADDRESSES_MAX];
	size_t cnt;
};

/* A function of the file that calls the searched one. */
struct caller {
	struct search *s;
	struct places addresses, offsets;
};

/* ---- possible calls ---- */

static bool code_read(const struct elf_file *f, size_t segment, struct code *out)
{
	uint64_t offset, bytes;

	if (!elf_file_exec_segment(f, segment, &offset, &out->addr, &bytes))
		return false;
	out->cnt = bytes > CODE_BYTES_MAX ? 0 : bytes;
	out->bytes = xmalloc(out->cnt + 1);
	if (elf_file_read_offset(f, offset, out->bytes, out->cnt) != (long)out->cnt)
		out->cnt = 0;
	return true;
}

/* Returns the target given by the distance in the last four of n bytes. */
static uint64_t target_at(const struct code *c, size_t at, size_t n)
{
	int32_t distance;

	memcpy(&distance, c->bytes + at + n - sizeof(distance), sizeof(distance));
	return c->addr + at + n + (uint64_t)(int64_t)distance;
}

static bool is_slot(const struct search *s, uint64_t addr)
{
	return table_any(s->slot_cnt, i, s->slot[i] == addr);
}

static bool by_slot(const struct search *s, const struct code *c, size_t at, uint8_t opcode)
{
	return at + BY_SLOT_BYTES <= c->cnt && c->bytes[at] == 0xff && c->bytes[at + 1] == opcode &&
	       is_slot(s, target_at(c, at, BY_SLOT_BYTES));
}

static bool is_stub(const struct search *s, uint64_t addr)
{
	return table_any(s->stub_cnt, i, addr <= s->stub[i] && s->stub[i] - addr <= STUB_BYTES);
}

static void stubs_find(struct search *s)
{
	struct code c;

	for (size_t segment = 0; code_read(s->f, segment, &c); segment++) {
		for (size_t at = 0; at < c.cnt && s->stub_cnt < STUBS_MAX; at++)
			if (by_slot(s, &c, at, 0x25))
				s->stub[s->stub_cnt++] = c.addr + at;
		free(c.bytes);
	}
}

static bool may_call(const struct search *s, const struct code *c, size_t at)
{
	if (by_slot(s, c, at, 0x15))
		return true;
	return at + CALL_BYTES <= c->cnt && (c->bytes[at] == CALL || c->bytes[at] == JMP) &&
	       is_stub(s, target_at(c, at, CALL_BYTES));
}

/* ---- values that a function passes ---- */

static uint64_t place_set(struct places *p, uint64_t at, bool moved)
{
	size_t i;

	for (i = 0; i < p->cnt; i++)
		if (p->v[i].at == at)
			return 1ull << i;
	if (i == ADDRESSES_MAX)
		return 0;
	p->v[p->cnt++] = (struct place){at, moved};
	return 1ull << i;
}

static uint64_t places_moved(struct places *p, uint64_t set, int64_t by)
{
	uint64_t moved = 0;

	for (size_t i = 0, cnt = p->cnt; i < cnt; i++)
		if (set >> i & 1 && !p->v[i].moved)
			moved |= place_set(p, p->v[i].at + (uint64_t)by, true);
	return moved;
}

static struct value value_moved(struct caller *c, struct value v, int64_t by)
{
	return by ? (struct value){places_moved(&c->addresses, v.addresses, by),
				   places_moved(&c->offsets, v.offsets, by)} :
		    v;
}

static struct value address_value(struct caller *c, uint64_t addr)
{
	return (struct value){.addresses = place_set(&c->addresses, addr, false)};
}

/* Returns the set for the contents of an address: the file's pointer there, or any value. */
static uint64_t pointer_set(struct caller *c, uint64_t addr)
{
	uint64_t pointer;

	return elf_file_pointer(c->s->f, addr, &pointer) ?
		       place_set(&c->addresses, pointer, false) :
		       0;
}

static bool state_join(void *state, const void *other)
{
	const struct state *from = other;
	struct state *to = state;
	bool grew = false;

	for (unsigned int i = 0; i < X86_REGISTERS; i++) {
		grew |= (from->reg[i].addresses & ~to->reg[i].addresses) ||
			(from->reg[i].offsets & ~to->reg[i].offsets);
		to->reg[i].addresses |= from->reg[i].addresses;
		to->reg[i].offsets |= from->reg[i].offsets;
	}
	return grew;
}

static void passed_add(uint64_t list[PASSED_MAX], size_t *cnt, uint64_t value)
{
	size_t i = 0;

	while (i < *cnt && list[i] < value)
		i++;
	if ((i < *cnt && list[i] == value) || *cnt == PASSED_MAX)
		return;
	memmove(list + i + 1, list + i, (*cnt - i) * sizeof(*list));
	list[i] = value;
	++*cnt;
}

static void places_add(const struct places *p, uint64_t set, uint64_t list[PASSED_MAX], size_t *cnt)
{
	for (size_t i = 0; i < p->cnt; i++)
		if (set >> i & 1)
			passed_add(list, cnt, p->v[i].at);
}

/* Returns true if an instruction passes the arguments on to the function. */
static bool insn_calls(const struct search *s, const struct x86_insn *insn)
{
	uint64_t addr;

	if (x86_branch_target(insn, &addr))
		return is_stub(s, addr);
	return (x86_is_call(insn) || insn->z.mnemonic == ZYDIS_MNEMONIC_JMP) &&
	       x86_rip_operand(insn, &insn->op[0], &addr) && is_slot(s, addr);
}

static struct value register_value(const struct state *st, const ZydisDecodedOperand *op)
{
	int i = op->size == 64 ? x86_operand_register(op) : -1;
	const struct value nothing = {0};

	return i < 0 ? nothing : st->reg[i];
}

/* Returns the base register of a plain memory operand, or -1. */
static int base_index(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.index == ZYDIS_REGISTER_NONE &&
			       op->mem.segment != ZYDIS_REGISTER_FS &&
			       op->mem.segment != ZYDIS_REGISTER_GS ?
		       x86_register_index(op->mem.base) :
		       -1;
}

static struct value value_loaded(struct caller *c, const struct x86_insn *insn,
				 const ZydisDecodedOperand *from, const struct state *st)
{
	struct value v = {0};
	int base = base_index(from);
	uint64_t addr;

	if (x86_rip_operand(insn, from, &addr))
		v.addresses = pointer_set(c, addr);
	else if (base < 0 || base == X86_RSP)
		return v;
	for (size_t i = 0, cnt = c->addresses.cnt; base >= 0 && i < cnt; i++)
		if (st->reg[base].addresses >> i & 1)
			v.addresses |= pointer_set(c, c->addresses.v[i].at +
							      (uint64_t)from->mem.disp.value);
	if (!v.addresses)
		v.offsets = place_set(&c->offsets, 0, false);
	return v;
}

/* Returns what an instruction writes to its registers. */
static struct value value_of(struct caller *c, const struct x86_insn *insn, const struct state *st)
{
	bool is_cmov = insn->z.meta.category == ZYDIS_CATEGORY_CMOV;
	const ZydisDecodedOperand *to = &insn->op[0], *from = &insn->op[1];
	struct value v = {0}, kept;
	uint64_t addr;

	if (insn->z.mnemonic == ZYDIS_MNEMONIC_LEA && to->size == 64) {
		if (x86_rip_operand(insn, from, &addr))
			return address_value(c, addr);
		if (base_index(from) >= 0)
			return value_moved(c, st->reg[base_index(from)], from->mem.disp.value);
	}
	if (insn->z.mnemonic == ZYDIS_MNEMONIC_ADD && from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return value_moved(c, register_value(st, to), from->imm.value.s);
	if ((insn->z.mnemonic != ZYDIS_MNEMONIC_MOV && !is_cmov) || from->size != 64)
		return v;
	v = from->type == ZYDIS_OPERAND_TYPE_MEMORY ? value_loaded(c, insn, from, st) :
						      register_value(st, from);
	if (is_cmov) {
		kept = register_value(st, to);
		v.addresses |= kept.addresses;
		v.offsets |= kept.offsets;
	}
	return v;
}

static void passed_note(struct caller *c, const struct state *st)
{
	const struct value *v = &st->reg[c->s->arg];
	struct passed *out = c->s->out;

	places_add(&c->addresses, v->addresses, out->address, &out->address_cnt);
	places_add(&c->offsets, v->offsets, out->offset, &out->offset_cnt);
}

static bool caller_step(void *ctx, const struct x86_insn *insn, void *state)
{
	unsigned int written = x86_written(insn);
	struct state *st = state;
	struct caller *c = ctx;
	struct value v = {0};

	if (insn_calls(c->s, insn))
		passed_note(c, st);
	if (x86_is_call(insn))
		written = (unsigned int)UINT16_MAX & ~X86_CALL_PRESERVES;
	else
		v = value_of(c, insn, st);
	for (unsigned int i = 0; i < X86_REGISTERS; i++)
		if (written >> i & 1)
			st->reg[i] = v;
	return true;
}

static void caller_run(struct search *s, uint64_t start, uint64_t bytes)
{
	static const struct x86_domain domain = {
		.bytes = sizeof(struct state),
		.join = state_join,
		.step = caller_step,
	};
	const struct x86_range range = {start, start + bytes};
	struct caller *c = xcalloc(1, sizeof(*c));
	struct x86_walk w = {
		.domain = &domain, .ctx = c, .reader = &s->reader, .range = &range, .range_cnt = 1};
	const struct state nothing = {0};

	c->s = s;
	x86_walk_reach(&w, start, &nothing);
	x86_walk_run(&w, UINT64_MAX);
	x86_walk_release(&w);
	free(c);
}

/* Runs each function that may call, once. */
static void callers_run(struct search *s, const struct code *c)
{
	uint64_t start, bytes, done[CALLERS_MAX];
	size_t done_cnt = 0, i;

	for (size_t at = 0; at < c->cnt; at++) {
		if (!may_call(s, c, at) ||
		    !elf_file_function_around(s->f, c->addr + at, &start, &bytes) ||
		    bytes > FUNCTION_BYTES_MAX)
			continue;
		for (i = 0; i < done_cnt && done[i] != start; i++)
			;
		if (i < done_cnt || done_cnt == CALLERS_MAX)
			continue;
		done[done_cnt++] = start;
		caller_run(s, start, bytes);
	}
}

void passed_find(const struct elf_file *f, const char *function, unsigned int arg,
		 struct passed *out)
{
	struct search s = {
		.f = f, .reader = {.f = f}, .arg = x86_argument_register[arg], .out = out};
	struct code c;

	*out = (struct passed){0};
	s.slot_cnt = elf_file_slots_of(f, function, s.slot, SLOTS_MAX);
	if (!s.slot_cnt)
		return;
	stubs_find(&s);
	for (size_t segment = 0; code_read(f, segment, &c); segment++) {
		callers_run(&s, &c);
		free(c.bytes);
	}
}
