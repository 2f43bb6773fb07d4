/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Wake-ups of two kinds, without MPI: a timer wakes one thread 11 times; another one is woken 13
 * times by a thread that writes into its pipe once it sleeps. Prints "timer TID", "reader TID",
 * "writer TID".
 */
#define EXPECT_WITHOUT_MPI
#include "../expect.h"

#include <sched.h>
#include <sys/syscall.h>

#define SLEEPS 11
#define WRITES 13

static int fds[2];
static volatile int reader_tid, bytes_read;

static int tell(const char *who)
{
	int tid = (int)syscall(SYS_gettid);

	printf("%s %d\n", who, tid);
	fflush(stdout);
	return tid;
}

static void *timer(void *arg)
{
	tell("timer");
	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
	return arg;
}

static void *reader(void *arg)
{
	char c;

	reader_tid = tell("reader");
	for (int i = 0; i < WRITES; i++) {
		bytes_read = i;
		MUST(read(fds[0], &c, 1) == 1);
	}
	return arg;
}

/* Whether the thread is blocked in a read; /proc shows "running" until then. */
static int asleep(int tid)
{
	char path[64], line[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	f = fopen(path, "r");
	MUST(f && fgets(line, sizeof(line), f));
	fclose(f);
	return line[0] != 'r' && atoi(line) == SYS_read;
}

int main(void)
{
	pthread_t r;

	MUST(!pipe(fds));
	threads_run(1, timer, 0);
	MUST(!pthread_create(&r, NULL, reader, NULL));
	tell("writer");
	for (int i = 0; i < WRITES; i++) {
		while (!reader_tid || bytes_read != i || !asleep(reader_tid))
			sched_yield();
		MUST(write(fds[1], "x", 1) == 1);
	}
	pthread_join(r, NULL);
	return 0;
}
