/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What looks like a call of the function is searched for byte by byte; the function that it lies in is then run over sets of addresses: at
 * each instruction, those that each register may hold. Both ways of each branch are taken, until nothing new comes in. So
 * bytes that only look like a call do no harm: no instruction begins there. Pointers that the file itself holds are
 * loaded as they are there; of any other that is loaded, all that is known is how far behind it is pointed.
 */
#include "target/elf/passed_table.h"

#include "target/elf/elf_file.h"

#if defined(__x86_64__)

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "target/x86/x86_code.h"

#define CODE_BYTES_MAX (8u << 20)
#define FUNCTION_BYTES_MAX 65536
#define SLOTS_MAX 8
#define STUBS_MAX 8
#define CALLERS_MAX 32
#define ADDRESSES_MAX 64 /* of one function: a bit each */
#define REGS 16
#define STACK_POINTER 4
#define CALL 0xe8
#define JMP 0xe9
#define CALL_BYTES 5	/* opcode, distance from its end */
#define STUB_BYTES 5	/* what a stub's jump may have before it: endbr64, bnd */
#define BY_SLOT_BYTES 6 /* opcode 0xff, 0x15 call or 0x25 jmp, distance */

/* A stretch of code that is loaded at an address. */
struct code {
	uint8_t *bytes;
	size_t cnt;
	uint64_t addr;
};

struct search {
	const struct elf_file *f;
	uint64_t slot[SLOTS_MAX]; /* that hold the function's address … */
	size_t slot_cnt;
	uint64_t stub[STUBS_MAX]; /* … and jumps through them */
	size_t stub_cnt;
	struct x86_reader reader;
	unsigned int arg; /* the register */
	struct passed *out;
};

/* What a register may hold: sets, as bits of struct caller's arrays. */
struct value {
	uint64_t addresses;
	uint64_t behind;
};

struct state {
	bool reached, waits;
	struct value reg[REGS];
};

/* An address; or an offset from a pointer that was loaded from anywhere. */
struct place {
	uint64_t at;
	bool moved; /* by a constant: not once more, or a loop would never end */
};

struct places {
	struct place v[ADDRESSES_MAX];
	size_t cnt;
};

/* A function of the file that calls the one in question. */
struct caller {
	struct search *s;
	uint64_t start, bytes;
	struct state **at; /* by byte */
	uint32_t *todo;
	size_t todo_cnt;
	struct places addresses, behind;
};

/* ---- where calls may be ---- */

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

/* Where the distance in the last four of n bytes leads. */
static uint64_t target_at(const struct code *c, size_t at, size_t n)
{
	int32_t distance;

	memcpy(&distance, c->bytes + at + n - sizeof(distance), sizeof(distance));
	return c->addr + at + n + (uint64_t)(int64_t)distance;
}

static bool is_slot(const struct search *s, uint64_t addr)
{
	for (size_t i = 0; i < s->slot_cnt; i++)
		if (s->slot[i] == addr)
			return true;
	return false;
}

static bool by_slot(const struct search *s, const struct code *c, size_t at, uint8_t opcode)
{
	return at + BY_SLOT_BYTES <= c->cnt && c->bytes[at] == 0xff && c->bytes[at + 1] == opcode &&
	       is_slot(s, target_at(c, at, BY_SLOT_BYTES));
}

static bool is_stub(const struct search *s, uint64_t addr)
{
	for (size_t i = 0; i < s->stub_cnt; i++)
		if (addr <= s->stub[i] && s->stub[i] - addr <= STUB_BYTES)
			return true;
	return false;
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

/* ---- what a function passes ---- */

/* Index of the register that holds reg, or -1. */
static int register_index(ZydisRegister reg)
{
	ZydisRegister whole = x86_whole_register(reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return -1;
	return (int)(whole - ZYDIS_REGISTER_RAX);
}

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
				   places_moved(&c->behind, v.behind, by)} :
		    v;
}

static struct value address_value(struct caller *c, uint64_t addr)
{
	return (struct value){.addresses = place_set(&c->addresses, addr, false)};
}

/* Of what lies at an address: a pointer that the file holds there, or any. */
static uint64_t pointer_set(struct caller *c, uint64_t addr)
{
	uint64_t pointer;

	return elf_file_pointer(c->s->f, addr, &pointer) ?
		       place_set(&c->addresses, pointer, false) :
		       0;
}

static void reach(struct caller *c, uint64_t addr, const struct value reg[REGS])
{
	uint64_t at = addr - c->start;
	struct state *st;
	bool grew;

	if (at >= c->bytes)
		return;
	if (!c->at[at])
		c->at[at] = xcalloc(1, sizeof(**c->at));
	st = c->at[at];
	grew = !st->reached;
	st->reached = true;
	for (unsigned int i = 0; i < REGS; i++) {
		grew |= (reg[i].addresses & ~st->reg[i].addresses) ||
			(reg[i].behind & ~st->reg[i].behind);
		st->reg[i].addresses |= reg[i].addresses;
		st->reg[i].behind |= reg[i].behind;
	}
	if (!grew || st->waits)
		return;
	st->waits = true;
	c->todo[c->todo_cnt++] = (uint32_t)at;
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

/* Whether an instruction hands its arguments to the function. */
static bool calls(const struct search *s, const struct x86_insn *insn)
{
	uint64_t addr;

	if (x86_branch_target(insn, &addr))
		return is_stub(s, addr);
	return (x86_is_call(insn) || insn->z.mnemonic == ZYDIS_MNEMONIC_JMP) &&
	       x86_rip_operand(insn, &insn->op[0], &addr) && is_slot(s, addr);
}

static struct value register_value(const struct value reg[REGS], const ZydisDecodedOperand *op)
{
	int i = op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->size == 64 ?
			register_index(op->reg.value) :
			-1;

	return i < 0 ? (struct value){0} : reg[i];
}

/* The register that a plain memory operand counts from, or -1. */
static int base_index(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.index == ZYDIS_REGISTER_NONE &&
			       op->mem.segment != ZYDIS_REGISTER_FS &&
			       op->mem.segment != ZYDIS_REGISTER_GS ?
		       register_index(op->mem.base) :
		       -1;
}

static struct value loaded(struct caller *c, const struct x86_insn *insn,
			   const ZydisDecodedOperand *from, const struct value reg[REGS])
{
	struct value v = {0};
	int base = base_index(from);
	uint64_t addr;

	if (x86_rip_operand(insn, from, &addr))
		v.addresses = pointer_set(c, addr);
	else if (base < 0 || base == STACK_POINTER)
		return v;
	for (size_t i = 0, cnt = c->addresses.cnt; base >= 0 && i < cnt; i++)
		if (reg[base].addresses >> i & 1)
			v.addresses |= pointer_set(c, c->addresses.v[i].at +
							      (uint64_t)from->mem.disp.value);
	if (!v.addresses)
		v.behind = place_set(&c->behind, 0, false);
	return v;
}

/* What an instruction puts into the registers that it writes. */
static struct value value_of(struct caller *c, const struct x86_insn *insn,
			     const struct value reg[REGS])
{
	bool is_cmov = insn->z.meta.category == ZYDIS_CATEGORY_CMOV;
	const ZydisDecodedOperand *to = &insn->op[0], *from = &insn->op[1];
	struct value v = {0}, kept;
	uint64_t addr;

	if (insn->z.mnemonic == ZYDIS_MNEMONIC_LEA && to->size == 64) {
		if (x86_rip_operand(insn, from, &addr))
			return address_value(c, addr);
		if (base_index(from) >= 0)
			return value_moved(c, reg[base_index(from)], from->mem.disp.value);
	}
	if (insn->z.mnemonic == ZYDIS_MNEMONIC_ADD && from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return value_moved(c, register_value(reg, to), from->imm.value.s);
	if ((insn->z.mnemonic != ZYDIS_MNEMONIC_MOV && !is_cmov) || from->size != 64)
		return v;
	v = from->type == ZYDIS_OPERAND_TYPE_MEMORY ? loaded(c, insn, from, reg) :
						      register_value(reg, from);
	if (is_cmov) {
		kept = register_value(reg, to);
		v.addresses |= kept.addresses;
		v.behind |= kept.behind;
	}
	return v;
}

static void data_step(struct caller *c, const struct x86_insn *insn, struct value reg[REGS])
{
	struct value v = value_of(c, insn, reg);

	for (unsigned int i = 0; i < insn->z.operand_count; i++) {
		const ZydisDecodedOperand *op = &insn->op[i];
		int to;

		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		to = register_index(op->reg.value);
		if (to >= 0)
			reg[to] = i ? (struct value){0} : v;
	}
}

static void passed_note(struct caller *c, const struct value reg[REGS])
{
	struct passed *out = c->s->out;

	places_add(&c->addresses, reg[c->s->arg].addresses, out->address, &out->address_cnt);
	places_add(&c->behind, reg[c->s->arg].behind, out->behind, &out->behind_cnt);
}

static void insn_step(struct caller *c, uint32_t at)
{
	static const uint8_t lost[] = {0, 1, 2, 6, 7, 8, 9, 10, 11}; /* not kept by a callee */
	struct x86_insn insn;
	struct value reg[REGS];
	uint64_t to;

	c->at[at]->waits = false;
	memcpy(reg, c->at[at]->reg, sizeof(reg));
	if (!x86_decode(&c->s->reader, c->start + at, &insn))
		return;
	if (calls(c->s, &insn))
		passed_note(c, reg);
	if (x86_is_call(&insn)) {
		for (unsigned int i = 0; i < sizeof(lost); i++)
			reg[lost[i]] = (struct value){0};
	} else if (x86_branch_target(&insn, &to)) {
		reach(c, to, reg);
	} else {
		data_step(c, &insn, reg);
	}
	if (!x86_ends_block(&insn))
		reach(c, insn.addr + insn.z.length, reg);
}

static void caller_run(struct search *s, uint64_t start, uint64_t bytes)
{
	struct caller *c = xcalloc(1, sizeof(*c));
	const struct value nothing[REGS] = {0};

	c->s = s;
	c->start = start;
	c->bytes = bytes;
	c->at = xcalloc(bytes, sizeof(*c->at));
	c->todo = xcalloc(bytes, sizeof(*c->todo));
	reach(c, start, nothing);
	while (c->todo_cnt)
		insn_step(c, c->todo[--c->todo_cnt]);
	for (uint64_t i = 0; i < bytes; i++)
		free(c->at[i]);
	free(c->at);
	free(c->todo);
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
	static const uint8_t arg_register[] = {7, 6}; /* rdi, rsi */
	struct search s = {.f = f, .reader = {.f = f}, .arg = arg_register[arg], .out = out};
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

#else

void passed_find(const struct elf_file *f, const char *function, unsigned int arg,
		 struct passed *out)
{
	(void)f;
	(void)function;
	(void)arg;
	*out = (struct passed){0};
}

#endif
