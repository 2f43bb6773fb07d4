/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Addresses of tables are followed through registers and the stack, in the order of the code's addresses. Nothing is carried across a
 * return or a jump away.
 */
#include "layers/ofi/library_ofi_flow.h"

#if defined(__x86_64__)

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "target/elf/elf_file.h"
#include "target/x86/x86_code.h"

#define MEMBERS_MIN 4
#define MEMBERS_MAX 16
#define STORES_MAX 65536
#define SLOTS_MAX 32 /* of the stack */
#define CODE_BYTES_MAX (64u << 20)
#define REGISTERS 16
#define STACK_POINTER 4

/* What is known at a place of the code: addresses of tables, or 0. */
struct flow {
	const struct elf_file *f;
	uint64_t at; /* of the instruction */
	uint64_t reg[REGISTERS];
	uint64_t vec[REGISTERS][2];
	struct {
		int64_t off;
		uint64_t value;
	} slot[SLOTS_MAX];
	unsigned int slot_cnt;
	struct fabric_store *store;
	size_t store_cnt, room;
};

/* ---- tables ---- */

bool fabric_table_member(const struct elf_file *f, uint64_t table, unsigned int i,
			 uint64_t *function)
{
	return elf_file_pointer(f, table + 8 + 8 * i, function);
}

/* A member that is none is null, or leads to another file. */
static bool member_is_function(const struct elf_file *f, uint64_t table, unsigned int i)
{
	uint64_t value;
	struct elf_symbol sym;

	if (fabric_table_member(f, table, i, &value))
		return elf_file_function_at(f, value, &sym);
	return elf_file_read_addr(f, table + 8 + 8 * i, &value, sizeof(value)) == sizeof(value) &&
	       !value;
}

unsigned int fabric_table_members(const struct elf_file *f, uint64_t table)
{
	uint64_t bytes, function;
	unsigned int cnt;

	if (elf_file_read_addr(f, table, &bytes, sizeof(bytes)) != sizeof(bytes) || bytes % 8 ||
	    bytes < 8 + 8 * MEMBERS_MIN || bytes > 8 + 8 * MEMBERS_MAX ||
	    elf_file_pointer(f, table, &function) || !fabric_table_member(f, table, 0, &function))
		return 0;
	cnt = (unsigned int)(bytes / 8 - 1);
	for (unsigned int i = 0; i < cnt; i++)
		if (!member_is_function(f, table, i))
			return 0;
	return cnt;
}

static uint64_t table_at(const struct flow *w, uint64_t addr)
{
	return fabric_table_members(w->f, addr) ? addr : 0;
}

/* The table that a pointer in the file's data leads to. */
static uint64_t table_behind(const struct flow *w, uint64_t addr)
{
	uint64_t value;

	return elf_file_pointer(w->f, addr, &value) ? table_at(w, value) : 0;
}

static void table_stored(struct flow *w, uint64_t table, int64_t off)
{
	if (w->store_cnt == STORES_MAX)
		return;
	if (w->store_cnt == w->room) {
		w->room = w->room ? 2 * w->room : 256;
		w->store = xrealloc(w->store, w->room * sizeof(*w->store));
	}
	w->store[w->store_cnt++] = (struct fabric_store){.table = table, .site = w->at, .off = off};
}

/* ---- values ---- */

static int general(const ZydisDecodedOperand *op)
{
	ZydisRegister r = op->type == ZYDIS_OPERAND_TYPE_REGISTER ?
				  x86_whole_register(op->reg.value) :
				  ZYDIS_REGISTER_NONE;

	return r == ZYDIS_REGISTER_NONE ? -1 : (int)(r - ZYDIS_REGISTER_RAX);
}

static int vector(const ZydisDecodedOperand *op)
{
	int r = op->type == ZYDIS_OPERAND_TYPE_REGISTER ?
			(int)op->reg.value - (int)ZYDIS_REGISTER_XMM0 :
			-1;

	return r < REGISTERS ? r : -1;
}

static bool on_stack(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == ZYDIS_REGISTER_RSP &&
	       op->mem.index == ZYDIS_REGISTER_NONE;
}

static uint64_t slot_get(const struct flow *w, int64_t off)
{
	for (unsigned int i = 0; i < w->slot_cnt; i++)
		if (w->slot[i].off == off)
			return w->slot[i].value;
	return 0;
}

static void slot_set(struct flow *w, int64_t off, uint64_t value)
{
	unsigned int i = 0;

	while (i < w->slot_cnt && w->slot[i].off != off)
		i++;
	if (i == SLOTS_MAX || (i == w->slot_cnt && !value))
		return;
	if (i == w->slot_cnt)
		w->slot_cnt++;
	w->slot[i].off = off;
	w->slot[i].value = value;
}

/* Word `half` of what an operand holds. */
static uint64_t load(const struct flow *w, const struct x86_insn *insn,
		     const ZydisDecodedOperand *op, int half)
{
	uint64_t addr;

	if (general(op) >= 0)
		return op->size == 64 && !half ? w->reg[general(op)] : 0;
	if (vector(op) >= 0)
		return w->vec[vector(op)][half];
	if (on_stack(op))
		return slot_get(w, op->mem.disp.value + 8 * half);
	return x86_rip_operand(insn, op, &addr) ? table_behind(w, addr + 8 * half) : 0;
}

static void store(struct flow *w, const ZydisDecodedOperand *op, int half, uint64_t value)
{
	if (general(op) >= 0 && !half)
		w->reg[general(op)] = value;
	else if (vector(op) >= 0)
		w->vec[vector(op)][half] = value;
	else if (on_stack(op))
		slot_set(w, op->mem.disp.value + 8 * half, value);
	else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && value)
		table_stored(w, value, op->mem.disp.value + 8 * half);
}

/* ---- code ---- */

static void flow_forget(struct flow *w, bool call)
{
	static const int kept[] = {3,  4,  5, 12,
				   13, 14, 15}; /* across a call: rbx, rsp, rbp, r12 … */
	uint64_t reg[REGISTERS] = {0};

	for (size_t i = 0; call && i < sizeof(kept) / sizeof(kept[0]); i++)
		reg[kept[i]] = w->reg[kept[i]];
	memcpy(w->reg, reg, sizeof(reg));
	memset(w->vec, 0, sizeof(w->vec));
	if (!call)
		w->slot_cnt = 0;
}

/* Of any other instruction: what it writes is not known. */
static void clobber(struct flow *w, const struct x86_insn *insn)
{
	for (unsigned int i = 0; i < insn->z.operand_count; i++) {
		const ZydisDecodedOperand *op = &insn->op[i];

		if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		store(w, op, 0, 0);
		if (op->size > 64)
			store(w, op, 1, 0);
		if (general(op) == STACK_POINTER)
			w->slot_cnt = 0;
	}
}

static void step(struct flow *w, const struct x86_insn *insn)
{
	const ZydisDecodedOperand *to = &insn->op[0], *from = &insn->op[1];
	uint64_t addr, low, high;

	switch (insn->z.mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
		store(w, to, 0, x86_rip_operand(insn, from, &addr) ? table_at(w, addr) : 0);
		return;
	case ZYDIS_MNEMONIC_MOV:
		store(w, to, 0, to->size == 64 ? load(w, insn, from, 0) : 0);
		return;
	case ZYDIS_MNEMONIC_MOVQ:
		store(w, to, 0, load(w, insn, from, 0));
		if (vector(to) >= 0)
			store(w, to, 1, 0);
		return;
	case ZYDIS_MNEMONIC_MOVHPS:
	case ZYDIS_MNEMONIC_MOVHPD:
		if (vector(to) >= 0)
			store(w, to, 1, load(w, insn, from, 0));
		else
			store(w, to, 0, load(w, insn, from, 1));
		return;
	case ZYDIS_MNEMONIC_PUNPCKLQDQ:
		store(w, to, 1, load(w, insn, from, 0));
		return;
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVDQU:
		low = load(w, insn, from, 0);
		high = load(w, insn, from, 1);
		store(w, to, 0, low);
		store(w, to, 1, high);
		return;
	default:
		clobber(w, insn);
	}
}

static void code_follow(struct flow *w, uint64_t addr, uint64_t bytes)
{
	struct x86_reader reader = {.f = w->f};
	uint64_t end = addr + bytes;
	struct x86_insn insn;

	while (addr < end) {
		if (!x86_decode(&reader, addr, &insn)) {
			flow_forget(w, false);
			addr++;
			continue;
		}
		w->at = addr;
		addr += insn.z.length;
		if (x86_ends_block(&insn))
			flow_forget(w, false);
		else if (x86_is_call(&insn))
			flow_forget(w, true);
		else
			step(w, &insn);
	}
}

size_t fabric_flow_stores(const struct elf_file *f, struct fabric_store **out)
{
	struct flow w = {.f = f};
	uint64_t offset, addr, bytes;

	for (size_t i = 0; elf_file_exec_segment(f, i, &offset, &addr, &bytes); i++)
		code_follow(&w, addr, bytes < CODE_BYTES_MAX ? bytes : CODE_BYTES_MAX);
	*out = w.store;
	return w.store_cnt;
}

#endif
