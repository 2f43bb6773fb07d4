/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * An indirect jump either goes through a table of places in the function (switch, computed goto) or
 * leaves the function. Three things tell them apart: how its target is computed, the contents of
 * the table, and whether the stack is as at the start.
 */
#include "target/elf/return_sites.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/table.h"
#include "target/elf/elf_file.h"

#include "target/elf/elf_internal.h"
#include "target/x86/x86_body.h"

#define LOOK_BACK 24 /* instructions before a jump in which its target may be computed */
#define UNDECIDED "an indirect jump may be one through a table, or leave it"

/* ---- indirect jumps ---- */

enum target { TARGET_SUM, TARGET_INDEXED, TARGET_PLAIN };

/* Finds the last instruction before s, in the same block, that writes a general register. */
static bool definition_find(struct x86_body *b, const struct x86_step *s, int reg,
			    struct x86_insn *out)
{
	const struct x86_step *first = &b->step[x86_body_part(b, s)->first];

	for (unsigned int i = 0; reg >= 0 && i < LOOK_BACK && s > first; i++) {
		s--;
		if (s->next > X86_BRANCHES || !x86_decode(&b->reader, s->addr, out))
			return false;
		if (x86_written(out) >> reg & 1)
			return true;
		if (x86_is_call(out))
			return false;
	}
	return false;
}

static enum target target_of_memory(const ZydisDecodedOperand *op)
{
	return op->mem.index != ZYDIS_REGISTER_NONE ? TARGET_INDEXED : TARGET_PLAIN;
}

/*
 * Returns how the target of a jump is computed. *by is the instruction that computes it, or reads
 * it from memory.
 */
static enum target target_of(struct x86_body *b, const struct x86_step *s,
			     const struct x86_insn *jump, struct x86_insn *by)
{
	*by = *jump;
	if (jump->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
		return target_of_memory(&jump->op[0]);
	if (!definition_find(b, s, x86_operand_register(&jump->op[0]), by))
		return TARGET_PLAIN;
	if (by->z.mnemonic == ZYDIS_MNEMONIC_ADD || by->z.mnemonic == ZYDIS_MNEMONIC_LEA)
		return TARGET_SUM;
	return by->op[1].type == ZYDIS_OPERAND_TYPE_MEMORY ? target_of_memory(&by->op[1]) :
							     TARGET_PLAIN;
}

/* Finds the address of the table that an instruction reads with an index; false: unknown. */
static bool table_find(struct x86_body *b, const struct x86_insn *by, uint64_t *table)
{
	const ZydisDecodedOperand *op = by->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? &by->op[0] :
										      &by->op[1];
	struct x86_insn base;
	uint64_t start = 0;

	if (op->mem.base != ZYDIS_REGISTER_NONE &&
	    (!definition_find(b, x86_body_step(b, by->addr), x86_register_index(op->mem.base),
			      &base) ||
	     base.z.mnemonic != ZYDIS_MNEMONIC_LEA || !x86_rip_operand(&base, &base.op[1], &start)))
		return false;
	*table = start + (uint64_t)op->mem.disp.value;
	return true;
}

/* Returns the target in a table's first member; false: unknown. */
static bool table_leads_to(const struct x86_body *b, uint64_t table, uint64_t *to)
{
	if (elf_file_pointer(b->f, table, to))
		return true;
	return elf_file_read_addr(b->f, table, to, sizeof(*to)) == (long)sizeof(*to) && *to;
}

static const char *jump_decide(struct x86_body *b, const struct x86_step *s, bool *leaves)
{
	struct x86_insn jump, by;
	enum target target;
	uint64_t addr;

	if (!x86_decode(&b->reader, s->addr, &jump))
		return UNDECIDED;
	*leaves = x86_is_slot_jump(&jump, &addr);
	if (*leaves || s->is_table ||
	    (s->depth.sp && s->depth.sp != X86_DEPTH_NONE && s->depth.sp != X86_DEPTH_ANY))
		return NULL;
	target = target_of(b, s, &jump, &by);
	if (target == TARGET_INDEXED && table_find(b, &by, &addr) && table_leads_to(b, addr, &addr))
		*leaves = !x86_body_holds(b, addr) || addr == b->sym->addr;
	else if (target == TARGET_PLAIN && s->depth.sp == 0 && !b->label_taken)
		*leaves = true;
	else
		return UNDECIDED;
	return NULL;
}

/*
 * Marks jumps through tables of switches: compilers mark them with notrack, or add the table's
 * contents to its address.
 */
static void tables_mark(struct x86_body *b)
{
	struct x86_insn jump, by;

	for (struct x86_step *s = b->step; s < b->step + b->cnt; s++)
		if (s->next == X86_JUMPS_INDIRECTLY && x86_decode(&b->reader, s->addr, &jump))
			s->is_table = jump.z.attributes & ZYDIS_ATTRIB_HAS_NOTRACK ||
				      target_of(b, s, &jump, &by) == TARGET_SUM;
}

/* ---- sites ---- */

/* Returns the function to which a jump leads; 0 if it is in another file, or unknown. */
static uint64_t function_jumped_to(struct x86_body *b, const struct x86_step *s,
				   const struct x86_insn *jump)
{
	const struct elf_symbol *sym = NULL;
	const char *name;
	uint64_t slot;

	if (!x86_is_slot_jump(jump, &slot) && (!s->to || !x86_body_stub(b, s->to, &slot)))
		return s->to;
	name = elf_file_slot_symbol(b->f, slot);
	if (name)
		sym = elf_file_find(b->f, name);
	return sym ? sym->addr : 0;
}

static const char *site_add(struct x86_body *b, const struct x86_step *s, struct return_sites *out)
{
	struct return_site site = {.is_tail = s->next != X86_RETURNS,
				   .condition = POV_CONDITION_NONE};
	struct x86_insn insn;
	uint64_t addr;

	if (s->depth.sp != 0 && s->depth.sp != X86_DEPTH_NONE && s->depth.sp != X86_DEPTH_ANY)
		return "it is left with another stack than it began with";
	if (!x86_decode(&b->reader, s->addr, &insn) || x86_kernel_does(&insn) == KERNEL_REFUSES)
		return "the kernel refuses a probe where it returns";
	if (site.is_tail)
		site.to = function_jumped_to(b, s, &insn);
	if (s->next == X86_BRANCHES) {
		site.condition = insn.z.opcode & 0xf;
		if (insn.z.mnemonic == ZYDIS_MNEMONIC_JRCXZ ||
		    insn.z.mnemonic == ZYDIS_MNEMONIC_JECXZ ||
		    insn.z.mnemonic == ZYDIS_MNEMONIC_LOOP ||
		    insn.z.mnemonic == ZYDIS_MNEMONIC_LOOPE ||
		    insn.z.mnemonic == ZYDIS_MNEMONIC_LOOPNE)
			return "a loop instruction leaves it";
	}
	if (!elf_file_addr_to_offset(b->f, s->addr, &site.offset) ||
	    elf_file_offset_to_addr(b->f, site.offset, &addr) || addr != s->addr)
		return "its code is not in the file";
	*table_append(out->v, out->cnt) = site;
	return NULL;
}

static const char *step_look(struct x86_body *b, const struct x86_step *s, struct return_sites *out)
{
	const char *objection;
	bool leaves = false;

	switch (s->next) {
	case X86_RETURNS:
		leaves = true;
		break;
	case X86_JUMPS:
	case X86_BRANCHES:
		leaves = !x86_body_holds(b, s->to);
		break;
	case X86_JUMPS_INDIRECTLY:
		objection = jump_decide(b, s, &leaves);
		if (objection)
			return objection;
		break;
	}
	return leaves ? site_add(b, s, out) : NULL;
}

static const char *sites_find(const struct elf_file *f, const struct elf_symbol *sym,
			      struct return_sites *out)
{
	struct x86_body *b;
	const char *objection = x86_body_read(f, sym, &b);

	if (!objection) {
		tables_mark(b);
		x86_depth_flow(b);
	}
	for (size_t i = 0; i < b->cnt && !objection; i++)
		objection = step_look(b, &b->step[i], out);
	x86_body_free(b);
	return objection;
}

int return_sites_find(const struct elf_file *f, const struct elf_symbol *sym,
		      struct return_sites *out)
{
	*out = (struct return_sites){0};
	out->why = X86_IS_THIS_MACHINE ? sites_find(f, sym, out) :
					 "its return instructions cannot be found on this machine";
	if (!out->why)
		return 0;
	free(out->v);
	out->v = NULL;
	out->cnt = 0;
	return -ENOTSUP;
}

#define FOLLOW_MAX 16 /* limit of functions */

/* Takes the returns of one function, and queues the functions that it jumps to. */
static const char *function_follow(const struct elf_file *f, const struct elf_symbol *sym,
				   uint64_t *next, size_t *next_cnt, struct return_sites *out)
{
	struct return_sites own;
	const char *objection = return_sites_find(f, sym, &own) ? own.why : NULL;

	for (size_t i = 0; i < own.cnt && !objection; i++) {
		size_t k = 0;

		if (!own.v[i].is_tail) {
			*table_append(out->v, out->cnt) = own.v[i];
			continue;
		}
		while (k < *next_cnt && next[k] != own.v[i].to)
			k++;
		if (!own.v[i].to || k == FOLLOW_MAX)
			objection = "it ends in functions that cannot be followed";
		else if (k == *next_cnt)
			next[(*next_cnt)++] = own.v[i].to;
	}
	return_sites_release(&own);
	return objection;
}

int return_sites_follow(const struct elf_file *f, const struct elf_symbol *sym,
			struct return_sites *out)
{
	uint64_t next[FOLLOW_MAX] = {sym->addr};
	const char *objection = NULL;
	struct elf_symbol function;
	size_t cnt = 1;

	*out = (struct return_sites){0};
	for (size_t i = 0; i < cnt && !objection; i++)
		objection = elf_file_function_at(f, next[i], &function) ?
				    function_follow(f, &function, next, &cnt, out) :
				    "it ends in functions that cannot be followed";
	if (!objection)
		return 0;
	return_sites_release(out);
	out->why = objection;
	return -ENOTSUP;
}

void return_sites_release(struct return_sites *sites)
{
	free(sites->v);
	*sites = (struct return_sites){0};
}
