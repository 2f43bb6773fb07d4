/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The processes that map traced libraries: which of them, where, and who they are. A process is described in the trace
 * by a meta object "process" when it maps its first one, again when it maps another, and again when it initialises MPI: then it is a rank.
 */
#ifndef POV_RECORD_LIBRARY_USERS_H
#define POV_RECORD_LIBRARY_USERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/map.h"
#include "record/host/cpu_limits.h"
#include "record/host/memory_limits.h"

struct code_file;
struct helper;
struct pov_exit;
struct pov_fork;
struct pov_task;
struct trace_writer;

struct library_users {
	struct helper *helper; /* both borrowed */
	struct trace_writer *writer;
	struct map processes; /* pid → struct process */
	struct cpu_limits limits;
	struct memory_limits memory;
	struct map rank_of; /* pid → world rank + 1, also of processes that have ended */
	uint32_t rank_cnt;  /* processes described so far that have initialised MPI */
};

void library_users_release(struct library_users *u);
bool library_users_have(const struct library_users *u, pid_t pid);
/* Nothing is known that it, or whoever forked it, has initialised MPI before its calls are recorded. */
bool library_users_may_begin(const struct library_users *u, pid_t pid);
/* World rank of a process, also of one that has ended; -1 if unknown. */
int library_users_rank(const struct library_users *u, pid_t pid);

/* Notes that a process maps a file, since a time in ns; true if that is a traced one that was not known of it. */
bool library_users_map(struct library_users *u, pid_t pid, const struct code_file *file,
		       uint64_t start, uint64_t off, uint64_t since_ns);
/* Has the helper read who it is (request "process"), whose answer library_users_reply writes. No-op for others' pids. */
void library_users_describe(struct library_users *u, pid_t pid);
void library_users_reply(struct library_users *u, const json_t *request, const json_t *reply);
/* The process ran already when the recording began. */
void library_users_ran(struct library_users *u, pid_t pid);
/*
 * It calls a function that initialises MPI, or has returned from one, at a time in ns: it is described anew. asked: it waits for that (member of the
 * request "process"). False if nothing is known of the process.
 */
bool library_users_init(struct library_users *u, pid_t pid, uint64_t ts_ns, bool asked);

/* Events of the kernel half. A fork maps what its parent does, and is described if it ever calls MPI. */
void library_users_fork(struct library_users *u, const struct pov_fork *r);
/* Another program now: what it mapped before is gone. */
void library_users_exec(struct library_users *u, pid_t pid);
void library_users_rename(struct library_users *u, const struct pov_task *r);
/* A thread of it makes its first traced call; false if nothing is known of the process. */
bool library_users_call(struct library_users *u, pid_t pid);
void library_users_exit(struct library_users *u, const struct pov_exit *r);

#endif
