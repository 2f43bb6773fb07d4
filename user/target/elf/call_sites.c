/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * All of .text is decoded from its beginning, for only that tells instructions from bytes that look like them; where
 * nothing looks like a call of the function, it is not.
 */
#include "target/elf/call_sites.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "target/elf/elf_file.h"

#if defined(__x86_64__)

#include "target/x86/x86_code.h"

#define TEXT_BYTES_MAX (4u << 20)
#define CALL_BYTES 5 /* opcode, distance from its end */
#define CALL 0xe8
#define JMP 0xe9

/* Whether the bytes at text[i], to be loaded at addr, could be a call of target. */
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

size_t call_sites_find(const struct elf_file *f, const struct elf_symbol *sym, uint64_t *offsets,
		       size_t max)
{
	uint64_t offset, addr, bytes, at;
	struct x86_reader reader = {.f = f};
	struct x86_insn insn;
	size_t cnt = 0;

	if (!elf_file_section(f, ".text", &offset, &bytes) || bytes > TEXT_BYTES_MAX ||
	    elf_file_offset_to_addr(f, offset, &addr) ||
	    !has_candidates(f, offset, addr, bytes, sym->addr))
		return 0;
	for (at = 0; at < bytes; at += insn.z.length) {
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

#else

size_t call_sites_find(const struct elf_file *f, const struct elf_symbol *sym, uint64_t *offsets,
		       size_t max)
{
	(void)f;
	(void)sym;
	(void)offsets;
	(void)max;
	return 0;
}

#endif
