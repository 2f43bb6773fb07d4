/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One condition variable wakes the workers, another reports that the last one is done. Nothing
 * spins, because an idle pool must not take cores from the communication that is measured.
 */
#include "core/compute.h"

#include "lib/log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct worker {
	struct thread_pool *pool;
	int thread; /* 1 … */
	pthread_t id;
};

struct thread_pool {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct worker **worker;
	int cnt;
	uint64_t turn; /* number of the current work; each worker takes part once */
	int wanted;    /* threads of this turn, including the caller */
	int running;
	bool over;
	void (*fn)(void *arg, int thread);
	void *arg;
};

struct thread_pool *thread_pool_new(void)
{
	struct thread_pool *t = xcalloc(1, sizeof(*t));

	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->work, NULL);
	pthread_cond_init(&t->done, NULL);
	return t;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct thread_pool *t = w->pool;
	uint64_t seen = 0;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		while (!t->over && (t->turn == seen || w->thread >= t->wanted))
			pthread_cond_wait(&t->work, &t->lock);
		if (t->over)
			break;
		seen = t->turn;
		pthread_mutex_unlock(&t->lock);
		t->fn(t->arg, w->thread);
		pthread_mutex_lock(&t->lock);
		if (!--t->running)
			pthread_cond_broadcast(&t->done);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* The caller holds the lock. */
static void thread_pool_grow(struct thread_pool *t, int n)
{
	while (t->cnt < n - 1) {
		struct worker *w = xcalloc(1, sizeof(*w));
		int err;

		w->pool = t;
		w->thread = t->cnt + 1;
		err = pthread_create(&w->id, NULL, work, w);
		if (err)
			die("thread %d of %d: %s; is \"ulimit -u\" low?", w->thread, n - 1,
			    strerror(err));
		t->worker = xrealloc(t->worker, ((size_t)t->cnt + 1) * sizeof(*t->worker));
		t->worker[t->cnt++] = w;
	}
}

void thread_pool_start(struct thread_pool *t, int n, void (*fn)(void *arg, int thread), void *arg)
{
	thread_pool_wait(t);
	pthread_mutex_lock(&t->lock);
	t->fn = fn;
	t->arg = arg;
	t->wanted = n;
	t->running = n - 1;
	t->turn++;
	thread_pool_grow(t, n);
	pthread_cond_broadcast(&t->work);
	pthread_mutex_unlock(&t->lock);
}

void thread_pool_wait(struct thread_pool *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->running > 0)
		pthread_cond_wait(&t->done, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

void thread_pool_free(struct thread_pool *t)
{
	int i;

	if (!t)
		return;
	thread_pool_wait(t);
	pthread_mutex_lock(&t->lock);
	t->over = true;
	pthread_cond_broadcast(&t->work);
	pthread_mutex_unlock(&t->lock);
	for (i = 0; i < t->cnt; i++) {
		pthread_join(t->worker[i]->id, NULL);
		free(t->worker[i]);
	}
	free(t->worker);
	pthread_cond_destroy(&t->done);
	pthread_cond_destroy(&t->work);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
