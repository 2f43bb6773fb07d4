/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Each recorded process's own probes, by process and file. The kernel runs their programs only for
 * this process, and puts breakpoints into no other one. The probes survive execve, because the
 * kernel binds them to the process and not to the program; they are removed when the process ends.
 * A forked process has its parent's breakpoints but not its links, so it gets its own.
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
	pid_t pid;
	struct code_file *file;
	uint64_t id;	     /* requests name it: a set may be made anew after execve */
	uint64_t start, end; /* where the process maps the file */
	/* for a loader in which a process asked for a probe: its path in the process; owned */
	char *path;
	/* when the process was forked, until its missing calls are reported; else 0 */
	uint64_t forked_ns;
	uint64_t ready_ns; /* when the probes were attached; 0: not yet */
	size_t covered;	   /* number of the file's sites that have probes */
	struct map rows;   /* by row + 1: functions requested by process_links_ask_rows */
	bool stays;	   /* an exchange of its links has failed, and no other is tried */
	struct links links;
};

struct process_links {
	bool each;   /* processes have their own probes; false: the functions below do nothing */
	size_t many; /* number of targets if all are known; 0: unknown */
	/* from this many targets on, a file that only targets map gets one set of probes for all */
	size_t many_min;
	/* Returns true if a process itself records the functions of SITE_LEFT. */
	bool (*is_served)(void *ctx, pid_t pid);
	/* files mapped by unrecorded processes, by process_links_file_key */
	struct map others;
	struct helper *helper;
	struct known_files *files;
	struct leftover_probes *leftover;
	/*
	 * Reports that a process could run a file's functions without probes for late_ns from ts_ns
	 * on.
	 */
	void (*late)(void *ctx, pid_t pid, const struct code_file *f, uint64_t ts_ns,
		     uint64_t late_ns);
	void *ctx;
	struct map by_pid; /* struct process_sets */
	/* sets and links of ended processes that are not released yet; owned */
	struct process_sets **ended;
	size_t ended_cnt;
	struct links ended_links;
	size_t orphans;	     /* processes with probes whose main thread has ended before others */
	uint64_t closing_ns; /* when the last closing of links began; 0: never */
	const bool *gone;    /* by row: functions that get no probes any more; NULL: none */
	uint64_t *exchanges; /* the kernel half's, for process_links_detach */
	/* requests for probes of forked processes, oldest first; owned */
	struct delayed_request *delayed;
	size_t delayed_cnt;
	uint64_t last_id; /* of struct link_set */
	/* libraries in processes that got no probes, and processes that lost theirs */
	uint64_t unprobed;
};

uint64_t process_links_file_key(uint64_t dev, uint64_t ino);

/* Returns true if a process that maps the file needs probes that it does not have. */
bool process_links_lack(const struct process_links *pl, pid_t pid, const struct code_file *f);
/*
 * Requests the probes that a process lacks in a file. request is an object with the process's pid,
 * and start and end of the mapping. It is taken over and comes back in process_links_reply.
 */
void process_links_ask(struct process_links *pl, struct code_file *f, json_t *request);
/*
 * Requests probes for functions, by row of the table, that the process should have recorded itself.
 * A probe is in all copies of the file that the process maps, so each is requested once. Returns
 * the number of those that were not requested before. If it is 0, the request is dropped.
 */
size_t process_links_ask_rows(struct process_links *pl, struct code_file *f, json_t *request,
			      const uint16_t *row, size_t cnt);
/* For helper_known_fn. Returns true if the request is no longer needed; else updates `from`. */
bool process_links_known(struct process_links *pl, json_t *request);
/* Takes over links, and returns the file, or NULL if it is unknown. */
struct code_file *process_links_reply(struct process_links *pl, const json_t *request,
				      const json_t *reply, struct links *links);

/*
 * Detaches functions that were added to `gone`. Adds probes of only such functions to closing.
 * Other probes are closed later, when a link for their remaining functions has taken their place.
 */
void process_links_detach(struct process_links *pl, struct perf_probes *closing);

/* ---- process_sets.c ---- */

/* The process now maps a file at another place. No-op without probes in it. */
void process_links_move(struct process_links *pl, pid_t pid, const struct code_file *f,
			uint64_t start, uint64_t end);
/* brief: the child will hardly call a library before it executes another program or ends. */
void process_links_fork(struct process_links *pl, pid_t parent, pid_t child, bool brief,
			uint64_t ts_ns);
/* Requests the probes of brief children that still run after a while. */
void process_links_poll(struct process_links *pl, uint64_t now_ns);
void process_links_exec(struct process_links *pl, pid_t pid);
/* A forked process waits for its own probes before it continues. */
void process_links_waits(struct process_links *pl, pid_t pid);
/*
 * The main thread has ended, but others have not. The next execve removes the links. The kernel
 * finds a process's memory by its main thread (uprobe_multi_link_filter). So whenever it closes a
 * link of another process, it removes the breakpoints of that link's sites from this process, too.
 * As long as there is such a process (an orphan), no link is closed or exchanged. If its main
 * thread ended while links were being closed, it counts as unprobed.
 */
void process_links_orphan(struct process_links *pl, pid_t pid, uint64_t ts_ns);
/* Call this before links are closed. Orphans that lose breakpoints by it count as unprobed. */
void process_links_before_close(struct process_links *pl);
/* The process ended at end_ns. */
void process_links_exit(struct process_links *pl, pid_t pid, uint64_t end_ns);
/* The process has made at least one traced call. */
void process_links_call(struct process_links *pl, pid_t pid);

/* Calls fn for each set. fn may not add or drop sets. */
void process_links_each(const struct process_links *pl, void (*fn)(void *ctx, struct link_set *set),
			void *ctx);
/* Detaches all probes (links_leave). */
void process_links_leave(struct process_links *pl);
void process_links_release(struct process_links *pl);

/* Finds a process's set for a file, borrowed until the next change. NULL: none. */
struct link_set *link_set_find(const struct process_links *pl, pid_t pid,
			       const struct code_file *f);
struct link_set *link_set_make(struct process_links *pl, pid_t pid, struct code_file *f);
/* Drops a set that has no probes and will not get any. */
void link_set_drop(struct process_links *pl, struct link_set *set);
/*
 * Takes over links for a process that belong to none of its sets. Releases them now, or with those
 * of ended processes if it has ended or if there is an orphan.
 */
void links_end(struct process_links *pl, pid_t pid, struct links *links);
/* Begins a request for the set's probes, for process_links_ask. */
json_t *link_set_request(const struct link_set *set);

#endif
