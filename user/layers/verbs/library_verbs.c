/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * libibverbs and its providers: one library for each kind of adapter, loaded at run time. Programs
 * reach a provider's functions for work requests only by pointers. The provider passes them to
 * libibverbs' verbs_set_ops, mostly as constant tables, which are found in the file. All others,
 * and those of queue pairs and extended completion queues, are found when they are passed. What a
 * process received before the recording is in its own contexts, queue pairs and completion queues.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "layers/verbs/library_verbs.h"
#include "lib/u64.h"
#include "target/elf/elf_file.h"
#include "target/elf/passed_table.h"
#include "target/handed_ops.h"
#include "target/helper/library_kind.h"
#include "target/x86/x86_code.h"

/* ---- where the struct that providers pass has its functions ---- */

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

static const char *const op_names[VERBS_OP_CNT] = {
	[VERBS_POST_SEND] = "post_send",
	[VERBS_POST_RECV] = "post_recv",
	[VERBS_POST_SRQ_RECV] = "post_srq_recv",
	[VERBS_POLL_CQ] = "poll_cq",
};

static bool is_library(const struct elf_file *f)
{
	return elf_file_defines(f, SET_OPS);
}

static bool is_provider(const struct elf_file *f)
{
	const struct elf_headers *h = elf_file_headers(f);
	uint64_t slot;

	for (size_t i = 0; i < h->needed_cnt; i++)
		if (!strncmp(h->needed[i], "libibverbs.so", 13))
			return elf_file_slots_of(f, SET_OPS, &slot, 1);
	return false;
}

static bool verbs_describe(const struct elf_file *f, struct library_facts *out)
{
	bool library = is_library(f);

	if (!library && !is_provider(f))
		return false;
	out->layout = (struct pov_lib)POV_LIB_UNKNOWN;
	out->meta = json_pack("{s:s,s:s,s:s,s:b}", "flavour",
			      library ? "ibverbs" : "verbs-provider", "version", "", "unsure", "",
			      "met", X86_IS_THIS_MACHINE && !library);
	out->copies = NULL;
	return true;
}

static unsigned int verbs_find(const struct elf_file *f, const char *name,
			       const struct elf_symbol *syms[2])
{
	bool exported = !strncmp(name, "ibv_", 4);

	/*
	 * Run time shows which functions of queue pairs and extended queues a provider has. Static
	 * probes are not functions.
	 */
	if (exported != is_library(f) ||
	    (!exported && (!strncmp(name, "wr_", 3) || !strncmp(name, "cq_", 3) ||
			   !strncmp(name, "rdma_core_", 10))))
		return FUNCTION_ELSEWHERE;
	syms[0] = exported ? elf_file_find(f, name) : NULL;
	return syms[0] && syms[0]->is_func && syms[0]->has_offset;
}

/*
 * Reads the library's slots. A provider is in the directory "libibverbs" beside the library, or, if
 * programs link with it, in the same directory.
 */
static bool library_slots(const struct elf_file *provider, struct verbs_slots *out)
{
	static const char *const names[] = {"../libibverbs.so.1", "libibverbs.so.1"};
	struct elf_file *library;
	bool found = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !found; i++) {
		if (elf_file_open_beside(provider, names[i], &library))
			continue;
		found = !verbs_slots_read(library, out);
		elf_file_close(library);
	}
	return found;
}

static size_t verbs_inner(const struct elf_file *f, struct inner_function out[INNER_FUNCTIONS_MAX])
{
	struct verbs_function functions[INNER_FUNCTIONS_MAX];
	struct verbs_slots slots;
	size_t cnt, tables;

	if (is_library(f) || !library_slots(f, &slots))
		return 0;
	cnt = verbs_functions_find(f, &slots, functions, INNER_FUNCTIONS_MAX, &tables);
	for (size_t i = 0; i < cnt; i++)
		out[i] = (struct inner_function){op_names[functions[i].op], functions[i].addr};
	return cnt;
}

/* Members of struct ibv_qp_ex, which has the same address as its struct ibv_qp. */
static const struct handover queue_pair = {
	.function = "ibv_qp_to_qp_ex",
	.arg = 0,
	.cnt = 20,
	.member = {{"wr_atomic_cmp_swp", 184},
		   {"wr_atomic_fetch_add", 192},
		   {"wr_bind_mw", 200},
		   {"wr_local_inv", 208},
		   {"wr_rdma_read", 216},
		   {"wr_rdma_write", 224},
		   {"wr_rdma_write_imm", 232},
		   {"wr_send", 240},
		   {"wr_send_imm", 248},
		   {"wr_send_inv", 256},
		   {"wr_send_tso", 264},
		   {"wr_set_ud_addr", 272},
		   {"wr_set_xrc_srqn", 280},
		   {"wr_set_inline_data", 288},
		   {"wr_set_inline_data_list", 296},
		   {"wr_set_sge", 304},
		   {"wr_set_sge_list", 312},
		   {"wr_start", 320},
		   {"wr_complete", 328},
		   {"wr_abort", 336}},
};

/* Members of struct ibv_cq_ex, which the provider has filled in by then. */
static const struct handover extended_queue = {
	.function = "verbs_init_cq",
	.arg = 0,
	.cnt = 3,
	.member = {{"cq_start_poll", 144}, {"cq_next_poll", 152}, {"cq_end_poll", 160}},
};

static size_t verbs_handovers(const struct elf_file *f, struct handover out[HANDOVERS_MAX])
{
	struct verbs_slots slots;
	struct handover *table = &out[2];

	/* on other machines members of the public structs have other offsets, too */
	if (!X86_IS_THIS_MACHINE || !is_library(f))
		return 0;
	out[0] = queue_pair;
	out[1] = extended_queue;
	if (verbs_slots_read(f, &slots))
		return 2;
	*table = (struct handover){.function = SET_OPS, .arg = 1, .cnt = VERBS_OP_CNT};
	for (size_t i = 0; i < VERBS_OP_CNT; i++) {
		table->member[i].name = op_names[i];
		table->member[i].offset = slots.offset[i];
	}
	return 3;
}

/* ---- functions that a process has already received ---- */

/* Offsets in struct ibv_context and in its device. */
#define CONTEXT_BYTES 328
#define CONTEXT_POLL_CQ 96
#define CONTEXT_POST_SEND 208
#define CONTEXT_POST_RECV 216
#define CONTEXT_POST_SRQ_RECV 168
#define CONTEXT_COMPAT 320 /* all ones: more functions are before the context */
#define DEVICE_NAME 24
#define DEVICE_NAME_BYTES 64

/* Returns true if a device has a plausible name: such names are short file names. */
static bool has_name(const struct handed_ops_memory *m, uint64_t device)
{
	char name[DEVICE_NAME_BYTES];
	size_t len;

	if (!handed_ops_read(m, device + DEVICE_NAME, name, sizeof(name)))
		return false;
	len = strnlen(name, sizeof(name));
	if (!len || len == sizeof(name))
		return false;
	for (size_t i = 0; i < len; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == '/')
			return false;
	return true;
}

static bool is_context(const struct handed_ops_memory *m, const uint8_t *object)
{
	return u64_at(object + CONTEXT_COMPAT) == UINT64_MAX && has_name(m, u64_at(object));
}

/* Checks the context: queue pairs and completion queues begin with a pointer to theirs. */
static bool is_of_context(const struct handed_ops_memory *m, const uint8_t *object)
{
	static const uint16_t functions[] = {CONTEXT_POLL_CQ, CONTEXT_POST_SEND, CONTEXT_POST_RECV};
	uint8_t context[CONTEXT_BYTES];

	if (!handed_ops_read(m, u64_at(object), context, sizeof(context)))
		return false;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!handed_ops_text_of(m, u64_at(context + functions[i])))
			return false;
	return is_context(m, context);
}

static const struct handover context_members = {
	.cnt = VERBS_OP_CNT,
	.member = {{"post_send", CONTEXT_POST_SEND},
		   {"post_recv", CONTEXT_POST_RECV},
		   {"post_srq_recv", CONTEXT_POST_SRQ_RECV},
		   {"poll_cq", CONTEXT_POLL_CQ}},
};

static const struct handed_ops_object handed_ops[] = {
	{&context_members,
	 {CONTEXT_POST_SEND, CONTEXT_POST_RECV, CONTEXT_POLL_CQ},
	 CONTEXT_BYTES,
	 is_context},
	{&queue_pair, {320, 328}, 344, is_of_context},
	{&extended_queue, {144, 152, 160}, 168, is_of_context},
	{0},
};

/*
 * Probes of rdma-core 62 and later, built with -DTRACING=USDT. Those of efa and hns have too few
 * arguments (kmod-docs/VERBS.md).
 */
static const struct note_row notes[] = {
	{"rdma_core_mlx5", "post_send", "rdma_core_mlx5_post_send", "post_send"},
	{"rdma_core_rxe", "post_send", "rdma_core_rxe_post_send", "post_send"},
	{NULL, NULL, NULL, NULL},
};

const struct library_kind library_kind_verbs = {
	.layer = "verbs",
	.describe = verbs_describe,
	.find = verbs_find,
	.inner = verbs_inner,
	.handovers = verbs_handovers,
	.handed_ops = X86_IS_THIS_MACHINE ? handed_ops : NULL,
	.notes = notes,
};
