/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The loaded kernel half of the clock, and the seats: the pages of each process whose times are
 * counted. Each process gets a new page. A page is never reused, because the first process may
 * still be mapped by others.
 */
#ifndef POV_CLOCK_SEATS_H
#define POV_CLOCK_SEATS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/clock.h"
#include "clock/clock.h"

#define SEAT_JOB 128

struct bpf_link;
struct pov_clock; /* of the skeleton */
struct ring_buffer;

enum seat_state { SEAT_FREE, SEAT_READY, SEAT_TAKEN, SEAT_LEFT };

struct seat {
	enum seat_state state;
	int page_fd, section_fd;
	const struct pov_clock_process *page; /* mapped */
	pid_t pid;
	uid_t uid;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	int rank;		   /* -1 */
	char job[SEAT_JOB];
	char command[32];
	unsigned int looked; /* number of times its identity was read */
	bool named;	     /* selected by the user, or the user's command */
};

struct core_group {
	int fd; /* array of struct pov_clock_core, one per CPU */
	uid_t uid;
	char job[SEAT_JOB];
};

struct seats {
	struct pov_clock *skel;
	struct bpf_link *link[8];
	int link_cnt, adopt_fd;
	struct ring_buffer *news;
	unsigned int cpus;
	struct seat seat[POV_CLOCK_SEATS];
	unsigned int ready; /* seats waiting for a process */
	unsigned int end;   /* end of the seats ever used */
	struct core_group *group;
	unsigned int group_cnt;
	bool keep; /* keep the seats of ended ranks and of named processes */
};

/* Loads and attaches. 0 or -errno (printed). Call seats_release() in any case. */
int seats_init(struct seats *s, bool cost);
void seats_release(struct seats *s);

/* A descriptor to poll; when it is readable, call seats_news(). */
int seats_fd(const struct seats *s);
void seats_news(struct seats *s);
/*
 * Call every quarter of a second: reads missing names, ranks and owners, and signals that the
 * server is alive.
 */
void seats_tend(struct seats *s);

/* The seat of a running process with all its threads; a new one if it has none. Index or -errno. */
int seats_adopt(struct seats *s, pid_t pid);
int seats_find(const struct seats *s, pid_t pid); /* -ESRCH */
/*
 * Starts counting the process's sections, together with those of its user's other processes of the
 * same job. 0 or -errno. *group_fd is borrowed.
 */
int seats_section(struct seats *s, int idx, int *group_fd);
/*
 * Fills in rows of all processes ever seen; needs room for s->end rows. Returns the number of rows.
 */
size_t seats_rows(const struct seats *s, struct clock_row *rows);

#endif
