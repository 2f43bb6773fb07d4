/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Where a rank runs, and how the machine is set there: factors that may differ from rank to rank. */
#ifndef POVBENCH_RANK_PLACE_H
#define POVBENCH_RANK_PLACE_H

#include <sched.h>

#include <jansson.h>

/* Texts as they are told, all of one size so that ranks can be gathered; "" where the kernel does not tell. */
struct rank_place {
	char host[64];
	char cpus[256];		/* that it may use: "0-3,8" */
	char numa_nodes[64];	/* of these */
	char governor[32];	/* of the frequency of the first of them */
	char turbo[8];		/* "on", "off": frequencies above the nominal one */
	char smt[8];		/* "on", "off": several hardware threads of a core in use */
	char huge_pages[16];	/* transparent ones: "always", "madvise", "never" */
	char numa_balancing[8]; /* "on", "off": the kernel moves pages to whoever uses them */
};

/* Of the calling process, allowed being the CPUs that it may use. */
void rank_place_get(const cpu_set_t *allowed, struct rank_place *out);
/* An object of those that are told; the caller owns it. */
json_t *rank_place_json(const struct rank_place *p);

#endif
