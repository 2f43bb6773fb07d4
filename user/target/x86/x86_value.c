/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Runs a function's code over symbolic registers: each holds nothing known, an argument, or a value loaded
 * through the first argument. Both ways of every conditional branch are taken, each place at most a few times;
 * memory is not modelled (what is spilled to the stack is forgotten, so unoptimised code teaches nothing).
 */
#include "target/x86/x86_value.h"

#if defined(__x86_64__)

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "target/elf/elf_file.h"
#include "target/x86/x86_code.h"

#define VALUE_FUNCTION_BYTES_MAX 65536
#define VALUE_PATHS_MAX 128
#define VALUE_VISITS_MAX 3
#define VALUE_STEPS_MAX 20000
#define VALUE_REGS 16

enum value_root { ROOT_NONE = 0, ROOT_FIRST, ROOT_SECOND };

struct value {
	enum value_root root;
	struct x86_loads l;
};

struct path {
	uint64_t at;
	struct value reg[VALUE_REGS];
};

struct run {
	const struct elf_file *f;
	uint64_t start, end;
	enum x86_value_want want;
	struct x86_reader reader;
	struct path todo[VALUE_PATHS_MAX];
	unsigned int todo_cnt;
	uint8_t *visits; /* by byte of the function */
	struct x86_loads found;
	bool any, ambiguous;
};

/* Index of the register that holds reg, or -1. */
static int register_index(ZydisRegister reg)
{
	ZydisRegister whole = x86_whole_register(reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return -1;
	return (int)(whole - ZYDIS_REGISTER_RAX);
}

static void found_add(struct run *r, const struct x86_loads *l)
{
	if (r->any && (r->found.loads != l->loads || r->found.off[0] != l->off[0] ||
		       (l->loads > 1 && r->found.off[1] != l->off[1])))
		r->ambiguous = true;
	r->found = *l;
	r->any = true;
}

/* The value a memory operand loads, if it goes through the first argument. */
static struct value load_value(const struct path *p, const ZydisDecodedOperand *op)
{
	int base = op->mem.index == ZYDIS_REGISTER_NONE ? register_index(op->mem.base) : -1;
	struct value v = {0};

	if (base < 0 || p->reg[base].root != ROOT_FIRST || p->reg[base].l.loads == X86_LOADS_MAX ||
	    (p->reg[base].l.loads && p->reg[base].l.bytes != 8) || op->mem.disp.value < 0 ||
	    op->mem.disp.value > INT16_MAX)
		return v;
	v = p->reg[base];
	v.l.off[v.l.loads++] = (int32_t)op->mem.disp.value;
	v.l.bytes = (uint8_t)(op->size / 8);
	return v;
}

static void step_store(struct run *r, const struct path *p, const struct x86_insn *insn)
{
	const ZydisDecodedOperand *to = &insn->op[0], *from = &insn->op[1];
	int base, src;

	if (r->want != X86_STORED || to->mem.disp.value || to->mem.index != ZYDIS_REGISTER_NONE ||
	    from->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return;
	base = register_index(to->mem.base);
	src = register_index(from->reg.value);
	if (base >= 0 && src >= 0 && p->reg[base].root == ROOT_SECOND &&
	    p->reg[base].l.loads == 0 && p->reg[src].root == ROOT_FIRST && p->reg[src].l.loads)
		found_add(r, &p->reg[src].l);
}

static void step_call(struct run *r, struct path *p)
{
	static const uint8_t args[] = {7, 6, 2, 1, 8, 9};	     /* rdi rsi rdx rcx r8 r9 */
	static const uint8_t lost[] = {0, 1, 2, 6, 7, 8, 9, 10, 11}; /* not kept by a callee */

	for (unsigned int i = 0; i < sizeof(args) && r->want == X86_PASSED; i++) {
		const struct value *v = &p->reg[args[i]];

		if (v->root == ROOT_FIRST && v->l.loads == 1 && v->l.bytes == 4)
			found_add(r, &v->l);
	}
	for (unsigned int i = 0; i < sizeof(lost); i++)
		p->reg[lost[i]] = (struct value){0};
}

static void step_data(struct run *r, struct path *p, const struct x86_insn *insn)
{
	bool is_move = insn->z.mnemonic == ZYDIS_MNEMONIC_MOV ||
		       insn->z.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
	const ZydisDecodedOperand *from = &insn->op[1];
	struct value v = {0};
	int reg;

	if (is_move && insn->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY) {
		step_store(r, p, insn);
		return;
	}
	if (is_move && from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		v = load_value(p, from);
	} else if (is_move && from->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		reg = register_index(from->reg.value);
		/* Half of a pointer is nothing. */
		if (reg >= 0 && (from->size == 64 || (p->reg[reg].l.loads && from->size == 32)))
			v = p->reg[reg];
	}
	for (unsigned int i = 0; i < insn->z.operand_count; i++) {
		const ZydisDecodedOperand *op = &insn->op[i];

		/* A conditional move may leave what was there: clamping a size does. */
		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(op->actions & ZYDIS_OPERAND_ACTION_WRITE))
			continue;
		reg = register_index(op->reg.value);
		if (reg >= 0)
			p->reg[reg] = v;
	}
}

static bool inside(const struct run *r, uint64_t addr)
{
	return addr >= r->start && addr < r->end;
}

/* One instruction; false where the path ends. */
static bool step(struct run *r, struct path *p)
{
	struct x86_insn insn;
	uint64_t to;

	if (!inside(r, p->at) || r->visits[p->at - r->start]++ >= VALUE_VISITS_MAX ||
	    !x86_decode(&r->reader, p->at, &insn))
		return false;
	if (x86_is_call(&insn)) {
		step_call(r, p);
		if (r->want == X86_PASSED && r->any)
			return false;
	} else if (x86_branch_target(&insn, &to)) {
		if (x86_ends_block(&insn)) {
			p->at = to;
			return true;
		}
		if (inside(r, to) && r->todo_cnt < VALUE_PATHS_MAX) {
			r->todo[r->todo_cnt] = *p;
			r->todo[r->todo_cnt++].at = to;
		}
	} else if (x86_ends_block(&insn)) {
		return false;
	} else {
		step_data(r, p, &insn);
	}
	p->at += insn.z.length;
	return true;
}

static void run_paths(struct run *r)
{
	unsigned int steps = 0;
	struct path p = {.at = r->start};

	p.reg[7].root = ROOT_FIRST;  /* rdi */
	p.reg[6].root = ROOT_SECOND; /* rsi */
	r->todo[r->todo_cnt++] = p;
	while (r->todo_cnt) {
		p = r->todo[--r->todo_cnt];
		while (steps++ < VALUE_STEPS_MAX && step(r, &p))
			;
	}
}

int x86_value_find(const struct elf_file *f, const struct elf_symbol *sym, enum x86_value_want want,
		   struct x86_loads *out)
{
	struct run *r;
	int err = 0;

	if (sym->size == 0 || sym->size > VALUE_FUNCTION_BYTES_MAX ||
	    sym->addr + sym->size < sym->addr)
		return -ENOENT;
	r = xcalloc(1, sizeof(*r));
	r->f = f;
	r->start = sym->addr;
	r->end = sym->addr + sym->size;
	r->want = want;
	r->visits = xcalloc(1, sym->size);
	r->reader.f = f;
	run_paths(r);
	if (!r->any)
		err = -ENOENT;
	else if (r->ambiguous)
		err = -ENOTUNIQ;
	else
		*out = r->found;
	free(r->visits);
	free(r);
	return err;
}

#endif
