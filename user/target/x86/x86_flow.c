/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A probe that moves from a function's start to an instruction a few bytes later still sees exactly
 * all calls, if control reaches that place only through the start. This code checks every
 * instruction of the function, and follows its jumps into separate parts (".cold"), for one that
 * could land in between. Whatever cannot be decided counts as an objection.
 */
#include "target/x86/x86_code.h"

#if defined(__x86_64__)

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "target/elf/elf_file.h"

#define FLOW_FUNCTION_BYTES_MAX (1u << 20)
#define FLOW_PARTS_MAX 256
#define FLOW_PART_INSNS_MAX 8192
#define FLOW_TABLES_MAX 1024
#define FLOW_TABLE_ENTRIES_MAX 4096

struct flow {
	const struct elf_file *f;
	uint64_t start, end; /* range of the function */
	uint64_t skip;
	uint8_t *boundary, *target;    /* one bit per byte of the function */
	uint64_t part[FLOW_PARTS_MAX]; /* jump targets outside without a symbol */
	unsigned int part_cnt;
	/* addresses that the code takes, at which tables of switches begin */
	uint64_t table[FLOW_TABLES_MAX];
	unsigned int table_cnt;
	bool jumps_by_table;
	unsigned int budget; /* limit of instructions outside */
	struct x86_reader reader;
};

static void bit_set(uint8_t *bits, uint64_t at)
{
	bits[at / 8] |= (uint8_t)(1u << at % 8);
}

static const char *flow_jump(struct flow *w, uint64_t to)
{
	const struct elf_symbol *s;

	if (to > w->start && to - w->start <= w->skip)
		return "a branch lands behind the start";
	if (to >= w->start && to < w->end) {
		bit_set(w->target, to - w->start);
		return NULL;
	}
	/*
	 * A jump to a name is a tail call, unless the name is the compiler's own ("f.cold",
	 * "f.part.0").
	 */
	s = elf_file_symbol_from(w->f, to);
	if (s && s->addr == to && !strchr(s->name, '.'))
		return NULL;
	for (unsigned int i = 0; i < w->part_cnt; i++)
		if (w->part[i] == to)
			return NULL;
	if (w->part_cnt == FLOW_PARTS_MAX)
		return "too many parts elsewhere to follow";
	w->part[w->part_cnt++] = to;
	return NULL;
}

static const char *flow_insn(struct flow *w, const struct x86_insn *insn)
{
	uint64_t to;

	if (x86_branch_target(insn, &to)) {
		if (!x86_is_call(insn))
			return flow_jump(w, to);
		return to > w->start && to - w->start <= w->skip ? "a call lands behind the start" :
								   NULL;
	}
	if (x86_is_indirect_jump(insn) && insn->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	    insn->op[0].mem.index != ZYDIS_REGISTER_NONE)
		return "an indirect jump could land behind the start";
	if (x86_is_indirect_jump(insn) && !x86_is_slot_jump(insn, &to))
		w->jumps_by_table = true;
	if (insn->z.mnemonic != ZYDIS_MNEMONIC_LEA || !x86_rip_operand(insn, &insn->op[1], &to))
		return NULL;
	if (to > w->start && to < w->end) /* for a computed goto */
		return flow_jump(w, to);
	if (w->table_cnt < FLOW_TABLES_MAX)
		w->table[w->table_cnt] = to;
	w->table_cnt++;
	return NULL;
}

/*
 * Checks the table of a switch: a list of places, each as a distance from the table. The length of
 * such a list is unknown; it ends where an entry leads out of the function.
 */
static const char *flow_table(struct flow *w, uint64_t table)
{
	const char *objection = NULL;
	int32_t away;

	for (unsigned int i = 0; i < FLOW_TABLE_ENTRIES_MAX && !objection; i++) {
		uint64_t at = table + i * sizeof(away), to;

		if (elf_file_read_addr(w->f, at, &away, sizeof(away)) != (long)sizeof(away))
			break;
		to = table + (uint64_t)(int64_t)away;
		if (to < w->start || to >= w->end)
			break;
		objection = flow_jump(w, to);
	}
	return objection;
}

/*
 * Checks all tables. Code that can be loaded anywhere takes the address of each of its tables. An
 * indirect jump without one leads to another function.
 */
static const char *flow_tables(struct flow *w)
{
	const char *objection = NULL;

	if (!w->jumps_by_table)
		return NULL;
	if (w->table_cnt > FLOW_TABLES_MAX || !elf_file_headers(w->f)->dynamic)
		return "an indirect jump could land behind the start";
	for (unsigned int i = 0; i < w->table_cnt && !objection; i++)
		objection = flow_table(w, w->table[i]);
	return objection;
}

static const char *flow_function(struct flow *w)
{
	const char *objection = NULL;
	struct x86_insn insn;

	for (uint64_t at = w->start; at < w->end && !objection; at += insn.z.length) {
		if (!x86_decode(&w->reader, at, &insn) || insn.z.length > w->end - at)
			return "it contains bytes that are not code";
		bit_set(w->boundary, at - w->start);
		objection = flow_insn(w, &insn);
	}
	return objection;
}

static const char *flow_part(struct flow *w, uint64_t at)
{
	const char *objection = NULL;
	struct x86_insn insn;

	while (!objection) {
		if (w->budget-- == 0)
			return "its parts elsewhere are too large to follow";
		if (!x86_decode(&w->reader, at, &insn))
			return "a jump leaves the code of the file";
		objection = flow_insn(w, &insn);
		if (x86_ends_block(&insn))
			break;
		at += insn.z.length;
	}
	return objection;
}

/* Checks the parts from *at on. */
static const char *flow_parts(struct flow *w, unsigned int *at)
{
	const char *objection = NULL;

	for (; *at < w->part_cnt && !objection; ++*at)
		objection = flow_part(w, w->part[*at]);
	return objection;
}

static const char *flow_walk(struct flow *w)
{
	unsigned int at = 0;
	const char *objection = flow_function(w)	   ?:
					flow_parts(w, &at) ?:
					flow_tables(w)	   ?:
							     flow_parts(w, &at);

	for (uint64_t i = 0; i < (w->end - w->start + 7) / 8 && !objection; i++)
		if (w->target[i] & ~w->boundary[i])
			objection = "a branch lands inside an instruction";
	return objection;
}

const char *x86_flow_objection(const struct elf_file *f, const struct elf_symbol *sym,
			       uint64_t skip)
{
	const struct elf_symbol *next = elf_file_symbol_from(f, sym->addr + 1);
	const char *objection;
	struct flow *w;

	if (next && next->addr - sym->addr <= skip)
		return "another symbol is too close to its start";
	if (sym->size == 0)
		return "its size is unknown";
	if (sym->size > FLOW_FUNCTION_BYTES_MAX || sym->addr + sym->size < sym->addr)
		return "it is too large to analyse";
	w = xcalloc(1, sizeof(*w));
	w->f = f;
	w->start = sym->addr;
	w->end = sym->addr + sym->size;
	w->skip = skip;
	w->budget = FLOW_PART_INSNS_MAX;
	w->boundary = xcalloc(1, sym->size / 8 + 1);
	w->target = xcalloc(1, sym->size / 8 + 1);
	w->reader.f = f;
	objection = flow_walk(w);
	free(w->boundary);
	free(w->target);
	free(w);
	return objection;
}

#endif
