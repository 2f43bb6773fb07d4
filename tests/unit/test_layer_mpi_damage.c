/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Records, continuations and meta objects of a damaged file. With any contents, decoding must end,
 * stay within its memory (run with sanitizers) and show values within bounds. The sequence is the
 * same every time.
 */
#include "unit/test.h"
#include "layers/func_table.h"
#include "layer_fixture.h"

#define ROUNDS 20000

static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/*
 * Returns mostly numbers that have a meaning to the decoder: counts, MPICH's handles, extremes,
 * negative ranks, Open MPI's handles.
 */
static uint64_t rnd_word(void)
{
	static const uint64_t words[] = {0x00000000,	 0x00000001,	0x00000002, 0x00000003,
					 0x00000004,	 0x00000007,	0x00000040, 0x000003e8,
					 0x44000000,	 0x4c000405,	0x4c00080b, 0x8c000010,
					 0x98000001,	 0x2c000000,	0x84000002, 0xffffffff,
					 0x7fffffff,	 0xfffffffe,	0xfffffffd, 0xffff8002,
					 0x00404040,	 UINT64_MAX,	INT64_MAX,  0x7f0000001000,
					 0x7f0000002000, 0x7f0000001300};
	uint64_t r = rnd();

	return r % 8 ? words[(r >> 8) % (COUNT(words))] : rnd();
}

/* Adds a field to the record, or a continuation of its call. */
static void data_random(struct fixture *f, bool more)
{
	uint64_t data[POV_MORE_BYTES / 8];
	size_t bytes = rnd() % ((more ? sizeof(data) : 320) + 1);

	for (size_t i = 0; i < sizeof(data) / 8; i++)
		data[i] = rnd_word();
	if (more)
		rec_more(f, rnd() % 4, rnd() % 17, rnd() % 40, data, bytes);
	else
		rec_field(f, rnd() % 7, rnd() % 20, rnd() % 3 ? rnd() % 50 : rnd(), data,
			  rnd() % 4 ? bytes : rnd() % 32);
}

static volatile int64_t sink; /* makes the compiler read everything */

static void view_check(const struct call_view *v)
{
	assert_true(v->nvalues <= CALL_VALUES_MAX);
	for (uint32_t i = 0; i < v->nvalues; i++) {
		const struct call_value *x = &v->values[i];

		sink += strlen(x->name);
		if (x->kind == VALUE_TEXT)
			sink += strlen(x->text);
		if (x->kind != VALUE_INTS && x->kind != VALUE_HEXES)
			continue;
		assert_true(x->n <= x->cnt);
		for (uint32_t k = 0; k < x->n; k++)
			sink += x->ints[k] & 1;
	}
	for (uint32_t i = 0; i < v->roles.nrequests; i++) {
		sink += v->roles.requests[i].handle & 1;
		if (v->roles.requests[i].op)
			sink += v->roles.requests[i].op->roles.peer & 1;
	}
	assert_true(v->roles.peer_world >= -1 && v->roles.recv_peer_world >= -1);
	assert_true(v->roles.peer_why < PEER_UNKNOWN_CNT && v->roles.root_why < PEER_UNKNOWN_CNT);
	assert_true(v->roles.send_bytes >= 0 || v->roles.send_bytes == BYTES_UNKNOWN);
	assert_true(v->roles.recv_bytes >= 0 || v->roles.recv_bytes == BYTES_UNKNOWN);
}

/* Returns functions that create communicators, groups and windows more often than others. */
static uint32_t func_random(const struct fixture *f)
{
	static const char *const names[] = {
		"Comm_split",	    "Comm_dup",	       "Comm_create",	     "Comm_create_group",
		"Cart_create",	    "Cart_sub",	       "Comm_group",	     "Group_incl",
		"Group_range_excl", "Group_union",     "Group_difference",   "Intercomm_create",
		"Intercomm_merge",  "Comm_free",       "Win_create_dynamic", "Mprobe",
		"Comm_rank",	    "Comm_split_type",
	};
	uint64_t r = rnd();
	char name[64];

	if (r % 2 == 0)
		return (uint32_t)(r / 2 % f->cnt);
	snprintf(name, sizeof(name), "MPI_%s", names[r / 2 % (COUNT(names))]);
	return (uint32_t)func_table_find(name);
}

static void round_one(struct fixture *f)
{
	struct pov_call *c;

	rec_begin(f, "MPI_Barrier", rnd() % 4 ? 0 : rnd() % 100, 0);
	c = rec_call(f);
	c->nargs = 16;
	c->hdr.size += 8 * c->nargs;
	for (int i = 0; i < c->nargs; i++)
		c->args[i] = rnd_word();
	c->func = (uint16_t)func_random(f);
	if (rnd() % 4 == 0)
		c->hdr.kind = POV_KIND_UNSHOWN;
	c->depth = rnd() % 3;
	c->hdr.tid = 100 + rnd() % 3;
	c->lib = rnd() % 16 ? FIXTURE_LIB : rnd() % 5;
	c->tgid = rnd() % 16 ? FIXTURE_PID + rnd() % 4 : rnd() % 200;
	c->hdr.flags = rnd() % 4 ? 0 : rnd();
	if (rnd() % 8 == 0)
		c->dur_ns = rnd();
	for (uint32_t n = rnd() % 6; n > 0; n--)
		data_random(f, false);
	for (uint32_t n = rnd() % 8 ? 0 : rnd() % 4; n > 0; n--)
		data_random(f, true);
	if (rnd() % 8 == 0)
		c->nargs = rnd(); /* more or fewer than there are */
	if (rnd() % 8 == 0) {
		/* truncated: the bytes past the end are not ours */
		size_t cut = sizeof(*c) + rnd() % (c->hdr.size - sizeof(*c) + 1);
		uint8_t *copy = xmalloc(cut);

		c->hdr.size = cut;
		memcpy(copy, f->rec, cut);
		layer_decode(&layer_mpi, f->d, &f->funcs[c->func], (struct pov_call *)copy,
			     &f->view);
		view_check(&f->view);
		free(copy);
		return;
	}
	rec_decode(f);
	view_check(&f->view);
}

/* A trace's own table may declare ranges as single numbers. Nothing past the record may be read. */
TEST(ranges)
{
	json_t *row = json_pack("{s:s,s:s,s:s,s:s}", "name", "MPI_Group_range_incl", "group",
				"group", "attrs", "LOCAL", "sig",
				"group n <ranges[n]:int >newgroup");
	struct func_info info = {.name = "MPI_Group_range_incl", .layer = &layer_mpi};
	static const int32_t ranks[] = {0, 1, 2, 3};
	struct pov_call *copy;

	fixture_init(&fx, fixture_mpich);
	assert_int_equal(layer_func_parse(&layer_mpi, row, &info), 0);
	rec_begin(&fx, "MPI_Group_range_incl", 0, 4, 0x88000001ull, 4ull, 0ull, 0ull);
	rec_u64(&fx, POV_FIELD_OUT, 3, 1, 0x88000002);
	rec_field(&fx, POV_FIELD_IN, 2, 4, ranks, sizeof(ranks));
	copy = xmalloc(rec_call(&fx)->hdr.size);
	memcpy(copy, fx.rec, rec_call(&fx)->hdr.size);
	layer_decode(&layer_mpi, fx.d, &info, copy, &fx.view);
	view_check(&fx.view);
	free(copy);
	layer_func_release(&info);
	json_decref(row);
	fixture_release(&fx);
}

/* Adds the other ranks of the fixture's job, then random records. */
static void rounds(void)
{
	for (int i = 0; i < 4; i++) {
		json_t *m = json_pack("{s:s,s:i,s:i,s:i,s:i,s:s,s:[{s:i,s:I}]}", "type", "process",
				      "ts_ns", 500, "pid", FIXTURE_PID + i, "rank", i, "size", 4,
				      "job", "j", "libs", "id", FIXTURE_LIB, "bias",
				      (json_int_t)OMPI_BIAS);

		layer_decoder_meta(&layer_mpi, fx.d, m);
		json_decref(m);
	}
	for (uint32_t i = 0; i < ROUNDS; i++)
		round_one(&fx);
	fixture_release(&fx);
}

TEST(records)
{
	fixture_init(&fx, fixture_mpich);
	rounds();
	fixture_init(&fx, fixture_openmpi);
	rounds();
}

TEST(more)
{
	_Alignas(8) uint8_t buf[64] = {0};
	struct pov_more *m = (struct pov_more *)buf;

	fixture_init(&fx, fixture_mpich);
	m->hdr.tid = 101;
	for (uint32_t size = 0; size <= sizeof(buf); size++) {
		m->hdr.size = size;
		for (uint32_t data = 0; data < 64; data++) {
			m->size = data;
			layer_decoder_more(&layer_mpi, fx.d, m);
		}
	}
	m->hdr.size = sizeof(buf);
	m->size = 32;
	for (uint32_t i = 0; i < 10000; i++) { /* more than are kept */
		m->begin_ns = i;
		layer_decoder_more(&layer_mpi, fx.d, m);
	}
	round_one(&fx);
	fixture_release(&fx);
}
