/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Whether a function begins at an address. What a process says of its code is not to be believed: a probe inside
 * an instruction would break everybody who maps the file. The table of exception frames names each function's first
 * byte, sorted, in stripped files, too; its form is that of the Linux Standard Base (Core, 10.6.2).
 */
#include <string.h>

#include "target/elf/elf_internal.h"

/* Encodings of the table that all linkers write; others are not read. */
#define COUNT_UDATA4 0x03
#define ROWS_DATAREL_SDATA4 0x3b

struct frames_header {
	uint8_t version, pointer_enc, count_enc, rows_enc;
	int32_t pointer;
	uint32_t count;
};

struct frames_row { /* both from the header's address */
	int32_t function, frame;
};

struct frame { /* the beginning of one, where its pointers are relative and of four bytes */
	uint32_t bytes, common;
	int32_t function; /* from this member's own address */
	uint32_t function_bytes;
};

static bool read_all(const struct elf_file *f, uint64_t addr, void *buf, size_t bytes)
{
	return elf_file_read_addr(f, addr, buf, bytes) == (long)bytes;
}

static uint64_t row_count(const struct elf_file *f)
{
	struct frames_header h;
	uint64_t room;

	if (f->frames_bytes < sizeof(h) || !read_all(f, f->frames_addr, &h, sizeof(h)) ||
	    h.version != 1 || h.count_enc != COUNT_UDATA4 || h.rows_enc != ROWS_DATAREL_SDATA4)
		return 0;
	room = (f->frames_bytes - sizeof(h)) / sizeof(struct frames_row);
	return h.count < room ? h.count : room;
}

static bool row_read(const struct elf_file *f, uint64_t i, struct frames_row *row)
{
	return read_all(f, f->frames_addr + sizeof(struct frames_header) + i * sizeof(*row), row,
			sizeof(*row));
}

static uint64_t row_start(const struct elf_file *f, const struct frames_row *row)
{
	return f->frames_addr + (uint64_t)(int64_t)row->function;
}

/* 0 if the frame does not tell it in the usual way. */
static uint64_t function_bytes(const struct elf_file *f, const struct frames_row *row)
{
	uint64_t addr = f->frames_addr + (uint64_t)(int64_t)row->frame;
	struct frame frame;

	if (!read_all(f, addr, &frame, sizeof(frame)) ||
	    addr + offsetof(struct frame, function) + (uint64_t)(int64_t)frame.function !=
		    row_start(f, row))
		return 0;
	return frame.function_bytes;
}

/* The last row whose function does not begin behind addr. */
static bool row_find(const struct elf_file *f, uint64_t addr, struct frames_row *row)
{
	int64_t want = (int64_t)(addr - f->frames_addr);
	uint64_t lo = 0, hi = row_count(f);

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (!row_read(f, mid, row))
			return false;
		if (row->function <= want)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && row_read(f, lo - 1, row);
}

bool elf_file_function_at(const struct elf_file *f, uint64_t addr, struct elf_symbol *out)
{
	const struct elf_symbol *sym = elf_file_symbol_from(f, addr);
	struct elf_symbol found = {.name = "", .addr = addr, .is_func = true};
	struct frames_row row;

	if (sym && sym->addr == addr && sym->is_func) {
		*out = *sym;
		return true;
	}
	found.has_offset = elf_file_addr_to_offset(f, addr, &found.offset);
	if (!found.has_offset || !row_find(f, addr, &row) || row_start(f, &row) != addr)
		return false;
	found.size = function_bytes(f, &row);
	*out = found;
	return true;
}

bool elf_file_function_around(const struct elf_file *f, uint64_t addr, uint64_t *start,
			      uint64_t *bytes)
{
	struct frames_row row;
	uint64_t size;

	if (!row_find(f, addr, &row))
		return false;
	size = function_bytes(f, &row);
	if (addr - row_start(f, &row) >= size)
		return false;
	*start = row_start(f, &row);
	*bytes = size;
	return true;
}
