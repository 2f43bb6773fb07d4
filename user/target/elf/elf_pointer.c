/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the targets of pointers in a file's data. If the file can be loaded anywhere, a relocation
 * usually has the target, and the bytes themselves are zero. There is one relocation for each
 * pointer (SHT_RELA), or an address and a bitmap for the pointers that follow it (SHT_RELR). With
 * SHT_RELR the bytes themselves have the target. x86-64 only.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/elf_internal.h"

#define RELR 19			    /* SHT_RELR, missing in older headers */
#define RELR_BYTES_MAX (256u << 10) /* each word may represent 63 pointers */
#define WORD sizeof(uint64_t)
#define WORD_BITS 63 /* pointers per bitmap; its lowest bit marks it as one */

struct pointer {
	uint64_t addr, value;
};

struct elf_pointers {
	bool loaded;
	struct pointer *v; /* sorted by address */
	uint32_t cnt;
};

struct elf_pointers *elf_pointers_new(void)
{
	return xcalloc(1, sizeof(struct elf_pointers));
}

void elf_pointers_free(struct elf_pointers *pointers)
{
	if (!pointers)
		return;
	free(pointers->v);
	free(pointers);
}

static void pointer_add(struct elf_pointers *p, uint64_t addr, uint64_t value)
{
	*table_append(p->v, p->cnt) = (struct pointer){addr, value};
}

static void rela_load(const struct elf_file *f, Elf_Data *relocs)
{
	GElf_Rela r;

	for (int i = 0; gelf_getrela(relocs, i, &r); i++)
		if (GELF_R_TYPE(r.r_info) == R_X86_64_RELATIVE)
			pointer_add(f->pointers, r.r_offset, (uint64_t)r.r_addend);
}

static void relr_add(const struct elf_file *f, uint64_t addr)
{
	uint64_t value;

	if (elf_file_read_addr(f, addr, &value, sizeof(value)) == sizeof(value))
		pointer_add(f->pointers, addr, value);
}

static void relr_load(const struct elf_file *f, const Elf_Data *relocs)
{
	uint64_t at = 0, entry;

	for (size_t i = 0; i + WORD <= relocs->d_size; i += WORD) {
		memcpy(&entry, (const char *)relocs->d_buf + i, WORD);
		if (!(entry & 1)) {
			relr_add(f, entry);
			at = entry + WORD;
			continue;
		}
		for (unsigned int bit = 0; bit < WORD_BITS; bit++)
			if (entry >> (bit + 1) & 1)
				relr_add(f, at + bit * WORD);
		at += WORD_BITS * WORD;
	}
}

TABLE_ORDER(pointer_compare, struct pointer, table_compare(a->addr, b->addr))

static void pointers_load(const struct elf_file *f)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;

	f->pointers->loaded = true;
	while ((scn = elf_nextscn(f->elf, scn))) {
		data = elf_section_data(scn, SHT_RELA, TABLE_BYTES_MAX);
		if (data)
			rela_load(f, data);
		data = elf_section_data(scn, RELR, RELR_BYTES_MAX);
		if (data)
			relr_load(f, data);
	}
	table_sort(f->pointers->v, f->pointers->cnt, pointer_compare);
}

bool elf_file_pointer(const struct elf_file *f, uint64_t addr, uint64_t *value)
{
	const struct pointer key = {.addr = addr}, *found;
	const struct elf_pointers *p = f->pointers;

	if (!p->loaded)
		pointers_load(f);
	found = p->cnt ? bsearch(&key, p->v, p->cnt, sizeof(key), pointer_compare) : NULL;
	if (!found)
		return false;
	*value = found->value;
	return true;
}
