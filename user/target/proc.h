/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What /proc tells about a process: what it maps, who it is in its MPI job, its family. Everything is
 * a snapshot; a process that is gone is -ESRCH or -ENOENT and no reason for a message.
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
	uint32_t dev; /* kernel's coding: major << 20 | minor */
	char *path;   /* as the process sees it */
};

struct proc_maps {
	struct proc_map *map; /* in address order */
	size_t cnt;
};

int proc_maps_read(pid_t pid, struct proc_maps *out);
void proc_maps_release(struct proc_maps *maps);
/*
 * Whether MPI functions of the process begin with jumps to what records them there (user/preload/hook.c), now or in a recording that
 * has ended. A breakpoint among these would end it.
 */
bool proc_is_hooked(pid_t pid);
/* A value that the kernel gave a program on its way (AT_… of <elf.h>). 0 or -errno. */
int proc_auxv_get(pid_t pid, uint64_t type, uint64_t *value);

/* Place of a process in its MPI job. */
struct proc_rank {
	int rank, size; /* -1 = not known */
	const char *
		launcher; /* "openmpi", "hydra", "slurm", "pmix", "mvapich2", "singleton"; "" = not known */
	char job[128]; /* the launcher's own name for it, or the launcher's process and start */
};
/*
 * From the environment that a launcher gave it, of those that start an MPI of that flavour ("openmpi", "mpich"; NULL: any): a hint, for
 * variables may be left over. other: what a launcher of another MPI gave it, rank -1 if none did; may be NULL.
 */
int proc_rank_read(pid_t pid, const char *flavour, struct proc_rank *out, struct proc_rank *other);
/*
 * By what MPI itself says of it where the environment does not fit: its job is that of other processes of the same launcher with the same
 * size, if these have one; of size 1 it is a job of its own.
 */
void proc_rank_of(pid_t pid, const char *flavour, int rank, int size, struct proc_rank *out);

/*
 * What the library told a process that MPI_Comm_spawn has started of the root of that call, by the environment. rank: in MPI_COMM_WORLD
 * of the job of that name; -1 and "" if it was told nothing. False: it was started otherwise.
 */
bool proc_spawned_by(pid_t pid, struct proc_rank *root);
pid_t proc_parent(pid_t pid); /* 0 if unknown */
/* It was forked and has not executed a program since: what it has in memory it has from its parent. */
bool proc_is_fork(pid_t pid);
bool proc_alive(pid_t pid);
/* A thread of the process by the number that it has in its own pid namespace; 0: there is none. */
pid_t proc_thread_find(pid_t pid, pid_t own);
/* Its threads' numbers; how many were written, at most max. */
size_t proc_threads(pid_t pid, pid_t *tid, size_t max);
/* Whether its CLOCK_MONOTONIC is ours: a time namespace may have another one. */
bool proc_same_clock(pid_t pid);
/* exe, cmdline, uid, ppid as members of a new JSON object; the caller owns it. */
json_t *proc_describe(pid_t pid);
/* Where the process's standard output leads: "pipe", "terminal", "file"; NULL: elsewhere, or unknown. */
const char *proc_stdout(pid_t pid);
/* All processes; calls fn for each with its parent. */
int proc_for_each(int (*fn)(void *ctx, pid_t pid, pid_t parent), void *ctx);

#endif
