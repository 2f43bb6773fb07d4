/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The probes that each recorded process has of its own, by process and file. The kernel runs their programs for that process only, and
 * puts breakpoints into no other one. They outlive execve, for the kernel goes by the process and not by what it executes; they go
 * when the process ends. A forked process has its parent's breakpoints, but not its links: it gets its own.
 */
#ifndef POV_RECORD_PROBES_PROCESS_LINKS_H
#define POV_RECORD_PROBES_PROCESS_LINKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/probes/links.h"
#include "lib/map.h"

struct code_file;
struct helper;
struct known_files;
struct leftover_probes;

/* The probes of one process in one file. */
struct link_set {
	struct code_file *file;
	uint64_t start, end; /* where the process maps the file; or … */
	char *path;	     /* … its path there, of a loader that a process asked for; owned */
	uint64_t forked_ns; /* when the process was forked, if nobody has reported its missing calls; or 0 */
	uint64_t ready_ns; /* when the probes were in; 0: not yet */
	size_t covered;	   /* so many of the file's sites have been attached */
	struct links links;
};

struct process_links {
	bool each;   /* processes have probes of their own; false: nothing below does anything */
	size_t many; /* targets, if all that will be are known; 0: not known */
	size_t many_min; /* from so many on a file that nobody else maps gets one set of probes for all */
	/* A process records the calls itself that SITE_LEFT is about. */
	bool (*is_served)(void *ctx, pid_t pid);
	struct map
		others; /* files that processes map which are not recorded, by process_links_file_key */
	struct helper *helper;
	struct known_files *files;
	struct leftover_probes *leftover;
	/* A process could have run a file's functions without probes, from ts_ns on for late_ns. */
	void (*late)(void *ctx, pid_t pid, const struct code_file *f, uint64_t ts_ns,
		     uint64_t late_ns);
	void *ctx;
	struct map by_pid; /* struct process_sets */
};

uint64_t process_links_file_key(uint64_t dev, uint64_t ino);

/* Whether a process that maps the file is to get probes which it does not have. */
bool process_links_lack(const struct process_links *pl, pid_t pid, const struct code_file *f);
/*
 * Has it given them. request: an object with its pid, and start and end of the mapping; it is taken over, and comes back with
 * process_links_reply.
 */
void process_links_ask(struct process_links *pl, struct code_file *f, json_t *request);
/* Has it given those of functions, by row of the table, that it was to record itself. */
void process_links_ask_rows(struct process_links *pl, struct code_file *f, json_t *request,
			    json_t *rows);
/* For helper_known_fn: true if the request has become needless; otherwise it is completed. */
bool process_links_known(struct process_links *pl, json_t *request);
/* Takes over links, and returns the file; NULL: it is unknown. */
struct code_file *process_links_reply(struct process_links *pl, const json_t *request,
				      const json_t *reply, struct links *links);

/* The process maps a file at another place by now, if it has probes in it. */
void process_links_move(struct process_links *pl, pid_t pid, const struct code_file *f,
			uint64_t start, uint64_t end);
void process_links_fork(struct process_links *pl, pid_t parent, pid_t child, uint64_t ts_ns);
void process_links_exec(struct process_links *pl, pid_t pid);
/* It has been forked, and waits for its own probes before it goes on. */
void process_links_waits(struct process_links *pl, pid_t pid);
/* Its first thread has ended, and others have not: the links go with the next execve. */
void process_links_orphan(struct process_links *pl, pid_t pid);
void process_links_exit(struct process_links *pl, pid_t pid);
/* It has made a traced call, or more. */
void process_links_call(struct process_links *pl, pid_t pid);

/* NULL if there is none. Borrowed until the next change. */
struct link_set *process_links_find(const struct process_links *pl, pid_t pid,
				    const struct code_file *f);
/* fn is called for each set; it may not add or drop any. */
void process_links_each(const struct process_links *pl,
			void (*fn)(void *ctx, pid_t pid, struct link_set *set), void *ctx);
/* Detaches all (links_leave). */
void process_links_leave(struct process_links *pl);
void process_links_release(struct process_links *pl);

#endif
