/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the collector takes from a slot in which threads record their own calls: records as they
 * were written, for threads that belong to the process. It takes no nonsense of any kind.
 */
#include <sys/mman.h>

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
	assert_int_equal(rec->tid, 11);
}

static void on_any(void *ctx, const struct pov_hdr *rec)
{
	struct taken *got = ctx;

	got->cnt++;
	memcpy(got->last, rec, rec->size);
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
			.since_ns = kernel_now_ns() - 5000000000ull}, /* before all calls */
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
	(void)state;
	area_renew();
	return 0;
}

static int end(void **state)
{
	(void)state;
	area_drop();
	map_release(&threads);
	return 0;
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

/* A call with two arguments and a field. */
#define FIXED_WORDS (sizeof(struct pov_call) / 8)
struct call {
	uint64_t word[FIXED_WORDS + 2 + 2];
};

static struct pov_call *call_of(struct call *c)
{
	return (struct pov_call *)c->word;
}

static struct pov_field *field_of(struct call *c)
{
	return (struct pov_field *)&c->word[FIXED_WORDS + 2];
}

static void record_make(const char *line, void *rec, size_t bytes)
{
	const struct pov_hdr *made = record_made(line);

	assert_int_equal(made->size, bytes);
	memcpy(rec, made, bytes);
	((struct pov_hdr *)rec)->ts_ns = kernel_now_ns();
}

static struct call call_new(void)
{
	struct call c;

	record_make("call tid=11 tgid=98 func=101 lib=3 cpu=3 args=1,2 tsize=1:4", &c, sizeof(c));
	return c;
}

static struct pov_counted counted_new(void)
{
	struct pov_counted c;

	record_make(
		"counted tid=11 tgid=98 func=102 lib=3 dur=100 calls=3 busy=50 bytes=40 sized=2 "
		"flags=0xff",
		&c, sizeof(c));
	return c;
}

static struct pov_counted *counted_of(struct pov_counted *c)
{
	return c;
}

/* Wraps around several times. Each record comes in one piece, even across the ring's end. */
TEST(wrapped)
{
	const struct pov_call *got = (struct pov_call *)t.last;
	struct call c = call_new();
	uint64_t put_cnt = 0;

	for (uint64_t bytes = 0; bytes < 3ull * RING; bytes += sizeof(c)) {
		c.word[FIXED_WORDS] = put_cnt++;
		put(&c, sizeof(c));
		if (put_cnt % 100 == 0)
			thread_area_take(a, on_record, &t);
	}
	thread_area_take(a, on_record, &t);
	assert_int_equal(t.cnt, put_cnt);
	assert_false(a->damaged);
	assert_int_equal(a->mem->tail, put_cnt * sizeof(c));
	assert_int_equal(thread_area_take(a, on_record, &t), 0);
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
	struct call c = call_new();

	while (a->mem->head + sizeof(c) <= RING)
		put(&c, sizeof(c));
	assert_true(thread_area_take(a, on_watched, &w) > 0.99);
	assert_int_equal(w.taken, a->mem->head);
	assert_in_range(w.most, 1, RING / 4);
	assert_int_equal(a->mem->tail, a->mem->head);
}

static void refused(const char *member, size_t n, const void *rec, size_t bytes)
{
	struct call good = call_new();

	area_renew();
	put(&good, sizeof(good));
	put(rec, bytes);
	put(&good, sizeof(good));
	thread_area_take(a, on_record, &t);
	if (t.cnt != 1 || !a->damaged)
		fail_msg("%s, value %zu: %u taken", member, n, t.cnt);
	/* nothing more is taken, and a waiting thread gets room */
	put(&good, sizeof(good));
	thread_area_take(a, on_record, &t);
	assert_int_equal(t.cnt, 1);
	assert_int_equal(a->mem->tail, a->mem->head);
}

#define REFUSED(make, of, member, ...)                                         \
	do {                                                                   \
		const uint64_t values_[] = {__VA_ARGS__};                      \
                                                                               \
		for (size_t i = 0; i < COUNT(values_); i++) {                  \
			typeof(make()) c_ = make();                            \
                                                                               \
			of(&c_)->member = (typeof(of(&c_)->member))values_[i]; \
			refused(#member, i, &c_, sizeof(c_));                  \
		}                                                              \
	} while (0)

TEST(nonsense)
{
	REFUSED(call_new, call_of, hdr.size, 0, 8, 100, 65528);
	REFUSED(call_new, call_of, hdr.kind, POV_KIND_SWITCH, POV_KIND_EXIT, 0);
	REFUSED(call_new, call_of, hdr.ts_ns, 1, kernel_now_ns() + 3600000000000);
	REFUSED(call_new, call_of, dur_ns, UINT64_MAX);
	REFUSED(call_new, call_of, func, FIRST - 1, FIRST + ROWS, FIRST + 5);
	REFUSED(call_new, call_of, lib, 2, POV_LIB_NUMBERS, 0xffff);
	REFUSED(call_new, call_of, depth, POV_CALL_DEPTH_MAX);
	REFUSED(call_new, call_of, nargs, POV_CALL_ARGS_MAX + 1, 16);
	REFUSED(call_new, call_of, cpu, 4);
	REFUSED(call_new, field_of, size, 16, 0xffff);
	REFUSED(call_new, field_of, arg, 16);
	REFUSED(call_new, field_of, type, 0, 200);
}

TEST(counted)
{
	struct pov_counted c = counted_new();
	const struct pov_counted *got = (struct pov_counted *)t.last;

	put(&c, sizeof(c));
	thread_area_take(a, on_record, &t);
	assert_true(t.cnt && !a->damaged);
	assert_int_equal(got->tgid, 10);
	assert_int_equal(got->lib, 3);
	assert_int_equal(got->hdr.flags, POV_COUNTED_NESTED | POV_COUNTED_PRELOADED);
	assert_int_equal(got->calls, 3);
	assert_int_equal(got->bytes, 40);
	assert_int_equal(got->sized, 2);
	REFUSED(counted_new, counted_of, sized, 4);
	REFUSED(counted_new, counted_of, hdr.size, sizeof(struct pov_counted) - 8);
	REFUSED(counted_new, counted_of, calls, 0, 102, UINT64_MAX);
	REFUSED(counted_new, counted_of, busy_ns, 101 * POV_CALL_DEPTH_MAX);
	REFUSED(counted_new, counted_of, dur_ns, UINT64_MAX);
	REFUSED(counted_new, counted_of, func, FIRST + 5, FIRST - 1);
}

static struct pov_room room_new(void)
{
	struct pov_room r;

	record_make("room tid=11 tgid=98 dur=100", &r, sizeof(r));
	return r;
}

static struct pov_room *room_of(struct pov_room *r)
{
	return r;
}

TEST(waited)
{
	struct pov_room r = room_new();

	put(&r, sizeof(r));
	thread_area_take(a, on_record, &t);
	assert_true(t.cnt && !a->damaged);
	assert_int_equal(((struct pov_room *)t.last)->tgid, 10);
	assert_int_equal(((struct pov_room *)t.last)->dur_ns, 100);
	REFUSED(room_new, room_of, dur_ns, UINT64_MAX);
	REFUSED(room_new, room_of, hdr.size, sizeof(struct pov_room) - 8);
}

TEST(head)
{
	const uint64_t heads[] = {1, RING + 8ull, UINT64_MAX, 1ull << 63};

	for (size_t i = 0; i < COUNT(heads); i++) {
		area_renew();
		a->mem->head = heads[i];
		thread_area_take(a, on_record, &t);
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
		struct call c = call_new();
		struct preload_counts counts = {0};

		area_renew();
		for (int i = 0; i < 50; i++)
			put(&c, sizeof(c));
		words = (uint64_t *)((char *)a->mem + POV_PRELOAD_AREA_BYTES);
		for (int i = 0; i < 20; i++)
			words[(unsigned int)rand() % (50 * sizeof(c) / 8)] ^= 1ull << rand() % 64;
		words = (uint64_t *)a->mem;
		for (int i = 0; i < 200; i++)
			words[16 + (unsigned int)rand() % (sizeof(*a->mem) / 8 - 16)] =
				(uint64_t)rand() << 33 ^ (uint64_t)rand();
		thread_area_take(a, on_record, &t);
		thread_area_end(a, kernel_now_ns(), POV_CALL_OPEN, on_record, &t);
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
	struct call c = call_new();
	struct pov_frame *f = a->mem->state.frame;

	memcpy(f[0].rec, &c, sizeof(c));
	f[0].used = sizeof(c);
	a->mem->state.depth = 1;
	assert_int_equal(thread_area_end(a, kernel_now_ns(), POV_CALL_OPEN, on_record, &t), 1);
	assert_int_equal(((struct pov_hdr *)t.last)->flags, POV_CALL_OPEN | POV_CALL_PRELOADED);
	assert_int_equal(((struct pov_call *)t.last)->tgid, 10);
	put(&c, sizeof(c));
	thread_area_take(a, on_record, &t);
	assert_int_equal(t.cnt, 2);
	assert_int_equal(thread_area_end(a, kernel_now_ns(), POV_CALL_OPEN, on_record, &t), 0);
	assert_int_equal(t.cnt, 2);
}

/*
 * Records of a thread that is still unknown are taken once it is known. Those of another process's
 * thread never are.
 */
TEST(strange)
{
	struct call c = call_new();

	call_of(&c)->hdr.tid = 14;
	put(&c, sizeof(c));
	thread_area_take(a, on_any, &t);
	assert_int_equal(t.cnt, 0);
	assert_false(a->damaged);
	map_set(&threads, 14, (void *)10);
	thread_area_take(a, on_any, &t);
	assert_int_equal(t.cnt, 1);
	assert_int_equal(((struct pov_hdr *)t.last)->tid, 14);
	call_of(&c)->hdr.tid = 13;
	put(&c, sizeof(c));
	thread_area_take(a, on_any, &t);
	assert_int_equal(t.cnt, 1);
	a->strange_ns = 1; /* unknown for long */
	thread_area_take(a, on_any, &t);
	assert_true(a->damaged);
	assert_int_equal(t.cnt, 1);
	assert_int_equal(a->mem->tail, a->mem->head);
}

/*
 * An ended thread leaves its slot and its open calls are reported. A slot that meanwhile belongs to
 * another thread is left alone.
 */
TEST(freed)
{
	struct call c = call_new();

	memcpy(a->mem->state.frame[0].rec, &c, sizeof(c));
	a->mem->state.frame[0].used = sizeof(c);
	a->mem->state.depth = 1;
	thread_area_free_of(a, 12, kernel_now_ns(), POV_CALL_OPEN, on_any, &t);
	assert_int_equal(t.cnt, 0);
	assert_int_equal(a->mem->owner, 11);
	thread_area_free_of(a, 11, kernel_now_ns(), POV_CALL_OPEN, on_any, &t);
	assert_int_equal(t.cnt, 1);
	assert_int_equal(a->mem->owner, 0);
	assert_int_equal(a->mem->state.depth, 0);
}

/* After a ring was rather full, a larger one is added. Records in both are taken in order. */
TEST(larger_ring)
{
	struct call c = call_new();

	put(&c, sizeof(c));
	assert_true(thread_area_take(a, on_any, &t) < 0.1);
	assert_int_equal(a->mem->rings, 1);
	while (a->mem->head - a->mem->tail < RING / 2)
		put(&c, sizeof(c));
	assert_true(thread_area_take(a, on_any, &t) >= 0.5);
	assert_int_equal(a->mem->rings, 2);
	assert_int_equal(spare, 4096);
	t.cnt = 0;
	for (uint32_t i = 0; i < 5; i++)
		put(&c, sizeof(c));
	second_ring_begin();
	for (uint32_t i = 0; i < RING / sizeof(c); i++)
		put(&c, sizeof(c));
	thread_area_take(a, on_any, &t);
	assert_false(a->damaged);
	assert_int_equal(t.cnt, 5 + RING / sizeof(c));
	assert_int_equal(a->mem->tail, a->mem->head);
	assert_int_equal(spare, 4096); /* there is no third ring */
	thread_area_release(a);
	assert_int_equal(spare, POV_PRELOAD_RING_MORE + 4096);
}

/* A ring that begins while the other is empty. */
TEST(larger_ring_at_once)
{
	struct call c = call_new();

	while (a->mem->head < RING / 2)
		put(&c, sizeof(c));
	thread_area_take(a, on_any, &t);
	t.cnt = 0;
	second_ring_begin();
	thread_area_take(a, on_any, &t);
	put(&c, sizeof(c));
	thread_area_take(a, on_any, &t);
	assert_int_equal(t.cnt, 1);
	assert_false(a->damaged);
}

TEST(no_memory_for_a_larger_ring)
{
	struct call c = call_new();

	spare = POV_PRELOAD_RING_MORE - 1;
	while (a->mem->head < RING / 2)
		put(&c, sizeof(c));
	thread_area_take(a, on_any, &t);
	assert_int_equal(a->mem->rings, 1);
	assert_int_equal(spare, POV_PRELOAD_RING_MORE - 1);
}

/*
 * Bytes that are less than a record, after a whole one or after nothing: the process would not have
 * counted them as written.
 */
TEST(cut_off)
{
	const size_t left[] = {8, sizeof(struct pov_hdr), sizeof(struct call) - 8};
	struct call c;

	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
		for (unsigned int before = 0; before < 2; before++) {
			area_renew();
			c = call_new();
			if (before)
				put(&c, sizeof(c));
			put(&c, left[i]);
			thread_area_take(a, on_record, &t);
			assert_int_equal(t.cnt, before);
			assert_true(a->damaged);
			assert_int_equal(a->mem->tail, a->mem->head);
		}
}

/* Impossible data about the rings: nothing more is read. */
static void nonsense(uint32_t ring, uint64_t from)
{
	struct call c = call_new();

	area_renew();
	while (a->mem->head < RING / 2)
		put(&c, sizeof(c));
	thread_area_take(a, on_any, &t);
	put(&c, sizeof(c));
	a->mem->ring = ring;
	a->mem->ring_from[1] = from;
	thread_area_take(a, on_any, &t);
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
