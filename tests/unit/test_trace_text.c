/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Which records are well-formed, and their text: cases/records.txt, whose lines are povmake's. */
#include "unit/test.h"
#include "tool/povmake/maker.h"
#include "trace/record_kinds.h"
#include "unit/cases.h"
#include "unit/trace_help.h"

/*
 * Every kind has a row. A record one word shorter than the first version of its struct is refused.
 */
TEST(sizes)
{
	union any_record rec;

	for (const struct record_kind *k = NULL; (k = record_kind_next(k));) {
		memset(&rec, 0, sizeof(rec));
		rec.hdr.kind = k->kind;
		for (rec.hdr.size = 16; rec.hdr.size < k->least_bytes; rec.hdr.size += 8)
			assert_false(record_well_formed(&rec.hdr));
		assert_true(record_well_formed(&rec.hdr));
		assert_ptr_equal(record_kind_find(k->kind), k);
	}
	assert_null(record_kind_find(99));
}

/*
 * Counts the rows of a kind in kmod-docs/TRACE_FORMAT.md, which begin like "| 1 | `pov_switch` |".
 */
static unsigned int documented(const char *page, unsigned int kind, const char *struct_name)
{
	char row[64];
	unsigned int cnt = 0;

	snprintf(row, sizeof(row), "\n| %u | `%s` |", kind, struct_name);
	for (const char *at = page; (at = strstr(at, row)); at++)
		cnt++;
	return cnt;
}

TEST(documented_kinds)
{
	char *page = NULL;
	size_t bytes = 0, rows = 0, kinds = 0;
	FILE *in = fopen("kmod-docs/TRACE_FORMAT.md", "re");

	assert_non_null(in);
	assert_true(getdelim(&page, &bytes, 0, in) > 0);
	fclose(in);
	for (const struct record_kind *k = NULL; (k = record_kind_next(k)); kinds++)
		if (documented(page, k->kind, k->struct_name) != 1)
			fail_msg("kind %u, struct %s: no row of its own", k->kind, k->struct_name);
	for (const char *at = page; (at = strstr(at, "| `pov_")); at++)
		rows++;
	assert_int_equal(rows, kinds);
	free(page);
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
	assert_false(record_well_formed(&rec.hdr));
	c->hdr.size += 8;
	assert_true(record_well_formed(&rec.hdr));
	c->nargs = 0;
	c->hdr.size = sizeof(*c) + 8 * 17;
	c->nargs = 17;
	assert_false(record_well_formed(&rec.hdr)); /* more than a call can have */
	c->hdr.size = sizeof(*c) + 8;
	c->nargs = 1;

	f = add_field(c, POV_FIELD_IN, 12);
	assert_true(record_well_formed(&rec.hdr));
	f->size = 17; /* beyond the record */
	assert_false(record_well_formed(&rec.hdr));
	f->size = 8; /* leaves a remainder that is no field */
	c->args[3] = UINT64_MAX;
	assert_false(record_well_formed(&rec.hdr));
	f->size = 65535;
	assert_false(record_well_formed(&rec.hdr));
	f->size = 12;
	f = add_field(c, POV_FIELD_COMM, 16);
	assert_true(record_well_formed(&rec.hdr));
	f->size = 15;
	assert_false(record_well_formed(&rec.hdr));
	f->size = 16;
	f = add_field(c, POV_FIELD_SUM, 0);
	assert_false(record_well_formed(&rec.hdr));
	f->type = POV_FIELD_OUT; /* empty, which is allowed */
	assert_true(record_well_formed(&rec.hdr));
}

TEST(counts)
{
	union any_record rec = {
		.hdr = {.size = sizeof(struct pov_spin) + 32, .kind = POV_KIND_SPIN}};

	((struct pov_spin *)&rec)->nfuncs = 1;
	assert_true(record_well_formed(&rec.hdr));
	((struct pov_spin *)&rec)->nfuncs = 2;
	assert_false(record_well_formed(&rec.hdr));
	((struct pov_spin *)&rec)->nfuncs = 255;
	assert_false(record_well_formed(&rec.hdr));

	rec.hdr.kind = POV_KIND_MORE;
	rec.hdr.size = sizeof(struct pov_more) + 16;
	((struct pov_more *)&rec)->size = 16;
	assert_true(record_well_formed(&rec.hdr));
	((struct pov_more *)&rec)->size = 17;
	assert_false(record_well_formed(&rec.hdr));
}

/* Makes a file from povmake's lines and prints its records. */
static void records_play(const struct script *lines, FILE *out)
{
	const char *path = temp_path("text.pov");
	struct maker m = {.script = *lines, .w = writer_begin(path)};
	struct replay r;

	maker_run(&m);
	writer_end(m.w);
	r = replay_good(path);
	replay_print(&r, out);
	free(r.words);
}

TEST(text)
{
	cases_run("records", records_play);
}
