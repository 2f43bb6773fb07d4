/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The symbols of an ELF file, as one table that is built when first asked for and sorted by name and by
 * address. All counts and links are bounded by the file's size. Single questions that need no table: elf_lookup.c.
 */
#include "elf/elf_internal.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define VERSION_HIDDEN 0x8000

struct ranked_symbol {
	struct elf_symbol s;
	uint8_t rank; /* of several with one name, the lowest wins */
};

struct symbol_list {
	struct ranked_symbol *v;
	size_t cnt, room;
};

void elf_index_free(struct elf_index *index)
{
	if (!index)
		return;
	free(index->sym);
	free(index->by_addr);
	free(index->slot);
	free(index->names[0]);
	free(index->names[1]);
	free(index);
}

static bool section_by_type(Elf *elf, uint32_t type, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, sh) && sh->sh_type == type)
			return true;
	return false;
}

/* The bytes of a section, with a NUL behind; NULL if it does not lie in the file or is absurdly large. */
char *elf_section_read(const struct elf_file *f, const GElf_Shdr *sh, size_t *bytes)
{
	char *buf;
	long n;

	if (sh->sh_type == SHT_NOBITS || sh->sh_size > ELF_PART_BYTES_MAX ||
	    sh->sh_offset >= f->bytes || sh->sh_size > f->bytes - sh->sh_offset)
		return NULL;
	buf = xmalloc(sh->sh_size + 1);
	n = elf_file_read_offset(f, sh->sh_offset, buf, sh->sh_size);
	if (n < 0) {
		free(buf);
		return NULL;
	}
	buf[n] = 0;
	*bytes = (size_t)n;
	return buf;
}

/* "name@@VERSION" in .symtab is the same name; a leading '@' is somebody's own business. */
static void versions_cut(char *names, size_t bytes)
{
	char *at = names;

	while ((at = memchr(at, '@', bytes - (size_t)(at - names)))) {
		if (at > names && at[-1])
			*at = 0;
		at++;
	}
}

/* Loads the names of a symbol table, whose header it returns. */
bool elf_names_load(const struct elf_file *f, enum elf_table table, GElf_Shdr *sh)
{
	struct elf_index *ix = f->index;
	GElf_Shdr str;

	if (!section_by_type(f->elf, table == ELF_DYNSYM ? SHT_DYNSYM : SHT_SYMTAB, sh))
		return false;
	if (!ix->names_loaded[table]) {
		ix->names_loaded[table] = true;
		if (gelf_getshdr(elf_getscn(f->elf, sh->sh_link), &str) &&
		    str.sh_type == SHT_STRTAB)
			ix->names[table] = elf_section_read(f, &str, &ix->name_bytes[table]);
		if (ix->names[table])
			versions_cut(ix->names[table], ix->name_bytes[table]);
	}
	return ix->names[table];
}

static void symbol_place(const struct elf_file *f, struct elf_symbol *s)
{
	for (size_t i = 0; i < f->seg_cnt; i++) {
		const struct elf_segment *seg = &f->seg[i];

		if (s->addr < seg->addr || s->addr - seg->addr >= seg->file_bytes)
			continue;
		s->offset = seg->offset + (s->addr - seg->addr);
		s->has_offset = true;
		return;
	}
}

static bool symbol_take(const struct elf_file *f, enum elf_table table, const Elf64_Sym *in,
			struct elf_symbol *s)
{
	unsigned int type = ELF64_ST_TYPE(in->st_info);
	const struct elf_index *ix = f->index;
	size_t len;

	if (in->st_shndx == SHN_UNDEF || in->st_shndx == SHN_ABS ||
	    in->st_name >= ix->name_bytes[table])
		return false;
	if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE && type != STT_COMMON &&
	    type != STT_GNU_IFUNC)
		return false;
	len = strnlen(ix->names[table] + in->st_name, ELF_NAME_BYTES_MAX);
	if (len == 0 || len == ELF_NAME_BYTES_MAX)
		return false;
	*s = (struct elf_symbol){
		.name = ix->names[table] + in->st_name,
		.addr = in->st_value,
		.size = in->st_size,
		.is_func = type == STT_FUNC,
		.is_object = type == STT_OBJECT || type == STT_COMMON,
	};
	symbol_place(f, s);
	return true;
}

/* .gnu.version tells which of two versions of a name the others link to; NULL if there is none. */
static uint16_t *versions_read(const struct elf_file *f, size_t *cnt)
{
	size_t bytes;
	GElf_Shdr sh;
	char *v;

	if (!section_by_type(f->elf, SHT_GNU_versym, &sh))
		return NULL;
	v = elf_section_read(f, &sh, &bytes);
	*cnt = v ? bytes / sizeof(uint16_t) : 0;
	return (uint16_t *)v;
}

static void table_load(const struct elf_file *f, enum elf_table table, struct symbol_list *list)
{
	size_t bytes, cnt, version_cnt = 0;
	uint16_t *version = NULL;
	Elf64_Sym *sym;
	GElf_Shdr sh;

	if (!elf_names_load(f, table, &sh) || sh.sh_entsize != sizeof(*sym) ||
	    sh.sh_size > ELF_SYMTAB_BYTES_MAX)
		return;
	sym = (Elf64_Sym *)elf_section_read(f, &sh, &bytes);
	if (!sym)
		return;
	cnt = bytes / sizeof(*sym);
	if (table == ELF_DYNSYM)
		version = versions_read(f, &version_cnt);
	if (list->cnt + cnt > list->room) {
		list->room = list->cnt + cnt;
		list->v = xrealloc(list->v, list->room * sizeof(*list->v));
	}
	for (size_t i = 1; i < cnt; i++) {
		struct ranked_symbol *r = &list->v[list->cnt];

		if (!symbol_take(f, table, &sym[i], &r->s))
			continue;
		if (table == ELF_DYNSYM)
			r->rank = i < version_cnt && (version[i] & VERSION_HIDDEN) ? 1 : 0;
		else
			r->rank = ELF64_ST_BIND(sym[i].st_info) == STB_LOCAL ? 3 : 2;
		list->cnt++;
	}
	free(version);
	free(sym);
}

static int ranked_compare(const void *pa, const void *pb)
{
	const struct ranked_symbol *a = pa, *b = pb;
	int c = strcmp(a->s.name, b->s.name);

	if (c)
		return c;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->s.addr < b->s.addr ? -1 : a->s.addr > b->s.addr;
}

static int addr_compare(const void *pa, const void *pb, void *arg)
{
	const struct elf_symbol *sym = arg;
	const struct elf_symbol *a = &sym[*(const uint32_t *)pa], *b = &sym[*(const uint32_t *)pb];

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* A symbol that stands in both tables is kept once. */
static void index_fill(struct elf_index *ix, const struct symbol_list *list)
{
	ix->sym = xcalloc(list->cnt + 1, sizeof(*ix->sym));
	ix->by_addr = xcalloc(list->cnt + 1, sizeof(*ix->by_addr));
	for (size_t i = 0; i < list->cnt; i++) {
		const struct elf_symbol *s = &list->v[i].s;
		bool twin = false;

		for (size_t k = ix->sym_cnt; k > 0 && !strcmp(ix->sym[k - 1].name, s->name); k--)
			if ((twin = ix->sym[k - 1].addr == s->addr) || ix->sym_cnt - k > 8)
				break;
		if (!twin)
			ix->sym[ix->sym_cnt++] = *s;
	}
	for (uint32_t i = 0; i < ix->sym_cnt; i++)
		ix->by_addr[i] = i;
	qsort_r(ix->by_addr, ix->sym_cnt, sizeof(*ix->by_addr), addr_compare, ix->sym);
}

struct elf_index *elf_index_load(const struct elf_file *f)
{
	struct symbol_list list = {0};
	struct elf_index *ix = f->index;

	if (ix->symbols_loaded)
		return ix;
	ix->symbols_loaded = true;
	table_load(f, ELF_DYNSYM, &list);
	table_load(f, ELF_SYMTAB, &list);
	if (list.cnt)
		qsort(list.v, list.cnt, sizeof(*list.v), ranked_compare);
	index_fill(ix, &list);
	free(list.v);
	return ix;
}

size_t elf_file_symbols(const struct elf_file *f, const struct elf_symbol **syms)
{
	const struct elf_index *ix = elf_index_load(f);

	*syms = ix->sym;
	return ix->sym_cnt;
}

const struct elf_symbol *elf_file_find(const struct elf_file *f, const char *name)
{
	const struct elf_index *ix = elf_index_load(f);
	size_t lo = 0, hi = ix->sym_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(ix->sym[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ix->sym_cnt && !strcmp(ix->sym[lo].name, name) ? &ix->sym[lo] : NULL;
}

const struct elf_symbol *elf_file_symbol_from(const struct elf_file *f, uint64_t addr)
{
	const struct elf_index *ix = elf_index_load(f);
	size_t lo = 0, hi = ix->sym_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ix->sym[ix->by_addr[mid]].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ix->sym_cnt ? &ix->sym[ix->by_addr[lo]] : NULL;
}
