/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Open questions of processes. A process may have asked several questions; in the kernel half it
 * continues when none of them is open.
 */
#ifndef POV_RECORD_QUESTIONS_H
#define POV_RECORD_QUESTIONS_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/map.h"

struct questions {
	/* BPF map: process → time of its last answered question; borrowed */
	int answered_fd;
	struct map askers; /* process → its open questions */
};

/* ts_ns is the time of the question. */
void questions_open(struct questions *q, pid_t pid, uint64_t ts_ns);
/* Closes one question of a process. No-op if none is open. */
void questions_close(struct questions *q, pid_t pid);
void questions_release(struct questions *q);

#endif
