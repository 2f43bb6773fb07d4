/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * counting DIRECTORY: makes MPI calls without end. After each call it increments DIRECTORY/<rank>,
 * a 64-bit number in memory that outlives the process. A killed rank has made that many calls in
 * this loop, or one more.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "expect.h"

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
	close(fd);
	return p;
}

int main(int argc, char **argv)
{
	volatile unsigned long long *cnt;
	char out = 0, in;
	MPI_Request req;

	expect_init(&argc, &argv);
	MUST(argc > 1);
	cnt = counter_map(argv[1]);
	for (;;) {
		MPI_Isend(&out, 1, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &req);
		++*cnt;
		MPI_Recv(&in, 1, MPI_CHAR, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		++*cnt;
		MPI_Wait(&req, MPI_STATUS_IGNORE);
		++*cnt;
	}
}
