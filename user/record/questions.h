/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What processes wait for: each may have asked several times, and goes on in the kernel half when none of its questions is open.
 */
#ifndef POV_RECORD_QUESTIONS_H
#define POV_RECORD_QUESTIONS_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/map.h"

struct questions {
	int answered_fd; /* map of the kernel half: process → time of its last question that has been answered; borrowed */
	struct map askers; /* process → its open questions */
};

/* ts_ns: when it was asked. */
void questions_open(struct questions *q, pid_t pid, uint64_t ts_ns);
/* One of a process's is answered; nothing if there is none. */
void questions_close(struct questions *q, pid_t pid);
void questions_release(struct questions *q);

#endif
