/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A function's bytes are decoded from its start to its end, for a jump through a table may lead anywhere in it. Jumps to places that
 * are no other function are followed: to cold parts by their names, and in stripped files to whatever the table of exception
 * frames says begins there. The latter may be a function of its own without a name, which then counts as part of the body.
 */
#include "target/x86/x86_body.h"

#if defined(__x86_64__)

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "target/elf/elf_file.h"

#define BODY_BYTES_MAX (1u << 20)

/* NAME.cold, NAME.cold.1 …, and NAME.part.0 … if the function jumps there. */
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

static enum x86_next insn_next(const struct x86_insn *insn, uint64_t *to)
{
	switch (insn->z.meta.category) {
	case ZYDIS_CATEGORY_RET:
		return X86_RETURNS;
	case ZYDIS_CATEGORY_COND_BR:
		return x86_branch_target(insn, to) ? X86_BRANCHES : X86_GOES_ON;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return x86_branch_target(insn, to) ? X86_JUMPS : X86_JUMPS_INDIRECTLY;
	default:
		return x86_ends_block(insn) ? X86_STOPS : X86_GOES_ON;
	}
}

/* What compilers do not write into functions: data, or code for the kernel. */
static bool insn_is_strange(const struct x86_insn *insn)
{
	return (insn->raw[0] == 0 && insn->raw[1] == 0) ||
	       (insn->z.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED &&
		insn->z.mnemonic != ZYDIS_MNEMONIC_HLT) || /* which traps */
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
	return addr > b->part[0].start && addr < b->part[0].end;
}

static const char *step_add(struct x86_body *b, const struct x86_insn *insn)
{
	struct x86_step s = {
		.addr = insn->addr,
		.bytes = insn->z.length,
		.depth = {X86_DEPTH_NONE, X86_DEPTH_NONE},
	};

	if (insn_is_strange(insn))
		return "not all of it is code";
	s.next = insn_next(insn, &s.to);
	b->label_taken |= insn_takes_label(b, insn);
	if (b->cnt == b->room) {
		b->room = b->room ? 2 * b->room : 256;
		b->step = xrealloc(b->step, b->room * sizeof(*b->step));
	}
	b->step[b->cnt++] = s;
	return NULL;
}

static const char *part_add(struct x86_body *b, uint64_t start, uint64_t bytes)
{
	struct x86_part *p = &b->part[b->part_cnt];
	const char *objection = NULL;
	struct x86_insn insn;
	uint64_t room = BODY_BYTES_MAX;

	if (x86_body_holds(b, start))
		return NULL;
	for (size_t i = 0; i < b->part_cnt; i++)
		room -= b->part[i].end - b->part[i].start;
	if (!bytes)
		return "the size of a part of it is not told";
	if (b->part_cnt == X86_PARTS_MAX || bytes > room || start + bytes < start)
		return "too large to look through";
	*p = (struct x86_part){.start = start, .end = start + bytes, .first = b->cnt};
	b->part_cnt++;
	for (uint64_t at = start; at < p->end && !objection; at += insn.z.length) {
		if (!x86_decode(&b->reader, at, &insn) || insn.z.length > p->end - at)
			return "not all of it is code";
		objection = step_add(b, &insn);
	}
	p->cnt = b->cnt - p->first;
	return objection;
}

/* ---- what belongs to it ---- */

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

/* A jump leads out of what is known of the body. */
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

/* The first of the symbols, which are in order of their names, whose name is not before that one. */
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

/* Exceptions may lead to a cold part to which no jump does. */
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
		return "its size is not told";
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
	for (size_t i = 0; i < b->part_cnt; i++)
		if (addr >= b->part[i].start && addr < b->part[i].end)
			return true;
	return false;
}

struct x86_step *x86_body_step(const struct x86_body *b, uint64_t addr)
{
	for (size_t i = 0; i < b->part_cnt; i++) {
		size_t lo = b->part[i].first, end = lo + b->part[i].cnt, hi = end;

		if (addr < b->part[i].start || addr >= b->part[i].end)
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

#endif
