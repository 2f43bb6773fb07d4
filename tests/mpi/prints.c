/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Ranks that print a line after each barrier, each with a thread that does the same. Each rank asks
 * the kernel what it has written (/proc/self/io), and writes "RANK PID BYTES CALLS" to
 * $POV_EXPECT/written.RANK, including that line itself. It writes nothing after that. Usage: prints
 * [DIR]. With DIR it first writes much, waits until DIR/go exists, and counts what it has written
 * since; then it waits for DIR/over.
 */
#include <fcntl.h>

#include "expect.h"

#define LINES 211
#define LAST_BYTES 80

struct written {
	long long bytes, calls;
};

static struct written written_now(void)
{
	struct written w = {-1, -1};
	char text[1024] = "", *at;
	int fd = open("/proc/self/io", O_RDONLY);

	MUST(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	at = strstr(text, "wchar: ");
	MUST(at && sscanf(at, "wchar: %lld", &w.bytes) == 1);
	at = strstr(text, "syscw: ");
	MUST(at && sscanf(at, "syscw: %lld", &w.calls) == 1);
	return w;
}

static void *print_lines(void *arg)
{
	for (int i = 0; i < LINES; i++) {
		if (!arg)
			MPI_Barrier(MPI_COMM_WORLD);
		printf("rank %d, step %d\n", rank, i);
		fflush(stdout);
	}
	return NULL;
}

static void print_all(void)
{
	pthread_t t;

	MUST(!pthread_create(&t, NULL, print_lines, &rank));
	print_lines(NULL);
	pthread_join(t, NULL);
}

static void wait_for(const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	while (access(path, F_OK))
		usleep(10000);
}

int main(int argc, char **argv)
{
	struct written before = {0}, now;
	char line[4 * LAST_BYTES], path[512];
	int fd;

	expect_init(&argc, &argv);
	print_all();
	if (argc > 1) {
		printf("ready\n");
		fflush(stdout);
		wait_for(argv[1], "go");
		before = written_now();
		print_all();
	} else {
		MPI_Finalize();
	}
	snprintf(path, sizeof(path), "%s/written.%d", getenv("POV_EXPECT"), rank);
	fd = open(path, O_WRONLY | O_CREAT, 0666);
	now = written_now();
	snprintf(line, sizeof(line), "%d %d %lld %-*lld", rank, (int)getpid(),
		 now.bytes - before.bytes + LAST_BYTES, LAST_BYTES, now.calls - before.calls + 1);
	line[LAST_BYTES - 1] = '\n';
	MUST(write(fd, line, LAST_BYTES) == LAST_BYTES);
	if (argc > 1) {
		wait_for(argv[1], "over");
		MPI_Finalize();
	}
	return 0;
}
