/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a file that begins in the middle tells of what was before: mappings, masks, regions, calls about communicators; through fork,
 * exec and exit. And calls that are under way at a moment.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "abi/config.h"
#include "abi/event.h"
#include "collect/known.h"
#include "collect/under_way.h"

#define TOLD_MAX 64

enum { PLAIN, SPLIT }; /* rows of the table */
static const struct pov_fn fns[] = {[PLAIN] = {0}, [SPLIT] = {.learn = POV_LEARN_MEMBERS}};

union told {
	struct pov_hdr hdr;
	struct pov_image image;
	struct pov_affinity mask;
	struct pov_region region;
	struct pov_call call;
	struct pov_spin spin;
	struct pov_more more;
	char bytes[1024];
};

static union told told[TOLD_MAX];
static unsigned int cnt;

static void on_told(void *ctx, const struct pov_hdr *rec)
{
	(void)ctx;
	assert_true(cnt < TOLD_MAX && rec->size <= sizeof(told[0]));
	memcpy(&told[cnt++], rec, rec->size);
}

static void tell(struct known *k, uint64_t begin_ns)
{
	cnt = 0;
	known_tell(k, begin_ns, on_told, NULL);
}

static void image(struct known *k, uint64_t ts_ns, uint32_t pid, uint64_t start, uint64_t ino)
{
	const struct pov_image r = {
		.hdr = {.size = sizeof(r), .kind = POV_KIND_IMAGE, .tid = pid, .ts_ns = ts_ns},
		.tgid = pid,
		.start = start,
		.ino = ino};

	known_record(k, &r.hdr);
}

static void mask(struct known *k, uint64_t ts_ns, uint32_t tid, uint32_t pid, uint64_t cpus)
{
	const struct pov_affinity r = {
		.hdr = {.size = sizeof(r), .kind = POV_KIND_AFFINITY, .tid = tid, .ts_ns = ts_ns},
		.tgid = pid,
		.mask = {cpus}};

	known_record(k, &r.hdr);
}

static void region(struct known *k, uint64_t ts_ns, uint64_t sp, uint16_t which, uint8_t flags)
{
	const struct pov_region r = {.hdr = {.size = sizeof(r),
					     .kind = POV_KIND_REGION,
					     .flags = flags,
					     .tid = 10,
					     .ts_ns = ts_ns},
				     .tgid = 10,
				     .sp = sp,
				     .region = which};

	known_record(k, &r.hdr);
}

static void task(struct known *k, uint8_t kind, uint64_t ts_ns, uint32_t tid, uint32_t pid)
{
	const struct pov_task r = {
		.hdr = {.size = sizeof(r), .kind = kind, .tid = tid, .ts_ns = ts_ns}, .tgid = pid};

	known_record(k, &r.hdr);
}

static struct pov_call call_of(uint64_t begin_ns, uint64_t end_ns, uint32_t pid, uint16_t func,
			       uint8_t flags)
{
	return (struct pov_call){.hdr = {.size = sizeof(struct pov_call),
					 .kind = POV_KIND_CALL,
					 .flags = flags,
					 .tid = pid,
					 .ts_ns = end_ns},
				 .dur_ns = end_ns - begin_ns,
				 .tgid = pid,
				 .func = func,
				 .ret = 5};
}

static void call(struct known *k, uint64_t begin_ns, uint64_t end_ns, uint32_t pid, uint16_t func)
{
	const struct pov_call r = call_of(begin_ns, end_ns, pid, func, 0);

	known_record(k, &r.hdr);
}

TEST(processes)
{
	const struct pov_fork fork = {
		.hdr = {.size = sizeof(fork), .kind = POV_KIND_FORK, .tid = 10, .ts_ns = 400},
		.child_tid = 20,
		.child_tgid = 20,
		.parent_tgid = 10};
	struct known *k = known_new(fns, 2);
	unsigned int child = 0;

	image(k, 100, 10, 0x1000, 1);
	image(k, 110, 10, 0x2000, 2);
	image(k, 120, 10, 0x1000, 3); /* in the place of the first */
	mask(k, 130, 11, 10, 6);
	mask(k, 140, 11, 10, 7);
	image(k, 900, 10, 0x9000, 9); /* not before 500 */
	tell(k, 500);
	assert_int_equal(cnt, 3);
	assert_int_equal(told[0].image.ino, 2);
	assert_int_equal(told[1].image.ino, 3);
	assert_int_equal(told[1].hdr.ts_ns, 500);
	assert_int_equal(told[2].mask.mask[0], 7);
	known_record(k, &fork.hdr);
	task(k, POV_KIND_RENAME, 450, 10, 10);
	image(k, 460, 10, 0x4000, 4);
	task(k, POV_KIND_EXEC, 470, 10, 10);
	tell(k, 500);
	assert_int_equal(cnt, 3); /* the child's two, as its parent's were, and the new program */
	for (unsigned int i = 0; i < cnt; i++) {
		assert_int_equal(told[i].hdr.kind, POV_KIND_IMAGE);
		assert_int_equal(told[i].hdr.tid, told[i].image.tgid);
		if (told[i].image.tgid == 10)
			assert_int_equal(told[i].image.ino, 4);
		else
			child |= 1u << told[i].image.ino;
	}
	assert_int_equal(child, 1 << 2 | 1 << 3);
	known_free(k);
}

TEST(regions)
{
	struct known *k = known_new(fns, 2);

	region(k, 100, 0x900, 0, 0);
	region(k, 110, 0x800, 1, 0);
	region(k, 120, 0x700, 2, 0);
	region(k, 130, 0x700, 2, POV_REGION_END);
	region(k, 140, 0x700, 3, 0);
	region(k, 150, 0x600, 4, 0);
	region(k, 160, 0x700, 5, POV_REGION_CHAINED); /* 4 was left without returning; 3 was not */
	region(k, 600, 0x500, 6, 0);
	tell(k, 500);
	assert_int_equal(cnt, 4);
	for (unsigned int i = 0; i < cnt; i++) {
		static const uint16_t wanted[] = {0, 1, 3, 5};

		assert_int_equal(told[i].region.region, wanted[i]);
		assert_int_equal(told[i].hdr.ts_ns, 500);
		assert_true(told[i].hdr.flags & POV_REGION_EARLIER);
	}
	task(k, POV_KIND_EXIT, 700, 10, 10);
	tell(k, 800);
	assert_int_equal(cnt, 0);
	known_free(k);
}

/* In their order, however they came; only those that teach, and with what belongs to them. */
TEST(calls)
{
	struct pov_more more = {
		.hdr = {.size = sizeof(more), .kind = POV_KIND_MORE, .tid = 11, .ts_ns = 240},
		.begin_ns = 210};
	struct known *k = known_new(fns, 2);

	call(k, 100, 300, 10, SPLIT);
	call(k, 150, 160, 10, PLAIN);
	known_record(k, &more.hdr);
	call(k, 210, 250, 11, SPLIT);
	more.begin_ns = 260; /* of a call that teaches nothing */
	known_record(k, &more.hdr);
	call(k, 260, 270, 11, PLAIN);
	call(k, 310, 900, 11, SPLIT); /* ends later */
	tell(k, 500);
	assert_int_equal(cnt, 3);
	/* moments: 100 210 250 300 */
	assert_int_equal(told[0].hdr.ts_ns, 501 + 3);
	assert_int_equal(told[0].call.dur_ns, 3);
	assert_int_equal(told[1].hdr.kind, POV_KIND_MORE);
	assert_int_equal(told[1].more.begin_ns, 501 + 1);
	assert_int_equal(told[2].hdr.ts_ns, 501 + 2);
	assert_int_equal(told[2].call.dur_ns, 1);
	for (unsigned int i = 0; i < cnt; i += 2) {
		assert_int_equal(told[i].hdr.kind, POV_KIND_UNSHOWN);
		assert_true(told[i].hdr.flags & POV_CALL_EARLIER);
	}
	task(k, POV_KIND_EXEC, 600, 10, 10);
	tell(k, 800);
	assert_int_equal(cnt, 2); /* process 11's */
	known_free(k);
}

static bool is_ten(void *ctx, uint32_t pid)
{
	(void)ctx;
	return pid == 10;
}

TEST(bounded)
{
	struct known *k = known_new(fns, 2);
	uint64_t n = (16u << 20) / sizeof(struct pov_call) + 1;

	image(k, 1, 10, 0x1000, 1);
	image(k, 1, 12, 0x1000, 1);
	for (uint64_t i = 0; i < n; i++)
		call(k, 10 * i, 10 * i + 1, 10, SPLIT);
	assert_int_equal(known_forgotten(k), 0);
	call(k, 10 * n, 10 * n + 1, 12, SPLIT);
	assert_int_equal(known_forgotten(k), n);
	call(k, 10 * n + 2, 10 * n + 3, 10, SPLIT);
	known_prune(k, is_ten, NULL);
	tell(k, UINT64_MAX - 1000);
	assert_int_equal(cnt, 2); /* the mapping and the call of process 12 */
	assert_int_equal(told[1].call.tgid, 12);
	known_free(k);
}

/* Of a moment: what had returned before, what began behind it, and what lay across, once. */
TEST(under_way)
{
	const struct pov_call record[] = {
		call_of(10, 90, 1, PLAIN, 0),	call_of(110, 120, 1, PLAIN, 0),
		call_of(80, 130, 2, PLAIN, 0),	call_of(80, 130, 2, PLAIN, 0),
		call_of(100, 140, 3, PLAIN, 0), call_of(60, 150, 4, PLAIN, POV_CALL_END_ONLY),
	};
	union told spin = {.spin = {.hdr = {.size = sizeof(spin.spin) + sizeof(*spin.spin.func),
					    .kind = POV_KIND_SPIN,
					    .tid = 5,
					    .ts_ns = 160},
				    .dur_ns = 90,
				    .nfuncs = 1}};
	struct under_way u;

	cnt = 0;
	spin.spin.func[0].cnt = 7;
	under_way_init(&u, 100);
	for (size_t i = 0; i < sizeof(record) / sizeof(*record); i++)
		under_way_record(&u, &record[i].hdr);
	under_way_record(&u, &spin.hdr);
	assert_int_equal(under_way_tell(&u, on_told, NULL), 1);
	assert_int_equal(cnt, 2);
	assert_int_equal(told[0].hdr.tid, 2); /* began last */
	assert_int_equal(told[0].hdr.ts_ns, 100);
	assert_int_equal(told[0].call.dur_ns, 20);
	assert_int_equal(told[0].call.ret, 0);
	assert_int_equal(told[0].hdr.flags, POV_CALL_OPEN);
	assert_int_equal(told[1].spin.hdr.ts_ns, 100);
	assert_int_equal(told[1].spin.dur_ns, 30);
	assert_int_equal(told[1].spin.func[0].cnt, 7);
	assert_int_equal(told[1].hdr.flags, POV_SPIN_OPEN);
}
