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
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/log.h"
#include "trace/trace_write.h"

#define RANKS_MAX 120 /* one stream per rank */
#define PID 40000
#define LAUNCHER (PID - 1)
/* tid of CPU 0's kernel thread; that of CPU n is n higher. */
#define KWORKER 300
#define START_NS UINT64_C(86400000000000)
#define WORLD 0x44000000
#define DOUBLE 0x4c00080b
#define STATUS_BYTES 20

enum { FUNC_IRECV = 1, FUNC_ISEND, FUNC_WAITALL, FUNC_ALLREDUCE };

/* Times of one step of a rank. */
struct step {
	uint64_t preempted_ns;	   /* 0: not preempted */
	uint64_t posted_ns[2];	   /* when Irecv and Isend returned */
	uint64_t begin_ns, end_ns; /* the call that waits */
	uint64_t woken_ns;	   /* 0: the rank does not sleep */
};

struct job {
	struct trace_writer *w;
	int nranks;
	uint64_t random, records, iteration, compute_ns;
	uint64_t now_ns[RANKS_MAX];
	struct step step[RANKS_MAX];
	uint64_t record[64]; /* the record under construction */
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

static void *record_begin(struct job *j, uint8_t kind, uint32_t tid, uint64_t ts_ns, size_t size)
{
	struct pov_hdr *h = (struct pov_hdr *)j->record;

	memset(j->record, 0, sizeof(j->record));
	*h = (struct pov_hdr){.size = (uint16_t)size, .kind = kind, .tid = tid, .ts_ns = ts_ns};
	return h;
}

static void record_add(struct job *j, unsigned int stream)
{
	if (trace_writer_add(j->w, stream, (const struct pov_hdr *)j->record))
		exit(1);
	j->records++;
}

static void put_switch(struct job *j, int cpu, uint64_t ts_ns, uint32_t prev, bool sleeps,
		       uint32_t next)
{
	struct pov_switch *s = record_begin(j, POV_KIND_SWITCH, prev, ts_ns, sizeof(*s));

	s->hdr.flags = sleeps ? 0 : POV_SWITCH_PREEMPTED;
	s->prev_state = sleeps;
	s->next_tid = next;
	s->cpu = (uint16_t)cpu;
	s->prev_prio = s->next_prio = 120;
	record_add(j, (unsigned int)cpu);
}

static void put_waking(struct job *j, int cpu, uint64_t ts_ns, uint32_t waker, uint32_t target,
		       int target_cpu)
{
	struct pov_waking *w = record_begin(j, POV_KIND_WAKING, waker, ts_ns, sizeof(*w));

	w->target_tid = target;
	w->cpu = (uint16_t)cpu;
	w->target_cpu = (uint16_t)target_cpu;
	w->prio = 120;
	record_add(j, (unsigned int)cpu);
}

static struct pov_call *call_begin(struct job *j, int rank, uint16_t func, uint64_t begin_ns,
				   uint64_t end_ns, const uint64_t *args, uint8_t nargs)
{
	uint32_t tid = PID + (uint32_t)rank;
	struct pov_call *c = record_begin(j, POV_KIND_CALL, tid, end_ns, sizeof(*c) + 8u * nargs);

	c->dur_ns = end_ns - begin_ns;
	c->tgid = tid;
	c->func = func;
	c->nargs = nargs;
	c->site = 0x55d0c0de1000 + func * 0x40u;
	c->cpu = (uint16_t)rank;
	c->lib = 1;
	memcpy(c->args, args, nargs * 8u);
	return c;
}

static void *field_add(struct pov_call *c, uint8_t type, uint8_t arg, uint16_t size, uint32_t cnt)
{
	struct pov_field *f = (struct pov_field *)((char *)c + c->hdr.size);

	*f = (struct pov_field){.type = type, .arg = arg, .size = size, .cnt = cnt};
	c->hdr.size = (uint16_t)(c->hdr.size + sizeof(*f) + (size + 7u) / 8 * 8);
	return f + 1;
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
	uint32_t tid = PID + (uint32_t)r, kworker = KWORKER + (uint32_t)r;

	if (!ns)
		return;
	put_waking(j, r, ns, tid, kworker, r);
	put_switch(j, r, ns + 1200, tid, false, kworker);
	put_switch(j, r, ns + 6100, kworker, true, tid);
}

static void post_put(struct job *j, int r, bool send)
{
	const struct step *s = &j->step[r];
	int peer = send ? right(j, r) : left(j, r);
	uint64_t args[7] = {0x7f1200000000 + send * 0x10000u,
			    1000,
			    DOUBLE,
			    (uint64_t)peer,
			    7,
			    WORLD,
			    0x7ffd00001000};
	uint32_t request = 0x98000000 + 2 * (j->iteration % 8) + send;
	struct pov_call *c = call_begin(j, r, send ? FUNC_ISEND : FUNC_IRECV,
					s->posted_ns[send] - 250, s->posted_ns[send], args, 7);

	memcpy(field_add(c, POV_FIELD_OUT, 6, 4, 1), &request, 4);
	record_add(j, (unsigned int)r);
}

static void sleep_put(struct job *j, int r, uint16_t func)
{
	const struct step *s = &j->step[r];
	uint32_t tid = PID + (uint32_t)r;
	struct pov_call_begin *b;

	if (!s->woken_ns)
		return;
	b = record_begin(j, POV_KIND_CALL_BEGIN, tid, s->begin_ns + 2000, sizeof(*b));
	b->begin_ns = s->begin_ns;
	b->tgid = tid;
	b->func = func;
	record_add(j, (unsigned int)r);
	put_switch(j, r, s->begin_ns + 2000, tid, true, 0);
	put_switch(j, r, s->woken_ns + 1500, 0, false, tid);
}

static void waitall_put(struct job *j, int r)
{
	const struct step *s = &j->step[r];
	uint64_t args[3] = {2, 0x7ffd00001000, 0x7ffd00002000};
	uint32_t request = 0x98000000 + 2 * (j->iteration % 8);
	uint32_t requests[2] = {request, request + 1};
	int32_t status[2 * STATUS_BYTES / 4] = {8000, 0, left(j, r), 7, 0};
	struct pov_call *c;

	sleep_put(j, r, FUNC_WAITALL);
	c = call_begin(j, r, FUNC_WAITALL, s->begin_ns, s->end_ns, args, 3);
	memcpy(field_add(c, POV_FIELD_IN, 1, sizeof(requests), 2), requests, sizeof(requests));
	memcpy(field_add(c, POV_FIELD_OUT, 2, sizeof(status), 2), status, sizeof(status));
	record_add(j, (unsigned int)r);
}

static void exchange_put(struct job *j)
{
	exchange_plan(j);
	for (int r = 0; r < j->nranks; r++) {
		int next = right(j, r);

		preemption_put(j, r);
		post_put(j, r, false);
		if (j->step[next].woken_ns)
			put_waking(j, r, j->step[next].woken_ns, PID + (uint32_t)r,
				   PID + (uint32_t)next, next);
		post_put(j, r, true);
		waitall_put(j, r);
		j->now_ns[r] = j->step[r].end_ns;
	}
}

static void allreduce_put(struct job *j)
{
	static const uint64_t args[6] = {0x7f1200000000, 0x7f1200000040, 1,
					 DOUBLE,	 0x58000003,	 WORLD};
	int last = allreduce_plan(j);

	for (int r = 0; r < j->nranks; r++) {
		const struct step *s = &j->step[r];

		for (int other = 0; r == last && other < j->nranks; other++)
			if (j->step[other].woken_ns)
				put_waking(j, r, j->step[other].woken_ns, PID + (uint32_t)r,
					   PID + (uint32_t)other, other);
		sleep_put(j, r, FUNC_ALLREDUCE);
		j->now_ns[r] = r == last ? s->begin_ns + 500 + 20 * (uint64_t)j->nranks : s->end_ns;
		call_begin(j, r, FUNC_ALLREDUCE, s->begin_ns, j->now_ns[r], args, 6);
		record_add(j, (unsigned int)r);
	}
}

/* ---- the job ---- */

static void meta(struct job *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void meta(struct job *j, const char *fmt, ...)
{
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (trace_writer_meta(j->w, text))
		exit(1);
}

static void task_put(struct job *j, uint32_t tid, uint32_t ppid, int cpu, const char *comm)
{
	struct pov_task *t = record_begin(j, POV_KIND_TASK, tid, START_NS, sizeof(*t));

	t->tgid = tid;
	t->ppid = ppid;
	t->state = 1;
	t->cpu = (uint16_t)cpu;
	t->kthread = ppid == 2;
	strcpy(t->comm, comm);
	record_add(j, TRACE_STREAM_TASKS);
}

/* Starts the rank during the recording, so that the trace has all of its life. */
static void rank_start(struct job *j, int r)
{
	uint64_t ns = START_NS + 1000 + 100 * (uint64_t)r;
	uint32_t tid = PID + (uint32_t)r;
	struct pov_fork *f = record_begin(j, POV_KIND_FORK, LAUNCHER, ns, sizeof(*f));

	f->child_tid = f->child_tgid = tid;
	f->parent_tgid = LAUNCHER;
	strcpy(f->comm, "ring");
	record_add(j, TRACE_STREAM_TASKS);
	put_waking(j, r, ns + 100, 0, tid, r);
	put_switch(j, r, ns + 500, 0, false, tid);
	j->now_ns[r] = ns + 1000;
}

static void job_begin(struct job *j)
{
	meta(j,
	     "{\"type\":\"recording\",\"abi\":1,\"start_ns\":%llu,\"argv\":[\"mpirun\",\"./ring\"],"
	     "\"config\":{\"sched\":\"all\",\"rings\":%d,\"cpus_per_ring\":1}}",
	     (unsigned long long)START_NS, j->nranks);
	meta(j,
	     "{\"type\":\"host\",\"hostname\":\"node0\",\"kernel\":\"6.1\",\"machine\":\"x86_64\",\"cpus\":%d}",
	     j->nranks);
	meta(j,
	     "{\"type\":\"clocks\",\"monotonic_ns\":%llu,\"boottime_ns\":%llu,\"realtime_ns\":1700000000000000000}",
	     (unsigned long long)START_NS, (unsigned long long)START_NS);
	meta(j,
	     "{\"type\":\"functions\",\"layer\":\"mpi\",\"rows\":["
	     "{\"id\":1,\"name\":\"MPI_Irecv\",\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"buf count dtype source tag comm >req\"},"
	     "{\"id\":2,\"name\":\"MPI_Isend\",\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"buf count dtype dest tag comm >req\"},"
	     "{\"id\":3,\"name\":\"MPI_Waitall\",\"group\":\"req\",\"attrs\":\"WAIT\",\"sig\":\"count <>req[count] >status[count]\"},"
	     "{\"id\":4,\"name\":\"MPI_Allreduce\",\"group\":\"coll\",\"attrs\":\"WAIT\",\"sig\":\"sendbuf recvbuf count dtype op comm\"}]}");
	meta(j,
	     "{\"type\":\"library\",\"id\":1,\"path\":\"/usr/lib/libmpich.so.12\",\"flavour\":\"mpich\",\"version\":\"4.0.2\","
	     "\"layout\":{\"handle_bytes\":4,\"status_bytes\":%d,\"type_in_handle\":true,\"undefined\":-32766},"
	     "\"named\":[[\"MPI_COMM_WORLD\",\"0x44000000\",0],[\"MPI_DOUBLE\",\"0x4c00080b\",8]]}",
	     STATUS_BYTES);
	task_put(j, LAUNCHER, 1, 0, "mpirun");
	for (int r = 0; r < j->nranks; r++) {
		meta(j,
		     "{\"type\":\"process\",\"ts_ns\":%llu,\"pid\":%d,\"ppid\":%d,\"exe\":\"/home/u/ring\",\"rank\":%d,"
		     "\"size\":%d,\"job\":\"ring\",\"libs\":[{\"id\":1,\"bias\":\"0x0\"}]}",
		     (unsigned long long)START_NS + 2000, PID + r, LAUNCHER, r, j->nranks);
		task_put(j, KWORKER + (uint32_t)r, 2, r, "kworker");
	}
	for (int r = 0; r < j->nranks; r++)
		rank_start(j, r);
}

static void job_end(struct job *j)
{
	uint64_t end_ns = 0;

	for (int r = 0; r < j->nranks; r++)
		end_ns = j->now_ns[r] > end_ns ? j->now_ns[r] : end_ns;
	trace_writer_flush(j->w, UINT64_MAX);
	meta(j,
	     "{\"type\":\"end\",\"ts_ns\":%llu,\"reason\":\"exit\",\"drops\":[],\"misses\":{},\"stats\":{}}",
	     (unsigned long long)end_ns + 1000);
	if (trace_writer_finish(j->w))
		exit(1);
}

int main(int argc, char **argv)
{
	struct job j = {.random = 0x9e3779b97f4a7c15u, .nranks = 64, .compute_ns = 40000};
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
	if (trace_writer_open(argv[optind + 1], &opt, &j.w))
		return 1;
	job_begin(&j);
	for (; j.records < records; j.iteration++) {
		exchange_put(&j);
		if (j.iteration % 10 == 9)
			allreduce_put(&j);
	}
	job_end(&j);
	printf("%llu\n", (unsigned long long)j.records);
	return 0;
}
