/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The account of a thread: cases by hand, and random ones whose parts must add up. */
#include "unit/test.h"
#include "analysis/account.h"

static uint64_t seed = 4711;

static uint64_t below(uint64_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (seed >> 33) % n;
}

static uint64_t some(void)
{
	return below(3) ? below(1000) : 0;
}

/* Makes a thread as app_time.h describes it: parts do not exceed their whole. */
static struct app_thread random_thread(void)
{
	struct app_thread t = {
		.compute_ns = some(),
		.work_ns = some(),
		.wait_ns = some(),
		.io_ns = some(),
		.no_core_ns = some(),
		.asleep_ns = some(),
		.unknown_ns = some(),
		.tracing_ns = some(),
		.open_ns = some(),
	};
	uint64_t left = t.unknown_ns;

	t.mpi_no_core_ns = below(t.no_core_ns + 1);
	t.unknown_wait_ns = below(left + 1);
	t.unknown_work_ns = below(left - t.unknown_wait_ns + 1);
	t.window_ns = t.compute_ns + t.work_ns + t.wait_ns + t.io_ns + t.no_core_ns + t.asleep_ns +
		      t.unknown_ns + t.tracing_ns;
	return t;
}

TEST(adds_up)
{
	for (int i = 0; i < 20000; i++) {
		struct app_thread t = random_thread();
		struct state_times waiting = {{some(), some(), some(), some()}};
		uint64_t waiting_ns = 0;
		struct account_row row = account_thread(&t, &waiting, i & 1);

		for (int s = 0; s < THREAD_STATE_CNT; s++)
			waiting_ns += waiting.ns[s];
		assert_int_equal(account_total_ns(&row), t.window_ns);
		assert_true(row.ns[ACCOUNT_WAITING] <= waiting_ns);
		assert_int_equal(row.ns[ACCOUNT_COMPUTING], t.compute_ns);
		assert_int_equal(row.ns[ACCOUNT_TRACING], t.tracing_ns);
		assert_int_equal(row.ns[ACCOUNT_ASLEEP], t.asleep_ns);
	}
}

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
	assert_int_equal(account_outside_ns(&row), 170);
	/* Without scheduler records, time outside MPI is known as such. */
	row = by_hand(false);
	assert_int_equal(row.ns[ACCOUNT_UNKNOWN], 0);
	assert_int_equal(row.ns[ACCOUNT_OUTSIDE], 200);
}
