/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Threads that compute, sleep and communicate while more of them want a CPU than there are CPUs. Each
 * thread reads its own CPU clock and the kernel's account of it (schedstat: ns run, ns waited for a
 * CPU) at its end and prints them with its wall time, so that what the tracer says about its states
 * can be compared. Few wake-ups a second: on each that preempts, the kernel charges the woken thread from the
 * moment of waking, some µs before it runs. Usage: hog [SECONDS [COMPUTING THREADS]]
 *
 * One line a thread: {"prog":"hog","rank":…,"pid":…,"tid":…,"role":…,"wall_ns":…,"cpu_ns":…,
 * "run_ns":…,"wait_ns":…}, into $POV_EXPECT or to stdout.
 */
#include "planted.h"

#define THREADS_MAX 16

struct account {
	const char *role;
	int tid;
	unsigned long long begin_ns, end_ns, cpu_ns;
	unsigned long long cpu_begin_ns; /* what the thread had used before */
	struct schedstat stat;
};

static struct account accounts[THREADS_MAX + 1];
static double seconds = 2;

static void account_begin(struct account *a, const char *role)
{
	a->role = role;
	a->tid = (int)syscall(SYS_gettid);
	a->cpu_begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	a->begin_ns = now_ns();
}

static void account_end(struct account *a)
{
	a->stat = schedstat_of(a->tid);
	a->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - a->cpu_begin_ns;
	a->end_ns = now_ns();
}

static unsigned long long end_of(const struct account *a)
{
	return a->begin_ns + (unsigned long long)(seconds * 1e9);
}

static void *compute(void *arg)
{
	account_begin(arg, "compute");
	while (now_ns() < end_of(arg))
		work();
	account_end(arg);
	return NULL;
}

static void *doze(void *arg)
{
	account_begin(arg, "doze");
	while (now_ns() < end_of(arg)) {
		usleep(19000);
		for (int i = 0; i < 15; i++)
			work();
	}
	account_end(arg);
	return NULL;
}

static void communicate(int other)
{
	unsigned long long until = now_ns() + (unsigned long long)(seconds * 1e9);
	char out[1024] = "", in[1024];
	int go = 1;

	while (go) {
		CALL(MPI_Sendrecv, other, 1009, 1009, out, 1009, MPI_CHAR, other, 3, in, 1009,
		     MPI_CHAR, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 0)
			go = now_ns() < until;
		MOVE(MPI_Bcast, rank ? 0 : 4, rank ? 4 : 0, &go, 1, MPI_INT, 0, MPI_COMM_WORLD);
		usleep(23000);
	}
}

static void accounts_write(int n)
{
	FILE *f = expect_open("hog-times", rank);

	for (struct account *a = accounts; a < accounts + n; a++)
		fprintf(f,
			"{\"prog\":\"hog\",\"rank\":%d,\"pid\":%d,\"tid\":%d,\"role\":\"%s\","
			"\"begin_ns\":%llu,\"end_ns\":%llu,\"wall_ns\":%llu,\"cpu_ns\":%llu,"
			"\"run_ns\":%llu,\"wait_ns\":%llu}\n",
			rank, (int)getpid(), a->tid, a->role, a->begin_ns, a->end_ns,
			a->end_ns - a->begin_ns, a->cpu_ns, a->stat.run_ns, a->stat.wait_ns);
	expect_close(f);
}

int main(int argc, char **argv)
{
	int threads = 2;
	pthread_t t[THREADS_MAX];

	if (argc > 1)
		seconds = atof(argv[1]);
	if (argc > 2)
		threads = atoi(argv[2]);
	MUST(threads >= 0 && threads < THREADS_MAX);
	account_begin(&accounts[0], "communicate");
	expect_init_thread(&argc, &argv, MPI_THREAD_FUNNELED);
	MUST(size == 2);
	for (int i = 0; i < threads; i++)
		MUST(!pthread_create(&t[i], NULL, i % 2 ? doze : compute, &accounts[i + 1]));
	communicate(1 - rank);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	account_end(&accounts[0]);
	accounts_write(threads + 1);
	expect_finish();
	return 0;
}
