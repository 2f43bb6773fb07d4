/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * volumes BYTES ROUNDS: an all-to-all exchange, a broadcast, a halo exchange on a ring, and a shift
 * along it by nonblocking operations, each ROUNDS times in a separate phase. The volumes follow
 * from arithmetic: rank 0 prints for each phase its name, the function that moves the data, and the
 * bytes that must go from rank to rank. Before that, all pairs communicate, so that connections are
 * made outside the phases.
 */
#include "../../bpf/abi/mark.h"
#include "expect.h"

static int bytes, left, right;
static char *from, *to;

static void alltoall(void)
{
	MPI_Alltoall(from, bytes, MPI_CHAR, to, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static void bcast(void)
{
	MPI_Bcast(from, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void halo(void)
{
	MPI_Sendrecv(from, bytes, MPI_CHAR, right, 1, to, bytes, MPI_CHAR, left, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(from, bytes, MPI_CHAR, left, 2, to, bytes, MPI_CHAR, right, 2, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static void shift(void)
{
	MPI_Request req[2];

	MPI_Irecv(to, bytes, MPI_CHAR, left, 3, MPI_COMM_WORLD, &req[0]);
	MPI_Isend(from, bytes, MPI_CHAR, right, 3, MPI_COMM_WORLD, &req[1]);
	MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
}

static void phase(const char *name, const char *function, void (*exchange)(void), long volume,
		  int rounds)
{
	unsigned long long w[POV_MARK_WORDS] = {0};

	MPI_Barrier(MPI_COMM_WORLD);
	memcpy(w, name, strlen(name));
	MPI_Pcontrol(POV_MARK_BEGIN, w[0], w[1], w[2], w[3]);
	for (int i = 0; i < rounds; i++)
		exchange();
	MPI_Pcontrol(POV_MARK_END);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("%s %s %ld\n", name, function, volume * bytes * rounds);
}

int main(int argc, char **argv)
{
	int rounds;

	expect_init(&argc, &argv);
	MUST(argc == 3);
	bytes = atoi(argv[1]);
	rounds = atoi(argv[2]);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	from = calloc((size_t)size, (size_t)bytes);
	to = calloc((size_t)size, (size_t)bytes);
	alltoall();
	phase("alltoall", "MPI_Alltoall", alltoall, (long)size * (size - 1), rounds);
	phase("bcast", "MPI_Bcast", bcast, size - 1, rounds);
	phase("halo", "MPI_Sendrecv", halo, 2L * size, rounds);
	phase("shift", "MPI_Isend", shift, size, rounds);
	MPI_Finalize();
	return 0;
}
