/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Goes once through all code, in the order of its addresses, and follows addresses of tables through registers and the stack to where
 * they are stored. Nothing is carried across a return or a jump away. A table whose address is stored at two different places
 * in objects is of no known kind. The layouts are libfabric's ABI since 1.0 (rdma/fi_endpoint.h, fi_tagged.h, fi_rma.h).
 */
#include "elf/fabric_ops.h"

#if defined(__x86_64__)

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "elf/elf_file.h"
#include "elf/x86_code.h"

#define TABLE_FUNCTIONS 9
#define TABLE_BYTES (8 + 8 * TABLE_FUNCTIONS) /* what its first member, its size, says */
#define TABLES_MAX 1024
#define SLOTS_MAX 32 /* of the stack */
#define CODE_BYTES_MAX (64u << 20)
#define REGISTERS 16
#define STACK_POINTER 4

/* By where an endpoint holds its table: the offset in struct fid_ep, and the functions in the table's order. */
static const struct {
	int64_t off;
	const char *function[TABLE_FUNCTIONS];
} kinds[] = {
	{40,
	 {"fi_recv", "fi_recvv", "fi_recvmsg", "fi_send", "fi_sendv", "fi_sendmsg", "fi_inject",
	  "fi_senddata", "fi_injectdata"}},
	{48,
	 {"fi_read", "fi_readv", "fi_readmsg", "fi_write", "fi_writev", "fi_writemsg",
	  "fi_inject_write", "fi_writedata", "fi_inject_writedata"}},
	{56,
	 {"fi_trecv", "fi_trecvv", "fi_trecvmsg", "fi_tsend", "fi_tsendv", "fi_tsendmsg",
	  "fi_tinject", "fi_tsenddata", "fi_tinjectdata"}},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
#define KIND_OTHER (1u << KINDS)

struct table {
	uint64_t addr;
	unsigned int kinds; /* bits */
};

/* What is known at a place of the code: addresses of tables, or 0. */
struct flow {
	const struct elf_file *f;
	uint64_t reg[REGISTERS];
	uint64_t vec[REGISTERS][2];
	struct {
		int64_t off;
		uint64_t value;
	} slot[SLOTS_MAX];
	unsigned int slot_cnt;
	struct table table[TABLES_MAX];
	size_t table_cnt;
};

/* ---- tables ---- */

static bool is_table(const struct elf_file *f, uint64_t addr)
{
	uint64_t bytes, function;
	struct elf_symbol sym;

	if (elf_file_read_addr(f, addr, &bytes, sizeof(bytes)) != sizeof(bytes) ||
	    bytes != TABLE_BYTES || elf_file_pointer(f, addr, &function))
		return false;
	for (unsigned int i = 0; i < TABLE_FUNCTIONS; i++)
		if (!elf_file_pointer(f, addr + 8 + 8 * i, &function) ||
		    !elf_file_function_at(f, function, &sym))
			return false;
	return true;
}

static uint64_t table_at(const struct flow *w, uint64_t addr)
{
	return is_table(w->f, addr) ? addr : 0;
}

/* The table that a pointer in the file's data leads to. */
static uint64_t table_behind(const struct flow *w, uint64_t addr)
{
	uint64_t value;

	return elf_file_pointer(w->f, addr, &value) ? table_at(w, value) : 0;
}

static void table_stored(struct flow *w, uint64_t addr, int64_t off)
{
	unsigned int kind = KIND_OTHER;
	size_t i = 0;

	for (size_t k = 0; k < KINDS; k++)
		if (kinds[k].off == off)
			kind = 1u << k;
	while (i < w->table_cnt && w->table[i].addr != addr)
		i++;
	if (i == TABLES_MAX)
		return;
	if (i == w->table_cnt)
		w->table[w->table_cnt++] = (struct table){.addr = addr};
	w->table[i].kinds |= kind;
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
		addr += insn.z.length;
		if (x86_ends_block(&insn))
			flow_forget(w, false);
		else if (x86_is_call(&insn))
			flow_forget(w, true);
		else
			step(w, &insn);
	}
}

/* ---- functions ---- */

static const char *kind_function(const struct table *t, unsigned int i)
{
	for (size_t k = 0; k < KINDS; k++)
		if (t->kinds == 1u << k)
			return kinds[k].function[i];
	return NULL;
}

/* Adds a function, or spoils it if it is there under another name. */
static size_t function_add(struct fabric_function *out, size_t cnt, size_t max, uint64_t addr,
			   const char *name)
{
	for (size_t i = 0; i < cnt; i++) {
		if (out[i].addr != addr)
			continue;
		if (out[i].name && strcmp(out[i].name, name))
			out[i].name = NULL;
		return cnt;
	}
	if (cnt == max)
		return cnt;
	out[cnt] = (struct fabric_function){.name = name, .addr = addr};
	return cnt + 1;
}

static size_t functions_of(const struct flow *w, struct fabric_function *out, size_t max)
{
	size_t cnt = 0, left = 0;
	uint64_t addr;

	for (size_t t = 0; t < w->table_cnt; t++)
		for (unsigned int i = 0; i < TABLE_FUNCTIONS; i++)
			if (kind_function(&w->table[t], i) &&
			    elf_file_pointer(w->f, w->table[t].addr + 8 + 8 * i, &addr))
				cnt = function_add(out, cnt, max, addr,
						   kind_function(&w->table[t], i));
	for (size_t i = 0; i < cnt; i++)
		if (out[i].name)
			out[left++] = out[i];
	return left;
}

size_t fabric_ops_find(const struct elf_file *f, struct fabric_function *out, size_t max)
{
	struct flow *w = xcalloc(1, sizeof(*w));
	uint64_t offset, addr, bytes;
	size_t cnt;

	w->f = f;
	for (size_t i = 0; elf_file_exec_segment(f, i, &offset, &addr, &bytes); i++)
		code_follow(w, addr, bytes < CODE_BYTES_MAX ? bytes : CODE_BYTES_MAX);
	cnt = functions_of(w, out, max);
	free(w);
	return cnt;
}

#else

size_t fabric_ops_find(const struct elf_file *f, struct fabric_function *out, size_t max)
{
	(void)f;
	(void)out;
	(void)max;
	return 0;
}

#endif
