/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Attaches the entry and return programs to a set of sites of one file: by two uprobe_multi links, or by
 * two perf-event uprobes a site where the kernel has no such links. A site that cannot be had is marked and
 * left out; the others are attached all the same. Sites that may have to be given up later have links of their
 * own. What is attached is a set of descriptors, which may be made in one process and held by another.
 */
#ifndef POV_TARGET_PROBES_LINKS_H
#define POV_TARGET_PROBES_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/probes/perf_probe.h"
#include "target/probes/leftover_probes.h"

enum link_api { LINK_MULTI, LINK_PERF };

struct link_site {
	uint64_t offset; /* in the file */
	uint64_t cookie;
	bool alone; /* not in one link with others */
	bool has_returns; /* its return instructions have sites, too, for processes that unwind the stack */
	bool failed; /* set by links_attach */
};

struct links {
	struct perf_probes entry, ret; /* event_fd -1: a uprobe_multi link */
	int file_fd;		       /* > 0: of the file, by which sites can be attached again */
	int hooks_fd; /* > 0: of a file of struct pov_hook: what processes enter by a jump of their own */
};

struct link_programs {
	int entry_fd, ret_fd; /* ret_fd -1: only at entry */
	enum link_api api;
	pid_t pid; /* the process that gets the probes; 0: all processes */
};

/*
 * path: the file, also as /proc/PID/map_files/…; needed only during the call. Sites must be of different
 * offsets; they are put in order, those that are alone last. Returns the number of sites attached; errno of the last
 * failure in *err if some failed; ESRCH: the process has ended.
 */
size_t links_attach(struct links *links, const struct link_programs *programs, const char *path,
		    struct link_site *sites, size_t cnt, int *err);
/* Takes over all that another set holds; the file remains the first one's. */
void links_move(struct links *to, struct links *from);
/* Detaches these, uprobe_multi links side by side, and forgets them. */
void links_close(struct perf_probes *probes);
/* Detaches and forgets all, entries first. Slow with many perf-event uprobes: the kernel waits for each. */
void links_release(struct links *links);
/* The same in a thread of its own; perf-event uprobes are handed over to be closed later. Returns at once. */
void links_release_behind(struct links *links, struct leftover_probes *leftover);
/* Until all that is detached by such threads is: the kernel would close what is left one by one when this process ends. */
void links_wait(void);
/*
 * The same of several at once and in any order, for programs that do nothing any more: the kernel waits for RCU with each
 * uprobe_multi link, so they are closed side by side. Perf-event uprobes are not waited for, but handed over to be closed later.
 */
void links_leave(struct links *const *links, size_t cnt, struct leftover_probes *leftover);

#endif
