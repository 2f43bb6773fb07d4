/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A small process that outlives the tracer: if the tracer dies, however, it lets go every process that the
 * kernel half had stopped for attaching, so that no target stays stopped.
 */
#ifndef POV_ATTACH_GUARD_H
#define POV_ATTACH_GUARD_H

#include <pthread.h>
#include <sys/types.h>

struct guard {
	pid_t pid;
	int alive_fd;	       /* open until the last of the tracer's files is closed */
	pthread_mutex_t *lock; /* held as long as it lives; NULL: none to be had */
};

/* held_fd: the map of held processes (tgid → time). Call before any program is attached. 0 or -errno. */
int guard_start(int held_fd, struct guard *out);
/* Ends the guard; it lets go what is still held. */
void guard_stop(struct guard *g);
/* Lets one held process run on and forgets it. */
void guard_release(int held_fd, pid_t pid);

#endif
