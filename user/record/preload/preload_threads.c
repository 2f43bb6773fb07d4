/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Threads that record their own calls: whose they are, reading their records, their ends. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "record/kernel.h"
#include "record/preload/preload_internal.h"

#define FULL_SHARE 0.25 /* a ring fuller than this fraction is read again soon */

static void on_record(void *ctx, const struct pov_hdr *rec)
{
	struct preload *p = ctx;

	p->opt.record(p->opt.ctx, rec);
}

/* Reads a slot's records. Returns the fraction of the ring that was in use. */
static double slot_read(struct preload *p, struct thread_area *a)
{
	bool damaged = a->damaged;
	double full = thread_area_take(a, p->opt.record, p->opt.ctx);

	if (a->damaged && !damaged && !p->damaged++)
		log_warn(
			"process %u has damaged the memory for its recorded calls: further records "
			"of thread %u are ignored",
			a->who.tgid, a->who.tid);
	return full;
}

/* Reports a thread's first call, as the kernel half does. */
static void thread_announce(struct preload *p, uint32_t tid, uint32_t tgid)
{
	const struct pov_caller r = {
		.hdr = {.size = sizeof(r),
			.kind = POV_KIND_CALLER,
			.tid = tid,
			.ts_ns = kernel_now_ns()},
		.tgid = tgid,
	};

	p->thread_cnt++;
	on_record(p, &r.hdr);
}

/*
 * Notices a new owner of a slot and registers it in a BPF map: the kernel half reads the open calls
 * of a thread that leaves its CPU.
 */
static void owner_check(struct preload *p, struct preload_pool *pool, uint32_t i)
{
	uint32_t owner = __atomic_load_n(&pool->slot[i].mem->owner, __ATOMIC_ACQUIRE);
	struct pov_preloaded entry = {.address = pool->address + (uint64_t)i * pool->slot_bytes};

	if (owner == pool->owner[i] || owner == POV_PRELOAD_BUSY)
		return;
	if (owner && (uintptr_t)map_get(&p->threads, owner) != pool->who.tgid)
		return;
	pool->owner[i] = owner;
	if (!owner)
		return;
	if (bpf_map_update_elem(p->opt.kernel->preloaded_fd, &owner, &entry, BPF_ANY))
		log_debug("thread %u: %s", owner, strerror(errno));
	thread_announce(p, owner, pool->who.tgid);
}

/* Reports that the thread's process initialises MPI or has done so. */
static void world_check(struct preload *p, struct thread_area *a)
{
	uint32_t state = __atomic_load_n(&a->mem->world_state, __ATOMIC_ACQUIRE);
	uint64_t ts_ns = a->mem->world_ns, now = kernel_now_ns();
	const struct pov_caller r = {
		.hdr = {.size = sizeof(r),
			.kind = POV_KIND_INIT,
			.flags = state == POV_PRELOAD_WORLD_DONE ? POV_INIT_DONE : 0,
			.tid = a->who.tid,
			.ts_ns = ts_ns > a->who.since_ns && ts_ns < now ? ts_ns : now},
		.tgid = a->who.tgid,
	};

	if (state <= a->world_told || state > POV_PRELOAD_WORLD_DONE)
		return;
	a->world_told = state;
	p->worlds_asked |= state == POV_PRELOAD_WORLD_DONE;
	on_record(p, &r.hdr);
}

void preload_worlds_answer(struct preload *p)
{
	struct preload_pool *pool;

	p->worlds_asked = false;
	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		for (uint32_t i = 0; i < pool->used; i++) {
			struct thread_area *a = &pool->slot[i];

			if (a->world_told != POV_PRELOAD_WORLD_DONE || a->mem->world_answered)
				continue;
			if (p->opt.settled(p->opt.ctx, (pid_t)pool->who.tgid))
				__atomic_store_n(&a->mem->world_answered, 1, __ATOMIC_RELEASE);
			else
				p->worlds_asked = true;
		}
}

bool preload_pool_read(struct preload *p, struct preload_pool *pool)
{
	bool full = false;

	if (!pool->address)
		return false;
	preload_pool_look(pool);
	for (uint32_t i = 0; i < pool->used; i++) {
		struct thread_area *a = &pool->slot[i];

		owner_check(p, pool, i);
		full |= slot_read(p, a) > FULL_SHARE;
		world_check(p, a);
	}
	return full;
}

void preload_pool_end(struct preload *p, struct preload_pool *pool)
{
	preload_pool_count(pool, &p->gone);
	map_remove(&p->pools, pool->who.tgid);
	preload_pool_free(pool);
}

/* flag is the POV_CALL_* flag for the thread's open calls. */
static void thread_end(struct preload *p, struct preload_pool *pool, uint32_t tid, uint64_t end_ns,
		       uint8_t flag)
{
	for (uint32_t i = 0; i < pool->used; i++) {
		struct thread_area *a = &pool->slot[i];

		if (__atomic_load_n(&a->mem->owner, __ATOMIC_ACQUIRE) == tid)
			thread_area_free_of(a, tid, end_ns, flag, on_record, p);
	}
	bpf_map_delete_elem(p->opt.kernel->preloaded_fd, &tid);
}

static void on_exit_of(struct preload *p, uint32_t tid, uint32_t tgid, uint64_t ts_ns)
{
	struct preload_pool *pool = map_get(&p->pools, tgid);

	if (pool) {
		preload_pool_read(p, pool);
		thread_end(p, pool, tid, ts_ns, POV_CALL_OPEN);
		pool->main_gone |= tid == tgid;
		if (pool->main_gone && preload_pool_is_left(pool))
			preload_pool_end(p, pool);
	}
	map_remove(&p->threads, tid);
}

/* The process has executed a program: all its other threads are gone. */
static void on_exec_of(struct preload *p, uint32_t tgid, uint64_t ts_ns)
{
	struct preload_pool *pool = map_get(&p->pools, tgid);

	map_set(&p->threads, tgid, (void *)(uintptr_t)tgid);
	if (!pool || pool->who.since_ns > ts_ns)
		return;
	preload_pool_read(p, pool);
	for (uint32_t i = 0; i < pool->used; i++)
		thread_end(p, pool, pool->slot[i].mem->owner, ts_ns, POV_CALL_UNWOUND);
	preload_pool_end(p, pool);
}

void preload_identity(struct preload *p, const struct pov_hdr *rec)
{
	const struct pov_fork *fork = (const struct pov_fork *)rec;

	switch (rec->kind) {
	case POV_KIND_FORK:
		map_set(&p->threads, fork->child_tid, (void *)(uintptr_t)fork->child_tgid);
		break;
	case POV_KIND_EXIT:
		on_exit_of(p, rec->tid, ((const struct pov_exit *)rec)->tgid, rec->ts_ns);
		break;
	case POV_KIND_EXEC:
		on_exec_of(p, ((const struct pov_task *)rec)->tgid, rec->ts_ns);
		break;
	}
}

/* ---- records ---- */

bool preload_consume(struct preload *p)
{
	struct preload_pool *pool;
	bool full = false;

	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		full |= preload_pool_read(p, pool);
	return full;
}

bool preload_fills(const struct preload *p)
{
	const struct preload_pool *pool;

	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		for (uint32_t i = 0; i < pool->used; i++)
			if (thread_area_fills(&pool->slot[i]))
				return true;
	return false;
}

uint64_t preload_open_calls(struct preload *p, uint64_t end_ns,
			    void (*fn)(void *ctx, const struct pov_hdr *rec), void *ctx)
{
	struct preload_pool *pool;
	uint64_t calls = 0;

	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		for (uint32_t i = 0; i < pool->used; i++)
			calls += thread_area_end(&pool->slot[i], end_ns, POV_CALL_OPEN, fn, ctx);
	return calls;
}

void preload_counts_get(const struct preload *p, struct preload_counts *out)
{
	const struct preload_pool *pool;

	*out = p->gone;
	for (size_t at = 0; (pool = map_next(&p->pools, &at, NULL));)
		preload_pool_count(pool, out);
}

uint32_t preload_thread_cnt(const struct preload *p)
{
	return p->thread_cnt;
}

uint32_t preload_damaged_cnt(const struct preload *p)
{
	return p->damaged;
}
