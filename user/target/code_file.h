/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The code files that have been looked at, and the MPI libraries among them. A file is known by its device, number and
 * stamp, as the kernel half sees them and as stat tells them; where these differ (btrfs, overlayfs), it is known by both.
 */
#ifndef POV_TARGET_CODE_FILE_H
#define POV_TARGET_CODE_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "abi/preload.h"
#include "target/probes/links.h"
#include "lib/map.h"

struct code_id {
	uint64_t dev; /* major << 20 | minor */
	uint64_t ino, stamp;
};

struct library {
	uint16_t id; /* in cookies and in the trace */
	uid_t owner; /* of the file */
	bool is_mpi; /* a process that initialises it is a rank */
	struct pov_hook
		*hooks; /* functions whose calls its processes are to record themselves; owned */
	size_t hook_cnt;
	struct links links;
	size_t attached; /* probes */
	json_t *offsets; /* of functions where they are, or were refused: [file offset] */
	json_t *meta;	 /* its meta object "library" */
	json_t *copies; /* predefined objects that programs may hold instead of it: [[name, symbol]] */
};

struct code_file {
	struct code_id id;	  /* by stat */
	char *path;		  /* as the first process that used it saw it */
	char *build_id;		  /* "" if none */
	char *interpreter;	  /* of a script or a program; NULL: none */
	int error;		  /* 0, or why it could not be looked at (-errno) */
	bool is_main;		  /* mapped by exec, not by a loader */
	bool is_program;	  /* a loader runs before it */
	bool has_regions;	  /* functions of it are regions */
	bool is_preload;	  /* processes that load it record their calls themselves */
	struct code_id described; /* the id under which the trace knows it; zero: not yet */
	json_t *segments;	  /* executable: [[offset, address, bytes]] */
	json_t *binding;	  /* as in struct inspected; NULL: it is none */
	uint16_t binding_number;  /* in struct pov_step; 0: none yet */
	bool is_wide; /* one set of probes serves all processes, although each could have its own */
	bool is_refused; /* some probes were, and that has been said */
	json_t *sites; /* chosen for probes, for each process to get its own (site_list.h); NULL: none */
	size_t own_sites,
		left_sites; /* of these, for all processes; for those that do not record their calls themselves */
	bool left_said;	     /* a process has the latter, and that has been said */
	struct library *lib; /* NULL: nothing to trace in it */
};

struct code_files {
	struct map by_id;     /* hash of a code_id → chain of keys */
	struct map owned;     /* pointer → file, each once */
	struct library **lib; /* by id */
	size_t lib_cnt;
};

bool library_has_layer(const struct library *lib, const char *name);

/* What stat tells of a file. */
struct code_id code_id_of(const struct stat *st);
bool code_id_equal(const struct code_id *a, const struct code_id *b);

struct code_file *code_files_find(const struct code_files *files, const struct code_id *id);
/* Makes a file known by an id, too. The table owns it from its first name on. */
void code_files_add(struct code_files *files, const struct code_id *id, struct code_file *file);
/* Appends a library, whose id is then lib_cnt - 1. */
void code_files_add_library(struct code_files *files, struct library *lib);
/* Whether another library of that owner may be added: one user cannot use up the table. */
bool code_files_have_room(const struct code_files *files, uid_t owner);
void code_files_release(struct code_files *files);

/* More places for probes of each process's own; NULL: none. */
void code_file_add_sites(struct code_file *file, const json_t *sites);

/* The place in the file of an address in the file's own terms. False: it is in no executable segment. */
bool code_file_offset(const struct code_file *file, uint64_t addr, uint64_t *offset);
/* Run-time address − address in the file, given an executable mapping of it. 0 or -ENXIO. */
int code_file_bias(const struct code_file *file, uint64_t start, uint64_t off, uint64_t *bias);

#endif
