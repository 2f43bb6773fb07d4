/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A rank's process: its datatypes, CPUs, threads, sleep. All ranks create theirs together, once. */
#include "core/comm_mpi.h"

#include "lib/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- datatypes ---- */

/*
 * A derived datatype of 32-char blocks with holes of the same size between them (Denis & Trahay
 * 2016, III.D). The remainder after the last whole block is part of the type.
 */

#define BLOCK_BYTES 32
#define STRIDE_BYTES 64

struct type_entry {
	size_t bytes;
	MPI_Datatype type;
	struct type_entry *older;
};

/* Entries never change or move, so the lookup, which happens in timed code, takes no lock. */
struct type_cache {
	pthread_mutex_t lock; /* taken to add an entry, because several threads may send at once */
	struct type_entry *_Atomic newest;
};

static struct type_cache *type_cache_new(void)
{
	struct type_cache *t = xcalloc(1, sizeof(*t));

	pthread_mutex_init(&t->lock, NULL);
	return t;
}

static void type_cache_free(struct type_cache *t)
{
	struct type_entry *older;

	if (!t)
		return;
	for (struct type_entry *e = t->newest; e; e = older) {
		older = e->older;
		MPI_Type_free(&e->type);
		free(e);
	}
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static MPI_Datatype strided_new(size_t bytes)
{
	int blocks = (int)(bytes / BLOCK_BYTES), rest = (int)(bytes % BLOCK_BYTES);
	MPI_Aint place[2] = {0, (MPI_Aint)blocks * STRIDE_BYTES};
	int length[2] = {1, rest};
	MPI_Datatype part[2] = {MPI_DATATYPE_NULL, MPI_CHAR}, type;

	MPI_Type_vector(blocks, BLOCK_BYTES, STRIDE_BYTES, MPI_CHAR, &part[0]);
	if (rest) {
		MPI_Type_create_struct(2, length, place, part, &type);
		MPI_Type_free(&part[0]);
	} else {
		type = part[0];
	}
	MPI_Type_commit(&type);
	return type;
}

/* Searches from the newest entry, because a sweep uses that one. */
static const struct type_entry *entry_find(struct type_cache *t, size_t bytes)
{
	const struct type_entry *e = atomic_load_explicit(&t->newest, memory_order_acquire);

	while (e && e->bytes != bytes)
		e = e->older;
	return e;
}

static const struct type_entry *entry_make(struct type_cache *t, size_t bytes)
{
	const struct type_entry *found;
	struct type_entry *e;

	pthread_mutex_lock(&t->lock);
	found = entry_find(t, bytes);
	if (!found) {
		e = xmalloc(sizeof(*e));
		*e = (struct type_entry){bytes, strided_new(bytes), t->newest};
		atomic_store_explicit(&t->newest, e, memory_order_release);
		found = e;
	}
	pthread_mutex_unlock(&t->lock);
	return found;
}

static MPI_Datatype strided_find(struct type_cache *t, size_t bytes)
{
	const struct type_entry *e = entry_find(t, bytes);

	return (e ? e : entry_make(t, bytes))->type;
}

struct mpi_type mpi_type_of_other(struct type_cache *t, const struct comm_msg *m)
{
	if (m->bytes > INT_MAX)
		die("a message of %zu bytes; MPI's counts end at %d", m->bytes, INT_MAX);
	if (m->bytes > BLOCK_BYTES)
		return (struct mpi_type){strided_find(t, m->bytes), 1};
	return (struct mpi_type){MPI_CHAR, (int)m->bytes};
}

/* ---- the process ---- */

enum { TAG_PROGRESS = 32010 }; /* no message has this tag */

struct progress {
	pthread_t thread;
	atomic_bool stop, probing;
	MPI_Comm comm; /* of its own, so that it receives no other message */
	bool running;
};

/* Collects the units that the node's ranks are bound to. A rank that may run anywhere adds none. */
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

	nanosleep(&t, NULL);
}
