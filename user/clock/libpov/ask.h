/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Requests pages from `povtrace clock`. */
#ifndef POV_CLOCK_LIBPOV_ASK_H
#define POV_CLOCK_LIBPOV_ASK_H

#include "abi/clock.h"
#include "clock/libpov/served.h"

#define ASK_FDS SERVED_FDS

/* Pages mapped for the lifetime of the process; not inherited by children. */
struct asked {
	/*
	 * In the order described at enum pov_clock_wish. Only a struct pov_clock_section is
	 * writable.
	 */
	void *page[ASK_FDS];
	unsigned int cpus; /* CPUs of the node */
};

/*
 * 0 or -errno: -ENOENT or -ECONNREFUSED without a server, -ESRCH if it does not serve this process.
 */
int ask(enum pov_clock_wish wish, struct asked *out);

#endif
