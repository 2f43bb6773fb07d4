/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * job_trace [-r RANKS] [-c NS] MILLIONS OUT.pov: writes the trace of an artificial job with that
 * many million records, identical in every run. It serves to measure readers of traces. Each rank
 * has its own CPU. Ranks compute (for 40 us, or NS) and exchange messages on a ring (Irecv, Isend,
 * Waitall). Every tenth step they call Allreduce. A rank that has to wait for long sleeps and is
 * woken by the rank it waited for. Now and then a kernel thread takes the CPU for a moment. Half of
 * the records are calls; the others are scheduler events.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/log.h"
#include "tool/povmake/maker.h"

#define U(n) ((unsigned long long)(n))
#define RANKS_MAX 120 /* one stream per rank */
#define PID 40000
#define LAUNCHER (PID - 1)
/* tid of CPU 0's kernel thread; that of CPU n is n higher. */
#define KWORKER 300
#define START_NS UINT64_C(86400000000000)

enum { FUNC_IRECV = 1, FUNC_ISEND, FUNC_WAITALL, FUNC_ALLREDUCE };

/* Times of one step of a rank. */
struct step {
	uint64_t preempted_ns;	   /* 0: not preempted */
	uint64_t posted_ns[2];	   /* when Irecv and Isend returned */
	uint64_t begin_ns, end_ns; /* the call that waits */
	uint64_t woken_ns;	   /* 0: the rank does not sleep */
};

struct job {
	struct maker maker;
	int nranks;
	uint64_t random, records, iteration, compute_ns;
	uint64_t now_ns[RANKS_MAX];
	struct step step[RANKS_MAX];
};

static uint64_t rnd(struct job *j, uint64_t below)
{
	j->random ^= j->random << 13;
	j->random ^= j->random >> 7;
	j->random ^= j->random << 17;
	return j->random % below;
}

/* Returns times mostly near the mean; a few are several times as long. */
static uint64_t noisy(struct job *j, uint64_t mean)
{
	uint64_t ns = mean * 3 / 4 + rnd(j, mean / 2 + 1);

	return rnd(j, 50) ? ns : ns * (2 + rnd(j, 4));
}

/* ---- records ---- */

/* Adds a record of povmake's syntax. */
#define put(j, ...) ((j)->records++, maker_put(&(j)->maker, __VA_ARGS__))

static void put_switch(struct job *j, int cpu, uint64_t ts_ns, int prev, bool sleeps, int next)
{
	put(j, "switch ts=%llu cpu=%d prev=%d next=%d prev_prio=120 next_prio=120 %s", U(ts_ns),
	    cpu, prev, next, sleeps ? "state=1" : "flags=preempted");
}

static void put_waking(struct job *j, int cpu, uint64_t ts_ns, int waker, int target,
		       int target_cpu)
{
	put(j, "waking ts=%llu cpu=%d tid=%d target=%d target_cpu=%d prio=120", U(ts_ns), cpu,
	    waker, target, target_cpu);
}

/* Adds a call; rest: its arguments and what was read for them. */
static void put_call(struct job *j, int rank, int func, uint64_t begin_ns, uint64_t end_ns,
		     const char *rest)
{
	put(j, "call at=%llu..%llu cpu=%d tid=%d func=%d site=%#llx lib=1 %s", U(begin_ns),
	    U(end_ns), rank, PID + rank, func, U(0x55d0c0de1000) + func * 0x40, rest);
}

/* ---- times of one step of all ranks … ---- */

static int left(const struct job *j, int rank)
{
	return (rank + j->nranks - 1) % j->nranks;
}

static int right(const struct job *j, int rank)
{
	return (rank + 1) % j->nranks;
}

/* Ends the wait at the event that it waits for. The rank sleeps if that takes long. */
static void step_wait(struct step *s, uint64_t until_ns)
{
	s->woken_ns = until_ns > s->begin_ns + 5000 ? until_ns : 0;
	if (s->woken_ns)
		s->end_ns = until_ns + 2000;
	else
		s->end_ns = (until_ns > s->begin_ns ? until_ns : s->begin_ns) + 300;
}

static void exchange_plan(struct job *j)
{
	for (int r = 0; r < j->nranks; r++) {
		struct step *s = &j->step[r];
		uint64_t ns = j->now_ns[r] + noisy(j, j->compute_ns);

		s->preempted_ns = rnd(j, 8) || j->compute_ns < 40000 ? 0 : j->now_ns[r] + 10000;
		s->posted_ns[0] = ns;
		s->posted_ns[1] = ns + noisy(j, 600);
		s->begin_ns = s->posted_ns[1] + 100;
	}
	for (int r = 0; r < j->nranks; r++)
		step_wait(&j->step[r], j->step[left(j, r)].posted_ns[1] - 50);
}

/* Returns the rank that arrives last. */
static int allreduce_plan(struct job *j)
{
	int last = 0;

	for (int r = 0; r < j->nranks; r++) {
		j->step[r].begin_ns = j->now_ns[r] + noisy(j, 2000);
		if (j->step[r].begin_ns > j->step[last].begin_ns)
			last = r;
	}
	for (int r = 0; r < j->nranks; r++)
		step_wait(&j->step[r], j->step[last].begin_ns + 500 + 20 * (uint64_t)r);
	return last;
}

/* ---- … and its records ---- */

static void preemption_put(struct job *j, int r)
{
	uint64_t ns = j->step[r].preempted_ns;

	if (!ns)
		return;
	put_waking(j, r, ns, PID + r, KWORKER + r, r);
	put_switch(j, r, ns + 1200, PID + r, false, KWORKER + r);
	put_switch(j, r, ns + 6100, KWORKER + r, true, PID + r);
}

/* The first of the two requests of a step. */
static unsigned int request_of(const struct job *j)
{
	return 0x98000000 + 2 * (unsigned int)(j->iteration % 8);
}

static void post_put(struct job *j, int r, bool send)
{
	uint64_t end_ns = j->step[r].posted_ns[send];
	char rest[128];

	snprintf(rest, sizeof(rest),
		 "args=%#llx,1000,0x4c00080b,%d,7,0x44000000,0x7ffd00001000 out=6:i%u",
		 U(0x7f1200000000) + send * 0x10000, send ? right(j, r) : left(j, r),
		 request_of(j) + send);
	put_call(j, r, send ? FUNC_ISEND : FUNC_IRECV, end_ns - 250, end_ns, rest);
}

static void sleep_put(struct job *j, int r, int func)
{
	const struct step *s = &j->step[r];

	if (!s->woken_ns)
		return;
	put(j, "callbegin ts=%llu tid=%d begin=%llu func=%d", U(s->begin_ns + 2000), PID + r,
	    U(s->begin_ns), func);
	put_switch(j, r, s->begin_ns + 2000, PID + r, true, 0);
	put_switch(j, r, s->woken_ns + 1500, 0, false, PID + r);
}

static void waitall_put(struct job *j, int r)
{
	char rest[160];

	sleep_put(j, r, FUNC_WAITALL);
	snprintf(rest, sizeof(rest),
		 "args=2,0x7ffd00001000,0x7ffd00002000 in=1:i%u,i%u "
		 "out=2/2:i8000,i0,i%d,i7,i0,i0,i0,i0,i0,i0",
		 request_of(j), request_of(j) + 1, left(j, r));
	put_call(j, r, FUNC_WAITALL, j->step[r].begin_ns, j->step[r].end_ns, rest);
}

static void exchange_put(struct job *j)
{
	exchange_plan(j);
	for (int r = 0; r < j->nranks; r++) {
		int next = right(j, r);

		preemption_put(j, r);
		post_put(j, r, false);
		if (j->step[next].woken_ns)
			put_waking(j, r, j->step[next].woken_ns, PID + r, PID + next, next);
		post_put(j, r, true);
		waitall_put(j, r);
		j->now_ns[r] = j->step[r].end_ns;
	}
}

static void allreduce_put(struct job *j)
{
	int last = allreduce_plan(j);

	for (int r = 0; r < j->nranks; r++) {
		const struct step *s = &j->step[r];

		for (int other = 0; r == last && other < j->nranks; other++)
			if (j->step[other].woken_ns)
				put_waking(j, r, j->step[other].woken_ns, PID + r, PID + other,
					   other);
		sleep_put(j, r, FUNC_ALLREDUCE);
		j->now_ns[r] = r == last ? s->begin_ns + 500 + 20 * (uint64_t)j->nranks : s->end_ns;
		put_call(j, r, FUNC_ALLREDUCE, s->begin_ns, j->now_ns[r],
			 "args=0x7f1200000000,0x7f1200000040,1,0x4c00080b,0x58000003,0x44000000");
	}
}

/* ---- the job ---- */

static void task_put(struct job *j, int tid, int ppid, int cpu, const char *comm)
{
	put(j, "task ts=%llu tid=%d ppid=%d state=1 cpu=%d kthread=%d comm=%s", U(START_NS), tid,
	    ppid, cpu, ppid == 2, comm);
}

/* Starts the rank during the recording, so that the trace has all of its life. */
static void rank_start(struct job *j, int r)
{
	uint64_t ns = START_NS + 1000 + 100 * (uint64_t)r;

	put(j, "fork ts=%llu tid=%d child=%d tgid=%d parent_tgid=%d comm=ring", U(ns), LAUNCHER,
	    PID + r, PID + r, LAUNCHER);
	put_waking(j, r, ns + 100, 0, PID + r, r);
	put_switch(j, r, ns + 500, 0, false, PID + r);
	j->now_ns[r] = ns + 1000;
}

static void job_begin(struct job *j)
{
	struct maker *m = &j->maker;

	maker_put(
		m,
		"meta {\"type\":\"recording\",\"abi\":1,\"start_ns\":%llu,\"argv\":[\"mpirun\",\"./ring\"],"
		"\"config\":{\"sched\":\"all\",\"rings\":%d,\"cpus_per_ring\":1}}",
		U(START_NS), j->nranks);
	maker_put(
		m,
		"meta {\"type\":\"host\",\"hostname\":\"node0\",\"kernel\":\"6.1\",\"machine\":\"x86_64\",\"cpus\":%d}",
		j->nranks);
	maker_put(
		m,
		"meta {\"type\":\"clocks\",\"monotonic_ns\":%llu,\"boottime_ns\":%llu,\"realtime_ns\":1700000000000000000}",
		U(START_NS), U(START_NS));
	maker_put(
		m,
		"meta {\"type\":\"functions\",\"layer\":\"mpi\",\"rows\":["
		"{\"id\":1,\"name\":\"MPI_Irecv\",\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"buf count dtype source tag comm >req\"},"
		"{\"id\":2,\"name\":\"MPI_Isend\",\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"buf count dtype dest tag comm >req\"},"
		"{\"id\":3,\"name\":\"MPI_Waitall\",\"group\":\"req\",\"attrs\":\"WAIT\",\"sig\":\"count <>req[count] >status[count]\"},"
		"{\"id\":4,\"name\":\"MPI_Allreduce\",\"group\":\"coll\",\"attrs\":\"WAIT\",\"sig\":\"sendbuf recvbuf count dtype op comm\"}]}");
	maker_put(
		m,
		"meta {\"type\":\"library\",\"id\":1,\"path\":\"/usr/lib/libmpich.so.12\",\"flavour\":\"mpich\",\"version\":\"4.0.2\","
		"\"layout\":{\"handle_bytes\":4,\"status_bytes\":20,\"type_in_handle\":true,\"undefined\":-32766},"
		"\"named\":[[\"MPI_COMM_WORLD\",\"0x44000000\",0],[\"MPI_DOUBLE\",\"0x4c00080b\",8]]}");
	task_put(j, LAUNCHER, 1, 0, "mpirun");
	for (int r = 0; r < j->nranks; r++) {
		maker_put(
			m,
			"meta {\"type\":\"process\",\"ts_ns\":%llu,\"pid\":%d,\"ppid\":%d,\"exe\":\"/home/u/ring\",\"rank\":%d,"
			"\"size\":%d,\"job\":\"ring\",\"libs\":[{\"id\":1,\"bias\":\"0x0\"}]}",
			U(START_NS) + 2000, PID + r, LAUNCHER, r, j->nranks);
		task_put(j, KWORKER + r, 2, r, "kworker");
	}
	for (int r = 0; r < j->nranks; r++)
		rank_start(j, r);
}

static void job_end(struct job *j)
{
	uint64_t end_ns = 0;

	for (int r = 0; r < j->nranks; r++)
		end_ns = j->now_ns[r] > end_ns ? j->now_ns[r] : end_ns;
	maker_put(&j->maker, "flush");
	maker_put(&j->maker, "end ts=%llu", U(end_ns) + 1000);
	if (trace_writer_finish(j->maker.w, NULL))
		exit(1);
}

int main(int argc, char **argv)
{
	struct job j = {.maker.brief = true,
			.random = 0x9e3779b97f4a7c15u,
			.nranks = 64,
			.compute_ns = 40000};
	const struct trace_writer_options opt = {0};
	uint64_t records;
	int c;

	while ((c = getopt(argc, argv, "r:c:")) == 'r' || c == 'c') {
		if (c == 'r')
			j.nranks = atoi(optarg);
		else
			j.compute_ns = strtoull(optarg, NULL, 10);
	}
	records = argc == optind + 2 ? (uint64_t)(strtod(argv[optind], NULL) * 1e6) : 0;
	if (c != -1 || !records || j.compute_ns < 400 || j.nranks < 2 || j.nranks > RANKS_MAX) {
		fputs("usage: job_trace [-r RANKS (2 … 120)] [-c NS (400 or more)] MILLIONS OUT.pov\n",
		      stderr);
		return 2;
	}
	if (trace_writer_open(argv[optind + 1], &opt, &j.maker.w))
		return 1;
	job_begin(&j);
	for (; j.records < records; j.iteration++) {
		exchange_put(&j);
		if (j.iteration % 10 == 9)
			allreduce_put(&j);
	}
	job_end(&j);
	printf("%llu\n", U(j.records));
	return 0;
}
