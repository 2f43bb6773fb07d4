/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Threads that sleep until there is something to do; made once, as making them takes longer than what is measured. */
#ifndef POVBENCH_TEAM_H
#define POVBENCH_TEAM_H

struct team;

struct team *team_new(void);
void team_free(struct team *t); /* null is allowed */

/*
 * Begins fn(arg, 1 … n-1) in a thread each, after the last work begun is over. The caller does part 0 itself. arg must
 * stay until the end.
 */
void team_start(struct team *t, int n, void (*fn)(void *arg, int thread), void *arg);
void team_wait(struct team *t);

#endif
