/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Threads that sleep until there is something to do; made once, as making them takes longer than what is measured. */
#ifndef POVBENCH_THREAD_POOL_H
#define POVBENCH_THREAD_POOL_H

struct thread_pool;

struct thread_pool *thread_pool_new(void);
void thread_pool_free(struct thread_pool *t); /* null is allowed */

/*
 * Begins fn(arg, 1 … n-1) in a thread each, after the last work begun is over. The caller does part 0 itself. arg must
 * stay until the end.
 */
void thread_pool_start(struct thread_pool *t, int n, void (*fn)(void *arg, int thread), void *arg);
void thread_pool_wait(struct thread_pool *t);

#endif
