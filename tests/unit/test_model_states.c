/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* States of threads, identities and gaps: small traces whose result is computed by hand. */

#include "unit/test.h"
#include "unit/model_fixture.h"

#define TOLD(f, ...) assert_told(f, (const char *const[]){__VA_ARGS__, NULL})
#define ALL "\"sched\":\"all\",\"rings\":2,\"cpus_per_ring\":1"

/* 100 is forked, runs, is preempted, runs, sleeps, is woken and runs to the end. */
TEST(states)
{
	struct mfix f;

	mfix_begin(&f, ALL);
	put_task(&f, 1000, 50, 50, 0, 1, 0, "sh");
	put_switch(&f, 1001, 0, 50, PREEMPTED, 51);
	put_switch(&f, 1002, 0, 51, SLEEPS, 50);
	put_fork(&f, 1010, 50, 100, 100, 50, "sh");
	put_waking(&f, 1015, 0, 50, 100, 1);
	put_switch(&f, 1020, 1, 0, 0, 100);
	put_exec(&f, 1025, 100, "app");
	put_switch(&f, 1050, 1, 100, PREEMPTED, 60);
	put_switch(&f, 1070, 1, 60, SLEEPS, 100);
	put_switch(&f, 1100, 1, 100, SLEEPS, 0);
	put_waking(&f, 1160, 0, 50, 100, 1);
	put_waking(&f, 1162, 0, 50, 100, 1);
	put_switch(&f, 1165, 1, 0, 0, 100);
	mfix_end(&f, 1200);
	mfix_open(&f, true);
	mfix_run(&f);
	TOLD(&f, "thread 50/50 sh @1000", "thread 100/100 sh @1010", "state 100 B 1010..1015 cpu0",
	     "waking 100 by 50 @1015", "runnable cpu1 1 @1015", "state 100 Q 1015..1020 cpu1",
	     "switch cpu1 0>100 @1020", "runnable cpu1 0 @1020", "thread 100/100 app @1025",
	     "state 100 R 1020..1050 cpu1", "runnable cpu1 1 @1050", "state 100 Q 1050..1070 cpu1",
	     "state 100 R 1070..1100 cpu1", "state 100 B 1100..1160 cpu1",
	     "state 100 Q 1160..1165 cpu1", "state 100 R 1165..1200 cpu1");
	assert_times(&f, 100, 30 + 30 + 35, 5 + 20 + 5, 5 + 60, 0);
	/* The first switch anywhere proves that all later ones are seen: 0 was on CPU 1 from then on. */
	assert_told(&f, (const char *const[]){"state 0 U 1000..1001 cpu1",
					      "state 0 R 1001..1020 cpu1", NULL});
	assert_int_equal(model_get_stats(f.model)->contradictions, 0);
	mfix_release(&f);
}

/* A thread woken while on its way to sleep comes back without a wake-up: it was runnable throughout. */
TEST(wakeup_in_flight)
{
	struct mfix f;

	mfix_begin(&f, ALL);
	put_task(&f, 1000, 100, 100, 0, 1, 0, "a");
	put_switch(&f, 1001, 1, 0, 0, 101);
	put_waking(&f, 1019, 1, 101, 100, 0);
	put_switch(&f, 1020, 0, 100, SLEEPS, 60);
	put_switch(&f, 1030, 0, 60, SLEEPS, 100);
	mfix_end(&f, 1040);
	mfix_open(&f, false);
	mfix_run(&f);
	assert_times(&f, 100, 20 + 10, 10, 0, 0);
	mfix_release(&f);
}

/* On a machine that is itself scheduled that way may take milliseconds; what is older was another wake-up. */
TEST(wakeup_in_flight_long)
{
	const uint64_t ms = 1000000, asleep = 20 * ms;
	struct mfix f;

	for (int late = 0; late < 2; late++) {
		mfix_begin(&f, ALL);
		put_task(&f, 1000, 100, 100, 0, 1, 0, "a");
		put_switch(&f, 1001, 1, 0, 0, 101);
		put_waking(&f, asleep - (late ? 11 : 9) * ms, 1, 101, 100, 0);
		put_switch(&f, asleep, 0, 100, SLEEPS, 60);
		put_switch(&f, asleep + 10, 0, 60, SLEEPS, 100);
		mfix_end(&f, asleep + 20);
		mfix_open(&f, false);
		mfix_run(&f);
		assert_times(&f, 100, asleep - 1000 + 10, late ? 0 : 10, 0, late ? 10 : 0);
		mfix_release(&f);
	}
}

/* Nor if blocks of the file are gone: that wake-up may have been in them, for when they were is guessed. */
TEST(wakeup_in_flight_hole)
{
	const uint64_t s = 1000000000;
	struct mfix f;

	for (int cut = 0; cut < 2; cut++) {
		mfix_begin(&f, ALL);
		put_task(&f, 1000, 100, 100, 0, 1, 0, "a");
		trace_writer_flush(f.writer, UINT64_MAX);
		put_switch(&f, 1 * s, 1, 0, 0, 101);
		trace_writer_flush(f.writer, UINT64_MAX);
		put_switch(&f, 10 * s, 1, 101, SLEEPS, 102);
		trace_writer_flush(f.writer, UINT64_MAX);
		put_switch(&f, 19 * s, 0, 50, SLEEPS, 100);
		put_waking(&f, 20 * s - 1000, 1, 102, 100, 0);
		put_switch(&f, 20 * s, 0, 100, SLEEPS, 60);
		put_switch(&f, 20 * s + 10, 0, 60, SLEEPS, 100);
		mfix_end(&f, 20 * s + 20);
		f.cut = cut ? 2 : 0;
		mfix_open(&f, false);
		mfix_run(&f);
		assert_times(&f, 100, s + 10, cut ? 0 : 10, 0, 19 * s - 1000 + (cut ? 10 : 0));
		mfix_release(&f);
	}
}

/* It runs on after its exit record until it leaves the CPU for good; then the number is used again. */
TEST(exit_and_reuse)
{
	const struct model_thread *t;
	struct mfix f;

	mfix_begin(&f, ALL);
	put_task(&f, 1000, 50, 50, 0, 1, 0, "sh");
	put_fork(&f, 1010, 50, 100, 100, 50, "one");
	put_waking(&f, 1011, 0, 50, 100, 1);
	put_switch(&f, 1012, 1, 0, 0, 100);
	put_exit(&f, 1020, 100, 100, 256);
	put_switch(&f, 1023, 1, 100, DIES, 0);
	put_fork(&f, 1030, 50, 100, 100, 50, "two");
	put_waking(&f, 1031, 0, 50, 100, 1);
	put_switch(&f, 1032, 1, 0, 0, 100);
	mfix_end(&f, 1050);
	mfix_open(&f, false);
	mfix_run(&f);
	TOLD(&f, "switch cpu1 100>0 @1023", "exit 100 @1023");
	assert_times(&f, 100, 11, 1, 1, 0);
	t = mfix_thread(&f, 100);
	assert_true(t->proc->exited);
	assert_int_equal(t->proc->exit_code, 256);
	assert_int_equal(t->end_ns, 1023);
	t = mfix_thread(&f, (1u << 22) + 1);
	assert_int_equal(t->tid, 100);
	assert_int_equal(t->proc->out_pid, t->out_tid);
	assert_false(t->proc->exited);
	assert_times(&f, t->out_tid, 18, 1, 1, 0);
	mfix_release(&f);
}

/* A thread that no identity record introduces is shown by its number. */
TEST(stranger)
{
	struct mfix f;

	mfix_begin(&f, ALL);
	put_switch(&f, 1010, 0, 0, 0, 77);
	put_switch(&f, 1020, 0, 77, SLEEPS, 0);
	mfix_end(&f, 1050);
	mfix_open(&f, false);
	mfix_run(&f);
	TOLD(&f, "thread 77/77 tid 77 @1010");
	assert_times(&f, 77, 10, 0, 30, 0);
	assert_int_equal(model_get_stats(f.model)->unannounced_threads, 1);
	/* Another pass tells the same. */
	mfix_run(&f);
	assert_times(&f, 77, 10, 0, 30, 0);
	assert_int_equal(model_get_stats(f.model)->unannounced_threads, 0);
	mfix_release(&f);
}

/* exec by a thread that is not the leader: it takes the leader's number, the others are gone. */
TEST(exec_in_thread)
{
	struct mfix f;

	mfix_begin(&f, ALL);
	put_task(&f, 1000, 100, 100, 1, 0, 0, "app");
	put_task(&f, 1000, 101, 100, 0, 1, 1, "app");
	put_switch(&f, 1001, 0, 0, 0, 60);
	put_waking(&f, 1005, 1, 101, 100, 0);
	put_switch(&f, 1006, 0, 60, SLEEPS, 100);
	put_exit(&f, 1008, 100, 100, 0);
	put_switch(&f, 1009, 0, 100, DIES, 60);
	put_exec(&f, 1020, 100, "new");
	put_switch(&f, 1030, 1, 100, SLEEPS, 0);
	mfix_end(&f, 1050);
	mfix_open(&f, false);
	mfix_run(&f);
	TOLD(&f, "exit 100 @1009", "exit 101 @1020", "thread 4194305/100 new @1020");
	/* Seen leaving CPU 1 at 1030, where no switch had been since records began. */
	assert_times(&f, 4194305, 10, 0, 20, 0);
	assert_times(&f, 101, 20, 0, 0, 0);
	mfix_release(&f);
}

/* Records of CPU 1 are lost in 1040..1100: what can be known is, the rest is not. */
TEST(gap)
{
	struct mfix f;

	mfix_begin(&f, ALL);
	put_task(&f, 1000, 100, 100, 0, 1, 0, "a");
	put_task(&f, 1000, 200, 200, 0, 1, 1, "b");
	put_task(&f, 1000, 300, 300, 1, 0, 1, "c");
	put_switch(&f, 1010, 1, 200, PREEMPTED, 201);
	put_switch(&f, 1030, 1, 201, SLEEPS, 200);
	put_switch(&f, 1060, 0, 100, PREEMPTED, 0);
	put_switch(&f, 1070, 0, 0, 0, 100);
	put_lost(&f, 1040, 1100, 1, POV_CLASS_SCHED, 5);
	put_switch(&f, 1130, 1, 200, SLEEPS, 0);
	put_waking(&f, 1140, 0, 100, 300, 1);
	mfix_end(&f, 1200);
	mfix_open(&f, false);
	mfix_run(&f);
	/* CPU 0 lost nothing: 100 is known to run there, but not what it did in between. */
	assert_times(&f, 100, 60 + 130, 0, 0, 10);
	/* 200 left CPU 1 at 1130: it had been there since 1100 at least. */
	assert_times(&f, 200, 10 + 10 + 30, 20, 70, 60);
	assert_times(&f, 300, 0, 60, 40, 100);
	TOLD(&f, "state 300 B 1000..1040 cpu1", "lost 1040..1100 class3 ring1 n5");
	assert_int_equal(model_get_stats(f.model)->sched_gaps, 1);
	assert_int_equal(model_get_stats(f.model)->sched_gap_ns, 60);
	mfix_release(&f);
}

/* Losses that overlap are one stretch, and over only when all of them are. */
TEST(gap_overlap)
{
	struct mfix f;

	mfix_begin(&f, ALL);
	put_task(&f, 1000, 100, 100, 0, 1, 0, "a");
	put_task(&f, 1000, 200, 200, 0, 1, 1, "b");
	put_switch(&f, 1010, 1, 0, 0, 200);
	put_switch(&f, 1010, 0, 0, 0, 100);
	put_lost(&f, 1040, 1100, 1, POV_CLASS_SCHED, 5);
	put_lost(&f, 1050, 1060, 1, POV_CLASS_SCHED, 5);
	put_lost(&f, 1080, 1120, 1, POV_CLASS_SCHED, 5);
	put_lost(&f, 1121, 1130, 1, POV_CLASS_SCHED, 5);
	put_lost(&f, 1125, 1140, 2, POV_CLASS_SCHED, 5); /* no such ring: of any */
	put_switch(&f, 1110, 1, 200, SLEEPS, 0);
	put_switch(&f, 1150, 1, 0, 0, 200);
	put_switch(&f, 1160, 0, 100, SLEEPS, 0);
	mfix_end(&f, 1200);
	mfix_open(&f, false);
	for (int pass = 0; pass < 2; pass++) {
		mfix_run(&f);
		assert_times(&f, 100, 1125 - 1010 + 1160 - 1140, 0, 40, 10 + 15);
		assert_times(&f, 200, 1040 - 1010 + 1200 - 1150, 0, 0, 10 + 1150 - 1040);
		assert_int_equal(model_get_stats(f.model)->sched_gaps, 3);
		assert_int_equal(model_get_stats(f.model)->sched_gap_ns, 80 + 19);
		assert_int_equal(model_get_stats(f.model)->sched_gaps_late, 0);
	}
	mfix_release(&f);
}

/* Where threads wait is told when it stops being known, not with the next record. */
TEST(gap_counters)
{
	struct mfix f;

	mfix_begin(&f, ALL);
	put_task(&f, 1000, 100, 100, 0, 1, 0, "a");
	put_switch(&f, 1010, 0, 100, PREEMPTED, 50);
	put_lost(&f, 1040, 1100, 1, POV_CLASS_SCHED, 5);
	mfix_end(&f, 1200);
	mfix_open(&f, true);
	mfix_run(&f);
	TOLD(&f, "runnable cpu0 1 @1010", "runnable cpu0 0 @1040");
	mfix_release(&f);
}

/*
 * A loss that the identity stream does not tell of is noticed when its block is due. What was told stays; of the states since
 * each thread's last event only that is known which was before the loss.
 */
TEST(gap_unannounced)
{
	struct pov_lost lost = {.hdr = {sizeof(lost), POV_KIND_LOST, 0, 0, 1100},
				.since_ns = 1040,
				.cnt = 5,
				.ring = 1,
				.class = POV_CLASS_SCHED};
	struct mfix f;

	mfix_begin(&f, ALL);
	put_task(&f, 1000, 100, 100, 0, 1, 0, "a");
	put_task(&f, 1000, 200, 200, 0, 1, 1, "b");
	put_switch(&f, 1010, 1, 200, SLEEPS, 0);
	put_switch(&f, 1020, 0, 100, SLEEPS, 0);
	put_waking(&f, 1060, 0, 50, 200, 1);
	trace_writer_flush(f.writer, UINT64_MAX);
	trace_writer_add(f.writer, 1, &lost.hdr);
	put_waking(&f, 1150, 1, 0, 100, 0);
	mfix_end(&f, 1200);
	mfix_open(&f, false);
	for (int pass = 0; pass < 2; pass++) {
		mfix_run(&f);
		assert_times(&f, 100, 20, 50, 20, 110);
		assert_times(&f, 200, 10, 0, 50, 140);
		assert_int_equal(model_get_stats(f.model)->sched_gaps_late, 1);
		assert_int_equal(model_get_stats(f.model)->sched_gaps, 1);
	}
	mfix_release(&f);
}

/* --sched ranks: only the targets' states are known; others are seen at instants only. */
TEST(ranks_mode)
{
	struct mfix f;

	mfix_begin(&f, "\"sched\":\"ranks\",\"rings\":2,\"cpus_per_ring\":1");
	mfix_meta(&f, "{\"type\":\"target\",\"ts_ns\":1000,\"pid\":100,\"cmdline\":[\"app\"]}");
	put_task(&f, 1000, 100, 100, 0, 1, 0, "app");
	put_switch(&f, 1020, 0, 100, SLEEPS, 7);
	put_waking(&f, 1030, 1, 8, 100, 0);
	put_switch(&f, 1032, 0, 9, PREEMPTED, 100);
	mfix_end(&f, 1050);
	mfix_open(&f, false);
	mfix_run(&f);
	assert_times(&f, 100, 20 + 18, 2, 10, 0);
	assert_times(&f, 7, 0, 0, 0, 30);
	assert_times(&f, 9, 0, 0, 0, 18);
	assert_false(model_get_info(f.model)->sched_all);
	mfix_release(&f);
}

TEST(sched_off)
{
	struct mfix f;

	mfix_begin(&f, "\"sched\":\"off\"");
	mfix_functions(&f);
	mfix_rank(&f, 1000, 100, 0, "app");
	put_task(&f, 1000, 100, 100, 0, 1, 0, "app");
	put_call(&f, 1010, 1030, 0, 100, 100, "MPI_Barrier", 0, 0);
	put_exit(&f, 1040, 100, 100, 0);
	mfix_end(&f, 1050);
	mfix_open(&f, false);
	mfix_run(&f);
	TOLD(&f, "call MPI_Barrier 100 d0 1010..1030 R0 Q0 B0 U20", "exit 100 @1040");
	assert_times(&f, 100, 0, 0, 0, 40);
	assert_false(model_get_info(f.model)->sched_recorded);
	mfix_release(&f);
}

/* Ranks first, by job and rank; names from the program, not the interpreter; forks are no ranks. */
TEST(ranks_sorted)
{
	const struct model_process *p;
	struct mfix f;

	mfix_begin(&f, ALL);
	mfix_meta(&f,
		  "{\"type\":\"target\",\"ts_ns\":1000,\"pid\":10,\"cmdline\":[\"mpirun\",\"x\"]}");
	put_task(&f, 1000, 10, 10, 0, 1, 0, "mpirun");
	put_fork(&f, 1010, 10, 30, 30, 10, "mpirun");
	put_fork(&f, 1011, 10, 20, 20, 10, "mpirun");
	put_exec(&f, 1012, 30, "app");
	mfix_rank(&f, 1013, 30, 1, "first");
	mfix_meta(
		&f,
		"{\"type\":\"process\",\"ts_ns\":1014,\"pid\":30,\"exe\":\"/usr/bin/python3.11\","
		"\"cmdline\":[\"python3\",\"-u\",\"-m\",\"mpi4py\",\"dir/run.py\",\"5\"],\"rank\":1,"
		"\"job\":\"j\"}");
	mfix_rank(&f, 1015, 20, 0, "app");
	put_fork(&f, 1020, 30, 40, 40, 30, "app");
	mfix_end(&f, 1050);
	mfix_open(&f, false);
	assert_int_equal(model_process_count(f.model), 5);
	p = model_process_get(f.model, 0);
	assert_int_equal(p->pid, 20);
	assert_int_equal(p->rank, 0);
	assert_string_equal(p->name, "app");
	assert_string_equal(p->cmdline, "app x");
	p = model_process_get(f.model, 1);
	assert_int_equal(p->pid, 30);
	assert_int_equal(p->rank, 1);
	assert_string_equal(p->name, "run.py");
	assert_int_equal(p->idx, 1);
	p = model_process_get(f.model, 2);
	assert_int_equal(p->pid, 10);
	assert_string_equal(p->name, "mpirun");
	p = model_process_get(f.model, 3);
	assert_int_equal(p->pid, 40);
	assert_true(p->is_target);
	assert_false(p->is_rank);
	assert_int_equal(model_get_info(f.model)->njobs, 1);
	mfix_run(&f);
	mfix_release(&f);
}

/* Two names of one hash (FNV-1a), as a launcher or whoever made the file may choose them, are two jobs. */
TEST(jobs_by_name)
{
	static const char *const job[] = {"8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ",
					  "8yn0iYCKYHlIj4-BwPqk"};
	const struct model_process *p;
	struct mfix f;

	mfix_begin(&f, ALL);
	for (uint32_t i = 0; i < 3; i++) {
		char json[256];

		snprintf(json, sizeof(json),
			 "{\"type\":\"process\",\"ts_ns\":1000,\"pid\":%u,\"exe\":\"/bin/a\","
			 "\"rank\":%u,\"size\":2,\"job\":\"%s\"}",
			 10 + i, i / 2, job[i]);
		mfix_meta(&f, json);
	}
	mfix_end(&f, 1100);
	mfix_open(&f, false);
	assert_int_equal(model_get_info(f.model)->njobs, 2);
	for (uint32_t i = 0; i < model_process_count(f.model); i++) {
		p = model_process_get(f.model, i);
		if (p->is_rank)
			assert_int_equal(p->job_idx, p->pid == 11);
	}
	mfix_release(&f);
}

/* Runnable threads are counted where they wait, also when they move. */
TEST(runnable_moves)
{
	struct mfix f;

	mfix_begin(&f, ALL);
	put_task(&f, 1000, 100, 100, 0, 1, 0, "a");
	put_task(&f, 1000, 101, 101, 1, 0, 0, "b");
	put_switch(&f, 1001, 1, 0, 0, 60);
	put_waking(&f, 1010, 0, 100, 101, 0);
	put_migrate(&f, 1012, 101, 0, 1);
	put_switch(&f, 1020, 1, 60, SLEEPS, 101);
	mfix_end(&f, 1050);
	mfix_open(&f, true);
	mfix_run(&f);
	TOLD(&f, "runnable cpu0 1 @1010", "migrate 101 cpu0>cpu1", "runnable cpu0 0 @1012",
	     "runnable cpu1 1 @1012", "runnable cpu1 0 @1020");
	mfix_release(&f);
}

/* Nobody saw who woke it: where its CPU was idle it slept until it ran, where it was not nobody knows how long it did. */
TEST(wakeup_unseen)
{
	struct mfix f;

	mfix_begin(&f, ALL);
	put_task(&f, 1000, 100, 100, 0, 1, 0, "app");
	put_switch(&f, 1020, 0, 100, SLEEPS, 0);
	put_switch(&f, 1050, 0, 0, 0, 100);
	put_switch(&f, 1060, 0, 100, SLEEPS, 60);
	put_switch(&f, 1090, 0, 60, SLEEPS, 100);
	mfix_end(&f, 1100);
	mfix_open(&f, true);
	mfix_run(&f);
	TOLD(&f, "state 100 B 1020..1050 cpu0", "state 100 R 1050..1060 cpu0",
	     "state 100 U 1060..1090 cpu0", "state 100 R 1090..1100 cpu0");
	assert_int_equal(model_get_stats(f.model)->contradictions, 1);
	mfix_release(&f);
}

/* Records that cannot be are left out or make time unknown; nothing falls over. */
TEST(nonsense)
{
	struct mfix f;

	mfix_begin(&f, ALL);
	mfix_functions(&f);
	put_task(&f, 1000, 100, 100, 0, 1, 0, "a");
	put_switch(&f, 1010, 9999, 100, SLEEPS, 5);
	put_switch(&f, 1020, 1, 100, SLEEPS, 100);
	put_switch(&f, 1030, 1, 5, SLEEPS, 100);
	put_fork(&f, 1031, 0, 0, 0, 0, "");
	put_exit(&f, 1032, 0, 0, 0);
	put_exec(&f, 1033, 0, "");
	put_waking(&f, 1034, 0, 0, 0, 0);
	put_call(&f, 0, 1040, 0, 0, 0, "MPI_Send", 0, 0);
	put_call(&f, 1041, 1040, 0, 100, 100, "MPI_Send", 200, 0);
	put_spin(&f, 1042, 1041, 0, 100, 100, "MPI_Test", 0, 1, 1);
	mfix_end(&f, 1050);
	mfix_open(&f, true);
	mfix_run(&f);
	assert_int_equal(model_get_stats(f.model)->bad_records, 3);
	assert_true(model_get_stats(f.model)->contradictions > 0);
	mfix_release(&f);
}
