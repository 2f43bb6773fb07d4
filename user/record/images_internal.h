/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* State that images.c, images_replies.c and images_scan.c share. */
#ifndef POV_RECORD_IMAGES_INTERNAL_H
#define POV_RECORD_IMAGES_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/map.h"
#include "record/images.h"
#include "record/known_files.h"
#include "record/probes/bindings.h"
#include "record/probes/process_links.h"
#include "record/host/cgroup_limits.h"
#include "target/helper/helper.h"

/* ---- library_users.c ---- */

/*
 * The processes that map traced libraries: their identity, and where they map which library. The
 * trace describes a process by a meta object "process" when it maps its first library and when it
 * maps another one. It describes the process again when that initialises MPI and so becomes a rank.
 */

struct code_file;
struct pov_exit;
struct pov_fork;
struct pov_task;

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
 * Notes that a process has mapped a file at since_ns. True if the file is a traced library that
 * this process was not known to map.
 */
bool library_users_map(struct library_users *u, pid_t pid, const struct code_file *file,
		       uint64_t start, uint64_t off, uint64_t since_ns);
/*
 * Has the helper read a process's identity (request "process"); library_users_reply writes the
 * answer. No-op for unknown processes.
 */
void library_users_describe(struct library_users *u, pid_t pid);
void library_users_reply(struct library_users *u, const json_t *request, const json_t *reply);
/* Notes that the process ran before it had probes, and so may have initialised MPI unseen. */
void library_users_ran(struct library_users *u, pid_t pid);
/*
 * Call this when a process has called a function that initialises MPI, or has returned from one, at
 * ts_ns. Has the helper read its identity again. asked: the process waits for the result. False if
 * the process is unknown.
 */
bool library_users_init(struct library_users *u, pid_t pid, uint64_t ts_ns, bool asked);

/*
 * The functions below handle events of the kernel half. A forked process maps the same files as its
 * parent, and is described once it calls MPI.
 */
void library_users_fork(struct library_users *u, const struct pov_fork *r);
/* The process has executed another program; its old mappings are gone. */
void library_users_exec(struct library_users *u, pid_t pid);
void library_users_rename(struct library_users *u, const struct pov_task *r);
/* A thread of the process has made its first traced call. False if the process is unknown. */
bool library_users_call(struct library_users *u, pid_t pid);
void library_users_exit(struct library_users *u, const struct pov_exit *r);

/* ---- images ---- */

/*
 * Open questions of processes. The kernel half lets a process continue when none of its questions
 * is open.
 */
struct questions {
	/* BPF map: process → time of its last answered question; borrowed */
	int answered_fd;
	struct map askers; /* process → its open questions */
};

struct images {
	bool unwinds; /* for inspect_options of helpers that are started later */
	struct kernel *kernel;
	struct trace_writer *writer;
	void (*record)(void *ctx, const struct pov_hdr *rec);
	void *record_ctx;
	struct inspect_options inspect;
	struct helper *helper;
	struct known_files known;
	struct library_users users;
	/* hash of device and inode number → file, for processes that ran before */
	struct map scanned;
	struct questions questions;
	struct process_links links;
	struct bindings bindings;
	bool waits;	    /* as in images_wanted */
	uint32_t late_cnt;  /* processes whose probes were late */
	uint32_t large_cnt; /* processes whose memory was not searched completely */
	uint32_t taken_cnt; /* processes that another recorder records */
};

/* ---- images.c ---- */

/* ts_ns is the time of the question; 0: the kernel half did not ask it. */
void questions_open(struct questions *q, pid_t pid, uint64_t ts_ns);
/* Closes one question of a process. No-op if none is open. */
void questions_close(struct questions *q, pid_t pid);

/* ---- images_replies.c; ctx is the struct images ---- */

/* Handles a reply of the helper (helper_reply_fn). */
void images_reply(void *ctx, const json_t *request, const json_t *reply, struct links *links);
/*
 * Answers a request without the helper if another process has already got an answer about this file
 * (helper_known_fn).
 */
bool images_request_known(void *ctx, json_t *request);
/*
 * Returns true if the process has loaded the library that records its calls or makes it wait, and
 * has not reported that it cannot reach us.
 */
bool images_is_served(void *ctx, pid_t pid);
/* Warns, and writes to the trace, that probes were not in a mapped file for late_ns. */
void images_late_note(void *ctx, pid_t pid, const struct code_file *f, uint64_t ts_ns,
		      uint64_t late_ns);
/*
 * Notes that a process has loaded the preload library f. If f was known when it was mapped, the
 * kernel half has noted this already.
 */
void images_loaded_note(const struct images *im, uint32_t pid, const struct code_file *f);
/*
 * Describes the process, unless the file is its main program: during execve a process has no
 * environment yet, and library_users_exec describes it later. mapped_ns is 0 if the process had
 * mapped the file before the recording began; else the process may be late (images_late_note).
 */
void images_process_mapped(struct images *im, pid_t pid, const struct code_file *file,
			   uint64_t mapped_ns);
/*
 * Attaches the probes that a process lacks in its mapped files. Its waiting threads wait for these
 * probes, too.
 */
void images_libraries_probe(struct images *im, pid_t pid);

#endif
