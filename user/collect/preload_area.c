/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "collect/preload_area.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/preload.h"
#include "base/log.h"
#include "base/memory_file.h"
#include "collect/kernel.h"
#include "collect/open_calls.h"
#include "collect/preload.h"

#define FILE_BYTES (POV_PRELOAD_AREA_BYTES + POV_PRELOAD_RING_BYTES)
#define COST_PS_MAX 100000000 /* of a call: a thread that says more was interrupted */
#define MAPPED_BYTES (FILE_BYTES + POV_PRELOAD_RING_BYTES)

static int file_make(void)
{
	int fd = memory_file_make(FILE_BYTES), err;

	/* Nobody is to make it shorter: we would be killed by reading it. */
	if (fd < 0 || !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static struct pov_preload_area *file_map(int fd)
{
	const int prot = PROT_READ | PROT_WRITE, how = MAP_SHARED | MAP_FIXED;
	char *p = mmap(NULL, MAPPED_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (mmap(p, FILE_BYTES, prot, how, fd, 0) != MAP_FAILED &&
	    mmap(p + FILE_BYTES, POV_PRELOAD_RING_BYTES, prot, how, fd, POV_PRELOAD_AREA_BYTES) !=
		    MAP_FAILED)
		return (struct pov_preload_area *)p;
	munmap(p, MAPPED_BYTES);
	return NULL;
}

int thread_area_try(void)
{
	int fd = file_make();

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int thread_area_make(const struct preload_speaker *who, struct thread_area **out)
{
	struct thread_area *a = xcalloc(1, sizeof(*a));
	int err;

	a->who = *who;
	a->fd = file_make();
	if (a->fd < 0) {
		err = a->fd;
		free(a);
		return err;
	}
	a->mem = file_map(a->fd);
	if (!a->mem) {
		err = -errno;
		close(a->fd);
		free(a);
		return err;
	}
	a->mem->state.tid = who->tid;
	a->mem->state.tgid = who->tgid;
	*out = a;
	return 0;
}

void thread_area_free(struct thread_area *a)
{
	if (!a)
		return;
	if (a->fd >= 0)
		close(a->fd);
	munmap(a->mem, MAPPED_BYTES);
	free(a);
}

/* Checks a copy, and hands it over. */
static bool record_give(struct thread_area *a, const struct pov_hdr *shared, size_t bytes,
			thread_area_fn *fn, void *ctx)
{
	_Alignas(8) char copy[PRELOAD_RECORD_MAX];
	struct pov_hdr *rec = (struct pov_hdr *)copy;

	memcpy(copy, shared, bytes);
	rec->size = bytes; /* the process may have changed it meanwhile */
	if (!preload_check(rec, bytes, &a->who))
		return false;
	if (pov_is_call(rec) && !(rec->flags & POV_CALL_OPEN))
		a->last_begin_ns = rec->ts_ns - ((struct pov_call *)rec)->dur_ns;
	fn(ctx, rec);
	return true;
}

/* So much at a time is given back to a thread that waits for room, while the rest is still being taken. */
#define RELEASE_BYTES 65536
/* Records still lie in the cache of the CPU that wrote them. */
#define AHEAD_BYTES 512

static void room_give(const struct thread_area *a)
{
	__atomic_store_n(&a->mem->tail, a->tail, __ATOMIC_RELEASE);
}

uint64_t thread_area_take(struct thread_area *a, thread_area_fn *fn, void *ctx)
{
	uint64_t head = __atomic_load_n(&a->mem->head, __ATOMIC_ACQUIRE), bytes = head - a->tail;
	const char *ring = (const char *)a->mem + POV_PRELOAD_AREA_BYTES;
	const struct pov_hdr *rec;
	uint16_t size;

	if (!bytes)
		return 0;
	a->damaged |= bytes > POV_PRELOAD_RING_BYTES;
	a->who.until_ns = kernel_now_ns(); /* it was all written before */
	while (!a->damaged && a->tail != head) {
		rec = (const struct pov_hdr *)(ring + a->tail % POV_PRELOAD_RING_BYTES);
		__builtin_prefetch((const char *)rec + AHEAD_BYTES);
		__builtin_prefetch((const char *)rec + AHEAD_BYTES + 64);
		size = __atomic_load_n(&rec->size, __ATOMIC_RELAXED);
		a->damaged = size < sizeof(*rec) || size % 8 || size > PRELOAD_RECORD_MAX ||
			     size > head - a->tail || !record_give(a, rec, size, fn, ctx);
		a->tail += size;
		if (!a->damaged && a->tail % RELEASE_BYTES < size)
			room_give(a);
	}
	a->tail = head; /* also of a damaged one: its thread is not to wait for room */
	room_give(a);
	return bytes;
}

struct ending {
	struct thread_area *a;
	thread_area_fn *fn;
	void *ctx;
	uint64_t calls;
	uint8_t flag;
};

static void on_open(void *ctx, const struct pov_hdr *rec)
{
	_Alignas(8) char copy[PRELOAD_RECORD_MAX];
	struct pov_hdr *mine = (struct pov_hdr *)copy;
	struct ending *e = ctx;
	bool call = pov_is_call(rec);

	if (rec->size > sizeof(copy))
		return;
	memcpy(copy, rec, rec->size);
	if (call)
		mine->flags = (mine->flags & ~POV_CALL_OPEN) | e->flag;
	/* It returned, and was killed before it could say so. */
	if (!preload_check(mine, rec->size, &e->a->who) ||
	    (call && mine->ts_ns - ((struct pov_call *)mine)->dur_ns == e->a->last_begin_ns))
		return;
	e->calls += call;
	e->fn(e->ctx, mine);
}

uint64_t thread_area_end(struct thread_area *a, uint64_t end_ns, uint8_t flag, thread_area_fn *fn,
			 void *ctx)
{
	struct ending e = {.a = a, .fn = fn, .ctx = ctx, .flag = flag};

	if (a->damaged)
		return 0;
	a->who.until_ns = kernel_now_ns();
	open_calls_of(&a->mem->state, end_ns, on_open, &e);
	return e.calls;
}

struct untold {
	struct preload_speaker who;
	thread_area_fn *fn;
	void *ctx;
};

static void on_untold(void *ctx, const struct pov_hdr *rec)
{
	_Alignas(8) char copy[PRELOAD_RECORD_MAX];
	struct pov_hdr *mine = (struct pov_hdr *)copy;
	struct untold *u = ctx;

	if ((rec->kind != POV_KIND_SPIN && rec->kind != POV_KIND_COUNTED) ||
	    rec->size > sizeof(copy))
		return;
	memcpy(copy, rec, rec->size);
	if (preload_check(mine, rec->size, &u->who))
		u->fn(u->ctx, mine);
}

void thread_area_untold(const struct thread_area *a, thread_area_fn *fn, void *ctx)
{
	struct untold u = {.who = a->who, .fn = fn, .ctx = ctx};

	u.who.until_ns = kernel_now_ns();
	if (!a->damaged)
		open_calls_of(&a->mem->state, u.who.until_ns, on_untold, &u);
}

/* Nothing is counted more often than once in so many ns. */
#define COUNT_NS_MIN 10

/* A number that the thread counts: 0 if it has lived too short for it, so that it is nonsense. */
static uint64_t counted(const pov_u64 *n, uint64_t most)
{
	uint64_t value = __atomic_load_n(n, __ATOMIC_RELAXED);

	return value <= most ? value : 0;
}

void thread_area_count(const struct thread_area *a, struct preload_counts *sum)
{
	uint64_t lived_ns = kernel_now_ns() - a->who.since_ns, most = lived_ns / COUNT_NS_MIN;
	uint64_t cost_ps = counted(&a->mem->cost_ps, COST_PS_MAX);
	uint64_t counted_ps = counted(&a->mem->counted_ps, COST_PS_MAX);

	for (unsigned int i = 0; i < POV_CLASS_CNT; i++)
		sum->lost[i] += counted(&a->mem->lost[i], most);
	sum->no_area += counted(&a->mem->no_area, most);
	for (unsigned int i = 0; i < POV_MISS_CNT; i++)
		sum->miss[i] += counted(&a->mem->miss[i], most);
	sum->folded += counted(&a->mem->folded, most);
	sum->waits_ns += counted(&a->mem->waits_ns, lived_ns);
	if (!cost_ps || !counted_ps)
		return;
	sum->cost_ps += cost_ps;
	sum->counted_ps += counted_ps;
	sum->cost_cnt++;
}
