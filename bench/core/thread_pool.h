/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Threads that sleep until there is work. They are created once, because creating them takes longer
 * than the measured operations.
 */
#ifndef POVBENCH_THREAD_POOL_H
#define POVBENCH_THREAD_POOL_H

struct thread_pool;

struct thread_pool *thread_pool_new(void);
void thread_pool_free(struct thread_pool *t); /* null is allowed */

/*
 * Runs fn(arg, 1 … n-1), each in a thread, after all earlier work has ended. The caller runs part 0
 * itself. arg must stay valid until all parts have ended.
 */
void thread_pool_start(struct thread_pool *t, int n, void (*fn)(void *arg, int thread), void *arg);
void thread_pool_wait(struct thread_pool *t);

#endif
