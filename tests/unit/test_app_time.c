/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What threads did between MPI_Init and MPI_Finalize. */

#include "unit/test.h"
#include "analysis/app_time.h"
#include "unit/model_fixture.h"

static struct mfix f;
static struct app_time a;

static void replay(void)
{
	const struct model_sink *sink = &a.sink;

	mfix_end(&f, 3000);
	mfix_open(&f, false);
	app_time_init(&a);
	assert_int_equal(model_run(f.model, &sink, 1), 0);
}

static void release(void)
{
	app_time_release(&a);
	mfix_release(&f);
}

static const struct app_thread *row_of(uint32_t tid)
{
	for (uint32_t i = 0; i < model_thread_count(f.model); i++)
		if (model_thread_get(f.model, i)->tid == tid)
			return &a.thread[i];
	fail_msg("no thread %u", tid);
	return NULL;
}

static const struct model_process *model_of(uint32_t pid)
{
	for (uint32_t i = 0; i < model_process_count(f.model); i++)
		if (model_process_get(f.model, i)->pid == pid)
			return model_process_get(f.model, i);
	fail_msg("no process %u", pid);
	return NULL;
}

static const struct app_process *process_of(uint32_t pid)
{
	return &a.process[model_of(pid)->idx];
}

static void parts_check(const struct app_thread *t, const uint64_t want[6])
{
	assert_int_equal(t->compute_ns, want[0]);
	assert_int_equal(t->work_ns, want[1]);
	assert_int_equal(t->wait_ns, want[2]);
	assert_int_equal(t->no_core_ns, want[3]);
	assert_int_equal(t->asleep_ns, want[4]);
	assert_int_equal(t->unknown_ns, want[5]);
	assert_int_equal(t->window_ns, t->to_ns - t->from_ns);
	assert_int_equal(t->window_ns, want[0] + want[1] + want[2] + want[3] + want[4] + want[5]);
}

static void world(void)
{
	mfix_begin(&f, "\"sched\":\"all\",\"rings\":2");
	mfix_functions(&f);
	mfix_rank(&f, 1000, 100, 0, "app");
	put_task(&f, 1000, 100, 100, 0, 1, 0, "app");
	put_task(&f, 1000, 101, 100, 1, 0, 1, "helper");
	put_task(&f, 1000, 900, 900, 1, 0, 0, "other");
}

/* Init to 1200; work 1300 … 1350, sleep 1400 … 1500, a receive 1600 … 1900 of which 1650 … 1700 asleep and 1700 … 1750 without core. */
TEST(parts)
{
	world();
	put_call(&f, 1050, 1200, 0, 100, 100, "MPI_Init", 0, 0);
	put_call(&f, 1300, 1350, 0, 100, 100, "MPI_Type_contiguous", 0, 0);
	put_switch(&f, 1400, 0, 100, SLEEPS, 900);
	put_waking(&f, 1500, 0, 900, 100, 0);
	put_switch(&f, 1500, 0, 900, SLEEPS, 100);
	put_switch(&f, 1650, 0, 100, SLEEPS, 900);
	put_waking(&f, 1700, 0, 900, 100, 0);
	put_switch(&f, 1750, 0, 900, SLEEPS, 100);
	put_call(&f, 1600, 1900, 0, 100, 100, "MPI_Recv", 0, 0);
	put_spin(&f, 2000, 2100, 0, 100, 100, "MPI_Test", 0, 5, 60);
	put_call(&f, 2300, 2500, 0, 100, 100, "MPI_Finalize", 0, 0);
	put_exit(&f, 2800, 100, 100, 0);
	replay();
	assert_int_equal(process_of(100)->init_ns, 150);
	assert_int_equal(process_of(100)->finalize_ns, 200);
	assert_int_equal(row_of(100)->from_ns, 1200);
	assert_int_equal(row_of(100)->to_ns, 2300);
	parts_check(row_of(100),
		    (uint64_t[]){1100 - 50 - 250 - 60 - 50 - 100, 50, 250 + 60, 50, 100, 0});
	assert_int_equal(row_of(100)->mpi_ns, 50 + 300 + 60);
	assert_int_equal(row_of(100)->calls, 2 + 5);
	/* the helper slept all the time, until Finalize was over */
	assert_int_equal(row_of(101)->to_ns, 2500);
	parts_check(row_of(101), (uint64_t[]){0, 0, 0, 0, 1300, 0});
	assert_ptr_equal(&a.thread[process_of(100)->main], row_of(100));
	release();
}

/* Two polls, of 100 and 70: in the first it leaves the CPU for 60; then for 40 between them. */
TEST(polls_away)
{
	world();
	put_call(&f, 1050, 1200, 0, 100, 100, "MPI_Init", 0, 0);
	put_call_begin(&f, 1320, 0, 100, 1310, 0);
	put_switch(&f, 1320, 0, 100, PREEMPTED, 900);
	put_switch(&f, 1380, 0, 900, SLEEPS, 100);
	put_waking(&f, 1410, 0, 100, 900, 0);
	put_switch(&f, 1420, 0, 100, PREEMPTED, 900);
	put_switch(&f, 1460, 0, 900, SLEEPS, 100);
	put_spin(&f, 1310, 1550, 0, 100, 100, "MPI_Test", 0, 2, 100 + 70);
	put_call(&f, 2300, 2500, 0, 100, 100, "MPI_Finalize", 0, 0);
	put_exit(&f, 2800, 100, 100, 0);
	replay();
	parts_check(row_of(100), (uint64_t[]){1100 - 110 - 100, 0, 110, 100, 0, 0});
	assert_int_equal(row_of(100)->mpi_ns, 170);
	release();
}

/* Neither is seen: from its first record to its end; the thread with most calls is the main one. */
TEST(attached)
{
	world();
	put_waking(&f, 1100, 1, 900, 101, 1);
	put_switch(&f, 1100, 1, 0, 0, 101);
	put_call(&f, 1200, 1300, 1, 101, 100, "MPI_Recv", 0, 0);
	replay();
	assert_ptr_equal(&a.thread[process_of(100)->main], row_of(101));
	assert_int_equal(process_of(100)->init_ns, 0);
	assert_int_equal(row_of(101)->from_ns, 1000);
	assert_int_equal(row_of(101)->to_ns, 3000);
	parts_check(row_of(101), (uint64_t[]){1800, 0, 100, 0, 100, 0});
	parts_check(row_of(100), (uint64_t[]){2000, 0, 0, 0, 0, 0});
	release();
}

/* A rank that begins at 1100, within the recording, running on CPU 0 from 1120 on, and a helper thread of it from 1200 on. */
static void world_launched(void)
{
	mfix_begin(&f, "\"sched\":\"all\",\"rings\":2");
	mfix_functions(&f);
	put_task(&f, 1000, 900, 900, 1, 0, 0, "other");
	put_fork(&f, 1100, 900, 200, 200, 900, "app");
	mfix_rank(&f, 1100, 200, 0, "app");
	put_waking(&f, 1110, 0, 900, 200, 0);
	put_switch(&f, 1120, 0, 0, 0, 200);
	put_fork(&f, 1200, 200, 201, 200, 200, "helper");
}

/* MPI_Init is not recorded: time counts from the first call that is, of other threads from its end. */
TEST(found)
{
	world_launched();
	put_call(&f, 1500, 1600, 0, 200, 200, "MPI_Recv", 0, 0);
	replay();
	assert_int_equal(process_of(200)->init_ns, 0);
	assert_int_equal(row_of(200)->from_ns, 1500);
	parts_check(row_of(200), (uint64_t[]){1400, 0, 100, 0, 0, 0});
	assert_int_equal(row_of(200)->calls, 1);
	assert_int_equal(row_of(201)->from_ns, 1600);
	assert_false(windows_has(&a.windows, model_of(200), 1499));
	assert_true(windows_has(&a.windows, model_of(200), 1500));
	release();
}

/* The same if the first are polls; MPI_Init, if it comes, is where time begins all the same. */
TEST(found_polling)
{
	world_launched();
	put_spin(&f, 1500, 1700, 0, 200, 200, "MPI_Test", 0, 2, 150);
	replay();
	assert_int_equal(row_of(200)->from_ns, 1500);
	parts_check(row_of(200), (uint64_t[]){1500 - 150, 0, 150, 0, 0, 0});
	release();
	world_launched();
	put_call(&f, 1300, 1310, 0, 200, 200, "MPI_Recv", 0, 0);
	put_call(&f, 1400, 1500, 0, 200, 200, "MPI_Init", 0, 0);
	replay();
	assert_int_equal(row_of(200)->from_ns, 1500);
	parts_check(row_of(200), (uint64_t[]){1500, 0, 0, 0, 0, 0});
	assert_int_equal(process_of(200)->init_ns, 100);
	release();
}

/* One that never calls MPI has no main thread. */
TEST(silent)
{
	world_launched();
	replay();
	assert_false(process_of(200)->has_main);
	assert_int_equal(process_of(200)->computed_ns, 0);
	parts_check(row_of(200), (uint64_t[]){0, 0, 0, 0, 0, 0});
	release();
}
