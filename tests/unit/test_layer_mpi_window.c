/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What calls mean for windows: which one it is, who is in a group, which target, and the kind of a lock. */
#include <string.h>

#include "unit/test.h"
#include "layer_fixture.h"

#define WORLD 0x44000000ull
#define ALL 0x88000001ull
#define SOME 0x88000002ull
#define FIRST 0xa0000000ull
#define SECOND 0xa0000001ull
#define EXCLUSIVE 234ull
#define SHARED 235ull

static const struct call_window *decoded(void)
{
	rec_decode(&fx);
	return fx.view.roles.window;
}

static const struct call_window *create(uint64_t handle)
{
	rec_begin(&fx, "MPI_Win_create", 0, 6, 0x5000ull, 64ull, 8ull, 0ull, WORLD, 0x7000ull);
	rec_u64(&fx, POV_FIELD_OUT, 5, 1, handle);
	return decoded();
}

/* Rank 1 of 4 has two windows of MPI_COMM_WORLD, and groups of all and of ranks 3 and 0. */
static int setup(void **state)
{
	static const int32_t ranks[] = {3, 0};

	fixture_setup_mpich(state);
	rec_begin(&fx, "MPI_Comm_group", 0, 2, WORLD, 0x7000ull);
	rec_u64(&fx, POV_FIELD_OUT, 1, 1, ALL);
	rec_decode(&fx);
	rec_begin(&fx, "MPI_Group_incl", 0, 4, ALL, 2ull, 0x6000ull, 0x7000ull);
	rec_field(&fx, POV_FIELD_IN, 2, 2, ranks, sizeof(ranks));
	rec_u64(&fx, POV_FIELD_OUT, 3, 1, SOME);
	rec_decode(&fx);
	return 0;
}

TEST(together)
{
	const struct call_window *w = create(FIRST);

	assert_int_equal(w->event, WIN_TOGETHER);
	assert_int_equal(w->number, 1);
	assert_int_equal(create(SECOND)->number, 2);
	rec_begin(&fx, "MPI_Win_fence", 0, 2, 0ull, FIRST);
	w = decoded();
	assert_int_equal(w->event, WIN_TOGETHER);
	assert_int_equal(w->number, 1);
	assert_true(fx.view.roles.comm_id);
	assert_int_equal(fx.view.roles.comm_size, 4);
	rec_begin(&fx, "MPI_Win_free", 0, 1, 0x7000ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, SECOND);
	w = decoded();
	assert_int_equal(w->event, WIN_TOGETHER);
	assert_int_equal(w->number, 2);
	rec_begin(&fx, "MPI_Win_fence", 0, 2, 0ull, SECOND); /* what this is nobody knows */
	assert_int_equal(decoded()->number, 0);
	rec_begin(&fx, "MPI_Win_fence", 1, 2, 0ull, FIRST); /* failed */
	assert_null(decoded());
	rec_begin(&fx, "MPI_Barrier", 0, 1, WORLD);
	assert_null(decoded());
}

TEST(groups)
{
	const struct call_window *w;

	create(FIRST);
	rec_begin(&fx, "MPI_Win_start", 0, 3, SOME, 0ull, FIRST);
	w = decoded();
	assert_int_equal(w->event, WIN_START);
	assert_int_equal(w->rank, 1);
	assert_int_equal(w->ngroup, 2);
	assert_int_equal(w->group[0], 3);
	assert_int_equal(w->group[1], 0);
	rec_begin(&fx, "MPI_Win_post", 0, 3, ALL, 0ull, FIRST);
	w = decoded();
	assert_int_equal(w->event, WIN_POST);
	assert_int_equal(w->ngroup, 4);
	rec_begin(&fx, "MPI_Win_post", 0, 3, 0x88000077ull, 0ull, FIRST);
	assert_null(decoded()->group);
	rec_begin(&fx, "MPI_Win_complete", 0, 1, FIRST);
	assert_int_equal(decoded()->event, WIN_COMPLETE);
	rec_begin(&fx, "MPI_Win_test", 0, 2, FIRST, 0x7000ull);
	rec_u64(&fx, POV_FIELD_OUT, 1, 1, 0);
	assert_null(decoded());
	rec_begin(&fx, "MPI_Win_test", 0, 2, FIRST, 0x7000ull);
	rec_u64(&fx, POV_FIELD_OUT, 1, 1, 1);
	assert_int_equal(decoded()->event, WIN_WAIT);
}

TEST(locks)
{
	const struct call_window *w;

	create(FIRST);
	rec_begin(&fx, "MPI_Win_lock", 0, 4, EXCLUSIVE, 2ull, 0ull, FIRST);
	w = decoded();
	assert_int_equal(w->event, WIN_LOCK);
	assert_int_equal(w->target, 2);
	assert_int_equal(w->rank, 1);
	assert_true(w->exclusive);
	rec_begin(&fx, "MPI_Win_lock", 0, 4, SHARED, 2ull, 0ull, FIRST);
	assert_false(decoded()->exclusive);
	rec_begin(&fx, "MPI_Win_lock", 0, 4, EXCLUSIVE, 0xffffffffull, 0ull, FIRST);
	assert_int_equal(decoded()->target, PEER_NULL);
	rec_begin(&fx, "MPI_Win_lock_all", 0, 2, 0ull, FIRST);
	assert_int_equal(decoded()->target, PEER_ANY);
	assert_false(decoded()->exclusive);
	rec_begin(&fx, "MPI_Put", 0, 8, 0x5000ull, 1ull, 0x4c00080bull, 3ull, 0ull, 1ull,
		  0x4c00080bull, FIRST);
	w = decoded();
	assert_int_equal(w->event, WIN_ACCESS);
	assert_int_equal(w->target, 3);
	rec_begin(&fx, "MPI_Win_flush", 0, 2, 3ull, FIRST);
	assert_int_equal(decoded()->event, WIN_FLUSH);
	rec_begin(&fx, "MPI_Win_flush_local_all", 0, 1, FIRST);
	assert_int_equal(decoded()->event, WIN_FLUSH_LOCAL);
	rec_begin(&fx, "MPI_Win_unlock_all", 0, 1, FIRST);
	w = decoded();
	assert_int_equal(w->event, WIN_UNLOCK);
	assert_int_equal(w->target, PEER_ANY);
}

EACH_TEST(setup, fixture_teardown);
