/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads about processes in /proc: mappings, place in an MPI job, relatives. Everything is a
 * snapshot. A process that is gone gives -ESRCH or -ENOENT, without a message.
 */
#ifndef POV_TARGET_PROC_H
#define POV_TARGET_PROC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_map { /* an executable mapping of a file */
	uint64_t start, end, off;
	uint64_t ino;
	uint32_t dev; /* in the kernel's encoding: major << 20 | minor */
	char *path;   /* as the process sees it */
};

struct proc_maps {
	struct proc_map *map; /* in address order */
	size_t cnt;
};

int proc_maps_read(pid_t pid, struct proc_maps *out);
void proc_maps_release(struct proc_maps *maps);
/*
 * Returns true if the process has povtrace's library: then functions of its loader and its C
 * library begin with jumps (user/preload/begin.c). A breakpoint in them would kill the process.
 */
bool proc_is_launched(pid_t pid);
/*
 * Returns true if MPI functions of the process begin with jumps to the code that records them
 * (user/preload/hook.c), in this recording or in one that has ended. A breakpoint in them would
 * kill the process.
 */
bool proc_is_hooked(pid_t pid);
/* Reads a value of the program's auxiliary vector (AT_… of <elf.h>). 0 or -errno. */
int proc_auxv_get(pid_t pid, uint64_t type, uint64_t *value);

/* Place of a process in its MPI job. */
struct proc_rank {
	int rank, size; /* -1: unknown */
	/* "openmpi", "hydra", "slurm", "pmix", "mvapich2", "singleton"; "": unknown */
	const char *launcher;
	/* the launcher's name for the job, or the launcher's process and start time */
	char job[128];
};
/*
 * Reads the place from the environment that a launcher of this MPI flavour ("openmpi", "mpich";
 * NULL: any) has set. It is a hint, because variables may be inherited. other receives what a
 * launcher of another MPI has set, rank -1 if none has; it may be NULL.
 */
int proc_rank_read(pid_t pid, const char *flavour, struct proc_rank *out, struct proc_rank *other);
/*
 * Finds the job of a process that got rank and size from MPI itself, if its environment does not
 * name it. It is the job of the launcher's other processes with this size, if they all have the
 * same. A process with size 1 is a job of its own.
 */
void proc_rank_of(pid_t pid, const char *flavour, int rank, int size, struct proc_rank *out);

/*
 * Finds the process that was the root of the MPI_Comm_spawn call that started pid, from what the
 * library set in pid's environment. root->rank is the rank in the MPI_COMM_WORLD of job root->job;
 * -1 and "" if the library set nothing. False: pid was started in another way.
 */
bool proc_spawned_by(pid_t pid, struct proc_rank *root);
pid_t proc_parent(pid_t pid); /* 0 if unknown */
/*
 * Returns true if the process was forked and has not executed a program since: its memory is a copy
 * of its parent's.
 */
bool proc_is_fork(pid_t pid);
bool proc_alive(pid_t pid); /* true as long as any of its threads lives */
/* Returns the process to which thread tid belongs; tid if there is no such thread. */
pid_t proc_process_of(pid_t tid);
/*
 * Returns the number under which /proc shows the memory, files and environment of a process: its
 * own, or, after the end of its first thread, that of another thread.
 */
pid_t proc_memory_of(pid_t pid);
/* Lists the threads' numbers, at most max, and returns how many. */
size_t proc_threads(pid_t pid, pid_t *tid, size_t max);
/*
 * Returns true if the process shares our namespace of that kind: "time" (others may have another
 * CLOCK_MONOTONIC) or "pid" (others number processes in their own way).
 */
bool proc_same_namespace(pid_t pid, const char *kind);
/* Returns a new JSON object with exe, cmdline, uid and ppid; the caller owns it. */
json_t *proc_describe(pid_t pid);
/*
 * Returns where the standard output leads: "pipe", "terminal" or "file"; NULL: elsewhere or
 * unknown.
 */
const char *proc_stdout(pid_t pid);
/* Calls fn for each process with its parent. */
int proc_for_each(int (*fn)(void *ctx, pid_t pid, pid_t parent), void *ctx);

/*
 * Settings of a rank: the variables of its initial environment that configure an MPI library, the
 * layers below it, or its threads. Other variables are none of our business and may be secrets.
 */
#define SETTINGS_MAX 256	       /* variables per rank; the rest is left out and counted */
#define SETTING_VALUE_BYTES_MAX 1024   /* longest value */
#define SETTINGS_BYTES_MAX (16u << 10) /* all values of a rank; the rest is left out and counted */

/*
 * Returns NAME → value, sorted by name; the caller owns it. *left_out is the number of variables
 * left out. NULL: they cannot be read.
 */
json_t *proc_settings_read(pid_t pid, unsigned int *left_out);
/* Does the same for an environment of len bytes: NAME=value, each ended by a zero byte. */
json_t *proc_settings_of(const char *env, size_t len, unsigned int *left_out);

#endif
