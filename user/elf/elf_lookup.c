/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Single questions to an ELF file: is this name defined, what is this slot filled with. The first goes to
 * the dynamic linker's hash table: a few reads, so that a hundred plug-ins can be looked at in no time.
 * Whatever a damaged file says, a chain ends after a fixed number of steps.
 */
#include "elf/elf_internal.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define CHAIN_STEPS_MAX 65536
#define CHAIN_BATCH 32

static bool read_u32(const struct elf_file *f, uint64_t addr, uint32_t *v)
{
	return elf_file_read_addr(f, addr, v, sizeof(*v)) == (long)sizeof(*v);
}

static bool dynsym_read(const struct elf_file *f, uint32_t idx, Elf64_Sym *sym)
{
	return elf_file_read_addr(f, f->dyn_symtab + (uint64_t)idx * sizeof(*sym), sym,
				  sizeof(*sym)) == (long)sizeof(*sym);
}

static bool dynsym_is(const struct elf_file *f, uint32_t idx, const char *name)
{
	size_t bytes = strlen(name) + 1;
	char buf[256];
	Elf64_Sym sym;

	return bytes <= sizeof(buf) && dynsym_read(f, idx, &sym) && sym.st_shndx != SHN_UNDEF &&
	       elf_file_read_addr(f, f->dyn_strtab + sym.st_name, buf, bytes) == (long)bytes &&
	       !memcmp(buf, name, bytes);
}

/* 1 defined, 0 not, -1 the table does not tell. */
static int gnu_chain_look(const struct elf_file *f, uint64_t chains, uint32_t idx, uint32_t first,
			  uint32_t hash, const char *name)
{
	uint32_t word[CHAIN_BATCH];

	for (uint32_t step = 0; step < CHAIN_STEPS_MAX; step += CHAIN_BATCH, idx += CHAIN_BATCH) {
		long n = elf_file_read_addr(f, chains + 4ull * (idx - first), word, sizeof(word));

		if (n < 4)
			return -1;
		for (uint32_t i = 0; i < (size_t)n / 4; i++) {
			if (((word[i] ^ hash) >> 1) == 0 && dynsym_is(f, idx + i, name))
				return 1;
			if (word[i] & 1)
				return 0;
		}
	}
	return -1;
}

static int gnu_hash_look(const struct elf_file *f, const char *name)
{
	struct {
		uint32_t buckets, first, bloom_words, bloom_shift;
	} h;
	uint32_t hash = 5381, idx;
	uint64_t bloom, buckets;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	if (elf_file_read_addr(f, f->dyn_gnu_hash, &h, sizeof(h)) != (long)sizeof(h) ||
	    !h.bloom_words || h.bloom_shift > 31)
		return -1;
	if (elf_file_read_addr(f, f->dyn_gnu_hash + 16 + 8ull * (hash / 64 % h.bloom_words), &bloom,
			       8) != 8)
		return -1;
	if (!(bloom >> (hash % 64) & bloom >> ((hash >> h.bloom_shift) % 64) & 1) || !h.buckets)
		return 0;
	buckets = f->dyn_gnu_hash + 16 + 8ull * h.bloom_words;
	if (!read_u32(f, buckets + 4ull * (hash % h.buckets), &idx))
		return -1;
	if (idx < h.first)
		return 0;
	return gnu_chain_look(f, buckets + 4ull * h.buckets, idx, h.first, hash, name);
}

static int sysv_hash_look(const struct elf_file *f, const char *name)
{
	uint32_t hash = 0, head[2], idx;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	if (elf_file_read_addr(f, f->dyn_hash, head, sizeof(head)) != (long)sizeof(head) ||
	    !head[0] || !read_u32(f, f->dyn_hash + 8 + 4ull * (hash % head[0]), &idx))
		return -1;
	for (uint32_t step = 0; step < CHAIN_STEPS_MAX; step++) {
		if (idx == 0)
			return 0;
		if (dynsym_is(f, idx, name))
			return 1;
		if (!read_u32(f, f->dyn_hash + 8 + 4ull * head[0] + 4ull * idx, &idx))
			return -1;
	}
	return -1;
}

/* 1 exported, 0 not, -1 the file's hash tables do not tell. */
static int exported(const struct elf_file *f, const char *name)
{
	int found = f->dynamic ? -1 : 0;

	if (f->dyn_symtab && f->dyn_strtab && f->dyn_gnu_hash)
		found = gnu_hash_look(f, name);
	if (found < 0 && f->dyn_symtab && f->dyn_strtab && f->dyn_hash)
		found = sysv_hash_look(f, name);
	return found;
}

bool elf_file_exports(const struct elf_file *f, const char *name)
{
	return exported(f, name) > 0;
}

bool elf_file_defines(const struct elf_file *f, const char *name)
{
	struct elf_index *ix = f->index;
	GElf_Shdr sh;
	int found;

	if (ix->symbols_loaded)
		return elf_file_find(f, name);
	found = exported(f, name);
	if (found > 0)
		return true;
	if (found == 0) {
		/* Not exported. In .symtab? A look at its names alone mostly answers that. */
		if (!f->has_symtab || !elf_names_load(f, ELF_SYMTAB, &sh))
			return false;
		if (!memmem(ix->names[ELF_SYMTAB], ix->name_bytes[ELF_SYMTAB] + 1, name,
			    strlen(name) + 1))
			return false;
	}
	return elf_file_find(f, name);
}

/* ---- slots ---- */

static int slot_compare(const void *pa, const void *pb)
{
	const struct elf_slot *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static void slots_add(const struct elf_file *f, const GElf_Shdr *sh)
{
	struct elf_index *ix = f->index;
	size_t bytes, cnt;
	Elf64_Rela *r;

	r = sh->sh_entsize == sizeof(*r) ? (Elf64_Rela *)elf_section_read(f, sh, &bytes) : NULL;
	if (!r)
		return;
	cnt = bytes / sizeof(*r);
	ix->slot = xrealloc(ix->slot, (ix->slot_cnt + cnt + 1) * sizeof(*ix->slot));
	for (size_t i = 0; i < cnt; i++) {
		uint32_t type = (uint32_t)ELF64_R_TYPE(r[i].r_info);

		if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
			ix->slot[ix->slot_cnt++] = (struct elf_slot){
				.addr = r[i].r_offset,
				.sym = (uint32_t)ELF64_R_SYM(r[i].r_info),
			};
	}
	free(r);
}

static void slots_load(const struct elf_file *f)
{
	struct elf_index *ix = f->index;
	Elf_Scn *scn = NULL;
	uint64_t total = 0;
	GElf_Shdr sh;

	ix->slots_loaded = true;
	while ((scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA || !(sh.sh_flags & SHF_ALLOC))
			continue;
		total += sh.sh_size;
		if (total > ELF_PART_BYTES_MAX)
			break;
		slots_add(f, &sh);
	}
	if (ix->slot_cnt)
		qsort(ix->slot, ix->slot_cnt, sizeof(*ix->slot), slot_compare);
}

const char *elf_file_slot_symbol(const struct elf_file *f, uint64_t slot_addr)
{
	const struct elf_slot key = {.addr = slot_addr};
	struct elf_index *ix = elf_index_load(f);
	const struct elf_slot *slot;
	Elf64_Sym sym;

	if (!ix->slots_loaded)
		slots_load(f);
	if (!ix->slot_cnt)
		return NULL;
	slot = bsearch(&key, ix->slot, ix->slot_cnt, sizeof(key), slot_compare);
	if (!slot || !slot->sym || !dynsym_read(f, slot->sym, &sym) || !ix->names[ELF_DYNSYM] ||
	    sym.st_name >= ix->name_bytes[ELF_DYNSYM])
		return NULL;
	return ix->names[ELF_DYNSYM] + sym.st_name;
}
