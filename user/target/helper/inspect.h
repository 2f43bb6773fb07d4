/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Inspects one code file and attaches probes to it: to the wanted functions of a traced layer's
 * library (or of a program that one is linked into); to the functions that are regions, in any
 * file; and, in a dynamic loader and a C library, to the functions where processes wait until other
 * files are inspected. It runs in the helper process (target/helper/helper.h), because files may be
 * damaged or hostile.
 */
#ifndef POV_TARGET_HELPER_INSPECT_H
#define POV_TARGET_HELPER_INSPECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "abi/preload.h"
#include "target/late_program.h"
#include "target/probes/links.h"

/* What to attach, and how. */
struct inspect_options {
	struct link_programs calls; /* entry and return of the wanted functions */
	/* for return instructions, where return probes would do harm */
	struct late_program *returns;
	/* set once any inspected file may unwind the stack through MPI's functions */
	bool *unwinds;
	/* Programs that make threads wait. entry_fd -1: this kernel cannot. */
	struct link_programs loader, exec, handover;
	struct link_programs note;    /* for static probes; entry_fd -1: none are wanted */
	struct link_programs regions; /* for regions */
	const char *const *region;    /* names of region_cnt functions */
	size_t region_cnt;
	const bool *wanted; /* by row of the function table */
	/* by row: functions whose probes may have to be detached; NULL: none */
	const bool *removable;
	/*
	 * launched processes wait without a probe; only those that ask get the one in their loader
	 */
	bool waits;
	bool preload; /* processes record calls of the top layer (MPI) themselves */
	/* each recorded process gets its own probes: sites are only chosen here (site_list.h) */
	bool each;
	int libs_fd;	  /* BPF map of struct pov_lib by library id */
	int handovers_fd; /* BPF map of struct pov_handover by cookie */
	int notes_fd;	  /* BPF map of struct pov_note by cookie */
	/* Called when a file has been read and only attaching is left. */
	void (*attaching)(void *ctx);
	void *ctx;
};

struct inspected {
	struct links links;
	bool is_script;
	bool is_main;	 /* a program, rather than a shared library */
	bool is_preload; /* the library that processes load to record their own calls */
	bool unwinds;	 /* it uses MPI and may unwind the stack through MPI's functions */
	char build_id[129];
	char interpreter[256]; /* of a script or program; "" if none */
	char *runpath;	       /* DT_RUNPATH or DT_RPATH; NULL: none; owned */
	json_t *needed;	       /* DT_NEEDED: [name]; owned */
	/*
	 * for a library of a traced layer: meta object "library" without id; owned, like all
	 * members that follow
	 */
	json_t *library;
	/* for a library: file offsets where probes were attached, or refused by the kernel */
	json_t *offsets;
	/*
	 * for a library: functions that processes record themselves, by row of the function table
	 */
	struct pov_hook *hooks;
	size_t hook_cnt;
	json_t *sites;	  /* if opt->each: sites for probes (site_list.h); NULL: none */
	json_t *segments; /* executable segments: [[offset, address, bytes]] */
	/*
	 * For a language binding: {address, bytes: range of its code, steps: [offset in it, words,
	 * offset, words, …]} (target/elf/function_callers.h); NULL: not a binding.
	 */
	json_t *binding;
	json_t *regions; /* if the file has any region: members of the meta object "regions" */
	/* for a library: predefined objects of which a program may hold copies: [[name, symbol]] */
	json_t *copies;
};

/*
 * Inspects a file. path must be valid during the call. lib_id is the id to use for a traced
 * library; POV_LIBS_MAX: no room for one. 0 (also if there is nothing to trace), or -errno: not a
 * readable ELF file (a script: 0), or probes could not be attached (printed). Call
 * inspected_release in any case.
 */
int inspect_file(const struct inspect_options *opt, const char *path, int fd, uint16_t lib_id,
		 struct inspected *out);
void inspected_release(struct inspected *in);

/*
 * Returns the addresses in the file of those symbols in a list [[name, symbol]] that a program
 * defines: [[name, address]].
 */
json_t *inspect_copies(int exe_fd, const json_t *copies);

struct elf_file;
struct library;

/*
 * Chooses sites of the functions that a library's symbols name, and attaches probes. For a library
 * of a wanted layer, fills out->library, offsets and copies. 0, also if there is nothing to trace,
 * or -errno.
 */
int inspect_library(const struct inspect_options *opt, const char *path, const struct elf_file *elf,
		    uint16_t lib_id, struct inspected *out);

/*
 * Probes more functions of a known library. places is a list of pairs: row of the function table,
 * file offset of the function. Skips places in lib->offsets, unwanted functions, and functions of
 * other layers. Refuses a place where the file has no function (elf_file_function_at).
 *
 * Fills out->links. out->library gets the members of meta object "probes" except ts_ns and library.
 * out->offsets gets the new places. Both are NULL if there was nothing to do. Returns 0, or -errno
 * if the file cannot be read.
 */
int inspect_more(const struct inspect_options *opt, const char *path, int fd,
		 const struct library *lib, const json_t *places, struct inspected *out);

struct library_kind;

/* Returns true if any wanted row is a static probe. */
bool inspect_notes_wanted(const bool *wanted);

/*
 * Attaches to static probes (USDT, target/elf/sdt_notes.h) of a library that stand for functions
 * without probes of their own. Returns their number. Static probes are at nops, which the kernel
 * need not single-step, and do not see returns. is_seen returns true if a function of the layer's
 * table has its own probes. Stores in opt's map of notes where each probe's arguments are, and
 * appends the names of the function table's rows to `names`.
 */
size_t inspect_notes(const struct inspect_options *opt, const char *path,
		     const struct elf_file *elf, const struct library_kind *kind, uint16_t lib_id,
		     bool (*is_seen)(const void *ctx, const char *function), const void *ctx,
		     struct inspected *out, json_t *names);

/*
 * Returns true if a symbol is the function of that name, or a whole copy of it made by the compiler
 * (NAME.constprop.0, .isra, .lto_priv). A part of it (.part, .cold) does not count: the function
 * may jump there, and then the part has no return address of its own.
 */
bool region_is(const char *symbol, const char *name);

/*
 * Attaches to all of opt->region that the file has: functions that are phases of the program, which
 * it need not mark itself. They are found by their symbols, even if these are only in .symtab
 * (static functions). Fills out->regions, and adds to out->links.
 */
void inspect_regions(const struct inspect_options *opt, const char *path,
		     const struct elf_file *elf, struct inspected *out);

#endif
