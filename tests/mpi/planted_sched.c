/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two ranks and CPU problems of known size: planted_sched SCENE,... MILLISECONDS. Below, T is
 * MILLISECONDS.
 *
 *	starve	rank 0 waits 4 T for a message on CPU 0, where two of its own threads compute; rank
 *		1 has CPU 1
 *	share	both ranks compute on CPU 0 for T of CPU time each
 *	spin	both on CPU 0: rank 0 computes for T before it sends what rank 1 polls for
 *	over	three threads of rank 0 compute for T each on CPU 0; rank 1, on CPU 1, sleeps
 *	preempt	rank 0 waits T for a message on CPU 0, where another program should compute; rank 1
 *		has CPU 1
 *	storm	rank 0 moves MOVES times from one CPU to the other
 *	tiny	rank 0 sends rank 1 TINY messages of 8 bytes in a row and gets an answer,
 *		TINY_ROUNDS times
 *	funnel	every rank sends rank 0 FUNNELS messages of FUNNEL bytes
 *	nothing	each has its own CPU, computes for T and gets a message
 *	hog	for T, one thread of each rank computes, another sleeps and computes by turns, and
 *		the main thread communicates. There are few wake-ups a second: at each one that
 *		preempts, the kernel charges the woken thread from the moment of waking, some us
 *		before it runs
 *	hog1	same, without the thread that sleeps
 *
 * planted-waits gets a line for each thread: {"scene", "rank", "pid", "tid", "role", "wall_ns",
 * "cpu_ns" by its own clock, "wait_ns": time it waited for a CPU by the kernel's account, "moves",
 * "sent_ns": time to send the tiny messages}.
 */
#include <sched.h>

#include "planted.h"

#define THREADS_MAX 3
#define MOVES 1009
#define TINY 2003
#define TINY_ROUNDS 30
#define FUNNEL (1 << 12)
#define FUNNELS 10240

struct account {
	const char *role;
	int tid;
	unsigned long long wall_ns, cpu_ns, wait_ns, moves, sent_ns;
};

static struct account accounts[THREADS_MAX + 1]; /* [0]: the thread that calls MPI */
static double ms;
static volatile int stop;

static void account_begin(struct account *a, const char *role)
{
	*a = (struct account){.role = role, .tid = (int)syscall(SYS_gettid)};
	a->wait_ns = schedstat_wait_ns(a->tid);
	a->wall_ns = now_ns();
	a->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void account_end(struct account *a)
{
	a->wait_ns = schedstat_wait_ns(a->tid) - a->wait_ns;
	a->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - a->cpu_ns;
	a->wall_ns = now_ns() - a->wall_ns;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	MUST(sched_setaffinity(0, sizeof(set), &set) == 0);
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
	compute_ms(ms);
	account_end(arg);
	return NULL;
}

static void threads_beside(void *(*what)(void *arg), int n, int from)
{
	pthread_t thread[THREADS_MAX];

	stop = 0;
	for (int i = 0; i < n; i++)
		MUST(!pthread_create(&thread[i], NULL, what, &accounts[i + 1]));
	if (from) {
		account_begin(&accounts[0], "mpi");
		pass(from, 0, 8);
		account_end(&accounts[0]);
	}
	stop = 1;
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static void starve(void)
{
	pin(rank);
	if (!rank) {
		threads_beside(compute_until_stop, 2, 1);
		return;
	}
	sleep_ms(4 * ms);
	pass(1, 0, 8);
}

static void preempt(void)
{
	pin(rank);
	account_begin(&accounts[0], "mpi");
	if (rank)
		sleep_ms(ms);
	pass(1, 0, 8);
	account_end(&accounts[0]);
}

static void tiny(void)
{
	account_begin(&accounts[0], "main");
	pin(rank);
	for (int i = 0; i < TINY_ROUNDS; i++) {
		unsigned long long begin_ns = now_ns();

		for (int k = 0; k < TINY; k++)
			pass(0, 1, 8);
		accounts[0].sent_ns += now_ns() - begin_ns;
		pass(1, 0, 8);
	}
	account_end(&accounts[0]);
}

static void funnel(void)
{
	for (int i = 0; i < FUNNELS; i++)
		for (int k = 1; k < size; k++)
			pass(k, 0, FUNNEL);
}

static void share(void)
{
	pin(0);
	account_begin(&accounts[0], "main");
	compute_ms(ms);
	account_end(&accounts[0]);
}

static void spin(void)
{
	pin(0);
	account_begin(&accounts[0], "main");
	if (!rank)
		compute_ms(ms);
	account_end(&accounts[0]);
	pass(0, 1, 8);
}

static void over(void)
{
	pin(rank);
	if (rank)
		sleep_ms(3 * ms);
	else
		threads_beside(compute_share, 3, 0);
}

static void storm(void)
{
	account_begin(&accounts[0], "main");
	pin(0);
	for (int i = 0; !rank && i < MOVES; i++) {
		pin(++accounts[0].moves & 1);
		work();
	}
	account_end(&accounts[0]);
}

static void nothing(void)
{
	pin(rank);
	compute_ms(ms);
	pass(0, 1, 8);
}

static void *compute_long(void *arg)
{
	unsigned long long until = now_ns() + (unsigned long long)(ms * 1e6);

	account_begin(arg, "compute");
	while (now_ns() < until)
		work();
	account_end(arg);
	return NULL;
}

static void *doze(void *arg)
{
	unsigned long long until = now_ns() + (unsigned long long)(ms * 1e6);

	account_begin(arg, "doze");
	while (now_ns() < until) {
		usleep(19000);
		for (int i = 0; i < 15; i++)
			work();
	}
	account_end(arg);
	return NULL;
}

static void hog(void)
{
	unsigned long long until = now_ns() + (unsigned long long)(ms * 1e6);
	int other = !rank, go = 1;
	static char in[1024];
	pthread_t t[2];

	account_begin(&accounts[0], "communicate");
	accounts[0].wait_ns = 0; /* over its whole life */
	for (int i = 0; i < scene->arg; i++)
		MUST(!pthread_create(&t[i], NULL, i ? doze : compute_long, &accounts[i + 1]));
	while (go) {
		CALL(MPI_Sendrecv, other, 1009, 1009, message, 1009, MPI_CHAR, other, 3, in, 1009,
		     MPI_CHAR, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 0)
			go = now_ns() < until;
		MOVE(MPI_Bcast, rank ? 0 : 4, rank ? 4 : 0, &go, 1, MPI_INT, 0, MPI_COMM_WORLD);
		usleep(23000);
	}
	for (int i = 0; i < scene->arg; i++)
		pthread_join(t[i], NULL);
	account_end(&accounts[0]);
}

static void play(void)
{
	scene->run();
	for (struct account *a = accounts; a <= &accounts[THREADS_MAX]; a++)
		if (a->role)
			fprintf(notes,
				"{\"scene\":\"%s\",\"rank\":%d,\"pid\":%d,\"tid\":%d,\"role\":\"%s\","
				"\"wall_ns\":%llu,\"cpu_ns\":%llu,\"wait_ns\":%llu,\"moves\":%llu,\"sent_ns\":%llu}\n",
				scene->name, rank, (int)getpid(), a->tid, a->role, a->wall_ns,
				a->cpu_ns, a->wait_ns, a->moves, a->sent_ns);
	memset(accounts, 0, sizeof(accounts));
}

int main(int argc, char **argv)
{
	static const struct scene scenes[] = {{"starve", starve, 0},   {"share", share, 0},
					      {"spin", spin, 0},       {"over", over, 0},
					      {"storm", storm, 0},     {"preempt", preempt, 0},
					      {"tiny", tiny, 0},       {"funnel", funnel, 0},
					      {"nothing", nothing, 0}, {"hog", hog, 2},
					      {"hog1", hog, 1}};

	expect_init_thread(&argc, &argv, MPI_THREAD_FUNNELED);
	MUST(argc == 3);
	ms = atof(argv[2]);
	notes = expect_open("planted-waits", rank);
	SCENES_RUN(scenes, argv[1], play);
	expect_finish();
	return 0;
}
