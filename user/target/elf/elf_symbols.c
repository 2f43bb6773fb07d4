/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The names in an ELF file. The dynamic linker's hash table shows whether a name is exported with a
 * few reads, so a hundred plug-ins are inspected in no time. Other questions use one table of
 * symbols, sorted by name and by address, which is built on first use. libelf reads sections and
 * keeps within the file. The size of sections, and the length of names and of chains in the hash
 * table, are limited here.
 */
#include "target/elf/elf_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"

#define STRINGS_BYTES_MAX (256u << 20)
#define CHAIN_STEPS_MAX 4096
#define VERSION_HIDDEN 0x8000

enum { RANK_EXPORTED, RANK_EXPORTED_OLD, RANK_GLOBAL, RANK_LOCAL };

struct elf_place {
	uint64_t addr;
	/* the symbol there; for a slot: the name of the symbol with which it is filled */
	const void *what;
};

struct elf_index {
	Elf_Scn *dynsym, *symtab, *versym; /* NULL if absent */
	/* All members from here on are filled on first use. */
	bool symbols_loaded, slots_loaded;
	struct elf_symbol *sym; /* sorted by name, best first */
	size_t sym_cnt;
	struct elf_place *by_addr, *slot; /* sorted by address */
	size_t slot_cnt;
};

struct elf_index *elf_index_new(Elf *elf)
{
	struct elf_index *ix = xcalloc(1, sizeof(*ix));
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			continue;
		if (sh.sh_type == SHT_DYNSYM)
			ix->dynsym = scn;
		else if (sh.sh_type == SHT_SYMTAB)
			ix->symtab = scn;
		else if (sh.sh_type == SHT_GNU_versym)
			ix->versym = scn;
	}
	return ix;
}

void elf_index_free(struct elf_index *index)
{
	if (!index)
		return;
	free(index->sym);
	free(index->by_addr);
	free(index->slot);
	free(index);
}

/* ---- sections ---- */

Elf_Data *elf_section_data(Elf_Scn *scn, uint32_t type, uint64_t bytes_max)
{
	GElf_Shdr sh;

	if (!gelf_getshdr(scn, &sh) || sh.sh_type != type || !sh.sh_size || sh.sh_size > bytes_max)
		return NULL;
	return elf_getdata(scn, NULL);
}

/* Loads a string table. Its last byte is a NUL, so no string extends past it. */
static Elf_Data *strings_load(const struct elf_file *f, size_t section_idx)
{
	Elf_Data *d = elf_section_data(elf_getscn(f->elf, section_idx), SHT_STRTAB,
				       STRINGS_BYTES_MAX);

	return d && !((const char *)d->d_buf)[d->d_size - 1] ? d : NULL;
}

/* Loads the names of the symbols in a section. */
static Elf_Data *names_load(const struct elf_file *f, Elf_Scn *symbols)
{
	GElf_Shdr sh;

	return gelf_getshdr(symbols, &sh) ? strings_load(f, sh.sh_link) : NULL;
}

static char *name_at(const Elf_Data *names, uint32_t off)
{
	char *name;

	if (off >= names->d_size)
		return NULL;
	name = (char *)names->d_buf + off;
	return *name && strnlen(name, ELF_NAME_BYTES_MAX) < ELF_NAME_BYTES_MAX ? name : NULL;
}

static bool section_find(const struct elf_file *f, const char *name, GElf_Shdr *out)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t idx;
	const Elf_Data *names = elf_getshdrstrndx(f->elf, &idx) ? NULL : strings_load(f, idx);

	while (names && (scn = elf_nextscn(f->elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS ||
		    sh.sh_name >= names->d_size ||
		    strcmp((const char *)names->d_buf + sh.sh_name, name))
			continue;
		*out = sh;
		return true;
	}
	return false;
}

bool elf_file_section(const struct elf_file *f, const char *name, uint64_t *offset, uint64_t *bytes)
{
	GElf_Shdr sh;

	if (!section_find(f, name, &sh))
		return false;
	*offset = sh.sh_offset;
	*bytes = sh.sh_size;
	return true;
}

bool elf_file_section_addr(const struct elf_file *f, const char *name, uint64_t *addr)
{
	GElf_Shdr sh;

	if (!section_find(f, name, &sh))
		return false;
	*addr = sh.sh_addr;
	return true;
}

/* ---- the table ---- */

static bool symbol_take(const struct elf_file *f, const Elf_Data *names, const GElf_Sym *in,
			struct elf_symbol *out)
{
	unsigned int type = GELF_ST_TYPE(in->st_info);
	char *name = name_at(names, in->st_name), *version;

	if (in->st_shndx == SHN_UNDEF || in->st_shndx == SHN_ABS || !name)
		return false;
	if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE && type != STT_COMMON &&
	    type != STT_GNU_IFUNC)
		return false;
	/* "name@@VERSION" in .symtab is the same name. A leading '@' is part of the name. */
	version = strchr(name + 1, '@');
	if (version)
		*version = '\0';
	*out = (struct elf_symbol){
		.name = name,
		.addr = in->st_value,
		.size = in->st_size,
		.is_func = type == STT_FUNC,
		.is_object = type == STT_OBJECT || type == STT_COMMON,
	};
	out->has_offset = elf_file_addr_to_offset(f, out->addr, &out->offset);
	return true;
}

static void symbols_add(const struct elf_file *f, uint32_t type)
{
	struct elf_index *ix = f->index;
	Elf_Scn *scn = type == SHT_DYNSYM ? ix->dynsym : ix->symtab;
	Elf_Data *symbols = elf_section_data(scn, type, TABLE_BYTES_MAX);
	const Elf_Data *names = names_load(f, scn);
	/* tell which of two versions of a name other files link to */
	Elf_Data *versions = elf_section_data(ix->versym, SHT_GNU_versym, TABLE_BYTES_MAX);
	GElf_Versym version;
	GElf_Sym sym;

	if (!symbols || !names)
		return;
	ix->sym = xrealloc(ix->sym, (ix->sym_cnt + symbols->d_size / sizeof(Elf64_Sym) + 1) *
					    sizeof(*ix->sym));
	for (int i = 1; gelf_getsym(symbols, i, &sym); i++) {
		struct elf_symbol *s = &ix->sym[ix->sym_cnt];

		if (!symbol_take(f, names, &sym, s))
			continue;
		if (type == SHT_SYMTAB)
			s->rank = GELF_ST_BIND(sym.st_info) == STB_LOCAL ? RANK_LOCAL : RANK_GLOBAL;
		else if (gelf_getversym(versions, i, &version) && version & VERSION_HIDDEN)
			s->rank = RANK_EXPORTED_OLD;
		ix->sym_cnt++;
	}
}

TABLE_ORDER(symbol_compare, struct elf_symbol, strcmp(a->name, b->name),
	    table_compare(a->rank, b->rank), table_compare(a->addr, b->addr))

TABLE_ORDER(place_compare, struct elf_place, table_compare(a->addr, b->addr),
	    table_compare(a->what, b->what))

static const struct elf_index *symbols_load(const struct elf_file *f)
{
	struct elf_index *ix = f->index;

	if (ix->symbols_loaded)
		return ix;
	ix->symbols_loaded = true;
	symbols_add(f, SHT_DYNSYM);
	symbols_add(f, SHT_SYMTAB);
	table_sort(ix->sym, ix->sym_cnt, symbol_compare);
	ix->by_addr = xcalloc(ix->sym_cnt + 1, sizeof(*ix->by_addr));
	for (size_t i = 0; i < ix->sym_cnt; i++)
		ix->by_addr[i] = (struct elf_place){ix->sym[i].addr, &ix->sym[i]};
	qsort(ix->by_addr, ix->sym_cnt, sizeof(*ix->by_addr), place_compare);
	return ix;
}

/* Returns the index of the first of cnt items that is not less than key. */
static size_t lower_bound(const void *key, const void *items, size_t cnt, size_t bytes,
			  int (*compare)(const void *, const void *))
{
	size_t lo = 0, hi = cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare((const char *)items + mid * bytes, key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct elf_place *place_from(const struct elf_place *place, size_t cnt, uint64_t addr)
{
	const struct elf_place key = {.addr = addr};
	size_t i = lower_bound(&key, place, cnt, sizeof(key), place_compare);

	return i < cnt ? &place[i] : NULL;
}

size_t elf_file_symbols(const struct elf_file *f, const struct elf_symbol **syms)
{
	const struct elf_index *ix = symbols_load(f);

	*syms = ix->sym;
	return ix->sym_cnt;
}

const struct elf_symbol *elf_file_find(const struct elf_file *f, const char *name)
{
	const struct elf_index *ix = symbols_load(f);
	const struct elf_symbol key = {.name = name};
	size_t i = lower_bound(&key, ix->sym, ix->sym_cnt, sizeof(key), symbol_compare);

	return i < ix->sym_cnt && !strcmp(ix->sym[i].name, name) ? &ix->sym[i] : NULL;
}

const struct elf_symbol *elf_file_symbol_from(const struct elf_file *f, uint64_t addr)
{
	const struct elf_index *ix = symbols_load(f);
	const struct elf_place *p = place_from(ix->by_addr, ix->sym_cnt, addr);

	return p ? p->what : NULL;
}

/* ---- single names ---- */

static bool dynsym_is(const struct elf_file *f, uint32_t idx, const char *name)
{
	size_t bytes = strlen(name) + 1;
	char buf[ELF_NAME_BYTES_MAX];
	Elf64_Sym sym;

	return bytes <= sizeof(buf) &&
	       elf_read_all(f, f->dyn_symtab + (uint64_t)idx * sizeof(sym), &sym, sizeof(sym)) &&
	       sym.st_shndx != SHN_UNDEF &&
	       elf_read_all(f, f->dyn_strtab + sym.st_name, buf, bytes) &&
	       !memcmp(buf, name, bytes);
}

/* Looks a name up in the hash table. 1: exported, 0: not, -1: unknown. */
static int gnu_hash_look(const struct elf_file *f, const char *name)
{
	struct {
		uint32_t buckets, first, bloom_words, bloom_shift;
	} h;
	uint64_t bloom, at = f->dyn_gnu_hash + sizeof(h);
	uint32_t hash = 5381, idx, entry;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	if (!elf_read_all(f, f->dyn_gnu_hash, &h, sizeof(h)) || !h.buckets || !h.bloom_words ||
	    h.bloom_shift > 31 ||
	    !elf_read_all(f, at + 8ull * (hash / 64 % h.bloom_words), &bloom, sizeof(bloom)))
		return -1;
	if (!(bloom >> (hash % 64) & bloom >> ((hash >> h.bloom_shift) % 64) & 1))
		return 0;
	at += 8ull * h.bloom_words;
	if (!elf_read_all(f, at + 4ull * (hash % h.buckets), &idx, sizeof(idx)))
		return -1;
	if (idx < h.first)
		return 0;
	at += 4ull * h.buckets;
	for (uint32_t step = 0; step < CHAIN_STEPS_MAX; step++, idx++) {
		if (!elf_read_all(f, at + 4ull * (idx - h.first), &entry, sizeof(entry)))
			return -1;
		if (((entry ^ hash) >> 1) == 0 && dynsym_is(f, idx, name))
			return 1;
		if (entry & 1)
			return 0;
	}
	return -1;
}

/*
 * Returns true if the name is in the string table of a section's symbols. Mostly it is not, and
 * then the table of symbols need not be built.
 */
static bool is_mentioned(const struct elf_file *f, Elf_Scn *symbols, const char *name)
{
	const Elf_Data *names = names_load(f, symbols);

	return names && memmem(names->d_buf, names->d_size, name, strlen(name));
}

bool elf_file_exports(const struct elf_file *f, const char *name)
{
	int found = f->dyn_gnu_hash ? gnu_hash_look(f, name) : -1;
	const struct elf_symbol *s;

	if (found >= 0)
		return found;
	s = is_mentioned(f, f->index->dynsym, name) ? elf_file_find(f, name) : NULL;
	return s && s->rank <= RANK_EXPORTED_OLD;
}

bool elf_file_defines(const struct elf_file *f, const char *name)
{
	return elf_file_exports(f, name) ||
	       (is_mentioned(f, f->index->symtab, name) && elf_file_find(f, name));
}

static bool names_have(const struct elf_file *f, Elf_Scn *symbols, const char *name)
{
	const Elf_Data *names = names_load(f, symbols);
	size_t bytes = strlen(name);
	const char *at, *end;

	if (!names)
		return false;
	at = names->d_buf;
	end = at + names->d_size; /* its last byte is a NUL */
	while ((at = memmem(at, (size_t)(end - at), name, bytes))) {
		if (!at[bytes] || at[bytes] == '.' || at[bytes] == '@')
			return true;
		at++;
	}
	return false;
}

bool elf_file_mentions(const struct elf_file *f, const char *name)
{
	return names_have(f, f->index->dynsym, name) || names_have(f, f->index->symtab, name);
}

/* ---- slots ---- */

static void slots_load(const struct elf_file *f)
{
	struct elf_index *ix = f->index;
	Elf_Data *symbols = elf_section_data(ix->dynsym, SHT_DYNSYM, TABLE_BYTES_MAX), *relocs;
	const Elf_Data *names = names_load(f, ix->dynsym);
	uint64_t left = TABLE_BYTES_MAX;
	Elf_Scn *scn = NULL;
	GElf_Rela r;
	GElf_Sym sym;

	ix->slots_loaded = true;
	while (symbols && names && (scn = elf_nextscn(f->elf, scn))) {
		relocs = elf_section_data(scn, SHT_RELA, left);
		if (!relocs)
			continue;
		left -= relocs->d_size;
		ix->slot = xrealloc(ix->slot, (ix->slot_cnt + relocs->d_size / sizeof(Elf64_Rela)) *
						      sizeof(*ix->slot));
		for (int i = 0; gelf_getrela(relocs, i, &r); i++) {
			uint32_t type = GELF_R_TYPE(r.r_info);

			if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
			    gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &sym))
				ix->slot[ix->slot_cnt++] =
					(struct elf_place){r.r_offset, name_at(names, sym.st_name)};
		}
	}
	table_sort(ix->slot, ix->slot_cnt, place_compare);
}

const char *elf_file_slot_symbol(const struct elf_file *f, uint64_t slot_addr)
{
	const struct elf_index *ix = f->index;
	const struct elf_place *p;

	if (!ix->slots_loaded)
		slots_load(f);
	p = place_from(ix->slot, ix->slot_cnt, slot_addr);
	return p && p->addr == slot_addr ? p->what : NULL;
}

size_t elf_file_slots_of(const struct elf_file *f, const char *name, uint64_t *addrs, size_t max)
{
	const struct elf_index *ix = f->index;
	size_t cnt = 0;

	if (!ix->slots_loaded)
		slots_load(f);
	for (size_t i = 0; i < ix->slot_cnt && cnt < max; i++)
		if (ix->slot[i].what && !strcmp(ix->slot[i].what, name))
			addrs[cnt++] = ix->slot[i].addr;
	return cnt;
}

const char *elf_file_slot_like(const struct elf_file *f, const char *prefix)
{
	const struct elf_index *ix = f->index;

	if (!ix->slots_loaded)
		slots_load(f);
	for (size_t i = 0; i < ix->slot_cnt; i++)
		if (ix->slot[i].what && !strncmp(ix->slot[i].what, prefix, strlen(prefix)))
			return ix->slot[i].what;
	return NULL;
}
