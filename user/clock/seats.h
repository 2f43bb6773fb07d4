/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The kernel half of the clock, loaded, and the seats: the pages of each process that it keeps times for. A page is made anew
 * for each process and never given to a second one, since somebody may still have the first one's mapped.
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
	unsigned int looked; /* times, at who it is */
	bool named;	     /* by the user, or its command */
};

struct core_group {
	int fd; /* struct pov_clock_core of each CPU */
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
	unsigned int ready,
		end; /* seats that wait for a process; behind the last that was ever used */
	struct core_group *group;
	unsigned int group_cnt;
	bool keep; /* seats of ranks that have ended, and of what was named */
};

/* Loads and attaches. 0 or -errno (printed). seats_release in any case. */
int seats_init(struct seats *s, bool cost);
void seats_release(struct seats *s);

/* A descriptor to poll; then seats_news. */
int seats_fd(const struct seats *s);
void seats_news(struct seats *s);
/* Who has no name, rank or owner yet; says that the server lives. Every quarter of a second. */
void seats_tend(struct seats *s);

/* The seat of a process that runs already, all its threads; a new one if it has none. Its index, or -errno. */
int seats_adopt(struct seats *s, pid_t pid);
int seats_find(const struct seats *s, pid_t pid); /* -ESRCH */
/* From now on its sections count, together with those of its user's other processes of the same job. 0 or -errno. *group_fd stays ours. */
int seats_section(struct seats *s, int idx, int *group_fd);
/* Fills rows of all that were ever seen; rows has room for s->end. Returns how many. */
size_t seats_rows(const struct seats *s, struct clock_row *rows);

#endif
