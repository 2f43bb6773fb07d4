/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A process that compares libpov's clocks with the kernel's CPU time, for clock.test. Prints a line
 * "name value …", times in ns. Aborts if a clock goes back.
 *
 *   source               the source, and the reason for it
 *   work MS [THREADS]    computes for MS of CPU time per thread, with sleeps; rank and cpu: by
 *                        libpov and by the kernel
 *   move MS              reads the clocks for MS while another process moves it from CPU to CPU
 *                        every ms; ran: by its own account, the sum of intervals between
 *                        consecutive clock readings that are no more than 20 us apart
 *   section MS           MS of CPU time within a section, as much outside; core: time of its CPU,
 *                        mine: its own time within
 *   sleeps MS N          computes for MS, N times, with a sleep after each; ran: its own account,
 *                        as in move
 *   reads N SWITCHES     at least N readings, next to two threads of its own that wake each other,
 *                        until the kernel has switched the process that often. Checks how long 99 %
 *                        of them take, and that they never go back nor grow faster than all threads
 *                        could make them
 *   pairs N              two processes wake each other N times outside and N times within their
 *                        sections
 *   fork MS              after MS of work, a child's clocks: its own, not its parent's
 *   wait FILE            reads until FILE exists or the source changes; prints the source before
 *                        and after
 *   write                tries to write to its page
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "clock/libpov/pov.h"

#define MS 1000000ull

/* Begin values of libpov's clock and of the kernel's. */
struct span {
	uint64_t pov, cpu;
};

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static uint64_t thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static struct span span_begin(void)
{
	return (struct span){pov_rank_ns(), cpu_ns()};
}

/* Prints "rank NS cpu NS" since the begin. */
static void span_print(struct span s)
{
	printf("rank %" PRIu64 " cpu %" PRIu64, pov_rank_ns() - s.pov, cpu_ns() - s.cpu);
}

static void compute(uint64_t ns)
{
	compute_ms((double)ns / MS);
}

static void *work(void *arg)
{
	uint64_t ns = *(uint64_t *)arg, begin = thread_cpu_ns(), mine = pov_thread_ns();

	for (uint64_t done = 0; done < ns; done += 5 * MS) {
		compute(5 * MS);
		usleep(500);
	}
	begin = thread_cpu_ns() - begin;
	mine = pov_thread_ns() - mine;
	printf("thread %" PRIu64 " cpu %" PRIu64 "\n", mine, begin);
	return NULL;
}

static void do_work(char **args)
{
	uint64_t ns = (uint64_t)atoi(args[0]) * MS;
	int threads = args[1] ? atoi(args[1]) : 1;
	struct span s = span_begin();
	pthread_t t[64];

	for (int i = 1; i < threads; i++)
		pthread_create(&t[i], NULL, work, &ns);
	work(&ns);
	for (int i = 1; i < threads; i++)
		pthread_join(t[i], NULL);
	span_print(s);
	puts("");
}

/* Moves the parent from CPU to CPU until the parent kills this process. */
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

/*
 * Own account: the sum of intervals between consecutive clock readings that are shorter than 20 us.
 */
struct account {
	uint64_t last, ran;
};

static uint64_t account_now(struct account *a)
{
	uint64_t now = now_ns();

	if (now - a->last < 20000)
		a->ran += now - a->last;
	a->last = now;
	return now;
}

static void do_sleeps(char **args)
{
	uint64_t ns = (uint64_t)atoi(args[0]) * MS, end;
	struct span s = span_begin();
	struct account a = {.last = now_ns()};

	for (long i = 0; i < atol(args[1]); i++) {
		end = account_now(&a) + ns;
		while (account_now(&a) < end)
			;
		usleep(200);
	}
	span_print(s);
	printf(" ran %" PRIu64 "\n", a.ran);
}

static void do_move(char **args)
{
	struct account a = {0};
	struct span s;
	uint64_t end;
	pid_t mover = fork();

	if (!mover)
		move_parent();
	s = span_begin();
	a.last = now_ns();
	end = a.last + (uint64_t)atoi(args[0]) * MS;
	while (account_now(&a) < end)
		;
	span_print(s);
	kill(mover, SIGKILL);
	printf(" ran %" PRIu64 "\n", a.ran);
}

static void do_section(char **args)
{
	uint64_t ns = (uint64_t)atoi(args[0]) * MS, mine = 0, cpu, core = pov_core_ns();

	for (uint64_t done = 0; done < ns; done += 2 * MS) {
		compute(2 * MS);
		MPIX_Start_processor_timer();
		cpu = thread_cpu_ns();
		compute(2 * MS);
		mine += thread_cpu_ns() - cpu;
		MPIX_Stop_processor_timer();
		sched_yield();
	}
	usleep(300000); /* lets the others end as well */
	core = pov_core_ns() - core;
	printf("core %" PRIu64 " mine %" PRIu64 "\n", core, mine);
}

/* ---- two threads or processes that wake each other through pipes ---- */

struct pair {
	int there[2], back[2];
	long rounds; /* 0: until the other one ends */
};

static void pair_init(struct pair *p, long rounds)
{
	MUST(!pipe(p->there) && !pipe(p->back));
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
		MUST(write(p->there[1], &c, 1) == 1 && read(p->back[0], &c, 1) == 1);
	c = 0;
	return write(p->there[1], &c, 1) == 1 ? NULL : arg;
}

/* Returns the context switches of all threads of this process. */
static long switches(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_nvcsw + r.ru_nivcsw;
}

struct readings {
	long back, ahead;
	uint64_t last;
};

/* Takes cnt readings in a row between two readings of the clock. Returns the ns for each. */
static uint64_t readings_take(struct readings *r, int cnt)
{
	static long cpus;
	uint64_t begin = now_ns(), first = 0, ns, took;

	cpus = cpus ? cpus : sysconf(_SC_NPROCESSORS_ONLN);
	for (int i = 0; i < cnt; i++) {
		ns = pov_rank_ns();
		first = i ? first : ns;
		r->back += ns < r->last;
		r->last = ns;
	}
	took = now_ns() - begin;
	r->ahead += r->last - first > (uint64_t)cpus * took;
	return took / (uint64_t)cnt;
}

static void do_reads(char **args)
{
	enum { BATCH = 10 };
	long cnt = atol(args[0]), switches_least = args[1] ? atol(args[1]) : 0;
	double *took = calloc((size_t)cnt / BATCH + 1, sizeof(*took));
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
		took[batches++] = (double)readings_take(&r, BATCH);
	while (switches() - before < switches_least)
		for (int i = 0; i < 1000; i++)
			readings_take(&r, BATCH);
	atomic_store(&pair_over, true);
	for (int i = 0; switches_least && i < 2; i++)
		pthread_join(t[i], NULL);
	qsort(took, (size_t)batches, sizeof(*took), by_value);
	printf("back %ld ahead %ld p99 %.0f\n", r.back, r.ahead, took[batches * 99 / 100]);
	MUST(!r.back && !r.ahead);
}

static void do_pairs(char **args)
{
	struct pair p[2];
	pid_t child;
	int status;

	pair_init(&p[0], atol(args[0]));
	pair_init(&p[1], atol(args[0]));
	child = fork();
	for (int i = 0; i < 2; i++) {
		(child ? pair_ask : pair_answer)(&p[i]);
		MPIX_Start_processor_timer(); /* counts in the second round */
	}
	if (!child)
		_exit(0);
	waitpid(child, &status, 0);
	MUST(!status);
}

static void do_fork(char **args)
{
	uint64_t ns = (uint64_t)atoi(args[0]) * MS, mine = pov_rank_ns(), child;
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
	MUST(!status);
}

static void do_wait(char **args)
{
	enum pov_source before = pov_source(NULL), after;
	struct span s = span_begin();
	uint64_t last = s.pov, ns;
	const char *why;
	long back = 0;

	puts("waits");
	while (access(args[0], F_OK) && pov_source(NULL) == before) {
		ns = pov_rank_ns();
		back += ns < last;
		last = ns;
		usleep(1000);
	}
	after = pov_source(&why);
	printf("before %d after %d back %ld ", before, after, back);
	span_print(s);
	printf(" why %s\n", why);
}

/* Checks if any of its mappings of a BPF map can be made writable, apart from the section. */
static void do_write(char **args)
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
	printf("pages %d writable %d\n", pages, writable);
}

static void do_source(char **args)
{
	const char *why;

	printf("source %d", pov_source(&why));
	printf(" %s\n", why);
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {{"source", do_source}, {"work", do_work},
					    {"move", do_move},	   {"section", do_section},
					    {"reads", do_reads},   {"sleeps", do_sleeps},
					    {"pairs", do_pairs},   {"fork", do_fork},
					    {"wait", do_wait},	   {"write", do_write}};

	MUST(argc > 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	MODE_RUN(modes, argv + 1);
	return 0;
}
