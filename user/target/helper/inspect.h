/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Looks at one code file and puts probes into it: into a library of a traced layer (or a program that one is linked into)
 * those of the wanted functions; into any file those of the regions; into a dynamic loader and a C library those by which
 * processes wait until other files have been looked at. Runs in the helper process (target/helper/helper.h), for files are what
 * their owners made them.
 */
#ifndef POV_TARGET_HELPER_INSPECT_H
#define POV_TARGET_HELPER_INSPECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "abi/preload.h"
#include "target/probes/links.h"

/* What to attach, and how. */
struct inspect_options {
	struct link_programs calls;   /* entry and return of the wanted functions */
	struct link_programs returns; /* at return instructions, where return probes would do harm */
	bool *unwinds; /* set once a file has been seen that may unwind the stack through MPI's functions */
	/* entry_fd -1: this kernel cannot make threads wait */
	struct link_programs loader, exec, handover;
	struct link_programs note;    /* at static probes; entry_fd -1: none are wanted */
	struct link_programs regions; /* … of the regions */
	const char *const *region;    /* names of functions, region_cnt of them */
	size_t region_cnt;
	const bool *wanted; /* by row of the function table */
	const bool *alone; /* the same: functions whose probes may have to be given up; NULL: none */
	bool waits; /* processes wait by themselves, but for those that ask for a probe in their loader */
	bool preload; /* processes record calls of the top layer (MPI) themselves */
	bool each; /* each recorded process gets probes of its own: sites are only chosen here (site_list.h) */
	int libs_fd;	  /* map of struct pov_lib by library id */
	int handovers_fd; /* map of struct pov_handover by cookie */
	int notes_fd;	  /* map of struct pov_note by cookie */
	void (*attaching)(
		void *ctx); /* called when a file has been read and only attaching is left */
	void *ctx;
};

struct inspected {
	struct links links;
	bool is_script;
	bool is_main;	 /* a program, rather than a shared library */
	bool is_preload; /* what processes load to record their calls themselves */
	bool unwinds;	 /* it uses MPI, and may unwind the stack through MPI's functions */
	char build_id[129];
	char interpreter[256]; /* of a script or a program; "" if none */
	char *runpath;	       /* DT_RUNPATH or DT_RPATH; NULL: none; owned */
	json_t *needed;	       /* DT_NEEDED: [name]; owned */
	json_t *library; /* one of a traced layer: its meta object "library" without id; owned, as is what follows */
	json_t *offsets; /* of a library: where probes were put, or refused by the kernel: [file offset] */
	struct pov_hook *
		hooks; /* of a library: functions whose calls the processes record themselves, by row of the function table; owned */
	size_t hook_cnt;
	json_t *sites; /* if opt->each: where probes are to be put (site_list.h); NULL: nowhere */
	json_t *segments; /* executable ones: [[offset, address, bytes]] */
	/*
	 * Of a binding: {address, bytes: of its code, steps: [offset in that, words, offset, words, …]} (target/elf/binding_steps.h); NULL: it is none.
	 */
	json_t *binding;
	json_t *regions; /* if any of them is there: members of its meta object "regions" */
	json_t *copies; /* of a library: predefined objects a program may hold instead: [[name, symbol]] */
};

/*
 * path: for as long as the call takes. lib_id: to be used if it is a library to trace; POV_LIBS_MAX: no more room. 0 (also if there is nothing to
 * trace in it), or -errno: not a readable ELF file (a script: 0), or probes could not be attached (printed).
 * inspected_release in any case.
 */
int inspect_file(const struct inspect_options *opt, const char *path, int fd, uint16_t lib_id,
		 struct inspected *out);
void inspected_release(struct inspected *in);

/* Addresses, in the file's terms, of the symbols in a list [[name, symbol]] that a program defines: [[name, address]]. */
json_t *inspect_copies(int exe_fd, const json_t *copies);

#endif
