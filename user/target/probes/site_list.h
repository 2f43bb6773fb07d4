/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The places of one file that get probes. Where probes are put into all processes, that is done as soon as the places are chosen.
 * Where each process gets its own, a list of them is kept with the file, and attached for one process after the other.
 */
#ifndef POV_TARGET_PROBES_SITE_LIST_H
#define POV_TARGET_PROBES_SITE_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "target/helper/inspect.h"

/* Which programs run there. */
enum site_kind {
	SITE_CALL = 0,
	SITE_NOTE = 1,
	SITE_REGION = 2,
	SITE_LOADER = 3,
	SITE_EXEC = 4,
	SITE_HANDOVER = 5,
	SITE_LEFT = 6,	       /* a call's, for processes that do not record it themselves */
	SITE_ASKED_LOADER = 7, /* a loader's, of processes that ask for it */
	SITE_KINDS
};

/*
 * Attaches as links_attach, or adds to out->sites if opt->each. The number attached or added; in the latter case nothing fails
 * until a process gets them.
 */
size_t site_list_put(const struct inspect_options *opt, enum site_kind kind, const char *path,
		     struct link_site *sites, size_t cnt, struct inspected *out, int *err);

/* Of a file's sites. */
struct site_choice {
	size_t from; /* number of the first one */
	bool loader; /* those of SITE_ASKED_LOADER, too */
	bool unwinds; /* functions get probes on their return instructions instead of return probes */
	bool left;    /* those of SITE_LEFT, too; … */
	const json_t *rows; /* … only those, of functions by row of the table; or NULL */
};

/*
 * Attaches sites in one process, or in all if pid is 0. failed: names of functions that could not
 * be had are appended. 0, or errno of the last failure; ESRCH: the process has ended.
 */
int site_list_attach(const struct inspect_options *opt, const json_t *sites,
		     const struct site_choice *choice, pid_t pid, const char *path,
		     struct links *links, json_t *failed);
/*
 * The cookie of the entry of a function in [from, to) of the file, among those whose calls are recorded. False: none.
 */
bool site_list_function(const json_t *sites, uint64_t from, uint64_t to, uint64_t *cookie);
/* Adds how many every process gets, and how many are of SITE_LEFT. */
void site_list_count(const json_t *sites, size_t *own, size_t *left);

#endif
