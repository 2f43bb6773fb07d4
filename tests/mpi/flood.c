/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Calls of a rank to itself, as fast as possible.
 *
 *	flood ROUNDS	each round sends and receives a message (three calls that must be recorded
 *			one by one) and polls for one that never comes. At the end each rank
 *			prints: flood, rank, calls made, ns taken
 *	flood storm SECONDS [CALM_SECONDS]
 *			as fast as possible for SECONDS, then a hundred rounds a second for
 *			CALM_SECONDS: a message, and tests of both ends until they complete. Every
 *			thousandth round ends with an MPI_Allreduce of this rank alone, which by its
 *			kind waits for others. Every 10 ms come a few other calls. Rank 0 prints
 *			the storm's end (CLOCK_MONOTONIC, ns)
 *	flood idle TESTS
 *			tests a receive that often without a message, then sends itself the message
 *			and tests until it arrives. The library's polls in those tests are nested
 *	flood hidden	long calls that contain thousands of short ones, so that with small rings
 *			the records of long calls are lost as well. Prints "long BEGIN END",
 *			CLOCK_MONOTONIC, of a period within each long call
 *	flood nonstop	three threads that call MPI without a pause, with nested calls, until
 *			SIGTERM. At any moment most of them are in a call, so errors at the
 *			beginning or the end of a recording show at once. Prints "nonstop PID"
 *			when it has started
 *	flood counting DIRECTORY
 *			makes calls without end, and after each increments DIRECTORY/<rank>, a
 *			64-bit number in memory that outlives the process. A killed rank has made
 *			that many calls in this loop, or one more
 */
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include "expect.h"

#define MESSAGE_BYTES 61
#define WAIT_EVERY 1000
#define BESIDE_NS 10000000
#define LONG_CALLS 23
#define SHORT_CALLS 20011
#define THREADS 3

static char out[MESSAGE_BYTES], in[MESSAGE_BYTES];
/* These enter the books only at the end, so that bookkeeping does not slow the loop. */
static unsigned long rounds, tests, empty, waits, beside;

static void flood(char **args)
{
	unsigned long long begin;
	MPI_Request req;
	int flag;

	rounds = strtoul(args[0], NULL, 10);
	DO(MPI_Barrier, MPI_COMM_WORLD);
	begin = now_ns();
	for (unsigned long i = 0; i < rounds; i++) {
		MPI_Isend(out, MESSAGE_BYTES, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &req);
		MPI_Recv(in, MESSAGE_BYTES, MPI_CHAR, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Wait(&req, MPI_STATUS_IGNORE);
		MPI_Iprobe(rank, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		MUST(!flag);
	}
	printf("flood %d %lu %llu\n", rank, 4 * rounds, now_ns() - begin);
	expect_add("MPI_Isend", rank, rounds, rounds * MESSAGE_BYTES, 0, 0);
	expect_add("MPI_Recv", rank, rounds, 0, rounds * MESSAGE_BYTES, 0);
	expect_add("MPI_Wait", NO_PEER, rounds, 0, 0, 0);
	expect_add("MPI_Iprobe", NO_PEER, rounds, 0, 0, rounds);
	DO(MPI_Barrier, MPI_COMM_WORLD);
}

/* ---- storm ---- */

static void request_finish(MPI_Request *req)
{
	int flag;

	do {
		MPI_Test(req, &flag, MPI_STATUS_IGNORE);
		tests++;
		empty += !flag;
	} while (!flag);
}

static const char *const beside_functions[] = {
	"MPI_Testall",	      "MPI_Testany",	 "MPI_Topo_test",
	"MPI_Is_thread_main", "MPI_Initialized", "MPI_Type_size",
};

/* Calls that cost little, of functions near those of the storm. */
static void beside_make(void)
{
	int flag, cnt;

	MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
	MPI_Testany(0, NULL, &cnt, &flag, MPI_STATUS_IGNORE);
	MPI_Topo_test(MPI_COMM_SELF, &flag);
	MPI_Is_thread_main(&flag);
	MPI_Initialized(&flag);
	MPI_Type_size(MPI_INT, &cnt);
	beside++;
}

static void rounds_make(double seconds, unsigned int pause_us)
{
	unsigned long long now, until = now_ns() + (unsigned long long)(seconds * 1e9), next = 0;
	MPI_Request req[2];
	int one = 1, sum;

	while ((now = now_ns()) < until) {
		if (now >= next) {
			beside_make();
			next = now + BESIDE_NS;
		}
		MPI_Irecv(in, MESSAGE_BYTES, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &req[0]);
		MPI_Isend(out, MESSAGE_BYTES, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &req[1]);
		request_finish(&req[0]);
		request_finish(&req[1]);
		if (++rounds % WAIT_EVERY == 0) {
			MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
			waits++;
		}
		if (pause_us)
			usleep(pause_us);
	}
}

static void storm(char **args)
{
	DO(MPI_Barrier, MPI_COMM_WORLD);
	rounds_make(atof(args[0]), 0);
	if (!rank)
		printf("storm over %llu\n", now_ns());
	fflush(stdout);
	rounds_make(args[1] ? atof(args[1]) : 0, 10000);
	expect_add("MPI_Irecv", rank, rounds, 0, rounds * MESSAGE_BYTES, 0);
	expect_add("MPI_Isend", rank, rounds, rounds * MESSAGE_BYTES, 0, 0);
	expect_add("MPI_Test", NO_PEER, tests, 0, 0, empty);
	if (waits)
		expect_add("MPI_Allreduce", NO_PEER, waits, 0, 0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(beside_functions); i++)
		expect_add(beside_functions[i], NO_PEER, beside, 0, 0, 0);
	DO(MPI_Barrier, MPI_COMM_WORLD);
}

/* ---- idle ---- */

static void idle(char **args)
{
	int sent = 42, got = 0, flag = 0;
	MPI_Request receive, send;

	MOVE(MPI_Irecv, 0, sizeof(got), &got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &receive);
	for (long i = 0; i < atol(args[0]); i++) {
		POLL(MPI_Test, flag, &receive, &flag, MPI_STATUS_IGNORE);
		MUST(!flag);
	}
	CALL(MPI_Isend, 0, sizeof(sent), 0, &sent, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &send);
	while (!flag)
		POLL(MPI_Test, flag, &receive, &flag, MPI_STATUS_IGNORE);
	MUST(got == sent);
	DO(MPI_Wait, &send, MPI_STATUS_IGNORE);
}

/* ---- calls within calls: those of a program's own operation ---- */

static unsigned long long begin[LONG_CALLS], end[LONG_CALLS];
static int calls;

static void combine_long(void *from, void *to, int *len, MPI_Datatype *type)
{
	int bytes;

	begin[calls] = now_ns();
	for (int i = *len; i <= SHORT_CALLS; i++)
		MPI_Type_size(*type, &bytes);
	end[calls++] = now_ns();
}

static void hidden(char **args)
{
	double a = 1, b = 2;
	MPI_Op op;

	MPI_Op_create(combine_long, 1, &op);
	REPEAT(LONG_CALLS, MPI_Reduce_local(&a, &b, 1, MPI_DOUBLE, op));
	for (int i = 0; i < LONG_CALLS; i++)
		printf("long %llu %llu\n", begin[i], end[i]);
}

static volatile sig_atomic_t over;
static MPI_Op combine_op;

static void on_signal(int sig)
{
	over = sig;
}

static void combine(void *from, void *to, int *len, MPI_Datatype *type)
{
	int bytes;

	for (int i = 0; i < *len; i++)
		((double *)to)[i] += ((double *)from)[i];
	MPI_Type_size(*type, &bytes);
}

static void *calls_make(void *arg)
{
	double a[211] = {0}, b[211] = {0};

	while (!over)
		MPI_Reduce_local(a, b, 211, MPI_DOUBLE, combine_op);
	return arg;
}

static void nonstop(char **args)
{
	signal(SIGTERM, on_signal);
	MPI_Op_create(combine, 1, &combine_op);
	printf("nonstop %d\n", (int)getpid());
	fflush(stdout);
	threads_run(THREADS, calls_make, 0);
	MPI_Op_free(&combine_op);
}

/* ---- counting ---- */

static volatile unsigned long long *counter_map(const char *directory)
{
	char path[4096];
	void *p;
	int fd;

	snprintf(path, sizeof(path), "%s/%d", directory, rank);
	fd = open(path, O_RDWR | O_CREAT, 0644);
	MUST(fd >= 0 && !ftruncate(fd, 4096));
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(p != MAP_FAILED);
	return p;
}

static void counting(char **args)
{
	volatile unsigned long long *cnt = counter_map(args[0]);
	MPI_Request req;

	for (;;) {
		MPI_Isend(out, 1, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &req);
		++*cnt;
		MPI_Recv(in, 1, MPI_CHAR, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		++*cnt;
		MPI_Wait(&req, MPI_STATUS_IGNORE);
		++*cnt;
	}
}

int main(int argc, char **argv)
{
	static const struct mode modes[] = {{"storm", storm},
					    {"idle", idle},
					    {"hidden", hidden},
					    {"nonstop", nonstop},
					    {"counting", counting}};

	MUST(argc > 1);
	if (!strcmp(argv[1], "nonstop"))
		expect_init_thread(&argc, &argv, MPI_THREAD_MULTIPLE);
	else
		expect_init(&argc, &argv);
	if (isdigit(argv[1][0]))
		flood(argv + 1);
	else
		MODE_RUN(modes, argv + 1);
	expect_finish();
	return 0;
}
