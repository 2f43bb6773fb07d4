/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The account of a thread. That accounts add up is asserted wherever golden tests print one. */
#include "unit/test.h"
#include "analysis/account.h"

static struct account_row by_hand(bool sched)
{
	const struct app_thread t = {
		.window_ns = 1000,
		.compute_ns = 100,
		.work_ns = 50,
		.wait_ns = 300,
		.no_core_ns = 90,
		.mpi_no_core_ns = 60,
		.asleep_ns = 40,
		.unknown_ns = 420,
		.unknown_wait_ns = 200,
		.unknown_work_ns = 20,
	};
	struct state_times waiting = {{0}};

	waiting.ns[THREAD_RUNNING] = 150;
	waiting.ns[THREAD_BLOCKED] = 70;
	waiting.ns[THREAD_RUNNABLE] = 25;
	return account_thread(&t, &waiting, sched);
}

TEST(classes)
{
	struct account_row row = by_hand(true);

	assert_int_equal(row.ns[ACCOUNT_NO_CORE], 30);
	assert_int_equal(row.ns[ACCOUNT_MPI_NO_CORE], 35);
	assert_int_equal(row.ns[ACCOUNT_WAITING], 245);
	assert_int_equal(row.ns[ACCOUNT_TRANSFER], 280);
	assert_int_equal(row.ns[ACCOUNT_MPI_WORK], 70);
	assert_int_equal(row.ns[ACCOUNT_UNKNOWN], 200);
	assert_int_equal(row.ns[ACCOUNT_OUTSIDE], 0);
	assert_int_equal(account_total_ns(&row), 1000);
	assert_int_equal(account_outside_ns(&row), 170);
	/* Without scheduler records, time outside MPI is known as such. */
	row = by_hand(false);
	assert_int_equal(row.ns[ACCOUNT_UNKNOWN], 0);
	assert_int_equal(row.ns[ACCOUNT_OUTSIDE], 200);
	assert_int_equal(account_total_ns(&row), 1000);
}

/*
 * Waiting, and then open calls, are taken out of transfers, then of file I/O, then of other calls.
 */
TEST(taken_in_order)
{
	const struct app_thread t = {.window_ns = 260,
				     .wait_ns = 100,
				     .io_ns = 80,
				     .work_ns = 50,
				     .tracing_ns = 30,
				     .open_ns = 100};
	struct state_times waiting = {{0}};
	struct account_row row;

	waiting.ns[THREAD_RUNNING] = 120;
	row = account_thread(&t, &waiting, true);
	assert_int_equal(row.ns[ACCOUNT_WAITING], 120);
	assert_int_equal(row.ns[ACCOUNT_TRANSFER] + row.ns[ACCOUNT_FILE_IO], 0);
	assert_int_equal(row.ns[ACCOUNT_OPEN], 100);
	assert_int_equal(row.ns[ACCOUNT_MPI_WORK], 10);
	assert_int_equal(row.ns[ACCOUNT_TRACING], 30);
	assert_int_equal(account_total_ns(&row), 260);
}
