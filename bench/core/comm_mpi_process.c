/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The process behind a rank: where it may run, its threads, its sleep. Made once; all ranks make it together. */
#include "core/comm_mpi.h"

#include "lib/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG_PROGRESS = 32010 }; /* nobody sends it */

struct progress {
	pthread_t thread;
	atomic_bool stop, probing;
	MPI_Comm comm; /* its own, so that it sees no message */
	bool running;
};

/* The units of the node that its ranks are bound to; one that may run anywhere has none of its own. */
static void find_taken(const struct mpi_process *p, cpu_set_t *taken)
{
	cpu_set_t own = p->allowed;
	struct cpu_list all;

	cpu_list_init(&all, NULL);
	if (CPU_COUNT(&own) >= all.cnt)
		CPU_ZERO(&own);
	cpu_list_release(&all);
	MPI_Allreduce(&own, taken, sizeof(own), MPI_BYTE, MPI_BOR, p->node);
}

struct mpi_process *mpi_process_new(int thread_level)
{
	struct mpi_process *p = xcalloc(1, sizeof(*p));
	cpu_set_t together, taken;
	int rank, cnt;

	p->thread_level = thread_level;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &p->node);
	MPI_Comm_rank(p->node, &rank);
	MPI_Comm_size(p->node, &cnt);
	MPI_Comm_rank(MPI_COMM_WORLD, &p->node_id);
	MPI_Bcast(&p->node_id, 1, MPI_INT, 0, p->node);
	if (sched_getaffinity(0, sizeof(p->allowed), &p->allowed))
		memset(&p->allowed, 0xff, sizeof(p->allowed));
	MPI_Allreduce(&p->allowed, &together, sizeof(together), MPI_BYTE, MPI_BOR, p->node);
	cpu_list_init(&p->node_units, &together);
	p->types = type_cache_new();
	find_taken(p, &taken);
	p->engine = compute_new(rank, cnt, &taken);
	p->progress = xcalloc(1, sizeof(*p->progress));
	MPI_Comm_dup(MPI_COMM_WORLD, &p->progress->comm);
	return p;
}

void mpi_process_free(struct mpi_process *p)
{
	if (!p)
		return;
	compute_free(p->engine);
	type_cache_free(p->types);
	cpu_list_release(&p->node_units);
	MPI_Comm_free(&p->progress->comm);
	free(p->progress);
	MPI_Comm_free(&p->node);
	free(p);
}

static void *progress_work(void *arg)
{
	struct progress *p = arg;
	int flag;

	atomic_store(&p->probing, true);
	while (!atomic_load_explicit(&p->stop, memory_order_relaxed))
		MPI_Iprobe(MPI_ANY_SOURCE, TAG_PROGRESS, p->comm, &flag, MPI_STATUS_IGNORE);
	return NULL;
}

void mpi_progress_begin(struct comm *c)
{
	struct mpi_process *process = mpi_of(c)->process;
	struct progress *p = process->progress;
	int err;

	if (p->running)
		return;
	if (process->thread_level < MPI_THREAD_MULTIPLE)
		die("a progress thread without MPI_THREAD_MULTIPLE; please report this");
	atomic_store(&p->stop, false);
	atomic_store(&p->probing, false);
	err = pthread_create(&p->thread, NULL, progress_work, p);
	if (err)
		die("progress thread: %s", strerror(err));
	while (!atomic_load(&p->probing))
		sched_yield();
	p->running = true;
}

void mpi_progress_end(struct comm *c)
{
	struct progress *p = mpi_of(c)->process->progress;

	if (!p->running)
		return;
	atomic_store(&p->stop, true);
	pthread_join(p->thread, NULL);
	p->running = false;
}

int mpi_pin(struct comm *c, int core)
{
	struct mpi_process *p = mpi_of(c)->process;
	int err;

	if (core < 0)
		err = sched_setaffinity(0, sizeof(p->allowed), &p->allowed) ? -errno : 0;
	else
		err = cpu_bind(p->node_units.cpu[core % p->node_units.core_cnt]);
	if (err)
		die("rank %d cannot be bound to core %d: %s", c->rank, core, strerror(-err));
	return p->node_units.core_cnt;
}

int mpi_node(struct comm *c)
{
	return mpi_of(c)->process->node_id;
}

void mpi_sleep(struct comm *c, uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u),
			     .tv_nsec = (long)(ns % 1000000000u)};

	(void)c;
	nanosleep(&t, NULL);
}
