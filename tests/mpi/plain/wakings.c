/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Wake-ups of two kinds, without MPI: one thread is woken 11 times by a timer, another 13 times by a thread that
 * writes into its pipe once it sleeps. Prints "timer TID", "reader TID", "writer TID".
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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
		if (read(fds[0], &c, 1) != 1)
			abort();
	}
	return arg;
}

/* In a read that has blocked: /proc tells "running" until then. */
static int asleep(int tid)
{
	char path[64], line[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	f = fopen(path, "r");
	if (!f || !fgets(line, sizeof(line), f))
		abort();
	fclose(f);
	return line[0] != 'r' && atoi(line) == SYS_read;
}

int main(void)
{
	pthread_t t, r;

	if (pipe(fds) || pthread_create(&t, NULL, timer, NULL))
		return 1;
	pthread_join(t, NULL);
	if (pthread_create(&r, NULL, reader, NULL))
		return 1;
	tell("writer");
	for (int i = 0; i < WRITES; i++) {
		while (!reader_tid || bytes_read != i || !asleep(reader_tid))
			sched_yield();
		if (write(fds[1], "x", 1) != 1)
			return 1;
	}
	pthread_join(r, NULL);
	return 0;
}
