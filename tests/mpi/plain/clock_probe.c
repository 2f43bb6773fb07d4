/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A process that compares libpov's clocks with the kernel's own CPU time, for clock.test. Prints a line
 * "name value …", times in ns, and exits with 1 if a clock goes back.
 *
 *	source               which source, and why
 *	work MS [THREADS]    computes for MS of CPU time a thread, sleeping between; rank and cpu: by libpov, by the kernel
 *	move MS              reads the clocks for MS while another process moves it from CPU to CPU every ms; ran: by its own account, all
 *	                     between two readings of the clock in a row that are no more than 20 us apart
 *	section MS           MS of CPU time within a section, as much outside; core: of its CPU, mine: its own within
 *	sleeps MS N          computes for MS, N times, with a sleep behind each; ran: its own account, as in move
 *	reads N SWITCHES     N readings or more, beside two threads of its own that wake each other, until the process has been switched
 *	                     that often by the kernel's account; how long readings take, and that they never go back nor grow faster than all
 *	                     threads could make them
 *	pairs N [FILE]       after FILE is there, two processes wake each other N times outside and N times within their sections
 *	fork MS              after MS of work, a child's clocks: its own, not its parent's
 *	wait FILE            reads on until FILE is there or the source changes: by which source, before and after
 *	write                tries to write to its page
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libpov/pov.h"

#define MS 1000000ull

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void compute(uint64_t ns)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void *work(void *arg)
{
	uint64_t ns = *(uint64_t *)arg, begin = now_ns(CLOCK_THREAD_CPUTIME_ID),
		 mine = pov_thread_ns();

	for (uint64_t done = 0; done < ns; done += 5 * MS) {
		compute(5 * MS);
		usleep(500);
	}
	begin = now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	mine = pov_thread_ns() - mine;
	printf("thread %" PRIu64 " cpu %" PRIu64 "\n", mine, begin);
	return NULL;
}

static int do_work(uint64_t ns, int threads)
{
	uint64_t rank = pov_rank_ns(), cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	pthread_t t[64];

	for (int i = 1; i < threads; i++)
		pthread_create(&t[i], NULL, work, &ns);
	work(&ns);
	for (int i = 1; i < threads; i++)
		pthread_join(t[i], NULL);
	rank = pov_rank_ns() - rank;
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("rank %" PRIu64 " cpu %" PRIu64 "\n", rank, cpu);
	return 0;
}

/* Moves its parent until that has it killed. */
static void move_parent(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pid_t parent = getppid();
	cpu_set_t one;

	for (long i = 0;; i++) {
		CPU_ZERO(&one);
		CPU_SET(i % cpus, &one);
		sched_setaffinity(parent, sizeof(one), &one);
		usleep(1000);
	}
}

/* Own account: what passes between two readings of the clock in a row, if that is less than 20 us. */
struct account {
	uint64_t last, ran;
};

static uint64_t account_now(struct account *a)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	if (now - a->last < 20000)
		a->ran += now - a->last;
	a->last = now;
	return now;
}

static int do_sleeps(uint64_t ns, long cnt)
{
	uint64_t rank = pov_rank_ns(), cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID), end;
	struct account a = {.last = now_ns(CLOCK_MONOTONIC)};
	struct rusage r;

	for (long i = 0; i < cnt; i++) {
		end = account_now(&a) + ns;
		while (account_now(&a) < end)
			;
		usleep(200);
	}
	rank = pov_rank_ns() - rank;
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	getrusage(RUSAGE_SELF, &r);
	printf("rank %" PRIu64 " cpu %" PRIu64 " ran %" PRIu64 " sleeps %ld\n", rank, cpu, a.ran,
	       r.ru_nvcsw);
	return 0;
}

static int do_move(uint64_t ns)
{
	struct account a = {0};
	uint64_t rank, cpu, end;
	long moves = 0;
	int at = -1, was;
	pid_t mover = fork();

	if (!mover)
		move_parent();
	rank = pov_rank_ns();
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	a.last = now_ns(CLOCK_MONOTONIC);
	end = a.last + ns;
	while (account_now(&a) < end) {
		was = at;
		at = sched_getcpu();
		moves += at != was;
	}
	rank = pov_rank_ns() - rank;
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	kill(mover, SIGKILL);
	printf("rank %" PRIu64 " cpu %" PRIu64 " ran %" PRIu64 " moves %ld\n", rank, cpu, a.ran,
	       moves);
	return 0;
}

static int do_section(uint64_t ns)
{
	uint64_t mine = 0, cpu, core = pov_core_ns();

	for (uint64_t done = 0; done < ns; done += 2 * MS) {
		compute(2 * MS);
		MPIX_Start_processor_timer();
		cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
		compute(2 * MS);
		mine += now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		MPIX_Stop_processor_timer();
		sched_yield();
	}
	usleep(300000); /* the others end, too */
	core = pov_core_ns() - core;
	printf("core %" PRIu64 " mine %" PRIu64 "\n", core, mine);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* ---- two that wake each other, by pipes ---- */

struct pair {
	int there[2], back[2];
	long rounds; /* 0: until the other one goes */
};

static void pair_init(struct pair *p, long rounds)
{
	if (pipe(p->there) || pipe(p->back))
		exit(3);
	p->rounds = rounds;
}

static void *pair_answer(void *arg)
{
	struct pair *p = arg;
	char c;

	while (read(p->there[0], &c, 1) == 1 && c && write(p->back[1], &c, 1) == 1)
		;
	return NULL;
}

static atomic_bool pair_over;

static void *pair_ask(void *arg)
{
	struct pair *p = arg;
	char c = 1;

	for (long i = 0; p->rounds ? i < p->rounds : !atomic_load(&pair_over); i++)
		if (write(p->there[1], &c, 1) != 1 || read(p->back[0], &c, 1) != 1)
			exit(3);
	c = 0;
	return write(p->there[1], &c, 1) == 1 ? NULL : arg;
}

/* Of all threads of this process. */
static long switches(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_nvcsw + r.ru_nivcsw;
}

struct readings {
	long back, ahead, cnt;
	uint64_t last;
};

/* So many in a row, between two of the clock; ns for each. */
static uint64_t readings_take(struct readings *r, int cnt)
{
	static long cpus;
	uint64_t begin = now_ns(CLOCK_MONOTONIC), first = 0, ns, took;

	cpus = cpus ? cpus : sysconf(_SC_NPROCESSORS_ONLN);
	for (int i = 0; i < cnt; i++) {
		ns = pov_rank_ns();
		first = i ? first : ns;
		r->back += ns < r->last;
		r->last = ns;
	}
	took = now_ns(CLOCK_MONOTONIC) - begin;
	r->ahead += r->last - first > (uint64_t)cpus * took;
	r->cnt += cnt;
	return took / (uint64_t)cnt;
}

static int do_reads(long cnt, long switches_least)
{
	enum { BATCH = 10 };
	uint64_t *took = calloc((size_t)cnt / BATCH + 1, sizeof(*took));
	struct readings r = {.last = pov_rank_ns()};
	long batches = 0, before = switches();
	pthread_t t[2];
	struct pair p;

	pair_init(&p, 0);
	if (switches_least) {
		pthread_create(&t[0], NULL, pair_answer, &p);
		pthread_create(&t[1], NULL, pair_ask, &p);
	}
	for (long i = 0; i < cnt; i += BATCH)
		took[batches++] = readings_take(&r, BATCH);
	while (switches() - before < switches_least)
		for (int i = 0; i < 1000; i++)
			readings_take(&r, BATCH);
	before = switches() - before;
	atomic_store(&pair_over, true);
	for (int i = 0; switches_least && i < 2; i++)
		pthread_join(t[i], NULL);
	qsort(took, (size_t)batches, sizeof(*took), by_value);
	printf("back %ld ahead %ld reads %ld switches %ld median %" PRIu64 " p99 %" PRIu64 "\n",
	       r.back, r.ahead, r.cnt, before, took[batches / 2], took[batches * 99 / 100]);
	free(took);
	return r.back || r.ahead;
}

static int do_pairs(long rounds, const char *file)
{
	struct pair p[2];
	pid_t child;
	int status;

	pair_init(&p[0], rounds);
	pair_init(&p[1], rounds);
	child = fork();
	if (child)
		printf("child %d\n", child);
	while (file && access(file, F_OK))
		usleep(10000);
	for (int i = 0; i < 2; i++) {
		if (child)
			pair_ask(&p[i]);
		else
			pair_answer(&p[i]);
		MPIX_Start_processor_timer(); /* for the second time */
	}
	if (!child)
		_exit(0);
	waitpid(child, &status, 0);
	return status;
}

static int do_fork(uint64_t ns)
{
	uint64_t mine = pov_rank_ns(), child;
	int status;
	pid_t pid;

	compute(ns);
	mine = pov_rank_ns() - mine;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		child = pov_rank_ns();
		compute(ns / 10);
		child = pov_rank_ns() - child;
		printf("child %" PRIu64 " source %d total %" PRIu64 "\n", child, pov_source(NULL),
		       pov_rank_ns());
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("parent %" PRIu64 " source %d\n", mine, pov_source(NULL));
	return status;
}

static int do_wait(const char *path)
{
	enum pov_source before = pov_source(NULL), after;
	uint64_t last = pov_rank_ns(), ns, cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID), rank = last;
	const char *why;
	long back = 0;

	printf("waits\n");
	fflush(stdout);
	while (access(path, F_OK) && pov_source(NULL) == before) {
		ns = pov_rank_ns();
		back += ns < last;
		last = ns;
		usleep(1000);
	}
	rank = pov_rank_ns() - rank;
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	after = pov_source(&why);
	printf("before %d after %d back %ld rank %" PRIu64 " cpu %" PRIu64 " why %s\n", before,
	       after, back, rank, cpu, why);
	return 0;
}

/* Whether one of its mappings of a BPF map can be made writable, but for the section. */
static int do_write(void)
{
	unsigned long from, to;
	char line[512], path[256];
	FILE *maps = fopen("/proc/self/maps", "re");
	int pages = 0, writable = 0;

	pov_core_ns();
	while (maps && fgets(line, sizeof(line), maps)) {
		char mode[8];

		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255[^\n]", &from, &to, mode, path) < 3 ||
		    !strstr(path, "bpf-map"))
			continue;
		pages++;
		writable += !mprotect((void *)from, to - from, PROT_READ | PROT_WRITE);
	}
	if (maps)
		fclose(maps);
	printf("pages %d writable %d\n", pages, writable);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "source", *why;
	uint64_t ns = argc > 2 ? strtoull(argv[2], NULL, 10) * MS : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "work"))
		return do_work(ns, argc > 3 ? atoi(argv[3]) : 1);
	if (!strcmp(what, "move"))
		return do_move(ns);
	if (!strcmp(what, "section"))
		return do_section(ns);
	if (!strcmp(what, "reads"))
		return do_reads(atol(argv[2]), argc > 3 ? atol(argv[3]) : 0);
	if (!strcmp(what, "sleeps"))
		return do_sleeps(ns, atol(argv[3]));
	if (!strcmp(what, "pairs"))
		return do_pairs(atol(argv[2]), argc > 3 ? argv[3] : NULL);
	if (!strcmp(what, "fork"))
		return do_fork(ns);
	if (!strcmp(what, "wait"))
		return do_wait(argv[2]);
	if (!strcmp(what, "write"))
		return do_write();
	printf("source %d", pov_source(&why));
	printf(" %s\n", why);
	return 0;
}
