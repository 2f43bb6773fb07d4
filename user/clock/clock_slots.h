/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The loaded kernel half of the clock, and the slots: the pages of each process whose times are
 * counted. Each process gets a new page. A page is never reused, because the first process may
 * still be mapped by others.
 */
#ifndef POV_CLOCK_CLOCK_SLOTS_H
#define POV_CLOCK_CLOCK_SLOTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/clock.h"
#include "clock/clock.h"

#define SLOT_JOB 128

struct bpf_link;
struct pov_clock; /* of the skeleton */
struct ring_buffer;

enum slot_state { SLOT_FREE, SLOT_READY, SLOT_TAKEN, SLOT_LEFT };

struct slot {
	enum slot_state state;
	int page_fd, section_fd;
	const struct pov_clock_process *page; /* mapped */
	pid_t pid;
	uid_t uid;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	int rank;		   /* -1 */
	char job[SLOT_JOB];
	char command[32];
	unsigned int looked; /* number of times its identity was read */
	bool named;	     /* selected by the user, or the user's command */
};

struct core_group {
	int fd; /* array of struct pov_clock_core, one per CPU */
	uid_t uid;
	char job[SLOT_JOB];
};

struct clock_slots {
	struct pov_clock *skel;
	struct bpf_link *link[8];
	int link_cnt, adopt_fd;
	struct ring_buffer *news;
	unsigned int cpus;
	struct slot slot[POV_CLOCK_SLOTS];
	unsigned int ready; /* slots waiting for a process */
	unsigned int end;   /* end of the slots ever used */
	struct core_group *group;
	unsigned int group_cnt;
	bool keep; /* keep the slots of ended ranks and of named processes */
};

/* Loads and attaches. 0 or -errno (printed). Call clock_slots_release() in any case. */
int clock_slots_init(struct clock_slots *s, bool cost);
void clock_slots_release(struct clock_slots *s);

/* A descriptor to poll; when it is readable, call clock_slots_news(). */
int clock_slots_fd(const struct clock_slots *s);
void clock_slots_news(struct clock_slots *s);
/*
 * Call every quarter of a second: reads missing names, ranks and owners, and signals that the
 * server is alive.
 */
void clock_slots_tend(struct clock_slots *s);

/* The slot of a running process with all its threads; a new one if it has none. Index or -errno. */
int clock_slots_adopt(struct clock_slots *s, pid_t pid);
int clock_slots_find(const struct clock_slots *s, pid_t pid); /* -ESRCH */
/*
 * Starts counting the process's sections, together with those of its user's other processes of the
 * same job. 0 or -errno. *group_fd is borrowed.
 */
int clock_slots_section(struct clock_slots *s, int idx, int *group_fd);
/*
 * Fills in rows of all processes ever seen; needs room for s->end rows. Returns the number of rows.
 */
size_t clock_slots_rows(const struct clock_slots *s, struct clock_row *rows);

#endif
