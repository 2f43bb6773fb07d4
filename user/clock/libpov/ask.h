/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Asking `povtrace clock` for pages. */
#ifndef POV_CLOCK_LIBPOV_ASK_H
#define POV_CLOCK_LIBPOV_ASK_H

#include "abi/clock.h"
#include "clock/libpov/served.h"

#define ASK_FDS SERVED_FDS

/* Mapped, for as long as the process lives, not for its children. */
struct asked {
	void *page[ASK_FDS]; /* in the order of enum pov_clock_wish's text; only a struct pov_clock_section can be written */
	unsigned int cpus; /* of the node */
};

/* 0 or -errno: -ENOENT and -ECONNREFUSED if nobody serves, -ESRCH if not this process. */
int ask(enum pov_clock_wish wish, struct asked *out);

#endif
