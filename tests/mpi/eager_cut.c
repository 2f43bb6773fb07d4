/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Whether the library sends messages eagerly: eager_cut POLLS:SAYS:BYTES... Rank 0 sends BYTES to
 * rank 1. Rank 1 starts to receive once the send has returned, or after a time without success.
 * Meanwhile it is in MPI (POLLS is "polls") or not ("sleeps"). SAYS is the expectation: "eager"
 * waits for the send as long as it may take on a busy machine, "waits" only for PAUSE_MS. Rank 0
 * prints each word with the result. Further ranks do nothing.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "planted.h"

#define TAG 7
#define PAUSE_MS 200
#define PATIENCE_MS 30000

/* Shared by both ranks: rank 1 is in its pause, and the send has returned. */
static volatile struct shared {
	int pausing, returned;
} * shared;

/* Creates memory that both ranks share without MPI. */
static void share(void)
{
	char path[] = "/tmp/eager_cut.XXXXXX";
	int fd = rank ? -1 : mkstemp(path);

	if (!rank)
		MUST(fd >= 0 && !ftruncate(fd, sizeof(*shared)));
	MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
	if (rank)
		fd = open(path, O_RDWR);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(fd >= 0 && shared != MAP_FAILED);
	close(fd);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		unlink(path);
}

static int returned_in_time(int polls, double ms)
{
	unsigned long long until = now_ns() + (unsigned long long)(ms * 1e6);
	int found;

	while (!shared->returned && now_ns() < until) {
		if (polls)
			MPI_Iprobe(0, TAG + 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
		else
			sleep_ms(1);
	}
	return shared->returned;
}

/* Runs on both ranks. */
static int is_eager(int bytes, int polls, double ms)
{
	char *data = calloc(bytes, 1);
	int eager = 0;

	shared->pausing = shared->returned = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		while (!shared->pausing) /* until rank 1 has left the barrier */
			sleep_ms(0.1);
		MPI_Send(data, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
		shared->returned = 1;
	} else if (rank == 1) {
		shared->pausing = 1;
		eager = returned_in_time(polls, ms);
		MPI_Recv(data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Bcast(&eager, 1, MPI_INT, 1, MPI_COMM_WORLD);
	free(data);
	return eager;
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	share();
	is_eager(1, 1, PATIENCE_MS); /* connects the two */
	for (int i = 1; i < argc; i++) {
		char meanwhile[8], says[8];
		int bytes, eager;

		MUST(sscanf(argv[i], "%7[a-z]:%7[a-z]:%d", meanwhile, says, &bytes) == 3);
		eager = is_eager(bytes, *meanwhile == 'p', *says == 'e' ? PATIENCE_MS : PAUSE_MS);
		if (!rank)
			printf("%s:%s:%d\n", meanwhile, eager ? "eager" : "waits", bytes);
	}
	MPI_Finalize();
	return 0;
}
