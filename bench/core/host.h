/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Factors of a measurement that the node provides: machine, kernel, clock. */
#ifndef POVBENCH_HOST_H
#define POVBENCH_HOST_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Adds host, cpu, kernel, clock, environment, date and povbench's version, if available. */
void host_factors(json_t *into);

/*
 * Time in ns, since its start, that this process's main thread was ready to run but had no core.
 * Returns false if the kernel does not count it.
 */
bool host_core_wait_ns(uint64_t *out);

/*
 * True if the code of a timed MPI function in memory differs from its file. Then it has a tracer's
 * probe, and each call takes about a microsecond more. False also if the code cannot be read.
 */
bool probed_mpi(void);

/* ---- factors that may differ by rank ---- */

/* Where a rank runs and how the machine is configured there. */

/* Texts of fixed size, so that ranks can be gathered. "" if the kernel does not report one. */
struct rank_place {
	char host[64];
	char cpus[256];		/* CPUs that the rank may use: "0-3,8" */
	char numa_nodes[64];	/* NUMA nodes of these CPUs */
	char governor[32];	/* frequency governor of the first of these CPUs */
	char turbo[8];		/* "on", "off": frequencies above the nominal one */
	char smt[8];		/* "on", "off": several hardware threads of a core in use */
	char huge_pages[16];	/* transparent ones: "always", "madvise", "never" */
	char numa_balancing[8]; /* "on", "off": the kernel moves pages to the node that uses them */
};

/* Fills out for the calling process; allowed: the CPUs that it may use. */
void rank_place_get(const cpu_set_t *allowed, struct rank_place *out);
/* A JSON object of the known texts; the caller owns it. */
json_t *rank_place_json(const struct rank_place *p);

#endif
