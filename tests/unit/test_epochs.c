/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Who waited for whom in one-sided communication: fences, epochs between groups, locks. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "abi/event.h"
#include "analysis/locks.h"
#include "unit/model_fixture.h"

#define RANKS 3
#define ALL PEER_ANY

static const struct func_info blocks = {
	.name = "MPI_Win_blocks", .group = "rma", .layer_name = "mpi", .waits = true};
static const struct func_info polls = {
	.name = "MPI_Win_test", .group = "rma", .layer_name = "mpi", .polls = true};
static const struct func_info barrier = {
	.name = "MPI_Barrier", .group = "coll", .layer_name = "mpi", .waits = true};

struct world {
	struct mfix f;
	struct model_thread thread[RANKS];
	struct arrivals arrivals;
	struct epochs epochs;
	struct locks locks;
	uint64_t told_ns[EPOCH_KINDS]; /* of the steps of all that was told */
};

static void on_tell(void *ctx, enum epoch_kind kind, const struct model_thread *waiter,
		    const struct arrival_joint *j)
{
	struct world *w = ctx;

	assert_non_null(waiter);
	for (uint32_t i = 0; i < j->steps; i++)
		w->told_ns[kind] += j->step[i].to_ns - j->step[i].from_ns;
}

static int setup(void **state)
{
	struct world *w = *state = calloc(1, sizeof(*w));

	mfix_ranks(&w->f, "\"sched\":\"off\",\"rings\":1", RANKS, w->thread);
	arrivals_init(&w->arrivals);
	epochs_init(&w->epochs);
	locks_init(&w->locks, &w->epochs);
	w->epochs.tell = on_tell;
	w->epochs.ctx = w;
	w->arrivals.sink.start(&w->arrivals, w->f.model);
	w->epochs.sink.start(&w->epochs, w->f.model);
	w->locks.sink.start(&w->locks, w->f.model);
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	arrivals_release(&w->arrivals);
	locks_release(&w->locks);
	epochs_release(&w->epochs);
	mfix_release(&w->f);
	free(w);
	return 0;
}

static void end(struct world *w)
{
	w->epochs.sink.finish(&w->epochs, w->f.model);
	w->locks.sink.finish(&w->locks, w->f.model);
}

static void tell(struct world *w, const struct func_info *f, int rank,
		 const struct call_window *window, uint64_t begin_ns, uint64_t end_ns)
{
	struct call_view view = {
		.roles = {.comm_id = 1, .comm_size = RANKS, .send_bytes = 8, .window = window}};
	const struct model_call c = {.func = f,
				     .thread = &w->thread[rank],
				     .begin_ns = begin_ns,
				     .end_ns = end_ns,
				     .view = &view};

	w->arrivals.sink.call(&w->arrivals, &c);
	w->epochs.sink.call(&w->epochs, &c);
	w->locks.sink.call(&w->locks, &c);
}

/* A call of a rank on window 1, with a group of n, or a target. */
static void group(struct world *w, int rank, enum win_event event, uint32_t n, const int32_t *ranks,
		  uint64_t begin_ns, uint64_t end_ns)
{
	const struct call_window window = {
		.event = event, .number = 1, .rank = rank, .group = ranks, .ngroup = n};

	tell(w, &blocks, rank, &window, begin_ns, end_ns);
}

static void target(struct world *w, int rank, enum win_event event, int32_t to, bool exclusive,
		   uint64_t begin_ns, uint64_t end_ns)
{
	const struct call_window window = {
		.event = event, .number = 1, .rank = rank, .target = to, .exclusive = exclusive};

	tell(w, &blocks, rank, &window, begin_ns, end_ns);
}

static uint64_t waited(const struct world *w, enum epoch_kind kind, uint32_t waiter, uint32_t late)
{
	const struct waited_for *p = waited_for_get(&w->epochs.waits[kind], waiter, late);

	return p ? p->ns : 0;
}

static const int32_t zero[] = {0}, one[] = {1}, one_two[] = {1, 2}, zero_two[] = {0, 2};

/* Those of a window are in an order of their own: a barrier may lie behind a fence for one rank, and before it for another. */
TEST(fence)
{
	const struct call_window first = {.event = WIN_TOGETHER, .number = 1},
				 second = {.event = WIN_TOGETHER, .number = 2},
				 unknown = {.event = WIN_TOGETHER};
	struct world *w = *state;

	tell(w, &blocks, 0, &first, 100, 400);
	tell(w, &barrier, 0, NULL, 450, 460);
	tell(w, &blocks, 1, &first, 150, 400);
	tell(w, &blocks, 1, &second, 401, 402);
	tell(w, &barrier, 1, NULL, 450, 460);
	tell(w, &barrier, 2, NULL, 200, 460);
	tell(w, &blocks, 2, &unknown, 210, 220);
	assert_int_equal(w->arrivals.process[2].calls, 1);
	tell(w, &blocks, 2, &first, 390, 400);
	assert_int_equal(w->arrivals.process[2].calls, 2);
	/* the barrier: nothing; the fence: 50 shared by two, and 240 of two ranks */
	assert_int_equal(w->arrivals.process[2].waited_ns, 25 + 2 * 240);
	end(w);
	assert_int_equal(epochs_of(&w->epochs, 2)->accesses[EPOCH_WINDOW_UNKNOWN], 0);
}

/* A library that waits in start, and one that waits in complete; nothing where the post came first. */
TEST(late_post)
{
	struct world *w = *state;

	group(w, 0, WIN_START, 1, one, 100, 310);
	group(w, 1, WIN_POST, 1, zero, 300, 305);
	group(w, 0, WIN_COMPLETE, 0, NULL, 320, 330);
	group(w, 1, WIN_WAIT, 0, NULL, 340, 350);
	assert_int_equal(waited(w, EPOCH_LATE_POST, 0, 1), 200);
	group(w, 0, WIN_START, 1, one, 400, 401);
	group(w, 0, WIN_COMPLETE, 0, NULL, 410, 610);
	group(w, 1, WIN_POST, 1, zero, 600, 605); /* told behind what it belongs to */
	group(w, 1, WIN_WAIT, 0, NULL, 620, 630);
	assert_int_equal(waited(w, EPOCH_LATE_POST, 0, 1), 200 + 1 + 190);
	group(w, 1, WIN_POST, 1, zero, 700, 705);
	group(w, 0, WIN_START, 1, one, 800, 810);
	group(w, 0, WIN_COMPLETE, 0, NULL, 820, 830);
	group(w, 1, WIN_WAIT, 0, NULL, 840, 850);
	assert_int_equal(waited(w, EPOCH_LATE_POST, 0, 1), 391);
	assert_int_equal(w->told_ns[EPOCH_LATE_POST], 391);
	assert_int_equal(w->told_ns[EPOCH_LATE_COMPLETE], 0);
	end(w);
	assert_int_equal(epochs_of(&w->epochs, 0)->accesses[EPOCH_MATCHED], 3);
	assert_int_equal(epochs_of(&w->epochs, 1)->exposures[EPOCH_MATCHED], 3);
	assert_int_equal(epochs_of(&w->epochs, 1)->exposures[EPOCH_NO_OTHER], 0);
	assert_int_equal(w->epochs.kept, 0);
}

/* Rank 0 waits for 1 and 2: for both alike, then for 2 alone. Both wait in turn for its complete. */
TEST(several)
{
	struct world *w = *state;

	group(w, 1, WIN_POST, 1, zero, 200, 201);
	group(w, 2, WIN_POST, 1, zero, 300, 301);
	group(w, 0, WIN_START, 2, one_two, 100, 310);
	group(w, 0, WIN_COMPLETE, 0, NULL, 1000, 1010);
	group(w, 1, WIN_WAIT, 0, NULL, 400, 1005);
	group(w, 2, WIN_WAIT, 0, NULL, 1002, 1005);
	assert_int_equal(waited(w, EPOCH_LATE_POST, 0, 1), 50);
	assert_int_equal(waited(w, EPOCH_LATE_POST, 0, 2), 50 + 100);
	assert_int_equal(waited(w, EPOCH_LATE_COMPLETE, 1, 0), 600);
	assert_int_equal(waited(w, EPOCH_LATE_COMPLETE, 2, 0), 0);
	/* the other way round: 1 waits for the completes of two */
	group(w, 1, WIN_POST, 2, zero_two, 2000, 2001);
	group(w, 1, WIN_WAIT, 0, NULL, 2100, 2500);
	group(w, 0, WIN_START, 1, one, 2000, 2005);
	group(w, 2, WIN_START, 1, one, 2000, 2005);
	group(w, 0, WIN_COMPLETE, 0, NULL, 2200, 2210);
	assert_int_equal(waited(w, EPOCH_LATE_COMPLETE, 1, 0), 600);
	group(w, 2, WIN_COMPLETE, 0, NULL, 2400, 2410);
	assert_int_equal(waited(w, EPOCH_LATE_COMPLETE, 1, 0), 600 + 50);
	assert_int_equal(waited(w, EPOCH_LATE_COMPLETE, 1, 2), 50 + 200);
	end(w);
	assert_int_equal(w->epochs.kept, 0);
}

/* Nobody waits in a test, but it ends the exposure. */
TEST(test)
{
	const struct call_window over = {.event = WIN_WAIT, .number = 1, .rank = -1};
	struct world *w = *state;

	group(w, 1, WIN_POST, 1, zero, 100, 101);
	group(w, 0, WIN_START, 1, one, 110, 111);
	group(w, 0, WIN_COMPLETE, 0, NULL, 500, 501);
	tell(w, &polls, 1, &over, 490, 510);
	assert_int_equal(waited(w, EPOCH_LATE_COMPLETE, 1, 0), 0);
	end(w);
	assert_int_equal(w->epochs.kept, 0);
}

/* Each that is not matched has its reason. */
TEST(unmatched)
{
	const struct model_lost lost = {.class = POV_CLASS_CALL};
	struct world *w = *state;
	struct call_window c = {.event = WIN_START, .rank = 0, .group = NULL};
	const struct epoch_row *row;

	tell(w, &blocks, 0, &c, 100, 110);
	c.number = 1;
	tell(w, &blocks, 0, &c, 120, 130);
	group(w, 0, WIN_START, 2, one_two, 140, 150);
	group(w, 1, WIN_POST, 1, zero, 130, 131);
	w->thread[2].proc->start_ns = 1000;
	group(w, 2, WIN_POST, 1, zero, 130, 131);
	w->epochs.sink.lost(&w->epochs, &lost);
	group(w, 0, WIN_START, 1, one, 160, 170);
	end(w);
	row = epochs_of(&w->epochs, 0);
	assert_int_equal(row->accesses[EPOCH_WINDOW_UNKNOWN], 1);
	assert_int_equal(row->accesses[EPOCH_GROUP_UNKNOWN], 1);
	assert_int_equal(row->accesses[EPOCH_MATCHED], 1);
	assert_int_equal(row->accesses[EPOCH_NO_OTHER], 1);
	assert_int_equal(row->accesses[EPOCH_UNCERTAIN], 1);
	assert_int_equal(epochs_of(&w->epochs, 2)->exposures[EPOCH_UNCERTAIN], 1);
	assert_int_equal(epochs_of(&w->epochs, 77)->exposures[EPOCH_MATCHED], 0);
}

/* Accesses that run ahead of exposures are kept, but not without end. */
TEST(bounded)
{
	struct world *w = *state;
	uint64_t ns = 100;

	for (uint32_t i = 0; i < EPOCHS_KEPT_MAX + 7; i++, ns += 10) {
		group(w, 0, WIN_START, 1, one, ns, ns + 1);
		group(w, 0, WIN_COMPLETE, 0, NULL, ns + 2, ns + 3);
	}
	end(w);
	assert_int_equal(epochs_of(&w->epochs, 0)->accesses[EPOCH_NO_OTHER], EPOCHS_KEPT_MAX);
	assert_int_equal(epochs_of(&w->epochs, 0)->accesses[EPOCH_TOO_MANY], 7);
}

/* ---- locks ---- */

/* 0 and 2 lock at 1. A library that acquires in lock: the waiter's call to lock lasts until the other one unlocks. */
TEST(lock)
{
	struct world *w = *state;

	target(w, 0, WIN_LOCK, 1, true, 100, 110);
	target(w, 0, WIN_ACCESS, 1, false, 120, 130);
	target(w, 2, WIN_LOCK, 1, true, 200, 515); /* told before the unlock that it waited for */
	assert_int_equal(waited(w, EPOCH_LOCKED, 2, 0), 0);
	target(w, 0, WIN_UNLOCK, 1, false, 500, 520);
	assert_int_equal(waited(w, EPOCH_LOCKED, 2, 0), 300);
	target(w, 2, WIN_UNLOCK, 1, false, 600, 610);
	/* called before the other one had it */
	target(w, 0, WIN_LOCK, 1, true, 710, 720);
	target(w, 0, WIN_UNLOCK, 1, false, 800, 802);
	target(w, 2, WIN_LOCK, 1, false, 700, 805);
	target(w, 2, WIN_UNLOCK, 1, false, 810, 811);
	end(w);
	assert_int_equal(waited(w, EPOCH_LOCKED, 2, 0), 300 + 80);
	assert_int_equal(w->told_ns[EPOCH_LOCKED], 380);
	assert_int_equal(epochs_of(&w->epochs, 2)->locks, 2);
	assert_int_equal(epochs_of(&w->epochs, 2)->doubtful, 0);
}

/* At other targets, shared by both, or over before the other one unlocked: nobody stood in its way. */
TEST(no_contention)
{
	struct world *w = *state;

	target(w, 0, WIN_LOCK, 1, true, 100, 110);
	target(w, 2, WIN_LOCK, 0, true, 200, 515);
	target(w, 0, WIN_UNLOCK, 1, false, 500, 520);
	target(w, 2, WIN_UNLOCK, 0, false, 530, 531);
	target(w, 0, WIN_LOCK, 1, false, 600, 610);
	target(w, 2, WIN_LOCK, 1, false, 620, 710);
	target(w, 0, WIN_UNLOCK, 1, false, 700, 701);
	target(w, 2, WIN_UNLOCK, 1, false, 720, 721);
	target(w, 0, WIN_LOCK, 1, true, 800, 801); /* lazy: not acquired … */
	target(w, 2, WIN_LOCK, 1, true, 810, 811);
	target(w, 2, WIN_UNLOCK, 1, false, 820, 830);
	target(w, 0, WIN_UNLOCK, 1, false, 900, 910); /* … before this */
	target(w, 0, WIN_LOCK, 1, true, 1000, 1001);  /* never given back */
	target(w, 2, WIN_LOCK, 1, true, 1010, 1100);
	end(w);
	assert_int_equal(w->told_ns[EPOCH_LOCKED], 0);
	assert_int_equal(epochs_of(&w->epochs, 2)->doubtful, 0);
}

/* Lazily: it is certain from the other one's first flush of an access on, and where nothing was flushed not at all. */
TEST(lazy)
{
	struct world *w = *state;

	target(w, 0, WIN_LOCK, 1, true, 100, 101);
	target(w, 0, WIN_FLUSH, 1, false, 105, 106); /* of nothing */
	target(w, 0, WIN_ACCESS, 1, false, 110, 111);
	target(w, 0, WIN_FLUSH, 1, false, 220, 230);
	target(w, 2, WIN_LOCK, 1, true, 200, 201);
	target(w, 2, WIN_ACCESS, 1, false, 205, 206);
	target(w, 2, WIN_FLUSH, 1, false, 210, 510);
	target(w, 0, WIN_UNLOCK, 1, false, 500, 505);
	assert_int_equal(waited(w, EPOCH_LOCKED, 2, 0), 500 - 230);
	target(w, 2, WIN_UNLOCK, 1, false, 520, 521);
	assert_int_equal(epochs_of(&w->epochs, 2)->doubtful, 0);
	target(w, 0, WIN_LOCK, 1, true, 600, 601);
	target(w, 0, WIN_ACCESS, 1, false, 610, 611);
	target(w, 2, WIN_LOCK, 1, true, 620, 621);
	target(w, 0, WIN_UNLOCK, 1, false, 700, 705);
	target(w, 2, WIN_UNLOCK, 1, false, 630, 710);
	end(w);
	assert_int_equal(waited(w, EPOCH_LOCKED, 2, 0), 270);
	assert_int_equal(epochs_of(&w->epochs, 2)->doubtful, 1);
}

/*
 * Rank 1 locks its own memory, which is acquired at once in every library, and those of others need not be: rank 2, of which that is not
 * known, is not blamed.
 */
TEST(local)
{
	struct world *w = *state;

	target(w, 0, WIN_LOCK, 1, true, 100, 101);
	target(w, 0, WIN_ACCESS, 1, false, 102, 103);
	target(w, 0, WIN_FLUSH, 1, false, 104, 105);
	target(w, 2, WIN_LOCK, 1, true, 110, 111);
	target(w, 0, WIN_UNLOCK, 1, false, 400, 410);
	target(w, 2, WIN_UNLOCK, 1, false, 450, 460);
	target(w, 1, WIN_LOCK, 1, true, 200, 470);
	target(w, 1, WIN_UNLOCK, 1, false, 600, 601);
	assert_int_equal(waited(w, EPOCH_LOCKED, 1, 0), 200);
	assert_int_equal(waited(w, EPOCH_LOCKED, 1, 2), 0);
	/* and whoever it is waits for rank 1 */
	target(w, 1, WIN_LOCK, 1, true, 700, 701);
	target(w, 0, WIN_LOCK, 1, true, 702, 703);
	target(w, 0, WIN_UNLOCK, 1, false, 710, 805);
	target(w, 1, WIN_UNLOCK, 1, false, 800, 801);
	end(w);
	assert_int_equal(waited(w, EPOCH_LOCKED, 0, 1), 90);
}

/* Shared ones held by two: shared among them; and MPI_Win_lock_all holds what was accessed and flushed. */
TEST(shared)
{
	struct world *w = *state;

	target(w, 0, WIN_LOCK, 1, false, 100, 101);
	target(w, 2, WIN_LOCK, ALL, false, 110, 111);
	target(w, 2, WIN_ACCESS, 1, false, 120, 121);
	target(w, 2, WIN_ACCESS, 0, false, 122, 123);
	target(w, 2, WIN_FLUSH, 1, false, 290, 300);
	target(w, 0, WIN_UNLOCK, 1, false, 400, 410);
	target(w, 2, WIN_UNLOCK, ALL, false, 500, 510);
	target(w, 1, WIN_LOCK, 1, true, 200, 515);
	target(w, 1, WIN_UNLOCK, 1, false, 600, 601);
	/* rank 1 is the target: of rank 0, which flushed nothing, it is not known */
	assert_int_equal(waited(w, EPOCH_LOCKED, 1, 0), 0);
	assert_int_equal(waited(w, EPOCH_LOCKED, 1, 2), 200);
	target(w, 0, WIN_LOCK, 2, false, 1000, 1001);
	target(w, 2, WIN_LOCK, 2, false, 1010, 1200);
	target(w, 0, WIN_UNLOCK, 2, false, 1400, 1410);
	target(w, 2, WIN_UNLOCK, 2, false, 1500, 1510);
	target(w, 1, WIN_LOCK, 2, true, 1100, 1515);
	end(w);
	/* alone to 1200, half to 1400 */
	assert_int_equal(waited(w, EPOCH_LOCKED, 1, 0), 100 + 100);
	assert_int_equal(waited(w, EPOCH_LOCKED, 1, 2), 200 + 100 + 100);
}

/* Locks that come and go beyond those that are kept; one wait spans all. */
TEST(many_locks)
{
	struct world *w = *state;
	uint64_t ns = 1000;

	for (int i = 0; i < 10000; i++, ns += 10) {
		target(w, 0, WIN_LOCK, 1, true, ns, ns + 1);
		target(w, 0, WIN_UNLOCK, 1, false, ns + 5, ns + 6);
	}
	target(w, 2, WIN_LOCK, 1, true, ns - 1000 * 10, ns);
	end(w);
	assert_int_equal(waited(w, EPOCH_LOCKED, 2, 0), 1000 * 4);
}

/* Who keeps an exclusive lock and calls nothing, while others call much that might wait for it: not all of that is kept. */
TEST(many_waiting)
{
	struct world *w = *state;
	uint64_t ns = 1000;

	target(w, 0, WIN_LOCK, 1, true, 100, 101);
	target(w, 2, WIN_LOCK, ALL, false, 110, 111);
	for (int i = 0; i < 5000; i++, ns += 10)
		target(w, 2, WIN_ACCESS, 1, false, ns, ns + 1);
	assert_int_equal(w->told_ns[EPOCH_LOCKED], 0);
	target(w, 0, WIN_ACCESS, 1, false, ns, ns + 1);
	target(w, 0, WIN_FLUSH, 1, false, ns + 2, ns + 3);
	target(w, 0, WIN_UNLOCK, 1, false, ns + 100, ns + 101);
	target(w, 2, WIN_FLUSH, 1, false, ns + 50, ns + 102);
	end(w);
	assert_int_equal(waited(w, EPOCH_LOCKED, 2, 0), 50);
}

EACH_TEST(setup, teardown);
