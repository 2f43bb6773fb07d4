/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What elf_file.c (headers, bytes) and elf_symbols.c (names) share; nobody else includes it. */
#ifndef POV_ELF_ELF_INTERNAL_H
#define POV_ELF_ELF_INTERNAL_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

/* A larger section is not read: no linked program comes near, a sparse file might. */
#define ELF_PART_BYTES_MAX (256u << 20)
#define ELF_SYMTAB_BYTES_MAX (96u << 20)
#define ELF_NAME_BYTES_MAX 4096

struct elf_segment { /* a PT_LOAD */
	uint64_t addr, offset, file_bytes, mem_bytes;
	bool exec;
};

struct elf_slot { /* a pointer the dynamic linker fills */
	uint64_t addr;
	uint32_t sym; /* index in .dynsym */
};

/* Filled when first used. */
struct elf_index {
	bool symbols_loaded, slots_loaded;
	bool names_loaded[2];
	struct elf_symbol *sym; /* sorted by name, best first */
	size_t sym_cnt;
	uint32_t *by_addr;     /* indices into sym */
	struct elf_slot *slot; /* sorted by addr */
	size_t slot_cnt;
	char *names[2]; /* .dynstr, .strtab: own copies, NUL behind each, versions cut off */
	size_t name_bytes[2];
};

struct elf_file {
	int fd;
	Elf *elf;
	uint64_t bytes;
	struct elf_segment *seg;
	size_t seg_cnt;
	char *soname, *runpath, *rpath, *interpreter;
	char build_id[129];
	char **needed;
	size_t needed_cnt;
	/* From PT_DYNAMIC; addresses, 0 if absent. */
	bool dynamic;
	uint64_t dyn_symtab, dyn_strtab, dyn_gnu_hash, dyn_hash;
	bool has_symtab;
	struct elf_index *index;
};

/* A NUL-terminated string of at most bytes - 1; false if there is none or it is longer. */
bool elf_file_read_string(const struct elf_file *f, uint64_t addr, char *buf, size_t bytes);

enum elf_table { ELF_DYNSYM = 0, ELF_SYMTAB = 1 };

/* The bytes of a section, with a NUL behind; the caller frees. NULL if it does not lie in the file or is absurdly large. */
char *elf_section_read(const struct elf_file *f, const GElf_Shdr *sh, size_t *bytes);
/* Loads the names of a symbol table, whose header it returns. */
bool elf_names_load(const struct elf_file *f, enum elf_table table, GElf_Shdr *sh);
struct elf_index *elf_index_load(const struct elf_file *f);
void elf_index_free(struct elf_index *index);

#endif
