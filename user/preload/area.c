/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Gives each thread a slot at its first call, without a system call: the slot of an ended thread
 * with the same thread pointer, or a free one. The collector frees slots of ended threads.
 */

#include <linux/mman.h>

#include "preload/library.h"

/* Offset of the thread's number from the thread pointer in glibc; verified before use. */
#define GLIBC_TID 720
#define PAUSES 1000000 /* tens of ms */

const struct pov_preload_setup *setup;
__thread struct pov_preload_area *area;
__thread struct ring ring;

static char *pool;
static bool pool_is_known;		/* the collector reads the pool */
static struct pov_preload_forks *forks; /* of this process's pool, or of an ancestor's */
static u32 process;
static bool tid_is_kept;

static u32 always_same = 1, *same_page = &always_same;
const u32 *area_same_process = &always_same;

static u32 tid_kept(void)
{
	return *(const volatile u32 *)((const char *)__builtin_thread_pointer() + GLIBC_TID);
}

/* Returns the thread's number. */
static u32 area_thread(void)
{
	return tid_is_kept ? tid_kept() : (u32)sys3(__NR_gettid, 0, 0, 0);
}

static void process_note(void)
{
	process = (u32)sys3(__NR_getpid, 0, 0, 0);
	*same_page = 1;
	tid_is_kept = tid_kept() == (u32)sys3(__NR_gettid, 0, 0, 0);
}

void area_begin(void)
{
	long page = sys6(__NR_mmap, 0, PAGE_ZERO_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!sys_failed(page) && !sys3(__NR_madvise, page, PAGE_ZERO_BYTES, MADV_WIPEONFORK))
		area_same_process = same_page = (u32 *)page;
	process_note();
}

/* ---- slots ---- */

static u32 slot_cnt;

static struct pov_preload_area *slot_at(u32 i)
{
	return (struct pov_preload_area *)(pool + (u64)i * POV_PRELOAD_SLOT_BYTES);
}

/* Makes a ring the current one. It may have records that are not read yet. */
static bool ring_choose(u32 number)
{
	u32 slot = (u32)(((char *)area - pool) / POV_PRELOAD_SLOT_BYTES);
	bool few = slot_cnt == POV_PRELOAD_SLOTS_FEW;
	u32 bytes = pov_preload_ring_bytes(slot, few, number);

	if (bytes)
		ring = (struct ring){
			.at = (u8 *)pool + pov_preload_ring_at(slot, few, number),
			.bytes = bytes,
			.until = area->head,
		};
	return bytes;
}

bool area_ring_begin(u32 number)
{
	if (!ring_choose(number))
		return false;
	ring.until += ring.bytes;
	area->ring_from[number] = area->head;
	__atomic_store_n(&area->ring, number, __ATOMIC_RELEASE);
	return true;
}

/* Slots from this index on were never used. */
static u32 *slots_used(void)
{
	return &slot_at(0)->slots_used;
}

static bool slot_take(struct pov_preload_area *a, u32 from, u32 tid)
{
	return __atomic_compare_exchange_n(&a->owner, &from, tid, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Takes the slot of an ended thread that had this thread's pointer. */
static struct pov_preload_area *slot_inherit(u32 tid, u64 pointer, u32 used)
{
	for (u32 i = 0; i < used; i++) {
		struct pov_preload_area *a = slot_at(i);
		u32 owner = __atomic_load_n(&a->owner, __ATOMIC_ACQUIRE);

		if (a->thread_pointer == pointer && owner && owner != POV_PRELOAD_BUSY &&
		    slot_take(a, owner, tid))
			return a;
	}
	return NULL;
}

static struct pov_preload_area *slot_free(u32 tid, u32 used)
{
	for (u32 i = 0; i < used; i++)
		if (slot_take(slot_at(i), 0, tid))
			return slot_at(i);
	while ((used = __atomic_fetch_add(slots_used(), 1, __ATOMIC_ACQ_REL)) < slot_cnt)
		if (slot_take(slot_at(used), 0, tid))
			return slot_at(used);
	__atomic_store_n(slots_used(), slot_cnt, __ATOMIC_RELEASE);
	return NULL;
}

static void slot_begin(struct pov_preload_area *a, u32 tid, u64 pointer)
{
	area = a;
	if (!ring_choose(a->ring))
		ring_choose(0);
	record_thread_gone(); /* ends what the slot's last thread left open */
	a->thread_pointer = pointer;
	memset(&a->state, 0, sizeof(a->state));
	a->state.tid = tid;
	a->state.tgid = process;
}

static bool slot_claim(void)
{
	u64 pointer = (u64)__builtin_thread_pointer();
	u32 tid = area_thread(), used = __atomic_load_n(slots_used(), __ATOMIC_ACQUIRE);
	struct pov_preload_area *a;

	if (used > slot_cnt)
		used = slot_cnt;
	a = slot_inherit(tid, pointer, used);
	if (!a)
		a = slot_free(tid, used);
	if (a)
		slot_begin(a, tid, pointer);
	return a;
}

void area_pool(void *p, u32 cnt)
{
	pool = p;
	slot_cnt = cnt;
	if (slot_claim())
		record_calibrate();
}

void area_forks(struct pov_preload_forks *page)
{
	forks = page;
}

void area_pool_known(void)
{
	__atomic_store_n(&pool_is_known, true, __ATOMIC_RELEASE);
}

u64 area_pool_address(u32 *cnt)
{
	*cnt = slot_cnt;
	return (u64)pool;
}

/* ---- a thread's call ---- */

/*
 * Prepares a child process at its first call. The child has inherited only its parent's hooks and
 * the read-only setup. False: another thread is still doing this, or this thread was doing it when
 * a signal interrupted it.
 */
static bool child_begin(void)
{
	/*
	 * Only one thread of the child does this. In each new child the kernel sets this word to
	 * zero, too.
	 */
	if (__atomic_exchange_n(&same_page[1], 1, __ATOMIC_ACQ_REL)) {
		for (u32 i = 0; i < PAUSES && !*(volatile const u32 *)area_same_process; i++)
			__asm__ volatile("pause");
		return *(volatile const u32 *)area_same_process;
	}
	pool = NULL;
	pool_is_known = false;
	pool_bytes = 0;
	area = NULL;
	process_note();
	ask_plan();
	return true;
}

static void lost_count(void)
{
	u64 until = __atomic_load_n(&setup->calls_until, __ATOMIC_RELAXED);
	struct pov_preload_area *first = slot_at(0);

	if (!__atomic_load_n(&setup->collector_ns, __ATOMIC_RELAXED) ||
	    (until && clock_now() >= until))
		return;
	if (pool) {
		__atomic_fetch_add(&first->no_area, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&first->lost[POV_CLASS_CALL], 1, __ATOMIC_RELEASE);
	} else if (forks) {
		__atomic_fetch_add(&forks->lost, 1, __ATOMIC_RELAXED);
	}
}

bool area_find(void)
{
	if (!*area_same_process && !child_begin()) {
		if (forks)
			__atomic_fetch_add(&forks->lost, 1, __ATOMIC_RELAXED);
		return false;
	}
	if (area || (__atomic_load_n(&pool_is_known, __ATOMIC_ACQUIRE) && slot_claim()))
		return true;
	lost_count();
	return false;
}
