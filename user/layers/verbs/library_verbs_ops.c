/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * verbs_set_ops(context, table) is a long row of "if the table has this one, store it there". Its
 * code is read from first to last byte: a member that is loaded from the table and then stored into
 * the context gives a pair of offsets.
 *
 * If a provider loads the pointer to a table, the table is in its data for each kind of adapter.
 * libibverbs passes this data back to it for the adapter that it finds, from the provider's
 * registered list of adapters. So the table can be found through this list, too. It is accepted if
 * its whole contents fit.
 */
#include "layers/verbs/library_verbs_ops.h"

#include <errno.h>

#include "target/elf/elf_file.h"
#include "target/elf/passed_table.h"

#define SET_OPS "verbs_set_ops"
#define REGISTER_DRIVER "verbs_register_driver_" /* followed by the private interface's version */
#define TABLES_MAX 32
#define MATCHES_MAX 1024 /* adapters in a provider's list */

/* A provider's registered list, the same in all releases since 17. */
#define DRIVER_MATCHES 16 /* offset of the pointer to the list */
struct match {
	uint64_t driver_data, modalias;
	uint16_t vendor, device;
	uint8_t kind; /* 0: end of the list */
};

#if defined(__x86_64__)

#include "target/x86/x86_code.h"

#define FUNCTION_BYTES_MAX 65536
#define PAIRS_MAX 256

struct value {
	enum { NOTHING, CONTEXT, TABLE, MEMBER } what;
	int64_t offset; /* MEMBER: offset in the table */
};

struct pair {
	int64_t table, context;
};

struct copies {
	struct value reg[X86_REGISTERS];
	struct pair pair[PAIRS_MAX];
	size_t cnt;
};

/*
 * Offsets in struct ibv_context_ops, which is in each context, and which each program has built in.
 */
static const uint16_t in_context[VERBS_OP_CNT] = {
	[VERBS_POST_SEND] = 200,
	[VERBS_POST_RECV] = 208,
	[VERBS_POST_SRQ_RECV] = 160,
	[VERBS_POLL_CQ] = 88,
};

/* Returns the value of a whole register; NULL for other operands. */
static struct value *operand_register(struct copies *c, const ZydisDecodedOperand *op)
{
	int i = op->size == 64 ? x86_operand_register(op) : -1;

	return i < 0 ? NULL : &c->reg[i];
}

/* Returns the value of a plain memory operand's base register. */
static struct value *operand_base(struct copies *c, const ZydisDecodedOperand *op)
{
	int i = op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->size == 64 &&
				op->mem.index == ZYDIS_REGISTER_NONE ?
			x86_register_index(op->mem.base) :
			-1;

	return i < 0 ? NULL : &c->reg[i];
}

static struct value value_moved(struct copies *c, const ZydisDecodedOperand *from)
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
	struct value v = is_move ? value_moved(c, &insn->op[1]) : (struct value){0}, *to;

	to = is_move ? operand_base(c, &insn->op[0]) : NULL;
	if (to && to->what == CONTEXT && v.what == MEMBER && c->cnt < PAIRS_MAX)
		c->pair[c->cnt++] = (struct pair){v.offset, insn->op[0].mem.disp.value};
	for (unsigned int i = 0; i < X86_REGISTERS; i++)
		if (x86_written(insn) >> i & 1)
			c->reg[i] = v;
}

static bool copies_read(const struct elf_file *f, struct copies *out)
{
	const struct elf_symbol *sym = elf_file_find(f, SET_OPS);
	struct x86_reader reader = {.f = f};
	struct x86_insn insn;

	if (!sym || !sym->is_func || sym->size > FUNCTION_BYTES_MAX)
		return false;
	out->reg[X86_RDI].what = CONTEXT;
	out->reg[X86_RSI].what = TABLE;
	for (uint64_t at = 0; at < sym->size; at += insn.z.length) {
		if (!x86_decode(&reader, sym->addr + at, &insn))
			return false;
		copy_step(out, &insn);
	}
	return true;
}

/* Returns the only member of the table that is copied to a place in the context, or -1. */
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

/* Computes the slots, assuming that struct ibv_context_ops begins at base. */
static bool slots_at(const struct copies *c, int64_t base, struct verbs_slots *out)
{
	for (unsigned int i = 0; i < VERBS_OP_CNT; i++) {
		int64_t offset = copied_to(c, base + in_context[i]);

		if (offset < 0 || offset > UINT16_MAX || offset % sizeof(void *))
			return false;
		out->offset[i] = (uint16_t)offset;
	}
	out->table_bytes = 0;
	for (size_t i = 0; i < c->cnt; i++)
		if (c->pair[i].table + (int64_t)sizeof(void *) > (int64_t)out->table_bytes)
			out->table_bytes = (uint64_t)c->pair[i].table + sizeof(void *);
	/* These members have always been adjacent, in this order. */
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

/* ---- tables ---- */

struct tables {
	uint64_t addr[TABLES_MAX];
	size_t cnt;
};

static void table_add(struct tables *t, uint64_t addr)
{
	for (size_t i = 0; i < t->cnt; i++)
		if (t->addr[i] == addr)
			return;
	if (t->cnt < TABLES_MAX)
		t->addr[t->cnt++] = addr;
}

/* Returns true for a function of the file, or for an empty member, where the file has zeros. */
static bool is_member(const struct elf_file *f, uint64_t addr)
{
	struct elf_symbol sym;
	uint64_t value;

	if (elf_file_pointer(f, addr, &value))
		return elf_file_function_at(f, value, &sym);
	return elf_file_read_addr(f, addr, &value, sizeof(value)) == sizeof(value) && !value;
}

/* Returns true if all members fit, and the table has what every provider has. */
static bool is_table(const struct elf_file *f, uint64_t addr, const struct verbs_slots *slots)
{
	static const enum verbs_op always[] = {VERBS_POST_SEND, VERBS_POST_RECV, VERBS_POLL_CQ};
	uint64_t value;

	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		if (!elf_file_pointer(f, addr + slots->offset[always[i]], &value))
			return false;
	for (uint64_t at = 0; at < slots->table_bytes; at += sizeof(void *))
		if (!is_member(f, addr + at))
			return false;
	return true;
}

/* Adds the tables at this distance from the provider's data for adapters. */
static void matches_tables(const struct elf_file *f, uint64_t match_addr, uint64_t behind,
			   const struct verbs_slots *slots, struct tables *out)
{
	struct match m;
	uint64_t data;

	for (size_t i = 0; i < MATCHES_MAX; i++, match_addr += sizeof(m)) {
		if (elf_file_read_addr(f, match_addr, &m, sizeof(m)) != sizeof(m) || !m.kind)
			return;
		if (elf_file_pointer(f, match_addr, &data) && is_table(f, data + behind, slots))
			table_add(out, data + behind);
	}
}

static void kept_tables(const struct elf_file *f, uint64_t behind, const struct verbs_slots *slots,
			struct tables *out)
{
	const char *register_driver = elf_file_slot_like(f, REGISTER_DRIVER);
	struct passed drivers;
	uint64_t matches;

	if (!register_driver)
		return;
	passed_find(f, register_driver, 0, &drivers);
	for (size_t i = 0; i < drivers.address_cnt; i++)
		if (elf_file_pointer(f, drivers.address[i] + DRIVER_MATCHES, &matches))
			matches_tables(f, matches, behind, slots, out);
}

static void tables_find(const struct elf_file *f, const struct verbs_slots *slots,
			struct tables *out)
{
	struct passed passed;

	passed_find(f, SET_OPS, 1, &passed);
	for (size_t i = 0; i < passed.address_cnt; i++)
		table_add(out, passed.address[i]);
	for (size_t i = 0; i < passed.offset_cnt; i++)
		kept_tables(f, passed.offset[i], slots, out);
}

/* ---- functions ---- */

static bool functions_have(const struct verbs_function *functions, size_t cnt,
			   const struct verbs_function *f)
{
	for (size_t i = 0; i < cnt; i++)
		if (functions[i].op == f->op && functions[i].addr == f->addr)
			return true;
	return false;
}

size_t verbs_functions_find(const struct elf_file *provider, const struct verbs_slots *slots,
			    struct verbs_function *functions, size_t max, size_t *tables)
{
	struct tables t = {.cnt = 0};
	size_t cnt = 0;

	tables_find(provider, slots, &t);
	*tables = t.cnt;
	for (size_t i = 0; i < t.cnt; i++)
		for (unsigned int op = 0; op < VERBS_OP_CNT; op++) {
			struct verbs_function f = {.op = op};
			struct elf_symbol sym;

			if (elf_file_pointer(provider, t.addr[i] + slots->offset[op], &f.addr) &&
			    elf_file_function_at(provider, f.addr, &sym) && cnt < max &&
			    !functions_have(functions, cnt, &f))
				functions[cnt++] = f;
		}
	return cnt;
}
