/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What looks like a call of the function is searched for byte by byte; the function that it lies in is then run over sets of addresses: at
 * each instruction, those that each register may hold. Both ways of each branch are taken, until nothing new comes in. So
 * bytes that only look like a call do no harm: no instruction begins there.
 */
#include "elf/passed_table.h"

#include "elf/elf_file.h"

#if defined(__x86_64__)

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "elf/x86_code.h"

#define CODE_BYTES_MAX (8u << 20)
#define FUNCTION_BYTES_MAX 65536
#define SLOTS_MAX 8
#define STUBS_MAX 8
#define CALLERS_MAX 32
#define ADDRESSES_MAX 64 /* of one function: a bit each */
#define REGS 16
#define ARG 6 /* rsi */
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
	uint64_t *tables;
	size_t max, cnt;
};

struct state {
	bool reached, waits;
	uint64_t reg[REGS]; /* sets of addresses */
};

/* A function of the file that calls the one in question. */
struct caller {
	struct search *s;
	uint64_t start, bytes;
	struct state **at; /* by byte */
	uint32_t *todo;
	size_t todo_cnt;
	uint64_t address[ADDRESSES_MAX];
	size_t address_cnt;
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

static uint64_t address_set(struct caller *c, uint64_t addr)
{
	size_t i;

	for (i = 0; i < c->address_cnt; i++)
		if (c->address[i] == addr)
			return 1ull << i;
	if (i == ADDRESSES_MAX)
		return 0;
	c->address[c->address_cnt++] = addr;
	return 1ull << i;
}

static void reach(struct caller *c, uint64_t addr, const uint64_t reg[REGS])
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
		grew |= (reg[i] & ~st->reg[i]) != 0;
		st->reg[i] |= reg[i];
	}
	if (!grew || st->waits)
		return;
	st->waits = true;
	c->todo[c->todo_cnt++] = (uint32_t)at;
}

static void table_add(struct search *s, uint64_t addr)
{
	size_t i = 0;

	while (i < s->cnt && s->tables[i] < addr)
		i++;
	if ((i < s->cnt && s->tables[i] == addr) || s->cnt == s->max)
		return;
	memmove(s->tables + i + 1, s->tables + i, (s->cnt - i) * sizeof(*s->tables));
	s->tables[i] = addr;
	s->cnt++;
}

static void tables_add(struct caller *c, uint64_t set)
{
	for (size_t i = 0; i < c->address_cnt; i++)
		if (set >> i & 1)
			table_add(c->s, c->address[i]);
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

/* What an instruction puts into the registers that it writes. */
static uint64_t value_of(struct caller *c, const struct x86_insn *insn, const uint64_t reg[REGS])
{
	bool is_cmov = insn->z.meta.category == ZYDIS_CATEGORY_CMOV;
	const ZydisDecodedOperand *from = &insn->op[1];
	uint64_t addr, set = 0;
	int src, dst;

	if (insn->z.mnemonic == ZYDIS_MNEMONIC_LEA && x86_rip_operand(insn, from, &addr))
		return address_set(c, addr);
	if ((insn->z.mnemonic != ZYDIS_MNEMONIC_MOV && !is_cmov) || from->size != 64)
		return 0;
	src = from->type == ZYDIS_OPERAND_TYPE_REGISTER ? register_index(from->reg.value) : -1;
	dst = insn->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ?
		      register_index(insn->op[0].reg.value) :
		      -1;
	if (src >= 0)
		set = reg[src];
	if (is_cmov && dst >= 0)
		set |= reg[dst];
	return set;
}

static void data_step(struct caller *c, const struct x86_insn *insn, uint64_t reg[REGS])
{
	uint64_t set = value_of(c, insn, reg);

	for (unsigned int i = 0; i < insn->z.operand_count; i++) {
		const ZydisDecodedOperand *op = &insn->op[i];
		int to;

		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		to = register_index(op->reg.value);
		if (to >= 0)
			reg[to] = i ? 0 : set;
	}
}

static void insn_step(struct caller *c, uint32_t at)
{
	static const uint8_t lost[] = {0, 1, 2, 6, 7, 8, 9, 10, 11}; /* not kept by a callee */
	struct x86_insn insn;
	uint64_t reg[REGS], to;

	c->at[at]->waits = false;
	memcpy(reg, c->at[at]->reg, sizeof(reg));
	if (!x86_decode(&c->s->reader, c->start + at, &insn))
		return;
	if (calls(c->s, &insn))
		tables_add(c, reg[ARG]);
	if (x86_is_call(&insn)) {
		for (unsigned int i = 0; i < sizeof(lost); i++)
			reg[lost[i]] = 0;
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
	const uint64_t nothing[REGS] = {0};

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

size_t passed_tables_find(const struct elf_file *f, const char *function, uint64_t *tables,
			  size_t max)
{
	struct search s = {.f = f, .reader = {.f = f}, .tables = tables, .max = max};
	struct code c;

	s.slot_cnt = elf_file_slots_of(f, function, s.slot, SLOTS_MAX);
	if (!s.slot_cnt)
		return 0;
	stubs_find(&s);
	for (size_t segment = 0; code_read(f, segment, &c); segment++) {
		callers_run(&s, &c);
		free(c.bytes);
	}
	return s.cnt;
}

#else

size_t passed_tables_find(const struct elf_file *f, const char *function, uint64_t *tables,
			  size_t max)
{
	(void)f;
	(void)function;
	(void)tables;
	(void)max;
	return 0;
}

#endif
