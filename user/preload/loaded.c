/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "preload/library.h"

#include <elf.h>

/* In glibc 2.35 and later: the list of further namespaces (dlmopen). */
struct debug_extended {
	struct r_debug base;
	struct debug_extended *next;
};
#define VERSION_EXTENDED 2

static const struct r_debug *debug;

/*
 * glibc's loader defines this variable, even if the loader itself was executed with the program as
 * its argument.
 */
extern const struct r_debug glibc_debug __asm__("_r_debug")
	__attribute__((weak, visibility("default")));

static const ElfW(Dyn) * dynamic_of(const ElfW(Phdr) * phdr, u64 cnt, u64 *bias)
{
	const ElfW(Phdr) *dynamic = NULL;
	bool has_bias = false;

	*bias = 0;
	for (u64 i = 0; i < cnt; i++) {
		if (phdr[i].p_type == PT_PHDR) {
			*bias = (u64)phdr - phdr[i].p_vaddr;
			has_bias = true;
		}
		if (phdr[i].p_type == PT_DYNAMIC)
			dynamic = &phdr[i];
	}
	return dynamic && has_bias ? (const ElfW(Dyn) *)(*bias + dynamic->p_vaddr) : NULL;
}

bool loaded_find(const ElfW(Phdr) * phdr, u64 cnt)
{
	const ElfW(Dyn) * d;
	u64 bias;

	if (&glibc_debug) {
		debug = &glibc_debug;
		return true;
	}
	d = dynamic_of(phdr, cnt, &bias);

	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_DEBUG)
			debug = (const struct r_debug *)d->d_un.d_ptr;
	return debug;
}

void *loaded_notifier(void)
{
	return (void *)debug->r_brk;
}

bool loaded_is_consistent(void)
{
	const struct debug_extended *d = (const struct debug_extended *)debug;

	if (debug->r_version < VERSION_EXTENDED)
		return debug->r_state == RT_CONSISTENT;
	for (; d; d = d->next)
		if (d->base.r_state != RT_CONSISTENT)
			return false;
	return true;
}

void loaded_each(bool (*fn)(void *ctx, const struct link_map *map), void *ctx)
{
	const struct debug_extended *d = (const struct debug_extended *)debug;

	while (d) {
		for (const struct link_map *map = d->base.r_map; map; map = map->l_next)
			if (!fn(ctx, map))
				return;
		d = debug->r_version < VERSION_EXTENDED ? NULL : d->next;
	}
}

/* ---- symbols ---- */

struct symbols {
	u64 bias;
	const ElfW(Sym) * sym;
	const char *names;
	const u32 *hash, *gnu_hash;
};

/*
 * Converts a pointer of the dynamic section to an address. glibc's loader has already done so,
 * unless it may not write there; other loaders leave the pointers as in the file.
 */
static u64 pointer_relocate(u64 bias, u64 value)
{
	return value < bias ? bias + value : value;
}

static void symbols_find(struct symbols *s, u64 bias, const ElfW(Dyn) * d)
{
	*s = (struct symbols){.bias = bias};
	for (; d && d->d_tag != DT_NULL; d++) {
		u64 at = pointer_relocate(bias, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			s->sym = (const ElfW(Sym) *)at;
		else if (d->d_tag == DT_STRTAB)
			s->names = (const char *)at;
		else if (d->d_tag == DT_HASH)
			s->hash = (const u32 *)at;
		else if (d->d_tag == DT_GNU_HASH)
			s->gnu_hash = (const u32 *)at;
	}
}

static bool text_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static void *symbol_is(const struct symbols *s, u32 i, const char *name)
{
	const ElfW(Sym) *sym = &s->sym[i];

	return sym->st_shndx != SHN_UNDEF && sym->st_value &&
			       text_same(s->names + sym->st_name, name) ?
		       (void *)(s->bias + sym->st_value) :
		       NULL;
}

static void *gnu_find(const struct symbols *s, const char *name)
{
	const u32 *h = s->gnu_hash, buckets = h[0], first = h[1], words = h[2];
	const u32 *bucket = (const u32 *)((const u64 *)(h + 4) + words), *chain = bucket + buckets;
	u32 hash = 5381;
	void *found;
	u64 word;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (u8)*c;
	word = ((const u64 *)(h + 4))[hash / 64 % words];
	if (!(word >> hash % 64 & 1) || !(word >> (hash >> h[3]) % 64 & 1) || !buckets)
		return NULL;
	for (u32 i = bucket[hash % buckets]; i >= first; i++) {
		if ((chain[i - first] | 1) == (hash | 1) && (found = symbol_is(s, i, name)))
			return found;
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

static void *sysv_find(const struct symbols *s, const char *name)
{
	const u32 *bucket = s->hash + 2, *chain = bucket + s->hash[0];
	u32 hash = 0;
	void *found;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (u8)*c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (u32 i = s->hash[0] ? bucket[hash % s->hash[0]] : 0; i; i = chain[i])
		if ((found = symbol_is(s, i, name)))
			return found;
	return NULL;
}

static void *symbol_find(const struct symbols *s, const char *name)
{
	if (!s->sym || !s->names)
		return NULL;
	return s->gnu_hash ? gnu_find(s, name) : s->hash ? sysv_find(s, name) : NULL;
}

void *loaded_symbol(const struct link_map *map, const char *name)
{
	struct symbols s;

	symbols_find(&s, map->l_addr, map->l_ld);
	return symbol_find(&s, name);
}

void *loaded_vdso_symbol(u64 image, const char *name)
{
	const ElfW(Ehdr) *h = (const ElfW(Ehdr) *)image;
	const ElfW(Phdr) *p = (const ElfW(Phdr) *)(image + h->e_phoff);
	const ElfW(Dyn) *dynamic = NULL;
	u64 bias = image;
	struct symbols s;

	for (int i = 0; i < h->e_phnum; i++) {
		if (p[i].p_type == PT_LOAD && !p[i].p_offset)
			bias = image - p[i].p_vaddr;
		if (p[i].p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)(image + p[i].p_offset);
	}
	symbols_find(&s, bias, dynamic);
	return symbol_find(&s, name);
}
