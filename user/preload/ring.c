/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Writes records to a thread's ring (abi/preload.h), and waits for room in it. */

#include <linux/time_types.h>

#include "preload/library.h"

#define WAIT_NS 1000000000ull /* longest wait for room */
#define NAP_NS 50000

/*
 * Called when the known free room is used up. Finds out how much is free now, in this ring or the
 * next. False: less than `size` bytes.
 */
static __noinline bool room_find(struct pov_preload_area *a, u64 size)
{
	u64 from = __atomic_load_n(&a->tail, __ATOMIC_ACQUIRE);
	u32 number = a->ring;

	if (number < POV_PRELOAD_RINGS && a->ring_from[number] > from)
		/* records left in the previous ring take no room here */
		from = a->ring_from[number];
	ring.until = from + ring.bytes;
	if (ring.until - a->head < ring.bytes / 2 &&
	    number + 1 < __atomic_load_n(&a->rings, __ATOMIC_ACQUIRE))
		area_ring_begin(number + 1);
	return a->head + size <= ring.until;
}

/* Bytes copied at a time. So some bytes after a record's end are copied, too, which is harmless. */
#define PIECE 32

static __always_inline void record_put(struct pov_preload_area *a, const void *rec, u64 size)
{
	u64 head = a->head;
	u8 *to = ring.at + (head & (ring.bytes - 1));

	for (u64 i = 0; i < size; i += PIECE)
		memcpy(to + i, (const u8 *)rec + i, PIECE);
	__atomic_store_n(&a->head, head + size, __ATOMIC_RELEASE);
}

/* Records how long the thread has waited. There is room for this record. */
static void waited_record(struct pov_preload_area *a, u64 begin, u64 now)
{
	struct pov_room r = {.dur_ns = now - begin, .tgid = a->state.tgid};

	hdr_init(&r.hdr, POV_KIND_ROOM, sizeof(r), a->state.tid, now);
	record_put(a, &r, sizeof(r));
}

/*
 * Lets other threads run for a moment. Makes no system call until the collector has found that the
 * thread has no filter of them, which mostly takes some milliseconds. begin: when the wait began.
 */
static void nap(const struct pov_preload_area *a, u64 begin)
{
	const struct __kernel_timespec ts = {.tv_nsec = NAP_NS};

	if (__atomic_load_n(&a->unconfined_ns, __ATOMIC_RELAXED) > begin)
		sys3(__NR_nanosleep, (long)&ts, 0, 0);
	else
		__asm__ volatile("pause");
}

/* Waits for room. False: there is still none. */
static __noinline bool room_wait(struct pov_preload_area *a, u64 size)
{
	const u64 wanted = size + sizeof(struct pov_room) + PIECE;
	u64 begin = clock_now(), now = begin, alive;
	bool ready = false;

	while (!ready && now - begin < WAIT_NS) {
		alive = __atomic_load_n(&setup->collector_ns, __ATOMIC_RELAXED);
		if (!alive || now > alive + POV_ALIVE_NS)
			break;
		nap(a, begin);
		now = clock_now();
		ready = room_find(a, wanted);
	}
	a->waits_ns += now - begin;
	if (ready)
		waited_record(a, begin, now);
	return ready;
}

/* Returns true if there is room for a record. Else it is counted as lost. */
static __always_inline bool room_get(struct pov_preload_area *a, u64 size, u32 class)
{
	if (a->head + size + PIECE <= ring.until || room_find(a, size + PIECE) ||
	    room_wait(a, size))
		return true;
	__atomic_fetch_add(&a->lost[class], 1, __ATOMIC_RELEASE);
	return false;
}

/* ---- calls like earlier ones (struct pov_preload_like) ---- */

void kept_forget(struct pov_preload_area *a)
{
	for (u32 i = 0; i < POV_PRELOAD_KEPT; i++)
		a->kept[i][0] = 0;
}

/*
 * Appends word i to `to` if it has changed, keeps it, and sets its bit in *changed. Returns the
 * end.
 */
static __always_inline u64 *word_put(u64 *to, const u64 *w, u64 *kept, u32 i, u32 *changed)
{
	bool differs = w[i] != kept[i];

	*to = kept[i] = w[i];
	*changed |= (u32)differs << i;
	return to + differs;
}

/* Words of a call that nearly always change: its end and its duration. */
#define TIMES_CHANGED 6u

/* Writes the words of a call that differ from the kept one. There is room for all of them. */
static __always_inline void like_put(struct pov_preload_area *a, u32 group, const u64 *w, u64 size)
{
	struct pov_preload_like *like = (void *)(ring.at + (a->head & (ring.bytes - 1)));
	u32 changed = TIMES_CHANGED, words = (u32)size / 8, i;
	u64 *kept = a->kept[group], *to = like->word;

	to = word_put(to, w, kept, 0, &changed);
	*to++ = kept[1] = w[1];
	*to++ = kept[2] = w[2];
	to = word_put(to, w, kept, 3, &changed);
	for (i = 4; i + 4 <= words; i += 4)
		if ((w[i] ^ kept[i]) | (w[i + 1] ^ kept[i + 1]) | (w[i + 2] ^ kept[i + 2]) |
		    (w[i + 3] ^ kept[i + 3]))
			for (u32 k = i; k < i + 4; k++)
				to = word_put(to, w, kept, k, &changed);
	for (; i < words; i++)
		to = word_put(to, w, kept, i, &changed);
	size = (u64)((u8 *)to - (u8 *)like);
	*like = (struct pov_preload_like){(u16)size, POV_PRELOAD_LIKE, (u8)group, changed};
	__atomic_store_n(&a->head, a->head + size, __ATOMIC_RELEASE);
}

/* Writes a call: what differs from the one that is kept of its group, or all of it. */
static __always_inline void call_put(struct pov_preload_area *a, const u64 *w, u64 size)
{
	u32 group = pov_preload_group(((const struct pov_call *)w)->func);
	u64 *kept = a->kept[group];

	if (((const struct pov_hdr *)kept)->size == size) {
		like_put(a, group, w, size);
		return;
	}
	record_put(a, w, size);
	if (size <= sizeof(a->kept[0]))
		for (u32 i = 0; i < size / 8; i++)
			kept[i] = w[i];
}

int emit(const void *rec, u64 size, u32 class)
{
	struct pov_preload_area *a = area;

	if (!room_get(a, sizeof(struct pov_preload_like) + size, class))
		return -1;
	if (!pov_is_call(rec))
		record_put(a, rec, size);
	else
		call_put(a, rec, size);
	return 0;
}
