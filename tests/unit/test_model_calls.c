/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Calls and spins: their time split, order, sites and requests, computed by hand. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "unit/model_fixture.h"

#define TOLD(f, ...) assert_told(f, (const char *const[]){__VA_ARGS__, NULL})

/* One rank, thread 100, running on CPU 0 from the start. */
static void begin(struct mfix *f)
{
	mfix_begin(f, "\"sched\":\"all\",\"rings\":2,\"cpus_per_ring\":1");
	mfix_functions(f);
	mfix_rank(f, 1000, 100, 0, "app");
	put_task(f, 1000, 100, 100, 0, 1, 0, "app");
	put_switch(f, 1001, 1, 0, 0, 60);
}

static void finish(struct mfix *f, uint64_t end)
{
	mfix_end(f, end);
	mfix_open(f, true);
	mfix_run(f);
}

TEST(split)
{
	struct mfix f;

	begin(&f);
	put_call(&f, 1010, 1020, 0, 100, 100, "MPI_Isend", 0, 0);
	/* Announced: 10 running, 30 blocked, 5 runnable, 15 running. */
	put_call_begin(&f, 1040, 0, 100, 1030, 0);
	put_switch(&f, 1040, 0, 100, SLEEPS, 61);
	put_waking(&f, 1070, 1, 60, 100, 0);
	put_switch(&f, 1075, 0, 61, SLEEPS, 100);
	put_call(&f, 1030, 1090, 0, 100, 100, "MPI_Wait", 0, 0);
	/* Its announcement was lost: the history tells the same. */
	put_switch(&f, 1110, 0, 100, PREEMPTED, 61);
	put_switch(&f, 1112, 0, 61, SLEEPS, 100);
	put_call(&f, 1100, 1120, 0, 100, 100, "MPI_Recv", 0, 0);
	/* Polls between 1130 and 1160, preempted for 7. */
	put_switch(&f, 1140, 0, 100, PREEMPTED, 61);
	put_switch(&f, 1147, 0, 61, SLEEPS, 100);
	put_spin(&f, 1130, 1160, 0, 100, 100, "MPI_Test", 0, 17, 20);
	finish(&f, 1200);
	TOLD(&f, "call MPI_Isend 100 d0 1010..1020 R10 Q0 B0 U0",
	     "call MPI_Wait 100 d0 1030..1090 R25 Q5 B30 U0",
	     "call MPI_Recv 100 d0 1100..1120 R18 Q2 B0 U0",
	     "spin MPI_Test 100 d0 1130..1160 n17 busy20 R23 Q7 B0 U0");
	mfix_release(&f);
}

TEST(nested_in_order)
{
	struct mfix f;

	begin(&f);
	put_call(&f, 1030, 1040, 0, 100, 100, "MPI_Isend", 2, 0);
	put_spin(&f, 1041, 1044, 0, 100, 100, "MPI_Test", 2, 3, 3);
	put_call(&f, 1020, 1050, 0, 100, 100, "MPI_Send", 1, 0);
	put_call(&f, 1055, 1060, 0, 100, 100, "MPI_Recv", 1, 0);
	put_call(&f, 1010, 1070, 0, 100, 100, "MPI_Sendrecv", 0, 0);
	/* The record of the outermost call around this one is lost. */
	put_call(&f, 1080, 1085, 0, 100, 100, "MPI_Send", 1, 0);
	put_call(&f, 1090, 1095, 0, 100, 100, "MPI_Barrier", 0, 0);
	/* … and here nothing follows at all. */
	put_call(&f, 1100, 1105, 0, 100, 100, "MPI_Recv", 1, 0);
	finish(&f, 1200);
	TOLD(&f, "call MPI_Sendrecv 100 d0 1010..1070 R60 Q0 B0 U0",
	     "call MPI_Send 100 d1 1020..1050 R30 Q0 B0 U0",
	     "call MPI_Isend 100 d2 1030..1040 R10 Q0 B0 U0",
	     "spin MPI_Test 100 d2 1041..1044 n3 busy3 R3 Q0 B0 U0",
	     "call MPI_Recv 100 d1 1055..1060 R5 Q0 B0 U0",
	     "call MPI_Send 100 d1 1080..1085 R5 Q0 B0 U0",
	     "call MPI_Barrier 100 d0 1090..1095 R5 Q0 B0 U0",
	     "call MPI_Recv 100 d1 1100..1105 R5 Q0 B0 U0");
	assert_int_equal(model_get_stats(f.model)->pending_spilled, 0);
	mfix_release(&f);
}

/* Never returned: read out at the end, while asleep; and at the thread's exit. */
TEST(open)
{
	struct mfix f;

	begin(&f);
	put_fork(&f, 1002, 100, 101, 100, 100, "app");
	put_waking(&f, 1003, 0, 100, 101, 1);
	put_switch(&f, 1004, 1, 60, SLEEPS, 101);
	put_call(&f, 1010, 1020, 1, 101, 100, "MPI_Recv", 0, POV_CALL_OPEN);
	put_exit(&f, 1020, 101, 100, 0);
	put_switch(&f, 1022, 1, 101, DIES, 0);
	put_call_begin(&f, 1040, 0, 100, 1030, 0);
	put_switch(&f, 1040, 0, 100, SLEEPS, 61);
	put_call(&f, 1030, 1190, 0, 100, 100, "MPI_Barrier", 0, POV_CALL_OPEN);
	/* Read out late, although its thread is gone and forgotten: clipped, and not split. */
	put_call(&f, 1021, 1190, 1, 101, 100, "MPI_Send", 0, POV_CALL_OPEN);
	finish(&f, 1200);
	TOLD(&f, "call MPI_Recv 101 d0 1010..1020 open R10 Q0 B0 U0",
	     "call MPI_Barrier 100 d0 1030..1190 open R10 Q0 B150 U0",
	     "call MPI_Send 101 d0 1021..1022 open R0 Q0 B0 U1");
	mfix_release(&f);
}

/* In a gap on its CPU nothing is known; calls that end or begin in it are split as far as they go. */
TEST(gap)
{
	struct mfix f;

	begin(&f);
	put_call(&f, 1010, 1050, 0, 100, 100, "MPI_Recv", 0, 0);
	put_call(&f, 1060, 1120, 0, 100, 100, "MPI_Send", 0, 0);
	put_lost(&f, 1030, 1100, 0, POV_CLASS_SCHED, 1);
	finish(&f, 1200);
	TOLD(&f, "call MPI_Recv 100 d0 1010..1050 R20 Q0 B0 U20",
	     /* It ended on CPU 0, where no switch was lost behind 1100. */
	     "call MPI_Send 100 d0 1060..1120 R20 Q0 B0 U40");
	assert_times(&f, 100, 30 + 100, 0, 0, 70);
	mfix_release(&f);
}

/* Thousands of switches in one spin: the history thins out, what it cannot tell is UNKNOWN, sums hold. */
TEST(long_spin)
{
	const char *line;
	unsigned long long running, runnable, blocked, unknown;
	struct mfix f;
	uint64_t ts = 1010;
	int i;

	begin(&f);
	for (i = 0; i < 10000; i++, ts += 10) {
		put_switch(&f, ts, 0, 100, PREEMPTED, 61);
		put_switch(&f, ts + 3, 0, 61, SLEEPS, 100);
	}
	put_spin(&f, 1500, ts, 0, 100, 100, "MPI_Test", 0, 17, 20);
	finish(&f, ts + 100);
	line = strstr(f.text, "spin MPI_Test");
	assert_non_null(line);
	assert_int_equal(sscanf(strstr(line, "busy20"), "busy20 R%llu Q%llu B%llu U%llu", &running,
				&runnable, &blocked, &unknown),
			 4);
	assert_int_equal(running + runnable + blocked + unknown, ts - 1500);
	assert_int_equal(blocked, 0);
	assert_true(running <= (ts - 1500) * 7 / 10 + 10);
	assert_true(runnable <= (ts - 1500) * 3 / 10 + 10);
	assert_true(unknown < (ts - 1500) / 50);
	mfix_release(&f);
}

/* The call site's file is the one mapped there then. */
TEST(sites)
{
	struct pov_image im = {.hdr = {sizeof(im), POV_KIND_IMAGE, 0, 100, 1005},
			       .tgid = 100,
			       .dev = 8,
			       .ino = 77,
			       .start = 0x1000,
			       .len = 0x1000,
			       .off = 0x200};
	struct pov_call call = {.hdr = {sizeof(call), POV_KIND_CALL, 0, 100, 1020},
				.dur_ns = 5,
				.tgid = 100,
				.func = mfix_func("MPI_Send"),
				.site = 0x1010};
	struct mfix f;

	begin(&f);
	mfix_meta(
		&f,
		"{\"type\":\"image\",\"dev\":8,\"ino\":77,\"path\":\"/bin/app\",\"build_id\":\"\"}");
	mfix_meta(
		&f,
		"{\"type\":\"image\",\"dev\":8,\"ino\":78,\"path\":\"/bin/new\",\"build_id\":\"\"}");
	/* of the same hash as the first */
	mfix_meta(
		&f,
		"{\"type\":\"image\",\"dev\":5021809306146379810,\"ino\":79,\"path\":\"/bin/x\"}");
	trace_writer_add(f.writer, TRACE_STREAM_TASKS, &im.hdr);
	trace_writer_add(f.writer, 0, &call.hdr);
	im.hdr.ts_ns = 1030;
	im.ino = 78;
	im.start = 0;
	im.len = 0x10000;
	im.off = 0;
	trace_writer_add(f.writer, TRACE_STREAM_TASKS, &im.hdr);
	call.hdr.ts_ns = 1040;
	trace_writer_add(f.writer, 0, &call.hdr);
	call.hdr.ts_ns = 1050;
	call.site = 0x20000;
	trace_writer_add(f.writer, 0, &call.hdr);
	finish(&f, 1200);
	TOLD(&f, "call MPI_Send 100 d0 1015..1020 R5 Q0 B0 U0 /bin/app+528",
	     "call MPI_Send 100 d0 1035..1040 R5 Q0 B0 U0 /bin/new+4112",
	     "call MPI_Send 100 d0 1045..1050 R5 Q0 B0 U0");
	mfix_release(&f);
}

static void put_image(struct mfix *f, uint64_t ts, uint32_t pid, uint64_t ino, uint64_t start)
{
	struct pov_image im = {.hdr = {sizeof(im), POV_KIND_IMAGE, 0, pid, ts},
			       .tgid = pid,
			       .dev = 8,
			       .ino = ino,
			       .start = start,
			       .len = 0x1000};

	assert_int_equal(trace_writer_add(f->writer, TRACE_STREAM_TASKS, &im.hdr), 0);
}

static void put_site(struct mfix *f, uint64_t ts, uint32_t pid, uint64_t site)
{
	struct pov_call c = {.hdr = {sizeof(c), POV_KIND_CALL, 0, pid, ts},
			     .tgid = pid,
			     .func = mfix_func("MPI_Send"),
			     .site = site};

	assert_int_equal(trace_writer_add(f->writer, 0, &c.hdr), 0);
}

static void put_stamped(struct mfix *f, uint64_t ts, uint64_t ino, uint64_t start, uint64_t stamp)
{
	struct pov_image im = {.hdr = {sizeof(im), POV_KIND_IMAGE, 0, 100, ts},
			       .tgid = 100,
			       .dev = 8,
			       .ino = ino,
			       .start = start,
			       .len = 0x1000,
			       .stamp = stamp};

	assert_int_equal(trace_writer_add(f->writer, TRACE_STREAM_TASKS, &im.hdr), 0);
}

/* Files that had one inode after another are told apart by their stamps; where there is none, which it was is not said. */
TEST(sites_same_inode)
{
	static const struct {
		uint64_t ino, stamp;
		const char *told;
	} mapped[] = {
		{77, 11, "/bin/app+0 is aa"}, {77, 22, "/bin/app+0 is bb"},
		{77, 33, "/bin/app+0"},	      {77, 0, "/bin/app+0"},
		{78, 0, "/bin/one+0 is cc"},  {78, 44, "/bin/one+0 is cc"},
		{79, 0, "/lib/so+0 is dd"},
	};
	struct mfix f;

	begin(&f);
	mfix_meta(
		&f,
		"{\"type\":\"image\",\"dev\":8,\"ino\":77,\"stamp\":11,\"path\":\"/bin/app\",\"build_id\":\"aa\"}");
	mfix_meta(
		&f,
		"{\"type\":\"image\",\"dev\":8,\"ino\":77,\"stamp\":22,\"path\":\"/bin/app\",\"build_id\":\"bb\"}");
	mfix_meta(
		&f,
		"{\"type\":\"image\",\"dev\":8,\"ino\":78,\"path\":\"/bin/one\",\"build_id\":\"cc\"}");
	mfix_meta(
		&f,
		"{\"type\":\"library\",\"dev\":8,\"ino\":79,\"path\":\"/lib/so\",\"build_id\":\"dd\"}");
	mfix_meta(
		&f,
		"{\"type\":\"image\",\"dev\":8,\"ino\":79,\"stamp\":55,\"path\":\"/lib/so\",\"build_id\":\"dd\"}");
	for (unsigned int i = 0; i < sizeof(mapped) / sizeof(mapped[0]); i++)
		put_stamped(&f, 1002 + i, mapped[i].ino, 0x1000 * (i + 1), mapped[i].stamp);
	for (unsigned int i = 0; i < sizeof(mapped) / sizeof(mapped[0]); i++)
		put_site(&f, 1020 + i, 100, 0x1000 * (i + 1));
	finish(&f, 1200);
	for (unsigned int i = 0; i < sizeof(mapped) / sizeof(mapped[0]); i++) {
		char line[128];

		snprintf(line, sizeof(line), "call MPI_Send 100 d0 %u..%u R0 Q0 B0 U0 %s\n",
			 1020 + i, 1020 + i, mapped[i].told);
		assert_non_null(strstr(f.text, line));
	}
	mfix_release(&f);
}

/* As the kernel tells it: the new name, what exec maps, exec; what the program itself maps. */
static void put_program(struct mfix *f, uint64_t ts, uint32_t pid, uint64_t ino, uint64_t start)
{
	put_rename(f, ts, pid, pid, "new");
	put_image(f, ts + 1, pid, ino, start);
	put_exec(f, ts + 2, pid, "new");
	put_image(f, ts + 3, pid, 79, start + 0x1000);
}

static void begin_sites(struct mfix *f)
{
	begin(f);
	mfix_meta(f, "{\"type\":\"image\",\"dev\":8,\"ino\":77,\"path\":\"/bin/app\"}");
	mfix_meta(f, "{\"type\":\"image\",\"dev\":8,\"ino\":78,\"path\":\"/bin/new\"}");
	mfix_meta(f, "{\"type\":\"image\",\"dev\":8,\"ino\":79,\"path\":\"/lib/so\"}");
}

/* Exec keeps what it has mapped itself, and nothing of the program before, however that came by its name. */
TEST(sites_exec)
{
	struct mfix f;

	begin_sites(&f);
	put_image(&f, 1002, 100, 77, 0x1000);
	put_rename(&f, 1003, 100, 100, "by itself");
	put_image(&f, 1004, 100, 79, 0x2000);
	put_site(&f, 1005, 100, 0x1001);
	put_site(&f, 1006, 100, 0x2002);
	put_program(&f, 1010, 100, 78, 0x5000);
	put_site(&f, 1021, 100, 0x1001);
	put_site(&f, 1022, 100, 0x2002);
	put_site(&f, 1023, 100, 0x5003);
	put_site(&f, 1024, 100, 0x6004);
	/* The new name was lost. */
	put_image(&f, 1030, 100, 77, 0x5000);
	put_exec(&f, 1031, 100, "app");
	put_site(&f, 1041, 100, 0x5005);
	finish(&f, 1200);
	TOLD(&f, "call MPI_Send 100 d0 1005..1005 R0 Q0 B0 U0 /bin/app+1",
	     "call MPI_Send 100 d0 1006..1006 R0 Q0 B0 U0 /lib/so+2",
	     "call MPI_Send 100 d0 1021..1021 R0 Q0 B0 U0",
	     "call MPI_Send 100 d0 1022..1022 R0 Q0 B0 U0",
	     "call MPI_Send 100 d0 1023..1023 R0 Q0 B0 U0 /bin/new+3",
	     "call MPI_Send 100 d0 1024..1024 R0 Q0 B0 U0 /lib/so+4",
	     "call MPI_Send 100 d0 1041..1041 R0 Q0 B0 U0 /bin/app+5");
	mfix_release(&f);
}

/* A forked child has its parent's files until it becomes another program; the parent keeps them. */
TEST(sites_fork_exec)
{
	struct mfix f;

	begin_sites(&f);
	put_image(&f, 1002, 100, 77, 0x1000);
	put_fork(&f, 1003, 100, 101, 101, 100, "app");
	put_site(&f, 1005, 101, 0x1001);
	/* Another thread's name is no program's. */
	put_fork(&f, 1006, 101, 102, 101, 101, "app");
	put_program(&f, 1010, 101, 78, 0x5000);
	put_rename(&f, 1015, 102, 101, "worker");
	put_site(&f, 1021, 101, 0x1001);
	put_site(&f, 1022, 101, 0x5002);
	put_site(&f, 1023, 101, 0x6003);
	put_site(&f, 1024, 100, 0x1004);
	finish(&f, 1200);
	TOLD(&f, "call MPI_Send 101 d0 1005..1005 R0 Q0 B0 U0 /bin/app+1",
	     "call MPI_Send 101 d0 1021..1021 R0 Q0 B0 U0",
	     "call MPI_Send 101 d0 1022..1022 R0 Q0 B0 U0 /bin/new+2",
	     "call MPI_Send 101 d0 1023..1023 R0 Q0 B0 U0 /lib/so+3",
	     "call MPI_Send 100 d0 1024..1024 R0 Q0 B0 U0 /bin/app+4");
	mfix_release(&f);
}

/* A function the table does not list is a function all the same. */
TEST(unknown_function)
{
	struct pov_call call = {.hdr = {sizeof(call), POV_KIND_CALL, 0, 100, 1020},
				.dur_ns = 5,
				.tgid = 100,
				.func = 60000};
	struct mfix f;

	begin(&f);
	trace_writer_add(f.writer, 0, &call.hdr);
	finish(&f, 1200);
	TOLD(&f, "call function 60000 100 d0 1015..1020 R5 Q0 B0 U0");
	assert_int_equal(model_get_stats(f.model)->unknown_functions, 1);
	mfix_release(&f);
}

/* Older traces do not tell the bytes of calls that are counted; no more calls have some than there are. */
TEST(counted)
{
	struct pov_counted c = {.dur_ns = 10,
				.calls = 5,
				.busy_ns = 8,
				.tgid = 100,
				.func = mfix_func("MPI_Isend"),
				.bytes = 24,
				.sized = 3};
	struct mfix f;

	begin(&f);
	put_record(&f, 0, &c, sizeof(c), POV_KIND_COUNTED, 100, 1020);
	put_record(&f, 0, &c, offsetof(struct pov_counted, bytes), POV_KIND_COUNTED, 100, 1040);
	c.sized = 6;
	put_record(&f, 0, &c, sizeof(c), POV_KIND_COUNTED, 100, 1060);
	finish(&f, 1200);
	TOLD(&f, "counted MPI_Isend 100 1010..1020 5x B24 of 3x",
	     "counted MPI_Isend 100 1030..1040 5x B0 of 0x",
	     "counted MPI_Isend 100 1050..1060 5x B0 of 0x");
	mfix_release(&f);
}

static void put_isend_as(struct mfix *f, uint64_t begin, uint64_t end, uint32_t tid, uint64_t cnt,
			 uint64_t request)
{
	const uint64_t send[] = {0x7f0000000000, cnt, 0x1000, 1, 5, 0x2000, 0x7ffc0000};
	struct {
		struct pov_field size_head;
		uint64_t size;
		struct pov_field req_head;
		uint64_t req;
	} fields = {{POV_FIELD_TYPE_SIZE, 2, 8, 1}, 8, {POV_FIELD_OUT, 6, 8, 1}, request};

	put_call_args(f, begin, end, tid, 100, "MPI_Isend", send, 7, &fields, sizeof(fields));
}

static void put_isend(struct mfix *f, uint64_t begin, uint64_t end, uint32_t tid, uint64_t cnt)
{
	put_isend_as(f, begin, end, tid, cnt, 0xabc0);
}

static void put_wait(struct mfix *f, const char *func, uint64_t begin, uint64_t end, uint32_t tid)
{
	const uint64_t wait[] = {0x7ffc0000, 0};
	struct {
		struct pov_field head;
		uint64_t value;
	} in = {{POV_FIELD_IN, 0, 8, 1}, 0xabc0};

	put_call_args(f, begin, end, tid, 100, func, wait, func[4] == 'W' ? 2 : 1, &in, sizeof(in));
}

static void put_openmpi(struct mfix *f)
{
	mfix_meta(
		f,
		"{\"type\":\"library\",\"id\":0,\"path\":\"/lib/libmpi.so\",\"flavour\":\"openmpi\","
		"\"version\":\"4.1.4\",\"layout\":{\"handle_bytes\":8,\"status_bytes\":24},"
		"\"named\":[],\"link\":\"uprobe_multi\",\"attached\":1,\"missing\":[],\"failed\":[]}");
}

/* A rank sends 24 bytes (3 elements of 8) and waits: in flight until the wait returns. */
TEST(bytes_in_flight)
{
	struct mfix f;

	begin(&f);
	put_openmpi(&f);
	put_isend(&f, 1010, 1020, 100, 3);
	put_wait(&f, "MPI_Wait", 1030, 1040, 100);
	finish(&f, 1200);
	TOLD(&f, "inflight 100 24 @1020", "inflight 100 0 @1040");
	mfix_release(&f);
}

/* Inside a thread's wait another one is given the same handle: the wait does not complete that. */
TEST(handle_reused)
{
	struct mfix f;

	begin(&f);
	put_openmpi(&f);
	put_fork(&f, 1005, 100, 101, 100, 100, "prog");
	put_isend(&f, 1010, 1020, 100, 3);
	put_isend(&f, 1030, 1060, 101, 5);
	put_wait(&f, "MPI_Wait", 1025, 1070, 100);
	put_isend(&f, 1080, 1090, 100, 2);
	put_wait(&f, "MPI_Request_free", 1065, 1095, 101);
	put_wait(&f, "MPI_Wait", 1100, 1110, 100);
	finish(&f, 1200);
	TOLD(&f, "inflight 100 24 @1020", "inflight 100 40 @1060", "inflight 100 16 @1090",
	     "inflight 100 0 @1110");
	assert_not_told(&f, "@1070");
	assert_not_told(&f, "@1095");
	mfix_release(&f);
}

/*
 * Requests that never end are forgotten when there are too many, by whatever call comes next, also one that is not shown: nothing
 * is in flight then.
 */
TEST(too_many_in_flight)
{
	const uint64_t cnt = 1 << 18, end = 2000 + cnt;
	const uint64_t dup[] = {0x2000, 0x7ffc0000};
	char last[64], none[64];
	struct mfix f;

	begin(&f);
	put_openmpi(&f);
	for (uint64_t i = 0; i < cnt; i++)
		put_isend_as(&f, 1010 + i, 1011 + i, 100, 3, 0x10000 + i * 16);
	put_unshown(&f, end, end + 5, 100, "MPI_Comm_dup", dup, 2);
	finish(&f, end + 100);
	snprintf(last, sizeof(last), "inflight 100 %llu @%llu", 24ull * cnt, 1010ull + cnt);
	snprintf(none, sizeof(none), "inflight 100 0 @%llu", end + 5ull);
	TOLD(&f, "inflight 100 24 @1011", last, none);
	assert_not_told(&f, "call MPI_Comm_dup");
	mfix_release(&f);
}

/* What a recorder launches is there before the recording, and has called nothing before it begins with exec. */
TEST(ran_before)
{
	struct mfix f;

	begin(&f);
	put_task(&f, 1000, 200, 200, 1, 0, 1, "launched");
	put_exec(&f, 1020, 200, "app");
	put_fork(&f, 1030, 100, 300, 300, 100, "app");
	finish(&f, 1100);
	for (uint32_t i = 0; i < model_process_count(f.model); i++) {
		const struct model_process *p = model_process_get(f.model, i);

		if (p->pid >= 100)
			assert_int_equal(model_ran_before(f.model, p), p->pid == 100);
	}
	mfix_release(&f);
}
