/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Follows the addresses of tables through registers and the stack, in the order of the code's
 * addresses. It drops everything at a return or a jump away.
 */
#include "layers/ofi/library_ofi.h"

#include <stdlib.h>
#include <string.h>

#include "lib/table.h"
#include "target/elf/elf_file.h"
#include "target/x86/x86_code.h"

#define MEMBERS_MIN 4
#define MEMBERS_MAX 16
#define STORES_MAX 65536
#define SLOTS_MAX 32 /* tracked words of the stack */
#define CODE_BYTES_MAX (64u << 20)
#define VECTORS 16

/* The known values at a place in the code: addresses of tables, or 0. */
struct flow {
	const struct elf_file *f;
	uint64_t at; /* address of the instruction */
	uint64_t reg[X86_REGISTERS];
	uint64_t vec[VECTORS][2];
	struct {
		int64_t off;
		uint64_t value;
	} slot[SLOTS_MAX];
	unsigned int slot_cnt;
	struct fabric_store *store;
	uint32_t store_cnt;
};

/* ---- tables ---- */

bool fabric_table_member(const struct elf_file *f, uint64_t table, unsigned int i,
			 uint64_t *function)
{
	return elf_file_pointer(f, table + 8 + 8 * i, function);
}

/* Returns true if a member is a function of this file, null, or in another file. */
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

/* Returns the table to which a pointer in the file's data points. */
static uint64_t table_behind(const struct flow *w, uint64_t addr)
{
	uint64_t value;

	return elf_file_pointer(w->f, addr, &value) ? table_at(w, value) : 0;
}

static void table_stored(struct flow *w, uint64_t table, int64_t off)
{
	if (w->store_cnt == STORES_MAX)
		return;
	*table_append(w->store, w->store_cnt) =
		(struct fabric_store){.table = table, .site = w->at, .off = off};
}

/* ---- values ---- */

static int vector_index(const ZydisDecodedOperand *op)
{
	int r = op->type == ZYDIS_OPERAND_TYPE_REGISTER ?
			(int)op->reg.value - (int)ZYDIS_REGISTER_XMM0 :
			-1;

	return r < VECTORS ? r : -1;
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

/* Returns word `half` of an operand's value. */
static uint64_t word_load(const struct flow *w, const struct x86_insn *insn,
			  const ZydisDecodedOperand *op, int half)
{
	uint64_t addr;

	if (x86_operand_register(op) >= 0)
		return op->size == 64 && !half ? w->reg[x86_operand_register(op)] : 0;
	if (vector_index(op) >= 0)
		return w->vec[vector_index(op)][half];
	if (on_stack(op))
		return slot_get(w, op->mem.disp.value + 8 * half);
	return x86_rip_operand(insn, op, &addr) ? table_behind(w, addr + 8 * half) : 0;
}

static void word_store(struct flow *w, const ZydisDecodedOperand *op, int half, uint64_t value)
{
	if (x86_operand_register(op) >= 0 && !half)
		w->reg[x86_operand_register(op)] = value;
	else if (vector_index(op) >= 0)
		w->vec[vector_index(op)][half] = value;
	else if (on_stack(op))
		slot_set(w, op->mem.disp.value + 8 * half, value);
	else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY && value)
		table_stored(w, value, op->mem.disp.value + 8 * half);
}

/* ---- code ---- */

static void flow_forget(struct flow *w, bool call)
{
	for (int i = 0; i < X86_REGISTERS; i++)
		if (!call || !(X86_CALL_PRESERVES >> i & 1))
			w->reg[i] = 0;
	memset(w->vec, 0, sizeof(w->vec));
	if (!call)
		w->slot_cnt = 0;
}

/* Handles any other instruction: the values that it writes become unknown. */
static void insn_clobber(struct flow *w, const struct x86_insn *insn)
{
	for (unsigned int i = 0; i < insn->z.operand_count; i++) {
		const ZydisDecodedOperand *op = &insn->op[i];

		if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		word_store(w, op, 0, 0);
		if (op->size > 64)
			word_store(w, op, 1, 0);
		if (x86_operand_register(op) == X86_RSP)
			w->slot_cnt = 0;
	}
}

static void insn_step(struct flow *w, const struct x86_insn *insn)
{
	const ZydisDecodedOperand *to = &insn->op[0], *from = &insn->op[1];
	uint64_t addr, low, high;

	switch (insn->z.mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
		word_store(w, to, 0, x86_rip_operand(insn, from, &addr) ? table_at(w, addr) : 0);
		return;
	case ZYDIS_MNEMONIC_MOV:
		word_store(w, to, 0, to->size == 64 ? word_load(w, insn, from, 0) : 0);
		return;
	case ZYDIS_MNEMONIC_MOVQ:
		word_store(w, to, 0, word_load(w, insn, from, 0));
		if (vector_index(to) >= 0)
			word_store(w, to, 1, 0);
		return;
	case ZYDIS_MNEMONIC_MOVHPS:
	case ZYDIS_MNEMONIC_MOVHPD:
		if (vector_index(to) >= 0)
			word_store(w, to, 1, word_load(w, insn, from, 0));
		else
			word_store(w, to, 0, word_load(w, insn, from, 1));
		return;
	case ZYDIS_MNEMONIC_PUNPCKLQDQ:
		word_store(w, to, 1, word_load(w, insn, from, 0));
		return;
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVDQU:
		low = word_load(w, insn, from, 0);
		high = word_load(w, insn, from, 1);
		word_store(w, to, 0, low);
		word_store(w, to, 1, high);
		return;
	default:
		insn_clobber(w, insn);
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
			insn_step(w, &insn);
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
