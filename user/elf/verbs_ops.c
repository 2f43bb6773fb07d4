/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * verbs_set_ops(context, table) is a long row of "if the table has this one, store it there". It is read from first to last
 * byte: a member of the table that is loaded, and then stored into the context, is a pair of offsets.
 */
#include "elf/verbs_ops.h"

#include <errno.h>

#include "elf/elf_file.h"
#include "elf/passed_table.h"

#define SET_OPS "verbs_set_ops"
#define TABLES_MAX 16

#if defined(__x86_64__)

#include "elf/x86_code.h"

#define FUNCTION_BYTES_MAX 65536
#define PAIRS_MAX 256
#define REGS 16
#define RSI 6
#define RDI 7

struct value {
	enum { NOTHING, CONTEXT, TABLE, MEMBER } what;
	int64_t offset; /* MEMBER: in the table */
};

struct pair {
	int64_t table, context;
};

struct copies {
	struct value reg[REGS];
	struct pair pair[PAIRS_MAX];
	size_t cnt;
};

/* In struct ibv_context, as each program has it built in. */
static const uint16_t in_context[VERBS_OP_CNT] = {
	[VERBS_POST_SEND] = 200,
	[VERBS_POST_RECV] = 208,
	[VERBS_POST_SRQ_RECV] = 160,
	[VERBS_POLL_CQ] = 88,
};

static struct value *register_of(struct copies *c, ZydisRegister reg)
{
	ZydisRegister whole = x86_whole_register(reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return NULL;
	return &c->reg[whole - ZYDIS_REGISTER_RAX];
}

static struct value *operand_register(struct copies *c, const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->size == 64 ?
		       register_of(c, op->reg.value) :
		       NULL;
}

/* What the base of a plain memory operand holds. */
static struct value *operand_base(struct copies *c, const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->size == 64 &&
			       op->mem.index == ZYDIS_REGISTER_NONE ?
		       register_of(c, op->mem.base) :
		       NULL;
}

static struct value moved(struct copies *c, const ZydisDecodedOperand *from)
{
	const struct value *reg = operand_register(c, from), *base = operand_base(c, from);

	if (reg)
		return *reg;
	if (base && base->what == TABLE)
		return (struct value){MEMBER, from->mem.disp.value};
	return (struct value){0};
}

static void copy_step(struct copies *c, const struct x86_insn *insn)
{
	bool is_move = insn->z.mnemonic == ZYDIS_MNEMONIC_MOV;
	struct value v = is_move ? moved(c, &insn->op[1]) : (struct value){0}, *to;

	to = is_move ? operand_base(c, &insn->op[0]) : NULL;
	if (to && to->what == CONTEXT && v.what == MEMBER && c->cnt < PAIRS_MAX)
		c->pair[c->cnt++] = (struct pair){v.offset, insn->op[0].mem.disp.value};
	for (unsigned int i = 0; i < insn->z.operand_count; i++) {
		const ZydisDecodedOperand *op = &insn->op[i];

		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		to = register_of(c, op->reg.value);
		if (to)
			*to = i ? (struct value){0} : v;
	}
}

static bool copies_read(const struct elf_file *f, struct copies *out)
{
	const struct elf_symbol *sym = elf_file_find(f, SET_OPS);
	struct x86_reader reader = {.f = f};
	struct x86_insn insn;

	if (!sym || !sym->is_func || sym->size > FUNCTION_BYTES_MAX)
		return false;
	out->reg[RDI].what = CONTEXT;
	out->reg[RSI].what = TABLE;
	for (uint64_t at = 0; at < sym->size; at += insn.z.length) {
		if (!x86_decode(&reader, sym->addr + at, &insn))
			return false;
		copy_step(out, &insn);
	}
	return true;
}

/* The member of the table that is copied to one place only, or -1. */
static int64_t copied_to(const struct copies *c, int64_t context)
{
	int64_t found = -1;

	for (size_t i = 0; i < c->cnt; i++) {
		if (c->pair[i].context != context || c->pair[i].table == found)
			continue;
		if (found >= 0)
			return -1;
		found = c->pair[i].table;
	}
	return found;
}

/* If struct ibv_context begins at base. */
static bool slots_at(const struct copies *c, int64_t base, struct verbs_slots *out)
{
	for (unsigned int i = 0; i < VERBS_OP_CNT; i++) {
		int64_t offset = copied_to(c, base + in_context[i]);

		if (offset < 0 || offset > UINT16_MAX || offset % sizeof(void *))
			return false;
		out->offset[i] = (uint16_t)offset;
	}
	/* They have always stood together, in this order. */
	return out->offset[VERBS_POST_RECV] == out->offset[VERBS_POLL_CQ] + 8 &&
	       out->offset[VERBS_POST_SEND] == out->offset[VERBS_POLL_CQ] + 16 &&
	       out->offset[VERBS_POST_SRQ_RECV] > out->offset[VERBS_POST_SEND];
}

int verbs_slots_read(const struct elf_file *libibverbs, struct verbs_slots *out)
{
	struct verbs_slots slots;
	struct copies c = {0};

	if (!copies_read(libibverbs, &c))
		return -ENOENT;
	for (size_t i = 0; i < c.cnt; i++) {
		int64_t base = c.pair[i].context - in_context[VERBS_POLL_CQ];

		if (base < 0 || !slots_at(&c, base, &slots))
			continue;
		*out = slots;
		return 0;
	}
	return -ENOENT;
}

#else

int verbs_slots_read(const struct elf_file *libibverbs, struct verbs_slots *out)
{
	(void)libibverbs;
	(void)out;
	return -ENOENT;
}

#endif

static bool has(const struct verbs_function *functions, size_t cnt, const struct verbs_function *f)
{
	for (size_t i = 0; i < cnt; i++)
		if (functions[i].op == f->op && functions[i].addr == f->addr)
			return true;
	return false;
}

size_t verbs_functions_find(const struct elf_file *provider, const struct verbs_slots *slots,
			    struct verbs_function *functions, size_t max, size_t *tables)
{
	uint64_t table[TABLES_MAX];
	size_t cnt = 0;

	*tables = passed_tables_find(provider, SET_OPS, table, TABLES_MAX);
	for (size_t i = 0; i < *tables; i++)
		for (unsigned int op = 0; op < VERBS_OP_CNT; op++) {
			struct verbs_function f = {.op = op};
			struct elf_symbol sym;

			if (elf_file_pointer(provider, table[i] + slots->offset[op], &f.addr) &&
			    elf_file_function_at(provider, f.addr, &sym) && cnt < max &&
			    !has(functions, cnt, &f))
				functions[cnt++] = f;
		}
	return cnt;
}
