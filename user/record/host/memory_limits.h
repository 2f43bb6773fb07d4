/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The control groups that ranks are in, and how many processes of them the kernel killed for lack of memory in the recording. */
#ifndef POV_RECORD_HOST_MEMORY_LIMITS_H
#define POV_RECORD_HOST_MEMORY_LIMITS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct trace_writer;

struct memory_limit {
	char *dir;	  /* of its group; owned */
	const char *name; /* the group's, in dir */
	uint64_t bytes;	  /* the smallest limit of it and of those above; 0: none */
	json_t *pids;	  /* the ranks in it; owned */
	uint64_t first_kills, kills;
	uint64_t from_ns, to_ns; /* when these were read */
};

/* Zeroed to begin with. */
struct memory_limits {
	struct memory_limit *limit; /* owned */
	size_t cnt;
	char *mountinfo; /* of this process, read once; owned */
};

/* A rank begins, or is met. One that is gone is not looked at again. */
void memory_limits_add(struct memory_limits *l, pid_t pid);
/* Reads the counts again. */
void memory_limits_read(struct memory_limits *l, uint64_t now_ns);
/* One meta object "memory_limit" for each group in which a process was killed. */
void memory_limits_write(const struct memory_limits *l, struct trace_writer *w);
void memory_limits_release(struct memory_limits *l);
/* Bytes that this process might have: what the host has available, and no more than its own groups' limits. 0: not to be seen. */
uint64_t memory_available(void);

#endif
