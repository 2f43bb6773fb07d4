/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Decodes a function's bytes from start to end, because a jump through a table may lead to any of
 * them. Jumps to places that are not other functions are followed: to cold parts by their names,
 * and in stripped files to whatever begins there according to the table of exception frames. The
 * latter may be a nameless function of its own, which then counts as part of the body.
 *
 * The stack's depth follows the stack pointer, and rbp where it is a copy of it, from the start
 * along all paths. A jump with the same stack as at the start may leave the function; any other one
 * stays inside.
 */
#include "target/x86/x86_body.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/elf_file.h"
#include "target/x86/x86_walk.h"

#define BODY_BYTES_MAX (1u << 20)
#define DEPTH_MAX (1 << 30)

/* Returns true for NAME.cold, NAME.cold.1 …, and for NAME.part.0 … if the function jumps there. */
static bool name_is_part(const char *name, const char *function, const char *kind)
{
	size_t bytes = strlen(function);

	return bytes && !strncmp(name, function, bytes) &&
	       !strncmp(name + bytes, kind, strlen(kind));
}

static bool is_own_part(const struct x86_body *b, const char *name)
{
	return name_is_part(name, b->sym->name, ".cold") ||
	       name_is_part(name, b->sym->name, ".part.");
}

/* ---- decoding ---- */

/*
 * Returns true for bytes that compilers do not generate in functions: data, or code for the kernel.
 */
static bool insn_is_strange(const struct x86_insn *insn)
{
	return (insn->raw[0] == 0 && insn->raw[1] == 0) ||
	       (insn->z.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED &&
		insn->z.mnemonic != ZYDIS_MNEMONIC_HLT) || /* hlt traps */
	       insn->z.mnemonic == ZYDIS_MNEMONIC_IRETQ ||
	       insn->z.mnemonic == ZYDIS_MNEMONIC_IRETD ||
	       insn->z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
	       insn->z.meta.category == ZYDIS_CATEGORY_IO ||
	       insn->z.meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

static bool insn_takes_label(const struct x86_body *b, const struct x86_insn *insn)
{
	uint64_t addr = 0;

	if (insn->z.mnemonic == ZYDIS_MNEMONIC_LEA)
		x86_rip_operand(insn, &insn->op[1], &addr);
	else if (insn->z.mnemonic == ZYDIS_MNEMONIC_MOV &&
		 insn->op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		addr = insn->op[1].imm.value.u;
	return addr > b->range[0].start && addr < b->range[0].end;
}

static const char *step_add(struct x86_body *b, const struct x86_insn *insn)
{
	struct x86_step s = {
		.addr = insn->addr,
		.bytes = insn->z.length,
		.depth = {X86_DEPTH_NONE, X86_DEPTH_NONE},
	};

	if (insn_is_strange(insn))
		return "it contains bytes that are not code";
	s.next = x86_next_of(insn, &s.to);
	b->label_taken |= insn_takes_label(b, insn);
	*table_append(b->step, b->cnt) = s;
	return NULL;
}

static const char *part_add(struct x86_body *b, uint64_t start, uint64_t bytes)
{
	struct x86_part *p = &b->part[b->part_cnt];
	uint64_t end = start + bytes;
	const char *objection = NULL;
	struct x86_insn insn;
	uint64_t room = BODY_BYTES_MAX;

	if (x86_body_holds(b, start))
		return NULL;
	for (size_t i = 0; i < b->part_cnt; i++)
		room -= b->range[i].end - b->range[i].start;
	if (!bytes)
		return "the size of a part of it is unknown";
	if (b->part_cnt == X86_PARTS_MAX || bytes > room || end < start)
		return "it is too large to analyse";
	p->first = b->cnt;
	b->range[b->part_cnt++] = (struct x86_range){start, end};
	for (uint64_t at = start; at < end && !objection; at += insn.z.length) {
		if (!x86_decode(&b->reader, at, &insn) || insn.z.length > end - at)
			return "it contains bytes that are not code";
		objection = step_add(b, &insn);
	}
	p->cnt = b->cnt - p->first;
	return objection;
}

/* ---- parts ---- */

bool x86_body_stub(struct x86_body *b, uint64_t addr, uint64_t *slot)
{
	struct x86_insn insn;

	if (!x86_decode(&b->reader, addr, &insn))
		return false;
	if (insn.z.mnemonic == ZYDIS_MNEMONIC_ENDBR64 &&
	    !x86_decode(&b->reader, addr + insn.z.length, &insn))
		return false;
	return x86_is_slot_jump(&insn, slot);
}

/* Handles a jump that leaves the known body. */
static const char *jump_follow(struct x86_body *b, uint64_t to)
{
	const struct elf_symbol *s = elf_file_symbol_from(b->f, to);
	struct elf_symbol around;
	const char *objection;
	uint64_t start, bytes, slot;

	if (s && s->addr == to && s->is_func)
		return is_own_part(b, s->name) ? part_add(b, s->addr, s->size) : NULL;
	if (x86_body_stub(b, to, &slot))
		return NULL;
	if (!elf_file_function_around(b->f, to, &start, &bytes) ||
	    !elf_file_function_at(b->f, start, &around))
		return "it jumps to code that is no known function";
	if (*around.name && !is_own_part(b, around.name))
		return "it jumps into another function";
	objection = part_add(b, start, bytes);
	return objection || x86_body_holds(b, to) ? objection :
						    "it jumps to code that is no known function";
}

/* Returns the first symbol whose name is not less than `name`. The symbols are sorted by name. */
static size_t symbol_lower_bound(const struct elf_symbol *sym, size_t cnt, const char *name)
{
	size_t lo = 0, hi = cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(sym[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Adds cold parts by name, because exceptions may lead to one that no jump reaches. */
static const char *cold_parts_add(struct x86_body *b)
{
	const char *function = b->sym->name, *objection = NULL;
	const struct elf_symbol *sym;
	size_t cnt = elf_file_symbols(b->f, &sym);

	if (!*function)
		return NULL;
	for (size_t i = symbol_lower_bound(sym, cnt, function);
	     i < cnt && !objection && !strncmp(sym[i].name, function, strlen(function)); i++)
		if (sym[i].is_func && name_is_part(sym[i].name, function, ".cold"))
			objection = part_add(b, sym[i].addr, sym[i].size);
	return objection;
}

static const char *jumps_check(const struct x86_body *b)
{
	for (size_t i = 0; i < b->cnt; i++)
		if ((b->step[i].next == X86_JUMPS || b->step[i].next == X86_BRANCHES) &&
		    x86_body_holds(b, b->step[i].to) && !x86_body_step(b, b->step[i].to))
			return "a branch lands inside an instruction";
	return NULL;
}

static const char *body_read(struct x86_body *b)
{
	uint64_t start = b->sym->addr, bytes = b->sym->size;
	const char *objection;

	if (!bytes && (!elf_file_function_around(b->f, b->sym->addr, &start, &bytes) ||
		       start != b->sym->addr))
		return "its size is unknown";
	objection = part_add(b, start, bytes) ?: cold_parts_add(b);
	for (size_t i = 0; i < b->cnt && !objection; i++)
		if ((b->step[i].next == X86_JUMPS || b->step[i].next == X86_BRANCHES) &&
		    !x86_body_holds(b, b->step[i].to))
			objection = jump_follow(b, b->step[i].to);
	return objection ?: jumps_check(b);
}

const char *x86_body_read(const struct elf_file *f, const struct elf_symbol *sym,
			  struct x86_body **out)
{
	struct x86_body *b = xcalloc(1, sizeof(*b));

	b->f = f;
	b->sym = sym;
	b->reader.f = f;
	*out = b;
	return body_read(b);
}

void x86_body_free(struct x86_body *b)
{
	if (!b)
		return;
	free(b->step);
	free(b);
}

bool x86_body_holds(const struct x86_body *b, uint64_t addr)
{
	return table_any(b->part_cnt, i, addr >= b->range[i].start && addr < b->range[i].end);
}

struct x86_step *x86_body_step(const struct x86_body *b, uint64_t addr)
{
	for (size_t i = 0; i < b->part_cnt; i++) {
		size_t lo = b->part[i].first, end = lo + b->part[i].cnt, hi = end;

		if (addr < b->range[i].start || addr >= b->range[i].end)
			continue;
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;

			if (b->step[mid].addr < addr)
				lo = mid + 1;
			else
				hi = mid;
		}
		return lo < end && b->step[lo].addr == addr ? &b->step[lo] : NULL;
	}
	return NULL;
}

const struct x86_part *x86_body_part(const struct x86_body *b, const struct x86_step *s)
{
	size_t i = 0, at = (size_t)(s - b->step);

	while (at >= b->part[i].first + b->part[i].cnt)
		i++;
	return &b->part[i];
}

/* ---- the stack's depth ---- */

static int32_t depth_add(int32_t depth, int64_t bytes)
{
	int64_t sum = depth + bytes;

	return depth == X86_DEPTH_ANY || sum > DEPTH_MAX || sum < -DEPTH_MAX ? X86_DEPTH_ANY :
									       (int32_t)sum;
}

static bool operand_is(const ZydisDecodedOperand *op, ZydisRegister reg)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == reg;
}

/* Handles "lea n(%rsp), %rsp" and "lea n(%rbp), %rsp". */
static int32_t depth_of_address(const ZydisDecodedOperand *op, struct x86_depth d)
{
	if (op->mem.index != ZYDIS_REGISTER_NONE)
		return X86_DEPTH_ANY;
	if (op->mem.base == ZYDIS_REGISTER_RSP)
		return depth_add(d.sp, -op->mem.disp.value);
	return op->mem.base == ZYDIS_REGISTER_RBP ? depth_add(d.fp, -op->mem.disp.value) :
						    X86_DEPTH_ANY;
}

static int32_t depth_of_value(const struct x86_insn *insn, struct x86_depth d)
{
	const ZydisDecodedOperand *from = &insn->op[1];
	bool is_constant = from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	switch (insn->z.mnemonic) {
	case ZYDIS_MNEMONIC_SUB:
		return is_constant ? depth_add(d.sp, from->imm.value.s) : X86_DEPTH_ANY;
	case ZYDIS_MNEMONIC_ADD:
		return is_constant ? depth_add(d.sp, -from->imm.value.s) : X86_DEPTH_ANY;
	case ZYDIS_MNEMONIC_MOV:
		return operand_is(from, ZYDIS_REGISTER_RBP) ? d.fp :
		       operand_is(from, ZYDIS_REGISTER_RSP) ? d.sp :
							      X86_DEPTH_ANY;
	case ZYDIS_MNEMONIC_LEA:
		return depth_of_address(from, d);
	default:
		return X86_DEPTH_ANY;
	}
}

static struct x86_depth depth_after(const struct x86_insn *insn, struct x86_depth d)
{
	unsigned int written = x86_written(insn);
	int64_t word = insn->z.operand_width / 8;

	if (x86_is_call(insn)) /* its return address is removed again */
		return d;
	if (insn->z.mnemonic == ZYDIS_MNEMONIC_LEAVE)
		return (struct x86_depth){depth_add(d.fp, -8), X86_DEPTH_ANY};
	if (insn->z.meta.category == ZYDIS_CATEGORY_PUSH) {
		d.sp = depth_add(d.sp, word);
		return d;
	}
	if (insn->z.meta.category == ZYDIS_CATEGORY_POP) {
		d.sp = operand_is(&insn->op[0], ZYDIS_REGISTER_RSP) ? X86_DEPTH_ANY :
								      depth_add(d.sp, -word);
		if (operand_is(&insn->op[0], ZYDIS_REGISTER_RBP))
			d.fp = X86_DEPTH_ANY;
		return d;
	}
	if (written >> X86_RSP & 1)
		d.sp = depth_of_value(insn, d);
	else if (written >> X86_RBP & 1)
		d.fp = insn->z.mnemonic == ZYDIS_MNEMONIC_MOV ? depth_of_value(insn, d) :
								X86_DEPTH_ANY;
	return d;
}

static bool depth_step(void *ctx, const struct x86_insn *insn, void *state)
{
	struct x86_depth *d = state;

	*d = depth_after(insn, *d);
	return true;
}

static bool number_join(int32_t *depth, int32_t other)
{
	int32_t old = *depth;

	if (old != other)
		*depth = old == X86_DEPTH_NONE ? other : X86_DEPTH_ANY;
	return *depth != old;
}

static bool depth_join(void *state, const void *other)
{
	const struct x86_depth *from = other;
	struct x86_depth *to = state;
	bool changed = number_join(&to->sp, from->sp);

	changed |= number_join(&to->fp, from->fp);
	return changed;
}

static void depths_take(struct x86_body *b, const struct x86_walk *w)
{
	for (struct x86_step *s = b->step; s < b->step + b->cnt; s++) {
		const struct x86_depth *d = x86_walk_state(w, s->addr);

		if (d)
			s->depth = *d;
	}
}

/*
 * Returns the common depth of all jumps through tables; X86_DEPTH_NONE if no path leads to one. An
 * indirect jump with a deeper stack than at the start counts as such a jump.
 */
static struct x86_depth tables_depth(const struct x86_body *b)
{
	struct x86_depth d = {X86_DEPTH_NONE, X86_DEPTH_NONE};

	for (const struct x86_step *s = b->step; s < b->step + b->cnt; s++)
		if (s->next == X86_JUMPS_INDIRECTLY && s->depth.sp != X86_DEPTH_NONE &&
		    (s->is_table || s->depth.sp != 0))
			depth_join(&d, &s->depth);
	return d;
}

/* Assumes that tables lead to those blocks that no other path reaches. False: there are none. */
static bool tables_leave(const struct x86_body *b, struct x86_walk *w)
{
	struct x86_depth d = tables_depth(b);

	for (size_t i = 1; i < b->cnt && d.sp != X86_DEPTH_NONE; i++)
		if (b->step[i].depth.sp == X86_DEPTH_NONE && b->step[i - 1].next > X86_BRANCHES)
			x86_walk_reach(w, b->step[i].addr, &d);
	return w->queue_cnt;
}

void x86_depth_flow(struct x86_body *b)
{
	static const struct x86_domain domain = {
		.bytes = sizeof(struct x86_depth),
		.join = depth_join,
		.step = depth_step,
	};
	const struct x86_depth start = {0, X86_DEPTH_ANY};
	struct x86_walk w = {.domain = &domain,
			     .reader = &b->reader,
			     .range = b->range,
			     .range_cnt = b->part_cnt};

	x86_walk_reach(&w, b->step[0].addr, &start);
	do {
		x86_walk_run(&w, UINT64_MAX);
		depths_take(b, &w);
	} while (tables_leave(b, &w));
	x86_walk_release(&w);
}
