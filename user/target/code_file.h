/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The inspected code files, and the traced libraries among them. A file is identified by device,
 * inode number and stamp. On btrfs and overlayfs the kernel half reads other values than stat
 * reports, and then the file is found by both.
 */
#ifndef POV_TARGET_CODE_FILE_H
#define POV_TARGET_CODE_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "abi/preload.h"
#include "lib/map.h"
#include "target/probes/links.h"

struct code_id {
	uint64_t dev; /* major << 20 | minor */
	uint64_t ino, stamp;
};

struct library {
	uint16_t id;		/* used in cookies and in the trace */
	uid_t owner;		/* owner of the file */
	bool is_mpi;		/* a process that initialises it is a rank */
	struct pov_hook *hooks; /* functions whose calls processes record themselves; owned */
	size_t hook_cnt;
	struct links links;
	size_t attached; /* number of probes */
	/* file offsets of functions that have probes, or whose probes the kernel refused */
	json_t *offsets;
	json_t *meta;	/* meta object "library" */
	json_t *copies; /* predefined objects of which programs may hold copies: [[name, symbol]] */
};

struct code_file {
	struct code_id id;	  /* as stat reports it */
	char *path;		  /* as the first process that used it saw it */
	char *build_id;		  /* "" if none */
	char *interpreter;	  /* interpreter of a script or program; NULL: none */
	int error;		  /* 0, or -errno: why it could not be inspected */
	bool is_main;		  /* mapped by exec, not by a loader */
	bool is_program;	  /* a program that a loader starts */
	bool has_regions;	  /* some of its functions are regions */
	bool is_preload;	  /* processes that load it record their own calls */
	struct code_id described; /* the id under which the trace knows it; zero: not yet */
	json_t *segments;	  /* executable segments: [[offset, address, bytes]] */
	json_t *binding;	  /* as in struct inspected; NULL: not a binding */
	uint16_t binding_number;  /* number in struct pov_step; 0: none yet */
	/* a loader that processes outside the recording map, too; valid if is_judged */
	bool is_shared;
	bool is_judged; /* is_shared has been determined */
	bool is_wide; /* all processes share one set of probes, although each could have its own */
	bool is_refused; /* some probes were refused, and a warning was printed */
	/* sites at which each process gets its own probes (site_list.h); NULL: none */
	json_t *sites;
	size_t own_sites;    /* number of sites for all processes */
	size_t left_sites;   /* number of sites for processes that do not record their own calls */
	bool left_printed;   /* a process got probes at left_sites, and a message was printed */
	struct library *lib; /* NULL: it has nothing to trace */
};

struct code_files {
	struct map by_id;     /* hash of a code_id → chain of files */
	struct map owned;     /* pointer → file, each file once */
	struct library **lib; /* indexed by id */
	size_t lib_cnt;
};

bool library_has_layer(const struct library *lib, const char *name);

/* Makes a file's id from the result of stat. */
struct code_id code_id_of(const struct stat *st);
bool code_id_equal(const struct code_id *a, const struct code_id *b);

struct code_file *code_files_find(const struct code_files *files, const struct code_id *id);
/* Adds an id for a file. The table owns the file from its first id on. */
void code_files_add(struct code_files *files, const struct code_id *id, struct code_file *file);
/* Appends a library, whose id is then lib_cnt - 1. */
void code_files_add_library(struct code_files *files, struct library *lib);
/* Returns true if another library of this owner may be added. One user cannot fill the table. */
bool code_files_have_room(const struct code_files *files, uid_t owner);
void code_files_release(struct code_files *files);

/* Adds sites at which each process gets its own probes; NULL: none. */
void code_file_add_sites(struct code_file *file, const json_t *sites);

/*
 * Converts an address as given in the file to a file offset. False: it is in no executable segment.
 */
bool code_file_offset(const struct code_file *file, uint64_t addr, uint64_t *offset);
/*
 * Computes the run-time address minus the address in the file, from an executable mapping of the
 * file. 0 or -ENXIO.
 */
int code_file_bias(const struct code_file *file, uint64_t start, uint64_t off, uint64_t *bias);

/* The code of a traced library in a running process. */
struct library_place {
	pid_t pid;
	const struct proc_map *map; /* one of the file's mappings */
	struct code_file *file;
	uint64_t bias; /* address in the process minus the address in the file */
};
typedef void library_place_fn(void *ctx, const struct library_place *at);

/* Calls fn for each traced library, where a process has mapped it now. */
void library_places_each(const struct code_files *files, pid_t pid, library_place_fn *fn,
			 void *ctx);

#endif
