/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the helper process has found in code files: the trace's meta objects "library" and "image", what the kernel half
 * needs to know, the probes, and what is said of them.
 */
#ifndef POV_RECORD_KNOWN_FILES_H
#define POV_RECORD_KNOWN_FILES_H

#include <jansson.h>
#include <stdint.h>

#include "target/code_file.h"
#include "target/probes/links.h"

struct leftover_probes;
struct trace_writer;

struct known_files {
	struct trace_writer *writer; /* borrowed */
	int files_fd; /* map of the kernel half: code_id → enum pov_file_state; borrowed */
	struct code_files files;
	struct links waits; /* probes in loaders and C libraries, and of regions */
	bool left;	    /* known_files_leave */
	json_t *regions; /* names of those that some file has, probed or not; NULL: none; owned */
};

/* A "file" reply of the helper (target/helper/helper.h); takes over links. */
void known_files_reply(struct known_files *k, const json_t *file, struct links *links);
/* An "added" reply: more probes of a library that is known already; takes over links. */
void known_files_more(struct known_files *k, const json_t *added, struct links *links);
/* Makes a file known by an id, too, here and in the kernel half, which no longer has processes wait for it. */
void known_files_name(struct known_files *k, const struct code_id *id, struct code_file *f);
/* The kernel half's part of that. */
void known_files_state(struct known_files *k, const struct code_id *id, const struct code_file *f);
/* A file that the helper could not tell anything about: warns, and makes it known under its number. */
struct code_file *known_files_failed(struct known_files *k, const struct code_id *id,
				     const char *why);
/* Writes which file an id of the kernel half's stands for, once. */
void known_files_describe(struct known_files *k, const struct code_id *id, struct code_file *f);

bool known_files_have_region(const struct known_files *k, const char *name);
uint64_t known_files_probes(const struct known_files *k); /* attached in all libraries */
/* All processes got the probes of a file, which no other ones map; takes over links. */
void known_files_widen(struct known_files *k, struct code_file *f, struct links *links);
/* Some of a file's probes were refused: says so, once for each file. failed: names of functions. */
void known_files_refused(struct known_files *k, struct code_file *f, const json_t *failed,
			 const char *why);
/* Detaches all probes (links_leave); the first time says what was told of by number only. */
void known_files_leave(struct known_files *k, struct leftover_probes *leftover);
void known_files_release(struct known_files *k);

#endif
