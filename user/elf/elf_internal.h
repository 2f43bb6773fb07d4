/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What elf_file.c (what is loaded) and elf_symbols.c (names) share; nobody else includes it. */
#ifndef POV_ELF_ELF_INTERNAL_H
#define POV_ELF_ELF_INTERNAL_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define ELF_NAME_BYTES_MAX 4096

struct elf_segment { /* a PT_LOAD */
	uint64_t addr, offset, file_bytes, mem_bytes;
	bool exec;
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
	uint64_t dyn_symtab, dyn_strtab, dyn_gnu_hash;
	struct elf_index *index;
};

/* A NUL-terminated string of at most bytes - 1; false if there is none or it is longer. */
bool elf_file_read_string(const struct elf_file *f, uint64_t addr, char *buf, size_t bytes);

/* False if no file bytes are loaded to that address. */
bool elf_file_addr_to_offset(const struct elf_file *f, uint64_t addr, uint64_t *offset);

struct elf_index *elf_index_new(Elf *elf);
void elf_index_free(struct elf_index *index);

#endif
