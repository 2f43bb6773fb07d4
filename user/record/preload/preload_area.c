/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "record/preload/preload_area.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/preload.h"
#include "lib/clock.h"
#include "lib/file.h"
#include "lib/log.h"
#include "lib/map.h"
#include "record/kernel.h"
#include "record/open_calls.h"
#include "record/preload/preload.h"

#define COST_PS_MAX 100000000 /* per call; a thread that measured more was interrupted */
/* a ring fuller than this fraction is read soon */
#define FILLS_SHARE 0.125
/* a ring fuller than this gets a larger successor; the small first one at FILLS_SHARE */
#define GROW_SHARE 0.5
/* bytes allocated at a time: 1 or 2 ms, because threads may be waiting for us */
#define GROW_BYTES (4u << 20)
#define STRANGE_NS 1000000000ull /* the kernel half reports a thread's begin long before that */

static void memory_make(char *from, size_t bytes)
{
	/* before Linux 5.14 the first writer allocates the pages */
	if (madvise(from, bytes, MADV_POPULATE_WRITE))
		log_debug("cannot allocate memory for records in advance: %s", strerror(errno));
}

static uint32_t ring_bytes(const struct thread_area *a, uint32_t ring)
{
	return pov_preload_ring_bytes(a->slot, a->few, ring);
}

static char *ring_memory(const struct thread_area *a, uint32_t ring)
{
	char *pool = (char *)a->mem - (size_t)a->slot * POV_PRELOAD_SLOT_BYTES;

	return pool + pov_preload_ring_at(a->slot, a->few, ring);
}

static void rings_announce(struct thread_area *a)
{
	__atomic_store_n(&a->mem->rings, ++a->made, __ATOMIC_RELEASE);
}

void thread_area_fill(struct thread_area *a)
{
	if (a->made)
		return;
	memory_make((char *)a->mem, POV_PRELOAD_AREA_BYTES);
	memory_make(ring_memory(a, 0), ring_bytes(a, 0) + POV_PRELOAD_BEHIND);
	rings_announce(a);
}

static uint32_t larger_bytes(const struct thread_area *a)
{
	uint32_t bytes = a->more_bytes;

	for (uint32_t ring = 1; ring < a->made; ring++)
		bytes += ring_bytes(a, ring);
	return bytes;
}

void thread_area_release(struct thread_area *a)
{
	free(a->kept);
	a->kept = NULL;
	if (a->spare)
		*a->spare += larger_bytes(a);
}

/*
 * Allocates a part of the next ring if the ring that was just read was rather full and is the last.
 */
static void ring_grow(struct thread_area *a, uint32_t ring, double full)
{
	uint32_t bytes = ring_bytes(a, a->made), more;

	if (full <= (ring ? GROW_SHARE : FILLS_SHARE) || ring + 1 < a->made || !bytes || !a->spare)
		return;
	more = bytes - a->more_bytes < GROW_BYTES ? bytes - a->more_bytes : GROW_BYTES;
	if (more > *a->spare)
		return;
	*a->spare -= more;
	memory_make(ring_memory(a, a->made) + a->more_bytes,
		    a->more_bytes + more == bytes ? more + POV_PRELOAD_BEHIND : more);
	a->more_bytes += more;
	if (a->more_bytes < bytes)
		return;
	a->more_bytes = 0;
	rings_announce(a);
}

/* Returns true if a thread of the process has this number, and makes it the current writer. */
static bool speaker_set(struct thread_area *a, uint32_t tid)
{
	if (tid == a->who.tid)
		return tid != 0;
	if ((uintptr_t)map_get(a->threads, tid) != a->who.tgid)
		return false;
	a->who.tid = tid;
	a->last_begin_ns = 0;
	return true;
}

/*
 * A thread that waits for room gets it back in steps of this size, while later records are still
 * being read.
 */
#define RELEASE_BYTES 16384
/*
 * Records are copied in pieces of this size, and only the copy is read, because the process may
 * change the ring at any time. A record that begins in a ring's last bytes continues in the room
 * after the ring.
 */
#define CHUNK_BYTES 4096
_Static_assert(CHUNK_BYTES <= POV_PRELOAD_BEHIND, "a chunk may begin at a ring's last byte");
_Static_assert(CHUNK_BYTES >= PRELOAD_RECORD_MAX, "a chunk has a whole record");

static void room_give(const struct thread_area *a)
{
	__atomic_store_n(&a->mem->tail, a->tail, __ATOMIC_RELEASE);
}

/* Finds the writer of the next record. False if it is still unknown. */
static bool speaker_find(struct thread_area *a, uint32_t tid)
{
	if (speaker_set(a, tid)) {
		a->strange_ns = 0;
		return true;
	}
	if (!a->strange_ns)
		a->strange_ns = a->who.until_ns;
	a->damaged = !tid || a->who.until_ns - a->strange_ns > STRANGE_NS;
	return false;
}

/* Keeps a call for later ones that are like it. */
static void call_keep(struct thread_area *a, const struct pov_hdr *rec)
{
	uint32_t group = pov_preload_group(((const struct pov_call *)rec)->func);

	if (rec->size > sizeof((*a->kept)[group]))
		return;
	if (!a->kept)
		a->kept = xcalloc(1, sizeof(*a->kept));
	memcpy((*a->kept)[group], rec, rec->size);
}

#define SIZE_BITS 0xffff /* of struct pov_hdr's first word: its size */

/*
 * Returns the kept call, changed by the words in `like`. A second application changes nothing.
 * NULL: there is no such call.
 */
static struct pov_hdr *like_apply(struct thread_area *a, const struct pov_preload_like *like)
{
	const uint64_t *from = like->word,
		       *end = (const uint64_t *)((const char *)like + like->size);
	uint32_t left = like->changed;
	struct pov_hdr *call;
	uint64_t *word, head;

	if (!a->kept || like->group >= POV_PRELOAD_KEPT)
		return NULL;
	word = (*a->kept)[like->group];
	head = *word;
	for (; left && from < end; left &= left - 1)
		word[__builtin_ctz(left)] = *from++;
	if (left || from != end || !head || (head ^ *word) & SIZE_BITS)
		return NULL;
	call = (struct pov_hdr *)word;
	return pov_is_call(call) ? call : NULL;
}

/* Checks a copy of a record and passes it to fn. */
static inline bool record_give(struct thread_area *a, struct pov_hdr *rec, thread_area_fn *fn,
			       void *ctx)
{
	if (!preload_check(rec, rec->size, &a->who))
		return false;
	if (pov_is_call(rec) && !(rec->flags & POV_CALL_OPEN))
		a->last_begin_ns = rec->ts_ns - ((struct pov_call *)rec)->dur_ns;
	fn(ctx, rec);
	return true;
}

static inline bool record_is_there(const struct pov_hdr *rec, size_t bytes)
{
	return bytes >= sizeof(*rec) && rec->size >= sizeof(*rec) &&
	       rec->size <= PRELOAD_RECORD_MAX && rec->size <= bytes;
}

/*
 * Passes the records of a chunk that begin before its byte `until` to fn, up to one that cannot be
 * read. Returns the bytes of the passed records. next: memory that will be copied after the chunk.
 */
static size_t chunk_take(struct thread_area *a, char *chunk, size_t bytes, size_t until,
			 const char *next, thread_area_fn *fn, void *ctx)
{
	struct pov_hdr *rec, *whole;
	size_t at = 0;

	for (; at < bytes && at < until; at += rec->size) {
		rec = (struct pov_hdr *)(chunk + at);
		if (!record_is_there(rec, bytes - at)) {
			a->damaged = !at; /* else its rest is in the next chunk */
			break;
		}
		/* The next chunk is still in the cache of the CPU that wrote it. */
		__builtin_prefetch(next + at);
		__builtin_prefetch(next + at + 64);
		whole = rec->kind == POV_PRELOAD_LIKE ? like_apply(a, (void *)rec) : rec;
		if (whole && !speaker_find(a, whole->tid))
			break;
		a->damaged = !whole || !record_give(a, whole, fn, ctx);
		if (a->damaged)
			break;
		if (whole == rec && pov_is_call(rec))
			call_keep(a, rec);
	}
	return at;
}

bool thread_area_fills(const struct thread_area *a)
{
	uint64_t head = __atomic_load_n(&a->mem->head, __ATOMIC_RELAXED);

	return !a->damaged && (double)(head - a->tail) > FILLS_SHARE * ring_bytes(a, a->ring);
}

#define STATUS_BYTES 8192
#define LOOK_NS 10000000ull /* between looks at a thread whose ring fills */

/* Lets a thread that may soon wait for room know whether it may make system calls, to sleep. */
static void confinement_look(struct thread_area *a)
{
	uint64_t now_ns = clock_now_ns();
	char name[32], *status;
	size_t bytes;

	if (now_ns - a->looked_ns < LOOK_NS || !a->who.tid)
		return;
	a->looked_ns = now_ns;
	snprintf(name, sizeof(name), "task/%u/status", a->who.tid);
	status = proc_file_read((pid_t)a->who.tgid, name, STATUS_BYTES, &bytes);
	if (status && strstr(status, "\nSeccomp:\t0\n"))
		__atomic_store_n(&a->mem->unconfined_ns, now_ns, __ATOMIC_RELAXED);
	free(status);
}

/* Returns the end of the data in the current ring: the head, or where the next ring was begun. */
static uint64_t ring_end(struct thread_area *a, uint64_t head)
{
	uint32_t begun = __atomic_load_n(&a->mem->ring, __ATOMIC_ACQUIRE);
	uint64_t end = head;

	if (begun > a->ring)
		end = __atomic_load_n(&a->mem->ring_from[a->ring + 1], __ATOMIC_RELAXED);
	a->damaged |= begun < a->ring || begun >= a->made || end < a->tail;
	return end < head ? end : head; /* the next ring was begun after we read the head */
}

/* Reads the current ring up to a byte. Stops before a record that cannot be read. */
static void ring_take(struct thread_area *a, uint64_t end, thread_area_fn *fn, void *ctx)
{
	_Alignas(64) char chunk[CHUNK_BYTES];
	const char *ring = ring_memory(a, a->ring);
	uint32_t size = ring_bytes(a, a->ring), from;
	size_t bytes, taken = 1;

	a->damaged |= end - a->tail > size;
	while (!a->damaged && a->tail != end && taken) {
		from = a->tail & (size - 1);
		bytes = end - a->tail < CHUNK_BYTES ? end - a->tail : CHUNK_BYTES;
		memcpy(chunk, ring + from, bytes);
		taken = chunk_take(a, chunk, bytes, size - from, ring + from + bytes, fn, ctx);
		a->tail += taken;
		if (a->tail % RELEASE_BYTES < taken)
			room_give(a);
	}
}

double thread_area_take(struct thread_area *a, thread_area_fn *fn, void *ctx)
{
	uint64_t head = __atomic_load_n(&a->mem->head, __ATOMIC_ACQUIRE), end;
	double full = 0, part;

	if (head == a->tail)
		return 0;
	a->who.until_ns = clock_now_ns(); /* all records are older than this */
	for (;;) {
		end = ring_end(a, head);
		if (a->damaged)
			break;
		part = (double)(end - a->tail) / ring_bytes(a, a->ring);
		full = part > full ? part : full;
		if (part > FILLS_SHARE)
			confinement_look(a);
		ring_take(a, end, fn, ctx);
		ring_grow(a, a->ring, part);
		if (a->damaged || a->tail != end || end == head)
			break;
		a->ring++;
	}
	if (a->damaged) /* its threads must not wait for room */
		a->tail = head;
	room_give(a);
	return full;
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
	/* Skip a call that has returned: its thread was killed before it could update its state. */
	if (!preload_check(mine, rec->size, &e->a->who) ||
	    (call && mine->ts_ns - ((struct pov_call *)mine)->dur_ns == e->a->last_begin_ns))
		return;
	e->calls += call;
	e->fn(e->ctx, mine);
}

static uint64_t open_calls_end(struct thread_area *a, uint64_t end_ns, uint8_t flag,
			       thread_area_fn *fn, void *ctx)
{
	struct ending e = {.a = a, .fn = fn, .ctx = ctx, .flag = flag};

	if (a->damaged)
		return 0;
	a->who.until_ns = clock_now_ns();
	open_calls_of(&a->mem->state, end_ns, on_open, &e);
	return e.calls;
}

uint64_t thread_area_end(struct thread_area *a, uint64_t end_ns, uint8_t flag, thread_area_fn *fn,
			 void *ctx)
{
	return speaker_set(a, __atomic_load_n(&a->mem->owner, __ATOMIC_ACQUIRE)) ?
		       open_calls_end(a, end_ns, flag, fn, ctx) :
		       0;
}

void thread_area_free_of(struct thread_area *a, uint32_t tid, uint64_t end_ns, uint8_t flag,
			 thread_area_fn *fn, void *ctx)
{
	struct pov_preload_area *m = a->mem;
	uint32_t owner = tid;

	thread_area_take(a, fn, ctx);
	if (!__atomic_compare_exchange_n(&m->owner, &owner, POV_PRELOAD_BUSY, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	thread_area_take(a, fn, ctx);
	if (speaker_set(a, tid))
		open_calls_end(a, end_ns, flag, fn, ctx);
	m->state.depth = m->state.spinning = 0;
	m->state.counting_ns = 0;
	m->thread_pointer = 0;
	m->world_state = m->world_answered = a->world_reported = POV_PRELOAD_WORLD_NONE;
	__atomic_store_n(&m->owner, 0, __ATOMIC_RELEASE);
}

/* Counters grow by at most one in this many ns. */
#define COUNT_NS_MIN 10

/*
 * Reads a thread's counter. Returns 0 if the thread has not lived long enough for the value, which
 * is then invalid.
 */
static uint64_t counter_read(const pov_u64 *n, uint64_t most)
{
	uint64_t value = __atomic_load_n(n, __ATOMIC_RELAXED);

	return value <= most ? value : 0;
}

void thread_area_count(const struct thread_area *a, struct preload_counts *sum)
{
	uint64_t lived_ns = clock_now_ns() - a->who.since_ns, most = lived_ns / COUNT_NS_MIN;
	uint64_t cost_ps = counter_read(&a->mem->cost_ps, COST_PS_MAX);
	uint64_t counted_ps = counter_read(&a->mem->counted_ps, COST_PS_MAX);
	uint64_t brief_ps = counter_read(&a->mem->brief_ps, COST_PS_MAX);

	for (unsigned int i = 0; i < POV_CLASS_CNT; i++)
		sum->lost[i] += counter_read(&a->mem->lost[i], most);
	sum->no_area += counter_read(&a->mem->no_area, most);
	for (unsigned int i = 0; i < POV_MISS_CNT; i++)
		sum->miss[i] += counter_read(&a->mem->miss[i], most);
	sum->folded += counter_read(&a->mem->folded, most);
	sum->waits_ns += counter_read(&a->mem->waits_ns, lived_ns);
	for (unsigned int i = 0; i < POV_HALF_CNT; i++) {
		sum->sample_cnt[i] += counter_read(&a->mem->sample[i].cnt, most);
		sum->sample_ns[i] += counter_read(&a->mem->sample[i].ns, lived_ns);
	}
	if (!cost_ps || !counted_ps || !brief_ps)
		return;
	for (unsigned int i = 0; i < POV_HALF_CNT; i++)
		sum->hot_ps[i] += counter_read(&a->mem->hot_ps[i], COST_PS_MAX);
	sum->cost_ps += cost_ps;
	sum->counted_ps += counted_ps;
	sum->brief_ps += brief_ps;
	sum->cost_cnt++;
}

#define POOL_BYTES ((size_t)POV_PRELOAD_POOL_BYTES)

static int file_make(void)
{
	int fd = memory_file_make(POOL_BYTES), err;

	/* Nobody may shorten the file: reading past its end would kill us. */
	if (fd < 0 || !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int preload_pool_try(void)
{
	int fd = file_make();

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int preload_pool_make(const struct preload_speaker *who, const struct map *threads, uint64_t *spare,
		      struct preload_pool **out)
{
	struct preload_pool *pool;
	int fd = file_make(), err;
	void *mem;

	if (fd < 0)
		return fd;
	mem = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (mem == MAP_FAILED) {
		err = -errno;
		close(fd);
		return err;
	}
	pool = xcalloc(1, sizeof(*pool));
	pool->fd = fd;
	pool->mem = mem;
	pool->who = *who;
	pool->who.lib = pool->lib;
	for (uint32_t i = 0; i < POV_PRELOAD_SLOTS; i++)
		pool->slot[i] = (struct thread_area){
			.mem = (struct pov_preload_area *)(pool->mem +
							   (size_t)i * POV_PRELOAD_SLOT_BYTES),
			.who = pool->who,
			.threads = threads,
			.slot = i,
			.spare = spare,
		};
	thread_area_fill(&pool->slot[0]);
	*out = pool;
	return 0;
}

void preload_pool_free(struct preload_pool *pool)
{
	if (!pool)
		return;
	if (pool->fd >= 0)
		close(pool->fd);
	for (uint32_t i = 0; i < pool->used; i++)
		thread_area_release(&pool->slot[i]);
	munmap(pool->mem, POOL_BYTES);
	free(pool);
}

void preload_pool_placed(struct preload_pool *pool, uint64_t address, uint32_t slots)
{
	pool->address = address;
	for (uint32_t i = 0; i < POV_PRELOAD_SLOTS; i++)
		pool->slot[i].few = slots == POV_PRELOAD_SLOTS_FEW;
	if (pool->slot[0].few) { /* a pool with few slots has this ring at another place */
		pool->slot[0].made = 0;
		thread_area_fill(&pool->slot[0]);
	}
}

void preload_pool_look(struct preload_pool *pool)
{
	uint32_t used = __atomic_load_n(&pool->slot[0].mem->slots_used, __ATOMIC_ACQUIRE);

	if (used > POV_PRELOAD_SLOTS)
		used = POV_PRELOAD_SLOTS;
	for (; pool->used < used; pool->used++)
		thread_area_fill(&pool->slot[pool->used]);
	if (used < POV_PRELOAD_SLOTS)
		thread_area_fill(&pool->slot[used]);
}

void preload_pool_count(const struct preload_pool *pool, struct preload_counts *sum)
{
	const struct pov_preload_forks *forks = (void *)(pool->mem + POV_PRELOAD_FORKS_AT);
	uint64_t lost = __atomic_load_n(&forks->lost, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < pool->used; i++)
		thread_area_count(&pool->slot[i], sum);
	if (lost > clock_now_ns() - pool->who.since_ns)
		return; /* invalid: more than one per ns */
	sum->lost[POV_CLASS_CALL] += lost;
	sum->no_area += lost;
}

bool preload_pool_is_left(const struct preload_pool *pool)
{
	for (uint32_t i = 0; i < pool->used; i++)
		if (__atomic_load_n(&pool->slot[i].mem->owner, __ATOMIC_RELAXED))
			return false;
	return true;
}
