/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The processes that map traced libraries: their identity, and where they map which library. The
 * trace describes a process by a meta object "process" when it maps its first library and when it
 * maps another one. It describes the process again when that initialises MPI and so becomes a rank.
 */
#ifndef POV_RECORD_LIBRARY_USERS_H
#define POV_RECORD_LIBRARY_USERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/map.h"
#include "record/host/cgroup_limits.h"

struct code_file;
struct helper;
struct pov_exit;
struct pov_fork;
struct pov_task;
struct trace_writer;

struct library_users {
	struct helper *helper;	     /* borrowed */
	struct trace_writer *writer; /* borrowed */
	struct map processes;	     /* pid → struct process */
	struct cgroup_limits limits;
	struct map rank_of; /* pid → world rank + 1; keeps processes that have ended */
	uint32_t rank_cnt;  /* number of described processes that have initialised MPI */
};

void library_users_release(struct library_users *u);
bool library_users_have(const struct library_users *u, pid_t pid);
/*
 * Returns true if this process, or the one that forked it, may have initialised MPI before its
 * calls were recorded.
 */
bool library_users_may_begin(const struct library_users *u, pid_t pid);
/* World rank of a process, also of one that has ended; -1 if unknown. */
int library_users_rank(const struct library_users *u, pid_t pid);

/*
 * Notes that a process has mapped a file since a time in ns. True if the file is a traced library
 * that this process was not known to map.
 */
bool library_users_map(struct library_users *u, pid_t pid, const struct code_file *file,
		       uint64_t start, uint64_t off, uint64_t since_ns);
/*
 * Has the helper read a process's identity (request "process"); library_users_reply writes the
 * answer. No-op for unknown processes.
 */
void library_users_describe(struct library_users *u, pid_t pid);
void library_users_reply(struct library_users *u, const json_t *request, const json_t *reply);
/* The process ran before it had probes, and may have initialised MPI then. */
void library_users_ran(struct library_users *u, pid_t pid);
/*
 * The process has called a function that initialises MPI, or has returned from one, at a time in
 * ns. Describes it again. asked: the process waits for that (member of the request "process").
 * False if the process is unknown.
 */
bool library_users_init(struct library_users *u, pid_t pid, uint64_t ts_ns, bool asked);

/*
 * Events of the kernel half follow. A forked process maps the same files as its parent, and is
 * described if it ever calls MPI.
 */
void library_users_fork(struct library_users *u, const struct pov_fork *r);
/* The process has executed another program; its old mappings are gone. */
void library_users_exec(struct library_users *u, pid_t pid);
void library_users_rename(struct library_users *u, const struct pov_task *r);
/* A thread of the process has made its first traced call. False if the process is unknown. */
bool library_users_call(struct library_users *u, pid_t pid);
void library_users_exit(struct library_users *u, const struct pov_exit *r);

#endif
