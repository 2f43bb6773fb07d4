/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two kinds of computation. Computation to a deadline, as in the original tool, ends on time even
 * if the CPU was taken away meanwhile, which then stays invisible. Computation by work is a number
 * of operations that take the requested time on an undisturbed core, so stolen time makes it
 * longer. An operation is one step of a linear congruential generator. Each step needs the one
 * before, so vector units or a second hardware thread hardly change its pace, and it uses no
 * memory.
 */
#include "core/compute.h"

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/table.h"
#include "core/cpu_list.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- threads that sleep until there is work ---- */

/*
 * They are created once, because creating them takes longer than the measured operations. One
 * condition variable wakes them, another reports that the last one is done. Nothing spins, because
 * an idle pool must not take cores from the communication that is measured.
 */

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

static struct thread_pool *thread_pool_new(void)
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
		*table_append(t->worker, t->cnt) = w;
	}
}

static void thread_pool_wait(struct thread_pool *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->running > 0)
		pthread_cond_wait(&t->done, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

/*
 * Runs fn(arg, 1 … n-1), each in a thread, after all earlier work has ended. The caller runs part 0
 * itself. arg must stay valid until all parts have ended.
 */
static void thread_pool_start(struct thread_pool *t, int n, void (*fn)(void *arg, int thread),
			      void *arg)
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

static void thread_pool_free(struct thread_pool *t)
{
	if (!t)
		return;
	thread_pool_wait(t);
	pthread_mutex_lock(&t->lock);
	t->over = true;
	pthread_cond_broadcast(&t->work);
	pthread_mutex_unlock(&t->lock);
	for (int i = 0; i < t->cnt; i++) {
		pthread_join(t->worker[i]->id, NULL);
		free(t->worker[i]);
	}
	free(t->worker);
	pthread_cond_destroy(&t->done);
	pthread_cond_destroy(&t->work);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* ---- computation ---- */

#define CALIBRATE_SLICES 40
#define CALIBRATE_OPS 100000 /* a slice of about 0.1 ms, which is seldom interrupted */
#define LOAD_OPS 1000	     /* between checks of the flag: a microsecond */
#define DEADLINE_OPS 16	     /* between readings of the clock */

struct load {
	pthread_t *thread;
	int cnt;
	atomic_int running;
	atomic_bool stop;
};

struct load_thread {
	struct load *load;
	int cpu; /* -1: not bound */
};

/* One computation that several threads share. */
struct job {
	bool until; /* compute to the deadline; otherwise a number of operations */
	uint64_t deadline_ns, ops;
};

struct compute_engine {
	double ops_per_ns;
	int local_rank, local_cnt;
	int own_cores;	       /* cores that the process was allowed at the start */
	struct cpu_list units; /* of the node, in the order in which load threads take them */
	struct thread_pool *pool;
	struct job job; /* outlives compute_run: a late worker may still look at it */
	bool in_threads;
	struct load load;
};

static void run_ops(uint64_t ops)
{
	uint64_t x = ops;

	while (ops--) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		/* Hide x from the compiler, or it would remove the loop. */
		__asm__ volatile("" : "+r"(x));
	}
}

static void run_job(void *arg, int thread)
{
	const struct job *job = arg;

	if (!job->until) {
		run_ops(job->ops);
		return;
	}
	while (clock_now_ns() < job->deadline_ns)
		run_ops(DEADLINE_OPS);
}

/* Takes the best slice: an interruption makes a slice slower, and nothing makes it faster. */
static double ops_calibrate(void)
{
	double best = 0;

	for (int i = 0; i < CALIBRATE_SLICES; i++) {
		uint64_t began_ns = clock_now_ns(), took_ns;

		run_ops(CALIBRATE_OPS);
		took_ns = clock_now_ns() - began_ns;
		if (took_ns && (double)CALIBRATE_OPS / (double)took_ns > best)
			best = (double)CALIBRATE_OPS / (double)took_ns;
	}
	if (best <= 0)
		die("the clock does not move; computation cannot be calibrated");
	return best;
}

static bool unit_is_taken(const struct compute_engine *e, int idx, const cpu_set_t *taken)
{
	return CPU_COUNT(taken) ? CPU_ISSET((size_t)e->units.cpu[idx], taken) : idx < e->local_cnt;
}

/* Moves the units of the ranks' own threads to the end. */
static void order_units(struct compute_engine *e, const cpu_set_t *taken)
{
	int *cpu = xcalloc((size_t)e->units.cnt + 1, sizeof(*cpu));
	int cnt = 0;

	for (int wanted = 0; wanted <= 1; wanted++) {
		for (int i = 0; i < e->units.cnt; i++) {
			if (unit_is_taken(e, i, taken) == wanted)
				cpu[cnt++] = e->units.cpu[i];
		}
	}
	free(e->units.cpu);
	e->units.cpu = cpu;
}

struct compute_engine *compute_new(int local_rank, int local_cnt, const cpu_set_t *taken)
{
	struct compute_engine *e = xcalloc(1, sizeof(*e));
	struct cpu_list own;
	cpu_set_t mask;

	e->local_rank = local_rank;
	e->local_cnt = local_cnt > 0 ? local_cnt : 1;
	e->ops_per_ns = ops_calibrate();
	e->pool = thread_pool_new();
	cpu_list_init(&e->units, NULL);
	order_units(e, taken);
	if (sched_getaffinity(0, sizeof(mask), &mask)) {
		e->own_cores = e->units.core_cnt;
	} else {
		cpu_list_init(&own, &mask);
		e->own_cores = own.core_cnt;
		cpu_list_release(&own);
	}
	return e;
}

void compute_free(struct compute_engine *e)
{
	if (!e)
		return;
	compute_load_end(e);
	thread_pool_free(e->pool);
	cpu_list_release(&e->units);
	free(e);
}

uint32_t compute_features(void)
{
	uint32_t features = COMM_HAS_STEAL | COMM_HAS_THREADS;

#ifdef _OPENMP
	features |= COMM_HAS_OPENMP;
#endif
	return features;
}

double compute_ops_per_ns(const struct compute_engine *e)
{
	return e->ops_per_ns;
}

static void run_openmp(struct job *job)
{
#ifdef _OPENMP
#pragma omp parallel
	run_job(job, omp_get_thread_num());
#else
	run_job(job, 0);
#endif
}

void compute_run(struct compute_engine *e, const struct compute *how, uint64_t ns)
{
	struct job job = {
		.until = how->kind == COMPUTE_DEADLINE,
		.deadline_ns = clock_now_ns() + ns,
		.ops = (uint64_t)((double)ns * e->ops_per_ns),
	};

	if (!ns)
		return;
	if (e->in_threads || how->cores == COMPUTE_ONE) {
		run_job(&job, 0);
	} else if (how->cores == COMPUTE_OPENMP) {
		run_openmp(&job);
	} else {
		thread_pool_wait(e->pool);
		e->job = job;
		thread_pool_start(e->pool, e->own_cores, run_job, &e->job);
		run_job(&e->job, 0);
		/* A deadline ends the job even if a worker has not got a core by then. */
		if (!job.until)
			thread_pool_wait(e->pool);
	}
}

/* ---- threads that are a load ---- */

static void *load_work(void *arg)
{
	struct load_thread *t = arg;
	struct load *load = t->load;

	if (t->cpu >= 0 && cpu_bind(t->cpu))
		log_warn("load: no binding to processing unit %d", t->cpu);
	free(t);
	atomic_fetch_add(&load->running, 1);
	while (!atomic_load_explicit(&load->stop, memory_order_relaxed))
		run_ops(LOAD_OPS);
	return NULL;
}

/* The unit of this rank's load thread i. */
static int load_unit(const struct compute_engine *e, const struct cpu_list *of, int i)
{
	return of->cpu[(i * e->local_cnt + e->local_rank) % of->cnt];
}

void compute_load_begin(struct compute_engine *e, const struct comm_load *how)
{
	struct load *load = &e->load;
	int err, missing, n = how->threads;
	struct cpu_list listed = {0};

	compute_load_end(e);
	if (how->cpus && cpu_list_parse(&listed, how->cpus, &missing))
		die("\"%s\": this node has no such processing units", how->cpus);
	atomic_store(&load->stop, false);
	atomic_store(&load->running, 0);
	load->thread = xcalloc((size_t)n, sizeof(*load->thread));
	for (int i = 0; i < n; i++) {
		struct load_thread *t = xmalloc(sizeof(*t));

		t->load = load;
		t->cpu = how->cpus ? load_unit(e, &listed, i) :
			 how->bind ? load_unit(e, &e->units, i) :
				     -1;
		err = pthread_create(&load->thread[i], NULL, load_work, t);
		if (err)
			die("load: thread %d of %d: %s; is \"ulimit -u\" low?", i + 1, n,
			    strerror(err));
		load->cnt++;
	}
	cpu_list_release(&listed);
	while (atomic_load(&load->running) < n)
		sched_yield();
}

void compute_load_end(struct compute_engine *e)
{
	struct load *load = &e->load;

	atomic_store(&load->stop, true);
	for (int i = 0; i < load->cnt; i++)
		pthread_join(load->thread[i], NULL);
	free(load->thread);
	load->thread = NULL;
	load->cnt = 0;
}

void compute_threads_run(struct compute_engine *e, int n, void (*fn)(void *arg, int thread),
			 void *arg)
{
	e->in_threads = true;
	thread_pool_start(e->pool, n, fn, arg);
	fn(arg, 0);
	thread_pool_wait(e->pool);
	e->in_threads = false;
}
