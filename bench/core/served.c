/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A rank that is not served has no clocks to be compared: all are, or none. */
#include "core/served.h"

#include "lib/log.h"

#include <stdlib.h>

bool pov_served(struct bench_run *run)
{
	struct comm *c = run->comm;
	uint64_t *all = xcalloc((size_t)c->size, sizeof(*all)), every = 1;
	int i;

	comm_collect(c, c->features & COMM_HAS_POV ? 1 : 0, all);
	for (i = 0; c->rank == 0 && i < c->size; i++)
		every = every && all[i];
	free(all);
	if (!every && c->rank == 0)
		log_info(
			"%s: without MPIX_Rtime and MPIX_Ptime: no `povtrace clock` serves all ranks",
			run->bench->name);
	return comm_tell(c, every);
}
