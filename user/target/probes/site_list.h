/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The places of one file that get probes. If probes go into all processes, they are attached as
 * soon as the places are chosen. If each process gets its own, the file keeps a list of places,
 * which is attached for one process after another.
 */
#ifndef POV_TARGET_PROBES_SITE_LIST_H
#define POV_TARGET_PROBES_SITE_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/helper/inspect.h"

struct site_code;

/*
 * Opens a process's code to compare it with the file that it maps. file: that file; borrowed. NULL:
 * the process's memory cannot be read.
 */
struct site_code *site_code_open(pid_t pid, int file);
void site_code_close(struct site_code *c); /* NULL is allowed */

/* Tells which programs run at a site. */
enum site_kind {
	SITE_CALL = 0,
	SITE_NOTE = 1,
	SITE_REGION = 2,
	SITE_LOADER = 3,
	SITE_EXEC = 4,
	SITE_HANDOVER = 5,
	SITE_LEFT = 6,	       /* a call, for processes that do not record it themselves */
	SITE_ASKED_LOADER = 7, /* a loader's function, for processes that ask for it */
	SITE_KINDS
};

/*
 * Attaches like links_attach, or adds to out->sites if opt->each. Returns the number attached or
 * added; in the latter case failures show only when a process gets its probes.
 */
size_t site_list_put(const struct inspect_options *opt, enum site_kind kind, const char *path,
		     struct link_site *sites, size_t cnt, struct inspected *out, int *err);

/* Which of a file's sites to attach. */
struct site_choice {
	size_t from;		/* index of the first site */
	bool loader;		/* include those of SITE_ASKED_LOADER */
	bool unwinds;		/* use probes on return instructions instead of return probes */
	bool left;		/* include those of SITE_LEFT */
	const json_t *sites;	/* only these, by index; or NULL */
	const json_t *rows;	/* only those of SITE_LEFT of these rows; or NULL */
	const json_t *rows_too; /* include those of SITE_LEFT of these rows; or NULL */
	const json_t *without;	/* leave out removable ones of these rows; or NULL */
	bool library;		/* the file is a library of a recorded layer */
	const struct site_code *code; /* leave out sites whose code was changed; or NULL */
};

/*
 * Attaches sites in one process, or in all if pid is 0. Appends the names of functions that could
 * not be probed to failed. 0, or errno of the last failure; ESRCH: the process has ended; EUCLEAN:
 * something else has changed the code of sites.
 */
int site_list_attach(const struct inspect_options *opt, const json_t *sites,
		     const struct site_choice *choice, pid_t pid, const char *path,
		     struct links *links, json_t *failed);
/* Finds the cookie of the entry of a recorded function in [from, to) of the file. False: none. */
bool site_list_function(const json_t *sites, uint64_t from, uint64_t to, uint64_t *cookie);
/* Adds to *own the number of sites for all processes, and to *left that of SITE_LEFT. */
void site_list_count(const json_t *sites, size_t *own, size_t *left);

#endif
