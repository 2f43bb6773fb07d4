/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which records are well-formed, and how they read as text: cases/records.txt, whose lines are
 * povmake's.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "lib/log.h"
#include "trace/trace_text.h"
#include "unit/cases.h"
#include "unit/trace_help.h"

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

/* Makes a file of povmake's lines; prints its records. */
static void records_play(const struct script *lines, FILE *out)
{
	const char *path = temp_path("text.pov");
	const struct trace_writer_options opt = {0};
	const struct pov_hdr *rec;
	struct maker m = {.script = *lines};
	struct replay r;
	size_t at = 0;

	assert_int_equal(trace_writer_open(path, &opt, &m.w), 0);
	maker_run(&m);
	assert_int_equal(trace_writer_finish(m.w), 0);
	r = replay_all(path, NULL);
	for (size_t i = 0; i < r.cnt; i++, at += rec->size / 8u) {
		rec = (const struct pov_hdr *)(r.words + at);
		trace_record_print(rec, out);
		fputc('\n', out);
	}
	free(r.words);
}

TEST(text)
{
	cases_run("records", records_play);
}
