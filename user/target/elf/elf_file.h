/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One ELF file opened for probing: its symbols with their *file offsets*, build id, needed libraries.
 * Uses libelf; never trusts the file (fuzzed).
 */
#ifndef POV_TARGET_ELF_ELF_FILE_H
#define POV_TARGET_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_NAME_BYTES_MAX 4096

struct elf_file;

struct elf_headers {	       /* what a file tells of itself; strings are "" if it does not */
	bool dynamic;	       /* has a PT_DYNAMIC */
	bool is_pie;	       /* has DF_1_PIE: it is a program, not a library */
	char build_id[129];    /* hex */
	char interpreter[256]; /* PT_INTERP */
	char soname[ELF_NAME_BYTES_MAX];
	char runpath[ELF_NAME_BYTES_MAX]; /* DT_RUNPATH, else DT_RPATH */
	char **needed;			  /* DT_NEEDED */
	size_t needed_cnt;
};

struct elf_symbol {
	const char *name; /* owned by the file; version suffix removed */
	uint64_t addr;	  /* virtual address in the file's own terms */
	uint64_t size;	  /* bytes, 0 if not told */
	uint64_t offset;  /* in the file; valid if has_offset (lies in a PT_LOAD's file image) */
	bool has_offset;
	bool is_func, is_object;
	uint8_t rank; /* of several of one name the lowest is meant: 0 and 1 exported, 2 global, 3 local */
};

/*
 * path may be /proc/PID/map_files/…; 0 or -errno. Says nothing: the caller knows whether it matters.
 * -ENOEXEC: not a linked 64-bit ELF file for this machine (or no ELF file at all).
 * Reads headers only; symbols are loaded when first asked for.
 */
int elf_file_open(const char *path, struct elf_file **out);
int elf_file_open_fd(int fd, struct elf_file **out); /* fd stays the caller's, and may be closed */
/*
 * The file of a name in the directory of another one, or relative to that. -EXDEV: it lies on another file system, so that it may belong to
 * another container, whose files go by the same names.
 */
int elf_file_open_beside(const struct elf_file *f, const char *name, struct elf_file **out);
void elf_file_close(struct elf_file *f);

const struct elf_headers *elf_file_headers(const struct elf_file *f);
/* The i-th executable PT_LOAD; false behind the last one. */
bool elf_file_exec_segment(const struct elf_file *f, size_t i, uint64_t *offset, uint64_t *addr,
			   uint64_t *bytes);

/*
 * Defined symbols of .dynsym, and of .symtab where there is one (static executables), sorted by name.
 * Several may share a name or an address. IFUNC symbols are neither is_func nor is_object: their address
 * is that of the resolver.
 */
size_t elf_file_symbols(const struct elf_file *f, const struct elf_symbol **syms);
/* By exact name, an exported one before a local one; NULL if not defined here. */
const struct elf_symbol *elf_file_find(const struct elf_file *f, const char *name);
/*
 * The function that begins at an address, by a symbol, or by the table through which exceptions find their frames (.eh_frame_hdr),
 * which stripped files have, too: then its name is "". False if neither knows one.
 */
bool elf_file_function_at(const struct elf_file *f, uint64_t addr, struct elf_symbol *out);
/* The function that an address lies in, by that table alone. False if it does not know one, or its length. */
bool elf_file_function_around(const struct elf_file *f, uint64_t addr, uint64_t *start,
			      uint64_t *bytes);
/* A symbol with the lowest address >= addr; NULL if there is none. */
const struct elf_symbol *elf_file_symbol_from(const struct elf_file *f, uint64_t addr);
/*
 * Whether a symbol of this name is defined, mostly by the file's GNU hash table alone: some microseconds, nothing
 * loaded. Where the file has a .symtab besides (not stripped) or no such table, names have to be read too.
 */
bool elf_file_defines(const struct elf_file *f, const char *name);
/* The same of exported symbols only, so that it is quick on nearly every file. */
bool elf_file_exports(const struct elf_file *f, const char *name);
/*
 * Whether a symbol of this name, or of a name that goes on with a '.', may be in one of the tables, defined or not: nothing
 * is loaded but the names.
 */
bool elf_file_mentions(const struct elf_file *f, const char *name);
/*
 * The functions to probe for the C entry of an MPI function, given as "MPI_Send": MPI_Send and PMPI_Send
 * if they differ, else one of them; MPI_Send is left out where it is only a jump to PMPI_Send. Returns how many
 * (0, 1 or 2) of syms[] are set; all of them have a file offset.
 */
unsigned int elf_file_find_mpi(const struct elf_file *f, const char *name,
			       const struct elf_symbol *syms[2]);
/* The name of the symbol a relocated pointer (a slot of the GOT) is filled with; NULL if unknown. */
const char *elf_file_slot_symbol(const struct elf_file *f, uint64_t slot_addr);
/* The addresses of such slots that are filled with a symbol: how many were written, at most max. */
size_t elf_file_slots_of(const struct elf_file *f, const char *name, uint64_t *addrs, size_t max);
/* The name, which begins so, of a symbol that a slot is filled with; NULL if there is none. */
const char *elf_file_slot_like(const struct elf_file *f, const char *prefix);
/* What a pointer in the file's data leads to, in the file's own terms; false if it is none, or leads to another file. */
bool elf_file_pointer(const struct elf_file *f, uint64_t addr, uint64_t *value);

/* Reads file bytes behind a virtual address / a file offset. Bytes read (may be short), or -errno. */
long elf_file_read_addr(const struct elf_file *f, uint64_t addr, void *buf, size_t bytes);
long elf_file_read_offset(const struct elf_file *f, uint64_t offset, void *buf, size_t bytes);
/* Where a section lies in the file; false if there is none of that name that has bytes there. */
bool elf_file_section(const struct elf_file *f, const char *name, uint64_t *offset,
		      uint64_t *bytes);
/* The address it is loaded to. */
bool elf_file_section_addr(const struct elf_file *f, const char *name, uint64_t *addr);
/* The address of a file offset, by the executable segment that holds it. 0 or -ENXIO. */
int elf_file_offset_to_addr(const struct elf_file *f, uint64_t offset, uint64_t *addr);
/* Whether [addr, addr + bytes) is mapped once the file is loaded (.bss included). */
bool elf_file_maps(const struct elf_file *f, uint64_t addr, uint64_t bytes);

#endif
