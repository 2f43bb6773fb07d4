/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * For calls of one function, decodes all of .text from its beginning, because only this separates
 * instructions from bytes that look like them. It does not decode a file in which nothing looks
 * like a call of the function.
 */
#include "target/elf/function_callers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/map.h"
#include "lib/table.h"
#include "lib/text.h"
#include "target/elf/elf_file.h"

#include "target/x86/x86_body.h"

#define TEXT_BYTES_MAX (4u << 20)
#define CALL_BYTES 5 /* opcode, then the distance from its end */
#define CALL 0xe8
#define JMP 0xe9

/* Returns true if the bytes, loaded at addr, could be a call of target. */
static bool looks_like_call(const uint8_t *at, uint64_t addr, uint64_t target)
{
	int32_t distance;

	if (at[0] != CALL && at[0] != JMP)
		return false;
	memcpy(&distance, at + 1, sizeof(distance));
	return addr + CALL_BYTES + (uint64_t)(int64_t)distance == target;
}

static bool has_candidates(const struct elf_file *f, uint64_t offset, uint64_t addr, uint64_t bytes,
			   uint64_t target)
{
	uint8_t *text = xmalloc(bytes);
	bool found = false;

	if (elf_file_read_offset(f, offset, text, bytes) != (long)bytes)
		bytes = 0;
	for (uint64_t i = 0; i + CALL_BYTES <= bytes && !found; i++)
		found = looks_like_call(text + i, addr + i, target);
	free(text);
	return found;
}

size_t function_callers_find(const struct elf_file *f, const struct elf_symbol *sym,
			     uint64_t *offsets, size_t max)
{
	uint64_t offset, addr, bytes;
	struct x86_reader reader = {.f = f};
	struct x86_insn insn;
	size_t cnt = 0;

	if (!elf_file_section(f, ".text", &offset, &bytes) || bytes > TEXT_BYTES_MAX ||
	    elf_file_offset_to_addr(f, offset, &addr) ||
	    !has_candidates(f, offset, addr, bytes, sym->addr))
		return 0;
	for (uint64_t at = 0; at < bytes; at += insn.z.length) {
		if (!x86_decode(&reader, addr + at, &insn))
			return 0;
		if (insn.z.length != CALL_BYTES || !looks_like_call(insn.raw, addr + at, sym->addr))
			continue;
		if (cnt == max)
			return 0;
		offsets[cnt++] = offset + at;
	}
	return cnt;
}

/* ---- bindings ---- */

/*
 * A binding exports Fortran's MPI_INIT under one of the names that compilers give it, and does not
 * export the C function. C++ bindings are recognised by their own names, because any program that
 * uses them may define the same symbols. The stack's depth comes from the code itself
 * (x86_body.c), with or without a frame pointer. Only called functions are followed: a function's
 * cold part begins with another depth.
 */
#define FUNCTIONS_MAX 8192
#define STEPS_MAX 8192
#define WORDS_MAX 4096

struct search {
	const struct elf_file *f;
	struct map seen; /* addresses of known functions */
	uint64_t *queue; /* functions still to follow */
	uint32_t queue_cnt;
	struct binding_step *step;
	uint32_t cnt;
};

static bool is_binding(const struct elf_file *f)
{
	static const char *const fortran[] = {"mpi_init_", "mpi_init", "mpi_init__", "MPI_INIT",
					      "mpi_init_f08_"};
	static const char *const cxx[] = {"libmpi_cxx.so", "libmpichcxx.so", "libmpicxx.so",
					  "libboost_mpi.so", NULL};
	const struct elf_headers *h = elf_file_headers(f);
	bool is = text_begins_any(h->soname, cxx) ||
		  table_any(sizeof(fortran) / sizeof(*fortran), i, elf_file_exports(f, fortran[i]));

	return is && h->soname[0] && !h->interpreter[0] && !elf_file_exports(f, "MPI_Init");
}

static void function_queue(struct search *s, uint64_t addr)
{
	if (map_get(&s->seen, addr) || s->queue_cnt == FUNCTIONS_MAX)
		return;
	map_set(&s->seen, addr, s);
	*table_append(s->queue, s->queue_cnt) = addr;
}

/* Returns true for names of MPI functions and of other bindings. NULL is an unknown name. */
static bool name_is_mpi(const char *name)
{
	return !name || strcasestr(name, "mpi");
}

/*
 * Returns true if the callee may call MPI. Queues a callee in this file, so that it is followed,
 * too.
 */
static bool call_matters(struct search *s, struct x86_body *b, const struct x86_insn *insn)
{
	uint64_t target, slot;
	struct elf_symbol sym;

	if (!x86_branch_target(insn, &target))
		return !x86_rip_operand(insn, &insn->op[0], &slot) ||
		       name_is_mpi(elf_file_slot_symbol(s->f, slot));
	if (x86_body_stub(b, target, &slot))
		return name_is_mpi(elf_file_slot_symbol(s->f, slot));
	if (elf_file_function_at(s->f, target, &sym))
		function_queue(s, target);
	return true;
}

static void step_add(struct search *s, const struct x86_step *call)
{
	if (s->cnt == STEPS_MAX)
		return;
	*table_append(s->step, s->cnt) = (struct binding_step){
		.addr = call->addr + call->bytes,
		.words = (uint32_t)call->depth.sp / 8,
	};
}

static bool depth_is_known(int32_t depth)
{
	return depth != X86_DEPTH_NONE && depth != X86_DEPTH_ANY && depth > 0 &&
	       depth <= 8 * WORDS_MAX && depth % 8 == 0;
}

static void function_follow(struct search *s, const struct elf_symbol *sym)
{
	struct x86_insn insn;
	struct x86_body *b;

	if (!x86_body_read(s->f, sym, &b)) {
		x86_depth_flow(b);
		for (size_t i = 0; i < b->cnt; i++)
			if (x86_decode(&b->reader, b->step[i].addr, &insn) && x86_is_call(&insn) &&
			    call_matters(s, b, &insn) && depth_is_known(b->step[i].depth.sp))
				step_add(s, &b->step[i]);
	}
	x86_body_free(b);
}

TABLE_ORDER(step_compare, struct binding_step, table_compare(a->addr, b->addr),
	    table_compare(a->words, b->words))

/*
 * Removes addresses with several depths: functions may share a part, and at its end each has its
 * own depth.
 */
static size_t steps_unite(struct binding_step *v, size_t cnt)
{
	size_t kept = 0, same;

	qsort(v, cnt, sizeof(*v), step_compare);
	for (size_t i = 0; i < cnt; i += same) {
		for (same = 1; i + same < cnt && v[i + same].addr == v[i].addr;)
			same++;
		if (v[i + same - 1].words == v[i].words)
			v[kept++] = v[i];
	}
	return kept;
}

size_t binding_steps_find(const struct elf_file *f, struct binding_step **out)
{
	struct search s = {.f = f};
	const struct elf_symbol *sym;
	struct elf_symbol function;
	size_t syms;

	*out = NULL;
	if (!is_binding(f))
		return 0;
	syms = elf_file_symbols(f, &sym);
	for (size_t i = 0; i < syms; i++)
		if (sym[i].is_func && sym[i].has_offset && sym[i].rank <= 1)
			function_queue(&s, sym[i].addr);
	for (size_t i = 0; i < s.queue_cnt; i++)
		if (elf_file_function_at(f, s.queue[i], &function))
			function_follow(&s, &function);
	map_release(&s.seen);
	free(s.queue);
	*out = s.step;
	return s.cnt ? steps_unite(s.step, s.cnt) : 0;
}
