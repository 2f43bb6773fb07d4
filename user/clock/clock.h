/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The interface of `povtrace clock` for its command: serves libpov's pages (abi/clock.h) and
 * periodically reports their contents.
 */
#ifndef POV_CLOCK_CLOCK_H
#define POV_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/clock.h"

struct launch_plan;

/* A process since it was first seen. Times are in ns. */
struct clock_row {
	pid_t pid;
	uid_t uid;
	int rank;	      /* in MPI_COMM_WORLD; -1: unknown */
	const char *job;      /* the launcher's name for the job, or "" */
	const char *command;  /* program name; "" if the process ended before it could be read */
	uint64_t wall_ns;     /* since it was first seen, until now or its end */
	uint64_t rank_pov_ns; /* total time its threads were on a CPU */
	uint64_t runnable_ns; /* total time its threads were ready to run without a CPU */
	uint64_t preempted;   /* number of preemptions */
	uint64_t migrations;
	uint32_t threads, running; /* current number: alive, on a CPU */
	int cpu; /* CPU of a running thread, else the last one of the first thread; -1: not seen */
	bool ended;
};

struct clock_options {
	const char *socket; /* path of the socket; created here, removed at the end */
	/* Used if another `povtrace clock` already serves at `socket`; NULL: that is an error. */
	const char *socket_else;
	const struct launch_plan *launch; /* command to run, or NULL */
	const pid_t *pids;
	size_t pid_cnt;
	/* serve all MPI processes of the node, and any process that asks for a page */
	bool all;
	bool cost;	      /* measure the cost of the work at a switch */
	uint64_t interval_ns; /* between two calls of show(); 0: only the last call */
	uint64_t duration_ns; /* 0: until stop, or until the command ends */
	/*
	 * Receives rows of all processes since the begin, unordered and valid during the call only.
	 * last: no more calls follow.
	 */
	void (*show)(void *ctx, const struct clock_row *rows, size_t cnt, bool last);
	void *ctx;
};

struct clock_result {
	int child_status;      /* from waitpid(); -1: no command, or it goes on */
	pid_t child_pid;       /* command that goes on, or 0 */
	uint64_t without_slot; /* processes without a page */
	uint64_t missed;       /* switches of served threads that the kernel did not report */
	/* stints that differed much from the scheduler's own count, which was used instead */
	uint64_t settled;
	/*
	 * Number of switches by kind of work and by duration in ns. The last entry includes all
	 * longer ones.
	 */
	uint64_t cost[POV_CLOCK_WORKS][POV_CLOCK_COSTS];
};

/* 0 or -errno (printed). */
int clock_run(const struct clock_options *opt, const volatile int *stop, struct clock_result *out);

#endif
