/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * `povtrace clock` as its command sees it: serves libpov's pages (abi/clock.h), and tells from time to time what is in them.
 * In povtrace-record.so, by record/recorder.h.
 */
#ifndef POV_CLOCK_CLOCK_H
#define POV_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/clock.h"

struct launch_plan;

/* A process, from when it was first seen. Times are in ns. */
struct clock_row {
	pid_t pid;
	uid_t uid;
	int rank;	      /* in MPI_COMM_WORLD; -1: none that is known */
	const char *job;      /* the launcher's name for it; "" */
	const char *command;  /* its program's name; "" if it was gone before that could be read */
	uint64_t wall_ns;     /* since it was first seen, up to now or its end */
	uint64_t rank_pov_ns; /* its threads were on a CPU, all together */
	uint64_t runnable_ns; /* they wanted one and had none */
	uint64_t preempted;   /* times */
	uint64_t migrations;
	uint32_t threads, running; /* now: alive, on a CPU */
	int cpu; /* of a thread that runs now, else where the first one last was; -1: not seen */
	bool ended;
};

struct clock_options {
	const char *socket; /* its path; made here, and gone at the end */
	const char *
		socket_else; /* if another `povtrace clock` serves there already; NULL: that is an error */
	const struct launch_plan *launch; /* of what is to be run, or NULL */
	const pid_t *pids;
	size_t pid_cnt;
	bool all;	      /* MPI processes of the node, and whoever asks for a page */
	bool cost;	      /* measure what the work at a switch takes */
	uint64_t interval_ns; /* between two calls of show; 0: only the last one */
	uint64_t duration_ns; /* 0: until stop, or the command's end */
	/* Rows of all processes since the begin, in no order; last: there will be no more. They last for this call. */
	void (*show)(void *ctx, const struct clock_row *rows, size_t cnt, bool last);
	void *ctx;
};

struct clock_result {
	int child_status;  /* as waitpid tells; -1: nothing was run, or it goes on */
	pid_t child_pid;   /* which goes on; 0 */
	uint64_t unseated; /* processes that got no page */
	uint64_t missed; /* switches that the kernel did not tell, of threads whose times are kept */
	uint64_t settled; /* stints that were far from what the scheduler has counted, which was taken */
	/* Switches by what they had to do, and by ns that it took; the last: that or longer. */
	uint64_t cost[POV_CLOCK_WORKS][POV_CLOCK_COSTS];
};

/* 0 or -errno (printed). */
int clock_run(const struct clock_options *opt, const volatile int *stop, struct clock_result *out);

#endif
