/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shared by elf_file.c (segments), elf_symbols.c (names) and elf_pointer.c. No other file includes
 * it.
 */
#ifndef POV_TARGET_ELF_ELF_INTERNAL_H
#define POV_TARGET_ELF_ELF_INTERNAL_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/elf/elf_file.h"

/* Larger sections are not read: no linked program comes near this, but a sparse file might. */
#define TABLE_BYTES_MAX (96u << 20)

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
	struct elf_headers headers;
	uint64_t dyn_symtab, dyn_strtab, dyn_gnu_hash; /* addresses, 0 if absent */
	uint64_t frames_addr, frames_bytes;	       /* PT_GNU_EH_FRAME */
	struct elf_index *index;
	struct elf_pointers *pointers;
};

/* Converts an address to a file offset. False if no file bytes are loaded there. */
bool elf_file_addr_to_offset(const struct elf_file *f, uint64_t addr, uint64_t *offset);

/*
 * Returns a section's bytes, which libelf keeps; NULL if it has another type, is empty, too large,
 * or not completely in the file.
 */
Elf_Data *elf_section_data(Elf_Scn *scn, uint32_t type, uint64_t bytes_max);

struct elf_index *elf_index_new(Elf *elf);
void elf_index_free(struct elf_index *index);

struct elf_pointers *elf_pointers_new(void);
void elf_pointers_free(struct elf_pointers *pointers);

static inline bool elf_read_all(const struct elf_file *f, uint64_t addr, void *buf, size_t bytes)
{
	return elf_file_read_addr(f, addr, buf, bytes) == (long)bytes;
}

#endif
