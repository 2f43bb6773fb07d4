/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Which records are well-formed, and how they read as text. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "base/log.h"
#include "trace/trace_text.h"
#include "trace_help.h"

static void assert_text(const void *rec, const char *wanted)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_true(trace_record_ok(rec));
	trace_record_print(rec, out);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

/* Members that later versions have appended: records without them are well-formed. */
static size_t appended_bytes(uint8_t kind)
{
	return kind == POV_KIND_IMAGE	? sizeof(uint64_t) :
	       kind == POV_KIND_COUNTED ? 2 * sizeof(uint64_t) :
					  0;
}

/* Every kind has a row, and a record of one word less than its struct was at first is refused. */
TEST(sizes)
{
	union any_record rec;
	size_t least;

	for (const struct text_kind *k = text_kinds; k->name; k++) {
		memset(&rec, 0, sizeof(rec));
		least = k->fixed_bytes - appended_bytes(k->kind);
		rec.hdr.kind = k->kind;
		for (rec.hdr.size = 16; rec.hdr.size < least; rec.hdr.size += 8)
			assert_false(trace_record_ok(&rec.hdr));
		assert_true(trace_record_ok(&rec.hdr));
		assert_ptr_equal(text_kind_find(k->kind), k);
	}
	assert_null(text_kind_find(99));
}

static struct pov_field *add_field(struct pov_call *c, uint8_t type, uint16_t size)
{
	struct pov_field *f = (struct pov_field *)((char *)c + c->hdr.size);

	*f = (struct pov_field){.type = type, .arg = 1, .size = size, .cnt = 1};
	c->hdr.size = (uint16_t)(c->hdr.size + 8 + (size + 7) / 8 * 8);
	return f;
}

TEST(calls)
{
	union any_record rec = {.hdr = {.size = sizeof(struct pov_call), .kind = POV_KIND_CALL}};
	struct pov_call *c = (struct pov_call *)&rec;
	struct pov_field *f;

	c->nargs = 1;
	assert_false(trace_record_ok(&rec.hdr));
	c->hdr.size += 8;
	assert_true(trace_record_ok(&rec.hdr));
	c->nargs = 0;
	c->hdr.size = sizeof(*c) + 8 * 17;
	c->nargs = 17;
	assert_false(trace_record_ok(&rec.hdr)); /* more than a call can have */
	c->hdr.size = sizeof(*c) + 8;
	c->nargs = 1;

	f = add_field(c, POV_FIELD_IN, 12);
	assert_true(trace_record_ok(&rec.hdr));
	f->size = 17; /* beyond the record */
	assert_false(trace_record_ok(&rec.hdr));
	f->size = 8; /* leaves a remainder that is no field */
	c->args[3] = UINT64_MAX;
	assert_false(trace_record_ok(&rec.hdr));
	f->size = 65535;
	assert_false(trace_record_ok(&rec.hdr));
	f->size = 12;
	f = add_field(c, POV_FIELD_COMM, 16);
	assert_true(trace_record_ok(&rec.hdr));
	f->size = 15;
	assert_false(trace_record_ok(&rec.hdr));
	f->size = 16;
	f = add_field(c, POV_FIELD_SUM, 0);
	assert_false(trace_record_ok(&rec.hdr));
	f->type = POV_FIELD_OUT; /* empty, which is allowed */
	assert_true(trace_record_ok(&rec.hdr));
}

TEST(counts)
{
	union any_record rec = {
		.hdr = {.size = sizeof(struct pov_spin) + 32, .kind = POV_KIND_SPIN}};

	((struct pov_spin *)&rec)->nfuncs = 1;
	assert_true(trace_record_ok(&rec.hdr));
	((struct pov_spin *)&rec)->nfuncs = 2;
	assert_false(trace_record_ok(&rec.hdr));
	((struct pov_spin *)&rec)->nfuncs = 255;
	assert_false(trace_record_ok(&rec.hdr));

	rec.hdr.kind = POV_KIND_MORE;
	rec.hdr.size = sizeof(struct pov_more) + 16;
	((struct pov_more *)&rec)->size = 16;
	assert_true(trace_record_ok(&rec.hdr));
	((struct pov_more *)&rec)->size = 17;
	assert_false(trace_record_ok(&rec.hdr));
}

TEST(text)
{
	struct pov_switch s = {
		.hdr = {.size = sizeof(s),
			.kind = POV_KIND_SWITCH,
			.flags = 0x81,
			.tid = 5,
			.ts_ns = 9},
		.next_tid = 6,
		.cpu = 3,
		.prev_state = 2,
		.prev_prio = 120,
		.next_prio = 100,
	};
	struct pov_exit e = {
		.hdr = {.size = sizeof(e), .kind = POV_KIND_EXIT, .tid = 5, .ts_ns = 9},
		.tgid = 4,
		.code = -1,
	};
	struct pov_fork f = {
		.hdr = {.size = sizeof(f), .kind = POV_KIND_FORK, .tid = 5, .ts_ns = UINT64_MAX},
		.child_tid = 7,
		.comm = "a\"\\\n\xff 16 bytes!",
	};
	struct pov_affinity a = {
		.hdr = {.size = sizeof(a), .kind = POV_KIND_AFFINITY},
		.nr_cpus = 7,
		.mask = {0x800000000000000d, 3, [15] = 1ull << 63},
	};
	struct pov_lost l = {
		.hdr = {.size = sizeof(l), .kind = POV_KIND_LOST, .ts_ns = 2},
		.cnt = 5,
		.class = POV_CLASS_SCHED,
	};
	struct pov_image i = {
		.hdr = {.size = sizeof(i), .kind = POV_KIND_IMAGE, .flags = POV_IMAGE_NEW},
		.ino = 77,
		.stamp = 5,
	};
	uint64_t raw[4] = {32 | 99 << 16 | 3ull << 24 | 8ull << 32, 1, 0x1f, 0};

	assert_text(&s, "switch ts=9 prev=5 cpu=3 next=6 state=2 prev_prio=120 next_prio=100 "
			"flags=preempted,128");
	assert_text(&e, "exit ts=9 tid=5 tgid=4 code=-1");
	assert_text(&f, "fork ts=18446744073709551615 tid=5 child=7 tgid=0 parent_tgid=0 "
			"comm=\"a\\x22\\x5c\\x0a\\xff 16 bytes!\"");
	assert_text(&a, "affinity ts=0 tid=0 tgid=0 nr=7 cpus=0,2-3,63-65,1023");
	assert_text(&l, "lost ts=2 tid=0 since=0 cnt=5 ring=0 class=sched");
	l.class = 77;
	assert_text(&l, "lost ts=2 tid=0 since=0 cnt=5 ring=0 class=77");
	assert_text(&i,
		    "image ts=0 tid=0 tgid=0 dev=0x0 ino=77 start=0x0 len=0x0 off=0x0 stamp=0x5 "
		    "flags=new");
	i.hdr.size -= sizeof(i.stamp); /* before 0.2 */
	assert_text(&i,
		    "image ts=0 tid=0 tgid=0 dev=0x0 ino=77 start=0x0 len=0x0 off=0x0 flags=new");
	assert_text(raw, "raw ts=1 tid=8 kind=99 flags=3 data=0x1f,0x0");
}

TEST(text_of_call)
{
	union any_record rec = {.hdr = {.size = sizeof(struct pov_call) + 16,
					.kind = POV_KIND_CALL,
					.flags = POV_CALL_OPEN | POV_CALL_FAULT,
					.tid = 7,
					.ts_ns = 100}};
	struct pov_call *c = (struct pov_call *)&rec;
	struct pov_field *f;
	int32_t status[3] = {1, -2, 3};
	struct pov_field_comm comm = {.context_id = UINT64_MAX, .rank = -1, .size = 4};

	c->nargs = 2;
	c->args[0] = 1;
	c->args[1] = 0xabc;
	f = add_field(c, POV_FIELD_OUT, sizeof(status));
	memcpy(f + 1, status, sizeof(status));
	f = add_field(c, POV_FIELD_COMM, sizeof(comm));
	memcpy(f + 1, &comm, sizeof(comm));
	f = add_field(c, 9, 3);
	memcpy(f + 1, "\x01\x02\xff", 3);
	assert_text(c, "call ts=100 tid=7 dur=0 tgid=0 func=0 depth=0 ret=0x0 site=0x0 cpu=0 lib=0 "
		       "flags=open,fault args=0x1,0xabc out=1/1:0xfffffffe00000001,i3 "
		       "comm=1/1:0xffffffffffffffff,i-1,i4 field9=1/1:b01,b02,bff");
}
