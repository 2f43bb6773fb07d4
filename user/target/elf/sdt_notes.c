/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The notes are not loaded, and so are not corrected when a file's segments are moved afterwards (prelink); the section
 * .stapsdt.base is, and each note says where that one was when the file was linked.
 */
#include "target/elf/sdt_notes.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "target/elf/elf_file.h"
#include "target/elf/sdt_arg.h"

#define OWNER "stapsdt"
#define NOTE_TYPE 3
#define SECTION_BYTES_MAX (1u << 20)

#if defined(__aarch64__)
#define MACHINE SDT_AARCH64
#else
#define MACHINE SDT_X86_64
#endif

struct reader {
	const struct elf_file *f;
	uint64_t base; /* of .stapsdt.base; 0: the file has none */
	struct sdt_note *note;
	size_t cnt, room;
};

/* Where code at an address is in the file. */
static bool code_offset(const struct elf_file *f, uint64_t addr, uint64_t *out)
{
	uint64_t offset, start, bytes;

	for (size_t i = 0; elf_file_exec_segment(f, i, &offset, &start, &bytes); i++)
		if (addr >= start && addr - start < bytes) {
			*out = offset + (addr - start);
			return true;
		}
	return false;
}

/* The string at *at, which then is behind it; NULL if it does not end before the end. */
static const char *string_take(const char **at, const char *end)
{
	const char *string = *at, *nul = memchr(string, 0, (size_t)(end - string));

	*at = nul ? nul + 1 : end;
	return nul ? string : NULL;
}

/* Three addresses, and three strings. */
static bool note_parse(const struct reader *r, const char *desc, size_t bytes, struct sdt_note *out)
{
	const char *end = desc + bytes, *provider, *name, *args;
	uint64_t addr[3];

	if (bytes < sizeof(addr))
		return false;
	memcpy(addr, desc, sizeof(addr));
	desc += sizeof(addr);
	provider = string_take(&desc, end);
	name = string_take(&desc, end);
	args = string_take(&desc, end);
	if (!provider || !name || !args || strlen(provider) >= sizeof(out->provider) ||
	    strlen(name) >= sizeof(out->name))
		return false;
	*out = (struct sdt_note){.addr = addr[0], .semaphore = addr[2]};
	if (r->base) {
		out->addr += r->base - addr[1];
		out->semaphore += out->semaphore ? r->base - addr[1] : 0;
	}
	if (!code_offset(r->f, out->addr, &out->offset))
		return false;
	strcpy(out->provider, provider);
	strcpy(out->name, name);
	out->arg_cnt = sdt_args_parse(MACHINE, args, out->arg, SDT_ARGS_MAX);
	return true;
}

static void note_add(struct reader *r, const char *desc, size_t bytes)
{
	struct sdt_note note;

	if (!note_parse(r, desc, bytes, &note))
		return;
	if (r->cnt == r->room) {
		r->room = r->room ? 2 * r->room : 16;
		r->note = xrealloc(r->note, r->room * sizeof(*r->note));
	}
	r->note[r->cnt++] = note;
}

static size_t aligned(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

static void section_parse(struct reader *r, const char *at, size_t left)
{
	Elf64_Nhdr h;
	size_t name, all;

	while (left >= sizeof(h)) {
		memcpy(&h, at, sizeof(h));
		name = aligned(h.n_namesz);
		all = sizeof(h) + name + aligned(h.n_descsz);
		if (all > left)
			return;
		if (h.n_type == NOTE_TYPE && h.n_namesz == sizeof(OWNER) &&
		    !memcmp(at + sizeof(h), OWNER, sizeof(OWNER)))
			note_add(r, at + sizeof(h) + name, h.n_descsz);
		at += all;
		left -= all;
	}
}

size_t sdt_notes_read(const struct elf_file *f, struct sdt_note **out)
{
	struct reader r = {.f = f};
	uint64_t offset, bytes;
	char *section;
	long n;

	*out = NULL;
	if (!elf_file_section(f, ".note.stapsdt", &offset, &bytes) || bytes > SECTION_BYTES_MAX)
		return 0;
	if (!elf_file_section_addr(f, ".stapsdt.base", &r.base))
		r.base = 0;
	section = xmalloc(bytes + 1);
	n = elf_file_read_offset(f, offset, section, bytes);
	section_parse(&r, section, n > 0 ? (size_t)n : 0);
	free(section);
	*out = r.note;
	return r.cnt;
}
