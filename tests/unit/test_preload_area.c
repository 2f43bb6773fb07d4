/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the collector takes from a slot in which threads record their own calls: records as they
 * were written, for threads that belong to the process. It takes no nonsense of any kind.
 */
#include <sys/mman.h>

#include "lib/clock.h"
#include "unit/test.h"
#include "abi/preload.h"
#include "lib/map.h"
#include "record/kernel.h"
#include "record/preload/preload.h"
#include "record/preload/preload_area.h"
#include "unit/trace_help.h"

#define FIRST 100
#define ROWS 10

static const bool wanted[ROWS] = {true, true, true, [7] = true};

struct taken {
	unsigned int cnt;
	_Alignas(8) char last[PRELOAD_RECORD_MAX];
};

static void on_record(void *ctx, const struct pov_hdr *rec)
{
	struct taken *t = ctx;

	t->cnt++;
	memcpy(t->last, rec, rec->size);
	assert_true(rec->tid == 11 || rec->tid == 14);
}

static struct thread_area area, *const a = &area; /* the running test's area */
static struct taken t;
static struct map threads;
static bool libs[POV_LIB_NUMBERS];
static uint64_t spare;

#define RING POV_PRELOAD_RING_LEAST

#define SLOT 1 /* not the first, which has other rings */

static char *pool_of(void)
{
	return (char *)a->mem - SLOT * POV_PRELOAD_SLOT_BYTES;
}

static void area_drop(void)
{
	thread_area_release(a);
	if (area.mem)
		munmap(pool_of(), POV_PRELOAD_POOL_BYTES);
	area = (struct thread_area){0};
}

static void area_renew(void)
{
	char *pool = mmap(NULL, POV_PRELOAD_POOL_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(pool != MAP_FAILED);
	area_drop();
	area = (struct thread_area){
		.who = {.tgid = 10,
			.lib = libs,
			.first_row = FIRST,
			.rows = ROWS,
			.wanted = wanted,
			.cpus = 4,
			.since_ns = clock_now_ns() - 5000000000ull}, /* before all calls */
		.threads = &threads,
		.mem = (struct pov_preload_area *)(pool + SLOT * POV_PRELOAD_SLOT_BYTES),
		.slot = SLOT,
		.spare = &spare,
	};
	spare = POV_PRELOAD_RING_MORE + 4096;
	thread_area_fill(a);
	a->mem->owner = a->mem->state.tid = 11;
	libs[3] = true;
	map_set(&threads, 11, (void *)10);
	map_set(&threads, 12, (void *)10);
	map_set(&threads, 13, (void *)99);
	t = (struct taken){0};
}

static int begin(void **state)
{
	area_renew();
	return 0;
}

static int end(void **state)
{
	area_drop();
	map_release(&threads);
	return 0;
}

static double take(void)
{
	return thread_area_take(a, on_record, &t);
}

/* Writes a record as the library does (user/preload/call_record.c). */
static void put(const void *rec, size_t bytes)
{
	char *ring = pool_of() + pov_preload_ring_at(SLOT, false, a->mem->ring);

	memcpy(ring + a->mem->head % pov_preload_ring_bytes(SLOT, false, a->mem->ring), rec, bytes);
	a->mem->head += bytes;
}

static void second_ring_begin(void)
{
	a->mem->ring_from[1] = a->mem->head;
	a->mem->ring = 1;
}

/* A call with two arguments and a field, counted calls, and a wait for room. */
static const char call_text[] = "call tid=11 tgid=98 func=101 lib=3 cpu=3 args=1,2 tsize=1:4";
static const char counted_text[] = "counted tid=11 tgid=98 func=102 lib=3 dur=100 calls=3 busy=50 "
				   "bytes=40 sized=2 flags=0xff";
static const char room_text[] = "room tid=11 tgid=98 dur=100";
#define FIXED_WORDS (sizeof(struct pov_call) / 8)
#define FIELD_AT (FIXED_WORDS + 2)
#define CALL_BYTES (8 * (FIELD_AT + 2))

union made {
	struct pov_hdr hdr;
	struct pov_call call;
	struct pov_counted counted;
	struct pov_room room;
	uint64_t word[FIELD_AT + 2];
};

static union made record_new(const char *text)
{
	const struct pov_hdr *rec = record_made("%s", text);
	union made r = {0};

	assert_true(rec->size <= sizeof(r));
	memcpy(&r, rec, rec->size);
	r.hdr.ts_ns = clock_now_ns();
	return r;
}

static void put_made(const union made *r)
{
	put(r, r->hdr.size);
}

/* Writes the words of a call that `changed` names. */
static void put_like(uint32_t changed, const union made *r)
{
	union {
		struct pov_preload_like like;
		uint64_t word[1 + COUNT(r->word)];
	} l = {.like = {.size = 8,
			.kind = POV_PRELOAD_LIKE,
			.group = (pov_u8)pov_preload_group(r->call.func),
			.changed = changed}};

	for (uint32_t i = 0; i < COUNT(r->word); i++)
		if (changed >> i & 1) {
			l.word[l.like.size / 8] = r->word[i];
			l.like.size += 8;
		}
	put(&l, l.like.size);
}

#define CHANGED(word) (1u << (word))
#define CHANGED_TIME CHANGED(1)

/* Wraps around several times. Each record comes in one piece, even across the ring's end. */
TEST(wrapped)
{
	const struct pov_call *got = (struct pov_call *)t.last;
	union made c = record_new(call_text);
	uint64_t put_cnt = 0;

	for (uint64_t bytes = 0; bytes < 3ull * RING; bytes += CALL_BYTES) {
		c.word[FIXED_WORDS] = put_cnt++;
		put_made(&c);
		if (put_cnt % 100 == 0)
			take();
	}
	take();
	assert_int_equal(t.cnt, put_cnt);
	assert_false(a->damaged);
	assert_int_equal(a->mem->tail, put_cnt * CALL_BYTES);
	assert_int_equal(take(), 0);
	/* the thread must not choose its own process */
	assert_int_equal(got->tgid, 10);
	assert_int_equal(got->lib, 3);
	assert_int_equal(got->hdr.flags, POV_CALL_PRELOADED);
	assert_memory_equal(got->args, &c.word[FIXED_WORDS], 16);
}

struct watched {
	const struct thread_area *a;
	uint64_t taken; /* bytes */
	uint64_t most;	/* largest number of bytes not given back yet */
};

static void on_watched(void *ctx, const struct pov_hdr *rec)
{
	struct watched *w = ctx;

	if (w->a->tail - w->a->mem->tail > w->most)
		w->most = w->a->tail - w->a->mem->tail;
	w->taken += rec->size;
}

/* A waiting thread gets room long before everything is taken. */
TEST(room)
{
	struct watched w = {.a = a};
	union made c = record_new(call_text);

	while (a->mem->head + CALL_BYTES <= RING)
		put_made(&c);
	assert_true(thread_area_take(a, on_watched, &w) > 0.99);
	assert_int_equal(w.taken, a->mem->head);
	assert_in_range(w.most, 1, RING / 4);
	assert_int_equal(a->mem->tail, a->mem->head);
}

static void refused(const char *member, size_t n, const void *rec, size_t bytes)
{
	union made good = record_new(call_text);

	area_renew();
	put_made(&good);
	put(rec, bytes);
	put_made(&good);
	take();
	if (t.cnt != 1 || !a->damaged)
		fail_msg("%s, value %zu: %u taken", member, n, t.cnt);
	/* nothing more is taken, and a waiting thread gets room */
	put_made(&good);
	take();
	assert_int_equal(t.cnt, 1);
	assert_int_equal(a->mem->tail, a->mem->head);
}

/*
 * Asserts that a record is refused with each of these values in a member. The member belongs to the
 * struct `type`, which begins after that many words of the record.
 */
#define REFUSED_AT(text, words, type, member, ...)                     \
	do {                                                           \
		const uint64_t values_[] = {__VA_ARGS__};              \
                                                                       \
		for (size_t i = 0; i < COUNT(values_); i++) {          \
			union made r_ = record_new(text);              \
			const size_t bytes_ = r_.hdr.size;             \
			type *of_ = (type *)&r_.word[words];           \
                                                                       \
			of_->member = (typeof(of_->member))values_[i]; \
			refused(#member, i, &r_, bytes_);              \
		}                                                      \
	} while (0)
#define REFUSED(text, type, ...) REFUSED_AT(text, 0, struct pov_##type, __VA_ARGS__)

TEST(nonsense)
{
	REFUSED(call_text, call, hdr.size, 0, 8, 100, 65528);
	REFUSED(call_text, call, hdr.kind, POV_KIND_SWITCH, POV_KIND_EXIT, 0);
	REFUSED(call_text, call, hdr.ts_ns, 1, clock_now_ns() + 3600000000000);
	REFUSED(call_text, call, dur_ns, UINT64_MAX);
	REFUSED(call_text, call, func, FIRST - 1, FIRST + ROWS, FIRST + 5);
	REFUSED(call_text, call, lib, 2, POV_LIB_NUMBERS, 0xffff);
	REFUSED(call_text, call, depth, POV_CALL_DEPTH_MAX);
	REFUSED(call_text, call, nargs, POV_CALL_ARGS_MAX + 1, 16);
	REFUSED(call_text, call, cpu, 4);
	REFUSED_AT(call_text, FIELD_AT, struct pov_field, size, 16, 0xffff);
	REFUSED_AT(call_text, FIELD_AT, struct pov_field, arg, 16);
	REFUSED_AT(call_text, FIELD_AT, struct pov_field, type, 0, 200);
}

TEST(counted)
{
	union made c = record_new(counted_text);
	const struct pov_counted *got = (struct pov_counted *)t.last;

	put_made(&c);
	take();
	assert_true(t.cnt && !a->damaged);
	assert_int_equal(got->tgid, 10);
	assert_int_equal(got->lib, 3);
	assert_int_equal(got->hdr.flags, POV_COUNTED_NESTED | POV_COUNTED_PRELOADED);
	assert_int_equal(got->calls, 3);
	assert_int_equal(got->bytes, 40);
	assert_int_equal(got->sized, 2);
	REFUSED(counted_text, counted, sized, 4);
	REFUSED(counted_text, counted, hdr.size, sizeof(struct pov_counted) - 8);
	REFUSED(counted_text, counted, calls, 0, 102, UINT64_MAX);
	REFUSED(counted_text, counted, busy_ns, 101 * POV_CALL_DEPTH_MAX);
	REFUSED(counted_text, counted, dur_ns, UINT64_MAX);
	REFUSED(counted_text, counted, func, FIRST + 5, FIRST - 1);
}

TEST(waited)
{
	union made r = record_new(room_text);

	put_made(&r);
	take();
	assert_true(t.cnt && !a->damaged);
	assert_int_equal(((struct pov_room *)t.last)->tgid, 10);
	assert_int_equal(((struct pov_room *)t.last)->dur_ns, 100);
	REFUSED(room_text, room, dur_ns, UINT64_MAX);
	REFUSED(room_text, room, hdr.size, sizeof(struct pov_room) - 8);
}

TEST(head)
{
	const uint64_t heads[] = {1, RING + 8ull, UINT64_MAX, 1ull << 63};

	for (size_t i = 0; i < COUNT(heads); i++) {
		area_renew();
		a->mem->head = heads[i];
		take();
		assert_true(a->damaged);
		assert_int_equal(t.cnt, 0);
	}
}

/* Random bytes anywhere: reading ends, and no impossible record is taken. */
TEST(random)
{
	uint64_t *words;

	srand(7);
	for (int round = 0; round < 200; round++) {
		union made c = record_new(call_text);
		struct preload_counts counts = {0};

		area_renew();
		for (int i = 0; i < 50; i++)
			if (i % 2)
				put_like(CHANGED_TIME, &c);
			else
				put_made(&c);
		words = (uint64_t *)((char *)a->mem + POV_PRELOAD_AREA_BYTES);
		for (int i = 0; i < 20; i++)
			words[(unsigned int)rand() % (50 * CALL_BYTES / 8)] ^= 1ull << rand() % 64;
		words = (uint64_t *)a->mem;
		for (int i = 0; i < 200; i++)
			words[16 + (unsigned int)rand() % (sizeof(*a->mem) / 8 - 16)] =
				(uint64_t)rand() << 33 ^ (uint64_t)rand();
		take();
		thread_area_end(a, clock_now_ns(), POV_CALL_OPEN, on_record, &t);
		thread_area_count(a, &counts);
		assert_true(t.cnt <= 50 + POV_CALL_DEPTH_MAX * 3 + POV_COUNTING_MAX);
		assert_true(counts.lost[0] < 1000000000);
	}
}

/*
 * A call without a return is reported as open. A call that returned but was cut off before its
 * record is reported once.
 */
TEST(open)
{
	union made c = record_new(call_text);
	struct pov_frame *f = a->mem->state.frame;

	memcpy(f[0].rec, &c, CALL_BYTES);
	f[0].used = CALL_BYTES;
	a->mem->state.depth = 1;
	assert_int_equal(thread_area_end(a, clock_now_ns(), POV_CALL_OPEN, on_record, &t), 1);
	assert_int_equal(((struct pov_hdr *)t.last)->flags, POV_CALL_OPEN | POV_CALL_PRELOADED);
	assert_int_equal(((struct pov_call *)t.last)->tgid, 10);
	put_made(&c);
	take();
	assert_int_equal(t.cnt, 2);
	assert_int_equal(thread_area_end(a, clock_now_ns(), POV_CALL_OPEN, on_record, &t), 0);
	assert_int_equal(t.cnt, 2);
}

/*
 * Records of a thread that is still unknown are taken once it is known. Those of another process's
 * thread never are.
 */
TEST(strange)
{
	union made c = record_new(call_text);

	c.hdr.tid = 14;
	put_made(&c);
	take();
	assert_int_equal(t.cnt, 0);
	assert_false(a->damaged);
	map_set(&threads, 14, (void *)10);
	take();
	assert_int_equal(t.cnt, 1);
	assert_int_equal(((struct pov_hdr *)t.last)->tid, 14);
	c.hdr.tid = 13;
	put_made(&c);
	take();
	assert_int_equal(t.cnt, 1);
	a->strange_ns = 1; /* unknown for long */
	take();
	assert_true(a->damaged);
	assert_int_equal(t.cnt, 1);
	assert_int_equal(a->mem->tail, a->mem->head);
}

/* If a call resembles an earlier one, only the words that differ are in the ring. */
TEST(like)
{
	union made c = record_new(call_text), other = c;

	put_made(&c);
	other.call.func = FIRST + 2; /* each function has its own earlier call */
	put_made(&other);
	c.hdr.ts_ns++;
	c.word[FIXED_WORDS + 1] = 77;
	put_like(CHANGED_TIME | CHANGED(FIXED_WORDS + 1), &c);
	take();
	assert_int_equal(t.cnt, 3);
	c.call.tgid = 10;
	c.hdr.flags = POV_CALL_PRELOADED;
	assert_memory_equal(t.last, &c, CALL_BYTES);
	/* the slot's next thread, whose call arrives before the collector knows the thread */
	c.hdr.tid = 14;
	put_like(CHANGED(0) | CHANGED_TIME, &c);
	take();
	assert_int_equal(t.cnt, 3);
	map_set(&threads, 14, (void *)10);
	take();
	assert_int_equal(t.cnt, 4);
	assert_memory_equal(t.last, &c, CALL_BYTES);
}

/*
 * Asserts that an impossible record of differences is refused. kept: the earlier call that it
 * refers to exists.
 */
static void like_refused(bool kept, uint32_t changed, const union made *r)
{
	union made good = record_new(call_text);

	area_renew();
	if (kept)
		put_made(&good);
	put_like(changed, r);
	take();
	assert_true(a->damaged);
	assert_int_equal(t.cnt, kept);
}

TEST(like_nonsense)
{
	union made c = record_new(call_text), bad = c;

	like_refused(false, CHANGED_TIME, &c);
	bad.hdr.size -= 16; /* a call without its field */
	like_refused(true, CHANGED(0) | CHANGED_TIME, &bad);
	bad = c;
	bad.hdr.kind = POV_KIND_SPIN;
	like_refused(true, CHANGED(0) | CHANGED_TIME, &bad);
	bad = c;
	bad.call.nargs = POV_CALL_ARGS_MAX;
	like_refused(true, CHANGED(3) | CHANGED_TIME, &bad);
	bad = c;
	bad.hdr.ts_ns = 1;
	like_refused(true, CHANGED_TIME, &bad);
	bad = c;
	bad.call.func += POV_PRELOAD_KEPT; /* not recorded */
	like_refused(true, CHANGED(3) | CHANGED_TIME, &bad);
	like_refused(true, CHANGED_TIME | CHANGED(31), &c); /* has no such word */
}

/*
 * An ended thread leaves its slot and its open calls are reported. A slot that meanwhile belongs to
 * another thread is left alone.
 */
TEST(freed)
{
	union made c = record_new(call_text);

	memcpy(a->mem->state.frame[0].rec, &c, CALL_BYTES);
	a->mem->state.frame[0].used = CALL_BYTES;
	a->mem->state.depth = 1;
	thread_area_free_of(a, 12, clock_now_ns(), POV_CALL_OPEN, on_record, &t);
	assert_int_equal(t.cnt, 0);
	assert_int_equal(a->mem->owner, 11);
	thread_area_free_of(a, 11, clock_now_ns(), POV_CALL_OPEN, on_record, &t);
	assert_int_equal(t.cnt, 1);
	assert_int_equal(a->mem->owner, 0);
	assert_int_equal(a->mem->state.depth, 0);
}

/* After a ring was rather full, a larger one is added. Records in both are taken in order. */
TEST(larger_ring)
{
	union made c = record_new(call_text);

	put_made(&c);
	assert_true(take() < 0.1);
	assert_int_equal(a->mem->rings, 1);
	while (a->mem->head - a->mem->tail < RING / 2)
		put_made(&c);
	assert_true(take() >= 0.5);
	assert_int_equal(a->mem->rings, 2);
	assert_int_equal(spare, 4096);
	t.cnt = 0;
	for (uint32_t i = 0; i < 5; i++)
		put_made(&c);
	second_ring_begin();
	for (uint32_t i = 0; i < RING / CALL_BYTES; i++)
		put_made(&c);
	take();
	assert_false(a->damaged);
	assert_int_equal(t.cnt, 5 + RING / CALL_BYTES);
	assert_int_equal(a->mem->tail, a->mem->head);
	assert_int_equal(spare, 4096); /* there is no third ring */
	thread_area_release(a);
	assert_int_equal(spare, POV_PRELOAD_RING_MORE + 4096);
}

/* A ring that begins while the other is empty. */
TEST(larger_ring_at_once)
{
	union made c = record_new(call_text);

	while (a->mem->head < RING / 2)
		put_made(&c);
	take();
	t.cnt = 0;
	second_ring_begin();
	take();
	put_made(&c);
	take();
	assert_int_equal(t.cnt, 1);
	assert_false(a->damaged);
}

TEST(no_memory_for_a_larger_ring)
{
	union made c = record_new(call_text);

	spare = POV_PRELOAD_RING_MORE - 1;
	while (a->mem->head < RING / 2)
		put_made(&c);
	take();
	assert_int_equal(a->mem->rings, 1);
	assert_int_equal(spare, POV_PRELOAD_RING_MORE - 1);
}

/* Part of a record, alone or after a whole one. A healthy process announces whole records only. */
TEST(cut_off)
{
	const size_t left[] = {8, sizeof(struct pov_hdr), CALL_BYTES - 8};
	union made c = record_new(call_text);

	for (size_t i = 0; i < COUNT(left); i++)
		for (unsigned int before = 0; before < 2; before++) {
			area_renew();
			c.hdr.ts_ns = clock_now_ns();
			if (before)
				put_made(&c);
			put(&c, left[i]);
			take();
			assert_int_equal(t.cnt, before);
			assert_true(a->damaged);
			assert_int_equal(a->mem->tail, a->mem->head);
		}
}

/* Impossible data about the rings: nothing more is read. */
static void nonsense(uint32_t ring, uint64_t from)
{
	union made c = record_new(call_text);

	area_renew();
	while (a->mem->head < RING / 2)
		put_made(&c);
	take();
	put_made(&c);
	a->mem->ring = ring;
	a->mem->ring_from[1] = from;
	take();
	assert_true(a->damaged);
	assert_int_equal(a->mem->tail, a->mem->head);
}

TEST(nonsense_of_rings)
{
	nonsense(2, 0);		   /* no such ring */
	nonsense(1, RING / 4);	   /* begins before what was already taken */
	nonsense(1, RING / 2 + 8); /* in the middle of a record */
	nonsense(UINT32_MAX, UINT64_MAX);
}

EACH_TEST(begin, end);
