/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Code files as the helper process has described them. Writes the trace's meta objects "library"
 * and "image", informs the kernel half, keeps the probes, and prints messages about the files.
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
	int files_fd;		     /* BPF map: code_id → enum pov_file_state; borrowed */
	/* all processes have the waiting probe in a loader that only recorded ones map */
	bool loader_is_wide;
	struct code_files files;
	struct links waits; /* probes in loaders and C libraries, and of regions */
	bool left;	    /* known_files_leave was called */
	json_t *regions; /* names of regions that some file has, probed or not; NULL: none; owned */
};

/* Handles a "file" reply of the helper (target/helper/helper.h). Takes over links. */
void known_files_reply(struct known_files *k, const json_t *file, struct links *links);
/* Handles an "added" reply: more probes of a known library. Takes over links. */
void known_files_more(struct known_files *k, const json_t *added, struct links *links);
/*
 * Registers an additional id for a file, here and in the kernel half, which then no longer makes
 * processes wait for it.
 */
void known_files_name(struct known_files *k, const struct code_id *id, struct code_file *f);
/* Does only the kernel half's part of known_files_name. */
void known_files_state(struct known_files *k, const struct code_id *id, const struct code_file *f);
/* Registers a file that the helper could not inspect, under its number, and warns. */
struct code_file *known_files_failed(struct known_files *k, const struct code_id *id,
				     const char *why);
/* Writes, once, which file an id of the kernel half means. */
void known_files_describe(struct known_files *k, const struct code_id *id, struct code_file *f);

bool known_files_have_region(const struct known_files *k, const char *name);
uint64_t known_files_probes(const struct known_files *k); /* number attached in all libraries */
/* Handles the probes of a file that were attached in all processes. Takes over links. */
void known_files_widen(struct known_files *k, struct code_file *f, struct links *links);
/*
 * Warns, once for each file, that some of its probes were refused. failed has the functions' names.
 */
void known_files_refused(struct known_files *k, struct code_file *f, const json_t *failed,
			 const char *why);
/*
 * Detaches all probes (links_leave). The first call also prints a summary of the libraries whose
 * functions were found at run time.
 */
void known_files_leave(struct known_files *k, struct leftover_probes *leftover);
void known_files_release(struct known_files *k);

#endif
