/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Where a rank runs and how the machine is configured there. These factors may differ by rank. */
#ifndef POVBENCH_RANK_PLACE_H
#define POVBENCH_RANK_PLACE_H

#include <sched.h>

#include <jansson.h>

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
