/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Why those who were waited for were late: each cause by a schedule made by hand, and chains to their roots. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "unit/causes_world.h"

/* Rank 0 waits from 2000 to 3000 for rank 1, which does one thing after the other. */
TEST(each_cause)
{
	struct cause *c;
	struct causes_world w;
	uint32_t n;

	causes_world_open(&w);
	told_state(&w, 1, 1500, 2300, THREAD_RUNNING);
	told_state(&w, 1, 2300, 2400, THREAD_RUNNABLE);
	told_state(&w, 1, 2400, 2450, THREAD_BLOCKED);
	told_state(&w, 1, 2450, 2800, THREAD_RUNNING);
	told_call(&w, 1, 2500, 2600);
	told_polls(&w, 1, 2600, 2620);
	told_state(&w, 1, 2800, 2850, THREAD_UNKNOWN);
	told_state(&w, 1, 2850, 3100, THREAD_BLOCKED);
	told_call(&w, 1, 2900, 2970); /* blocked, but in MPI */
	told_call(&w, 0, 2000, 3001);
	told_receive(&w, 0, 2000, 1, 3000);
	told_call(&w, 1, 3000, 3001);
	causes_world_end(&w);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_COMPUTED), 300 + 50 + 180);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_NO_CORE), 100);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_SLEPT), 50 + 50 + 30);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_MPI), 100 + 70);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_POLLED), 20);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_OUTSIDE), 50);
	assert_int_equal(causes_world_root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS), 1000);
	assert_int_equal(causes_world_ns(&w.causes.direct[CAUSE_LATE_SENDER], 1, CAUSE_KINDS, NULL),
			 1000);
	c = causes_list(&w.causes.roots, &n);
	assert_int_equal(c[0].kind, CAUSE_COMPUTED);
	assert_int_equal(c[0].cnt, 1);
	assert_int_equal(c[0].worst.ns, 530);
	assert_int_equal(c[0].worst.from_ns, 2000);
	assert_int_equal(c[0].worst.to_ns, 2800);
	assert_int_equal(c[0].worst.nchain, 2);
	assert_int_equal(c[0].worst.chain[0], 0);
	assert_int_equal(c[0].worst.chain[1], 1);
	assert_string_equal(c[0].worst.after->name, "MPI_Send");
	assert_int_equal(c[0].worst.after_ns, 2900);
	assert_int_equal(c[0].farthest.ns, 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(c[i].other,
				 c[i].kind == CAUSE_NO_CORE ? w.hog_process.idx : CAUSE_NOBODY);
	free(c);
	/* of its call of 1001, rank 0 waited 1000 */
	assert_int_equal(causes_blame(&w.causes, 0)->calls.ns[THREAD_RUNNING], 1001);
	assert_int_equal(causes_blame(&w.causes, 0)->waited[CAUSE_LATE_SENDER].ns[THREAD_UNKNOWN],
			 1000);
	causes_world_close(&w);
}

/* Rank 2 waits for rank 1, which waits for rank 0, which computes; known in the order 2, 1. */
TEST(chain)
{
	struct cause *c;
	struct causes_world w;
	uint32_t n;

	causes_world_open(&w);
	told_state(&w, 0, 1500, 5000, THREAD_RUNNING);
	told_state(&w, 1, 1500, 5000, THREAD_RUNNING);
	told_receive(&w, 2, 2000, 1, 2900);
	told_call(&w, 0, 2800, 2810);
	told_call(&w, 1, 2100, 2810);
	told_receive(&w, 1, 2100, 0, 2800);
	causes_world_end(&w);
	/* for rank 1 itself 100 before its call, 90 behind it, 10 in it when the message had been sent */
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_COMPUTED), 100 + 90);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_MPI), 10);
	assert_int_equal(causes_world_root_ns(&w, 0, CAUSE_COMPUTED), 700 + 700);
	assert_int_equal(causes_world_root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS), 900 + 700);
	assert_int_equal(
		causes_world_ns(&w.causes.direct[CAUSE_LATE_SENDER], 1, CAUSE_WAITED, NULL), 700);
	c = causes_list(&w.causes.roots, &n);
	assert_int_equal(c[0].process, 0);
	assert_int_equal(c[0].through_ns, 700);
	assert_int_equal(c[0].farthest.nchain, 3);
	assert_int_equal(c[0].farthest.chain[0], 2);
	assert_int_equal(c[0].farthest.chain[1], 1);
	assert_int_equal(c[0].farthest.chain[2], 0);
	assert_string_equal(c[0].farthest.after->name, "MPI_Send");
	free(c);
	causes_world_close(&w);
}

/* Rank 2 has called MPI_Win_start; ranks 0 and 1 are to post. Rank 1 waits for a message of rank 0 before that. */
TEST(through_epoch)
{
	static const struct func_info start_func = {
		.name = "MPI_Win_start", .group = "rma", .layer_name = "mpi"};
	const enum cause_wait late_post = CAUSE_EPOCH + EPOCH_LATE_POST;
	struct arrival_call calls[3];
	struct causes_world w;
	struct cause *c;
	uint32_t n;

	causes_world_open(&w);
	for (int i = 0; i < 3; i++) {
		told_state(&w, i, 1500, 5000, THREAD_RUNNING);
		calls[i] = (struct arrival_call){.thread = &w.thread[i], .func = &start_func};
	}
	told_receive(&w, 1, 2200, 0, 2800);
	told_call(&w, 1, 2200, 2801);
	calls[0].begin_ns = 2400;
	calls[1].begin_ns = 2900;
	calls[2].begin_ns = 2000;
	calls[2].end_ns = 2910;
	calls[2].waits = true;
	epochs_add(&w.epochs, EPOCH_LATE_POST, calls, 3);
	causes_world_end(&w);
	/* 200 to 2400 and its half of 400 before, of which it waited 200, of all then 400 to 2800 */
	assert_int_equal(causes_world_ns(&w.causes.direct[late_post], 0, CAUSE_KINDS, NULL), 200);
	assert_int_equal(causes_world_ns(&w.causes.direct[late_post], 1, CAUSE_WAITED, NULL),
			 100 + 400);
	assert_int_equal(causes_world_root_ns(&w, 0, CAUSE_COMPUTED), 200 + 500 + 600);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_COMPUTED), 100 + 99);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_MPI), 1);
	assert_int_equal(causes_blame(&w.causes, 2)->waited[late_post].ns[THREAD_RUNNING], 900);
	c = causes_list(&w.causes.roots, &n);
	assert_int_equal(c[0].through_ns, 500);
	assert_int_equal(c[0].farthest.how, late_post);
	assert_int_equal(c[0].farthest.nchain, 3);
	assert_int_equal(c[0].farthest.chain[0], 2);
	free(c);
	causes_world_close(&w);
}

/* Ranks 0 and 1 are in a barrier that rank 2 comes to when it has received from rank 3; rank 4 waits for rank 0. */
TEST(through_collective)
{
	struct causes_world w;

	causes_world_open(&w);
	for (int i = 0; i < RANKS; i++)
		told_state(&w, i, 1500, 5000, i == 3 ? THREAD_BLOCKED : THREAD_RUNNING);
	told_receive(&w, 4, 2000, 0, 2600);
	told_receive(&w, 2, 2100, 3, 2400);
	told_call(&w, 2, 2100, 2401);
	told_join(&w, 0, 1, 3, 2000, 2510);
	told_join(&w, 1, 1, 3, 2050, 2510);
	told_join(&w, 2, 1, 3, 2500, 2510);
	causes_world_end(&w);
	/* 50 of rank 0 are half for rank 1, half for 2; then two wait for rank 2; rank 4 waits as rank 0 does, and then for it */
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_COMPUTED), 25 + 25);
	assert_int_equal(causes_world_root_ns(&w, 2, CAUSE_COMPUTED),
			 (25 + 2 * 50 + 2 * 100) + (25 + 50 + 100) - 3);
	assert_int_equal(causes_world_root_ns(&w, 2, CAUSE_MPI), 2 + 1); /* when it has received */
	assert_int_equal(causes_world_root_ns(&w, 3, CAUSE_SLEPT), 300 + 2 * 300 + 300);
	assert_int_equal(causes_world_root_ns(&w, 0, CAUSE_MPI), 10);
	assert_int_equal(causes_world_root_ns(&w, 0, CAUSE_COMPUTED), 90);
	assert_int_equal(causes_world_root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS),
			 600 + 300 + 50 + 2 * 450);
	causes_world_close(&w);
}

/* Two wait for each other at the same time: whoever was first, this is not the cause. */
TEST(circle)
{
	struct causes_world w;

	causes_world_open(&w);
	told_receive(&w, 0, 2000, 1, 2500);
	told_receive(&w, 1, 2000, 0, 2500);
	causes_world_end(&w);
	assert_int_equal(causes_world_root_ns(&w, CAUSE_NOBODY, CAUSE_UNKNOWN), 1000);
	assert_int_equal(causes_world_root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS), 1000);
	causes_world_close(&w);
}

/* More than is kept: what is followed is followed in time, and the sum stays right. */
TEST(many)
{
	struct causes_world w;
	uint64_t at = START;

	causes_world_open(&w);
	for (uint32_t i = 0; i < CAUSES_KEPT_MAX; i++, at += 100) {
		told_state(&w, 1, at, at + 50, THREAD_RUNNING);
		told_state(&w, 1, at + 50, at + 100, THREAD_BLOCKED);
		told_call(&w, 1, at + 60, at + 70);
		if (i % 4 == 0)
			told_receive(&w, 0, at + 10, 1, at + 60);
	}
	assert_true(w.causes.kept <= CAUSES_KEPT_MAX);
	causes_world_end(&w);
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_COMPUTED),
			 40ull * (CAUSES_KEPT_MAX / 4));
	assert_int_equal(causes_world_root_ns(&w, 1, CAUSE_SLEPT), 10ull * (CAUSES_KEPT_MAX / 4));
	assert_int_equal(causes_world_root_ns(&w, CAUSE_NOBODY, CAUSE_KINDS),
			 causes_world_waited_ns(&w));
	assert_int_equal(w.causes.told_late, 0);
	causes_world_close(&w);
}
