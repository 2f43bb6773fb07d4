/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One ELF file opened for probing: its symbols with their file offsets, build id, and needed
 * libraries. It uses libelf and never trusts the file (fuzzed).
 */
#ifndef POV_TARGET_ELF_ELF_FILE_H
#define POV_TARGET_ELF_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_NAME_BYTES_MAX 4096

struct elf_file;

struct elf_headers {	       /* what a file's headers contain; missing strings are "" */
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
	const char *name; /* owned by the file; without version suffix */
	uint64_t addr;	  /* virtual address in the file */
	uint64_t size;	  /* size in bytes; 0: unknown */
	/* file offset; valid if has_offset (inside the file image of a PT_LOAD) */
	uint64_t offset;
	bool has_offset;
	bool is_func, is_object;
	/*
	 * enum in elf_symbols.c: 0 exported, 1 exported under an older version, 2 global, 3 local;
	 * of several symbols with one name, the lowest rank is used
	 */
	uint8_t rank;
};

/*
 * Opens a file; path may be /proc/PID/map_files/…. 0 or -errno, -ENOEXEC: not a linked 64-bit ELF
 * file for this machine, or not ELF at all. Prints nothing: the caller knows whether it matters.
 * Reads only headers; symbols are loaded on first use.
 */
int elf_file_open(const char *path, struct elf_file **out);
int elf_file_open_fd(int fd, struct elf_file **out); /* fd remains the caller's, who may close it */
/*
 * Opens a file by name in the directory of another one, or relative to it. -EXDEV: it is on another
 * file system and so may belong to another container with the same file names.
 */
int elf_file_open_beside(const struct elf_file *f, const char *name, struct elf_file **out);
void elf_file_close(struct elf_file *f);

const struct elf_headers *elf_file_headers(const struct elf_file *f);
/* Returns the i-th executable PT_LOAD; false after the last one. */
bool elf_file_exec_segment(const struct elf_file *f, size_t i, uint64_t *offset, uint64_t *addr,
			   uint64_t *bytes);

/*
 * Returns the defined symbols of .dynsym, and of .symtab if present (static executables), sorted by
 * name. Several may share a name or an address. IFUNC symbols are neither is_func nor is_object:
 * their address is that of the resolver.
 */
size_t elf_file_symbols(const struct elf_file *f, const struct elf_symbol **syms);
/*
 * Finds a symbol by exact name, an exported one before a local one; NULL if it is not defined here.
 */
const struct elf_symbol *elf_file_find(const struct elf_file *f, const char *name);
/*
 * Finds the function that begins at an address, by a symbol or by the table of exception frames
 * (.eh_frame_hdr), which stripped files have, too; in the latter case its name is "". False if
 * neither has one.
 */
bool elf_file_function_at(const struct elf_file *f, uint64_t addr, struct elf_symbol *out);
/*
 * Finds the function that contains an address, only by the table of exception frames. False if the
 * table has no such function, or not its length.
 */
bool elf_file_function_around(const struct elf_file *f, uint64_t addr, uint64_t *start,
			      uint64_t *bytes);
/* Returns a symbol with the lowest address >= addr; NULL: none. */
const struct elf_symbol *elf_file_symbol_from(const struct elf_file *f, uint64_t addr);
/*
 * Returns true if a symbol of this name is defined. Mostly the file's GNU hash table is enough:
 * some microseconds, and nothing is loaded. If the file also has a .symtab (not stripped), or has
 * no hash table, names must be read, too.
 */
bool elf_file_defines(const struct elf_file *f, const char *name);
/* Does the same for exported symbols only, which is fast for nearly every file. */
bool elf_file_exports(const struct elf_file *f, const char *name);
/*
 * Returns true if a symbol of this name, or of a name that continues with '.', may be in one of the
 * tables, defined or not. Only names are loaded.
 */
bool elf_file_mentions(const struct elf_file *f, const char *name);
/*
 * Finds the functions to probe for the C entry of an MPI function, given as "MPI_Send": MPI_Send
 * and PMPI_Send if they differ, else one of them. MPI_Send is left out if it is only a jump to
 * PMPI_Send. Returns how many (0, 1 or 2) of syms[] are set; all have a file offset.
 */
unsigned int elf_file_find_mpi(const struct elf_file *f, const char *name,
			       const struct elf_symbol *syms[2]);
/*
 * Returns the name of the symbol with which a relocated pointer (a GOT slot) is filled; NULL:
 * unknown.
 */
const char *elf_file_slot_symbol(const struct elf_file *f, uint64_t slot_addr);
/* Lists the addresses of slots that are filled with a symbol, at most max. Returns the number. */
size_t elf_file_slots_of(const struct elf_file *f, const char *name, uint64_t *addrs, size_t max);
/* Returns the name, with this prefix, of a symbol with which a slot is filled; NULL: none. */
const char *elf_file_slot_like(const struct elf_file *f, const char *prefix);
/*
 * Returns the target of a pointer in the file's data, as an address in the file. False if it is no
 * pointer, or its target is in another file.
 */
bool elf_file_pointer(const struct elf_file *f, uint64_t addr, uint64_t *value);

/*
 * Read file bytes at a virtual address or a file offset. Return the bytes read (may be short), or
 * -errno.
 */
long elf_file_read_addr(const struct elf_file *f, uint64_t addr, void *buf, size_t bytes);
long elf_file_read_offset(const struct elf_file *f, uint64_t offset, void *buf, size_t bytes);
/* Finds a section in the file; false if there is none of that name with bytes in the file. */
bool elf_file_section(const struct elf_file *f, const char *name, uint64_t *offset,
		      uint64_t *bytes);
/* Finds the address to which a section is loaded. */
bool elf_file_section_addr(const struct elf_file *f, const char *name, uint64_t *addr);
/* Converts a file offset to an address, by the executable segment that contains it. 0 or -ENXIO. */
int elf_file_offset_to_addr(const struct elf_file *f, uint64_t offset, uint64_t *addr);
/* Returns true if [addr, addr + bytes) is mapped in the loaded file (.bss included). */
bool elf_file_maps(const struct elf_file *f, uint64_t addr, uint64_t bytes);

/* ---- versions of communication libraries (library_version.c) ---- */

/*
 * Reads an MPI library's version: "4.1.4", or a product's own text ("Intel(R) MPI Library 2021.9");
 * "" if the file has none.
 */
void library_version_mpi(const struct elf_file *f, char *version, size_t bytes);
/* Reads a version to which a function, or a function that it calls, refers; "" if there is none. */
void library_version_by_function(const struct elf_file *f, const char *function, char *version,
				 size_t bytes);

#endif
