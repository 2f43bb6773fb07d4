/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A child that keeps what the tracer has attached until the tracer has ended, so that the tracer need not
 * wait while the kernel takes its probes back (2 minutes for all functions before Linux 6.6): whoever closes
 * a probe last waits for it.
 */
#ifndef POV_ATTACH_LINGER_H
#define POV_ATTACH_LINGER_H

/*
 * From now on the tracer can release everything and exit at once. Call when all that stops or follows
 * processes is detached; probes alone do no harm without a tracer.
 */
void linger_start(void);

#endif
