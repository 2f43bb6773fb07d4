/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One ELF file opened for probing: its symbols with their *file offsets*, build id, needed libraries.
 * Uses libelf; never trusts the file (fuzzed).
 */
#ifndef POV_ELF_ELF_FILE_H
#define POV_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct elf_symbol {
	const char *name; /* owned by the file; version suffix removed */
	uint64_t addr;	  /* virtual address in the file's own terms */
	uint64_t size;	  /* bytes, 0 if not told */
	uint64_t offset;  /* in the file; valid if has_offset (lies in a PT_LOAD's file image) */
	bool has_offset;
	bool is_func, is_object;
};

/* path may be /proc/PID/map_files/…; 0 or -errno. Says nothing: the caller knows whether it matters. */
int elf_file_open(const char *path, struct elf_file **out);
int elf_file_open_fd(int fd, struct elf_file **out); /* fd stays the caller's */
void elf_file_close(struct elf_file *f);

bool elf_file_is_dynamic(const struct elf_file *f); /* has .dynsym */
const char *elf_file_build_id(const struct elf_file *f); /* hex, "" if none */
const char *elf_file_soname(const struct elf_file *f);	 /* "" if none */
size_t elf_file_needed(const struct elf_file *f, const char *const **names); /* DT_NEEDED */

/* Defined symbols of .dynsym, and of .symtab where there is one (static executables). */
size_t elf_file_symbols(const struct elf_file *f, const struct elf_symbol **syms);
/* By exact name; NULL if not defined here. */
const struct elf_symbol *elf_file_find(const struct elf_file *f, const char *name);

/* Reads file bytes behind a virtual address / a file offset. Bytes read (may be short), or -errno. */
long elf_file_read_addr(const struct elf_file *f, uint64_t addr, void *buf, size_t bytes);
long elf_file_read_offset(const struct elf_file *f, uint64_t offset, void *buf, size_t bytes);
/* addr = offset + *bias for the executable segment that holds a file offset. */
int elf_file_offset_to_addr(const struct elf_file *f, uint64_t offset, uint64_t *addr);

#endif
