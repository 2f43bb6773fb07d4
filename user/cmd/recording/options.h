/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The commands that need libbpf. Their options and help are in cmd_<name>.c like those of all
 * commands. Their code is in run_<name>.c and linked into povtrace-record only.
 */
#ifndef POV_CMD_RECORDING_OPTIONS_H
#define POV_CMD_RECORDING_OPTIONS_H

#include "lib/option.h"

#define CLOCK_SOCKET_USUAL "/run/povtrace/clock.sock"
#define CLOCK_SOCKET_VARIABLE "POVTRACE_CLOCK"

/* Values of record_options' choices, in the order of their names. */
enum { API_AUTO, API_MULTI, API_PERF };
enum { CAPTURE_AUTO, CAPTURE_PROBES, CAPTURE_PRELOAD };

/* The first member of the options of record and stat. */
struct record_options {
	const char *user, *mpi, *layers, *max_overhead;
	struct option_list pids, functions, no_functions, regions;
	bool all, irq, stacks;
	int sched, kernel_api, capture;
	uint64_t duration_ns, max_bytes, ring_bytes, cpus_per_ring, spin_gap_ns;
};

extern const struct option_def record_option_rows[]; /* for struct command's member shared */

struct record_command_options {
	struct record_options record;
	const char *output, *last;
	struct option_list whens;
};

struct stat_options {
	struct record_options record;
	const char *output;
	bool json, explain;
	uint64_t top, min;
};

struct hang_options {
	struct option_list pids;
	uint64_t duration_ns, top;
	bool json, explain;
};

struct clock_command_options {
	struct option_list pids;
	bool all, once, json, cost, quiet;
	const char *user, *socket, *output;
	uint64_t interval_ns, duration_ns;
};

struct check_options {
	const char *sites;
	bool json;
};

/*
 * Members run of struct command. They are weak, so that they are NULL in povtrace, which is linked
 * without them.
 */
#define RUN __attribute__((weak)) int
RUN record_command_run(const void *opts, int argc, char **argv, int dashdash);
RUN stat_command_run(const void *opts, int argc, char **argv, int dashdash);
RUN hang_command_run(const void *opts, int argc, char **argv, int dashdash);
RUN clock_command_run(const void *opts, int argc, char **argv, int dashdash);
RUN check_command_run(const void *opts, int argc, char **argv, int dashdash);
#undef RUN

#endif
