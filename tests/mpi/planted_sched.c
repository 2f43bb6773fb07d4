/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two ranks and one trouble with CPUs, of known size: planted_sched WHAT MILLISECONDS. The kernel's account of each thread (schedstat: ns
 * waited for a CPU) is read at both ends of the trouble.
 *	starve	rank 0 waits so long for a message on CPU 0, where two threads of its own compute; rank 1 has CPU 1
 *	share	both ranks compute so long, by their CPU clocks, on CPU 0
 *	spin	both on CPU 0: rank 0 computes so long, by its CPU clock, before it sends what rank 1 polls for
 *	over	three threads of rank 0 compute so long, by their CPU clocks, on CPU 0; rank 1, on CPU 1, sleeps
 *	preempt	rank 0 waits so long for a message on CPU 0, where somebody else is to compute; rank 1 has CPU 1
 *	storm	rank 0 moves from one CPU to the other so often
 *	tiny	rank 0 sends rank 1 so many times TINY messages of 8 bytes one behind the other, and gets an answer each time
 *	funnel	every rank sends rank 0 so many messages of FUNNEL bytes
 *	nothing	each has its own CPU, computes so long and gets a message
 * One line a thread: {"prog":"planted_sched","rank":…,"pid":…,"tid":…,"role":…,"wait_ns":…,"moves":…,"sent_ns":…}
 * sent_ns: the time in which the tiny messages were sent.
 */
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

#include "expect.h"

#define PROG "planted_sched"
#define THREADS_MAX 3
#define TINY 2003
#define FUNNEL (1 << 12)

struct account {
	const char *role;
	int tid;
	unsigned long long wait_ns, moves, sent_ns;
};

static struct account accounts[THREADS_MAX + 1]; /* the first one: of who calls MPI */
static double ms;
static int rank;
static volatile int stop;

static unsigned long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static unsigned long long waited_ns(int tid)
{
	unsigned long long run_ns, wait_ns;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	f = fopen(path, "r");
	MUST(f && fscanf(f, "%llu %llu", &run_ns, &wait_ns) == 2);
	fclose(f);
	return wait_ns;
}

static void account_begin(struct account *a, const char *role)
{
	a->role = role;
	a->tid = (int)syscall(SYS_gettid);
	a->wait_ns = waited_ns(a->tid);
}

static void account_end(struct account *a)
{
	a->wait_ns = waited_ns(a->tid) - a->wait_ns;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	MUST(sched_setaffinity(0, sizeof(set), &set) == 0);
}

static void work(void)
{
	volatile double x = 1;

	for (int i = 0; i < 20000; i++)
		x = x * 1.0000001 + 1e-9;
}

/* So long, by the thread's own CPU clock. */
static void compute(void)
{
	unsigned long long until = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	until += (unsigned long long)(ms * 1e6);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		work();
}

static void *compute_until_stop(void *arg)
{
	account_begin(arg, "compute");
	while (!stop)
		work();
	account_end(arg);
	return NULL;
}

static void *compute_share(void *arg)
{
	account_begin(arg, "compute");
	compute();
	account_end(arg);
	return NULL;
}

static void message(int from)
{
	char buf[8] = "";

	if (rank == from)
		CALL(MPI_Send, !from, 8, 0, buf, 8, MPI_CHAR, !from, 5, MPI_COMM_WORLD);
	else
		CALL(MPI_Recv, from, 0, 8, buf, 8, MPI_CHAR, from, 5, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static void threads_run(void *(*what)(void *arg), void (*meanwhile)(void))
{
	pthread_t thread[THREADS_MAX];
	int n = meanwhile ? 2 : THREADS_MAX;

	for (int i = 0; i < n; i++)
		MUST(!pthread_create(&thread[i], NULL, what, &accounts[i + 1]));
	if (meanwhile)
		meanwhile();
	stop = 1;
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static void receive_late(void)
{
	account_begin(&accounts[0], "mpi");
	message(1);
	account_end(&accounts[0]);
}

static void starve(void)
{
	pin(rank);
	if (!rank) {
		threads_run(compute_until_stop, receive_late);
		return;
	}
	usleep((unsigned int)(ms * 1000));
	message(1);
}

static void preempt(void)
{
	pin(rank);
	if (rank)
		usleep((unsigned int)(ms * 1000));
	else
		account_begin(&accounts[0], "mpi");
	message(1);
	if (!rank)
		account_end(&accounts[0]);
}

static void tiny(void)
{
	account_begin(&accounts[0], "main");
	pin(rank);
	for (int i = 0; i < (int)ms; i++) {
		unsigned long long begin_ns = clock_ns(CLOCK_MONOTONIC);

		for (int k = 0; k < TINY; k++)
			message(0);
		accounts[0].sent_ns += clock_ns(CLOCK_MONOTONIC) - begin_ns;
		message(1);
	}
	account_end(&accounts[0]);
}

static void funnel(void)
{
	static char buf[FUNNEL];
	int size;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	account_begin(&accounts[0], "main");
	for (int i = 0; i < (int)ms; i++) {
		for (int k = 1; k < size; k++) {
			if (rank == k)
				CALL(MPI_Send, 1, FUNNEL, 0, buf, FUNNEL, MPI_CHAR, 0, 7,
				     MPI_COMM_WORLD);
			else if (!rank)
				CALL(MPI_Recv, k, 0, FUNNEL, buf, FUNNEL, MPI_CHAR, k, 7,
				     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
	account_end(&accounts[0]);
}

static void share(void)
{
	pin(0);
	account_begin(&accounts[0], "main");
	compute();
	account_end(&accounts[0]);
}

static void spin(void)
{
	pin(0);
	account_begin(&accounts[0], "main");
	if (!rank)
		compute();
	account_end(&accounts[0]);
	message(0);
}

static void over(void)
{
	pin(rank);
	if (rank)
		usleep((unsigned int)(ms * 3000));
	else
		threads_run(compute_share, NULL);
}

static void storm(void)
{
	account_begin(&accounts[0], "main");
	pin(0);
	for (int i = 0; !rank && i < (int)ms; i++) {
		pin(++accounts[0].moves & 1);
		work();
	}
	account_end(&accounts[0]);
}

static void nothing(void)
{
	pin(rank);
	account_begin(&accounts[0], "main");
	compute();
	account_end(&accounts[0]);
	message(0);
}

static void accounts_write(void)
{
	FILE *f = expect_open("planted-waits", rank);

	for (struct account *a = accounts; a <= &accounts[THREADS_MAX]; a++)
		if (a->role)
			fprintf(f,
				"{\"prog\":\"" PROG
				"\",\"rank\":%d,\"pid\":%d,\"tid\":%d,\"role\":\"%s\","
				"\"wait_ns\":%llu,\"moves\":%llu,\"sent_ns\":%llu}\n",
				rank, (int)getpid(), a->tid, a->role, a->wait_ns, a->moves,
				a->sent_ns);
	if (f != stdout)
		fclose(f);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} what[] = {{"starve", starve}, {"share", share},   {"spin", spin},
		    {"over", over},	{"storm", storm},   {"preempt", preempt},
		    {"tiny", tiny},	{"funnel", funnel}, {"nothing", nothing}};
	int granted;

	DO(MPI_Init_thread, &argc, &argv, MPI_THREAD_FUNNELED, &granted);
	DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	MUST(argc == 3);
	ms = atof(argv[2]);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		if (!strcmp(argv[1], what[i].name))
			what[i].run();
	DO(MPI_Finalize);
	accounts_write();
	expect_write(PROG, rank);
	return 0;
}
