/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Collectives: rooted, symmetric, vector, nonblocking, neighbourhood, and large-count forms where
 * the library has them. `sent` and `received` follow from this rank's own arguments: the total of a
 * vector, nothing for a buffer that is not significant here.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"
#include "exports.h"

#define RANKS_MAX 16
#define ROOM 65536
#define WORLD MPI_COMM_WORLD
#define NOWHERE 0x7a7a7a7a7a70

static char a[ROOM], b[ROOM];
static int counts[RANKS_MAX], displs[RANKS_MAX];

static void rooted(void)
{
	for (int i = 0; i < 41; i++) {
		int mine = rank == i % size;

		MOVE(MPI_Bcast, mine ? 1013 : 0, mine ? 0 : 1013, a, 1013, MPI_CHAR, i % size,
		     WORLD);
	}
	REPEAT(31, MOVE(MPI_Reduce, 109 * 4, rank ? 0 : 109 * 4, a, b, 109, MPI_INT, MPI_SUM, 0,
			WORLD));
	REPEAT(29, MOVE(MPI_Gather, 113, rank == 1 ? 113 * size : 0, a, 113, MPI_CHAR, b, 113,
			MPI_CHAR, 1, WORLD));
	REPEAT(23, MOVE(MPI_Scatter, rank ? 0 : 127 * size, 127, a, 127, MPI_CHAR, b, 127, MPI_CHAR,
			0, WORLD));
}

/* Lays out base + r elements from each rank r. Returns the total. */
static int lay_out(int base)
{
	int total = 0;

	for (int r = 0; r < size; r++) {
		counts[r] = base + r;
		displs[r] = total;
		total += counts[r];
	}
	return total;
}

static void vector(void)
{
	int sendcounts[RANKS_MAX], senddispls[RANKS_MAX], total = lay_out(131), mine = 131 + rank;
	int *at_root = rank ? NULL : counts, *from_root = rank ? NULL : displs;

	REPEAT(19, MOVE(MPI_Gatherv, mine, rank ? 0 : total, a, mine, MPI_CHAR, b, at_root,
			from_root, MPI_CHAR, 0, WORLD));
	REPEAT(17, MOVE(MPI_Scatterv, rank ? 0 : total, mine, a, at_root, from_root, MPI_CHAR, b,
			mine, MPI_CHAR, 0, WORLD));
	REPEAT(13, MOVE(MPI_Allgatherv, mine * 4, total * 4, a, mine, MPI_INT, b, counts, displs,
			MPI_INT, WORLD));
	for (int r = 0; r < size; r++) {
		sendcounts[r] = mine; /* this rank sends its own number to each … */
		senddispls[r] = r * mine;
	}
	/* … and so gets counts[r] from each r */
	REPEAT(37, MOVE(MPI_Alltoallv, mine * size * 8, total * 8, a, sendcounts, senddispls,
			MPI_DOUBLE, b, counts, displs, MPI_DOUBLE, WORLD));
}

static void symmetric(void)
{
	int n = lay_out(5), scan;

	REPEAT(43, MOVE(MPI_Allreduce, 137 * 8, 137 * 8, a, b, 137, MPI_DOUBLE, MPI_MAX, WORLD));
	REPEAT(11, MOVE(MPI_Allreduce, 7 * 4, 7 * 4, MPI_IN_PLACE, b, 7, MPI_INT, MPI_SUM, WORLD));
	REPEAT(47, MOVE(MPI_Allgather, 139, 139 * size, a, 139, MPI_CHAR, b, 139, MPI_CHAR, WORLD));
	REPEAT(53, MOVE(MPI_Alltoall, 149 * size, 149 * size, a, 149, MPI_CHAR, b, 149, MPI_CHAR,
			WORLD));
	REPEAT(7, MOVE(MPI_Reduce_scatter, n * 4, counts[rank] * 4, a, b, counts, MPI_INT, MPI_SUM,
		       WORLD));
	REPEAT(5, MOVE(MPI_Reduce_scatter_block, 151 * 4 * size, 151 * 4, a, b, 151, MPI_INT,
		       MPI_SUM, WORLD));
	REPEAT(3, MOVE(MPI_Scan, 4, 4, &rank, &scan, 1, MPI_INT, MPI_SUM, WORLD));
	REPEAT(2, MOVE(MPI_Exscan, 4, rank ? 4 : 0, &rank, &scan, 1, MPI_INT, MPI_SUM, WORLD));
	REPEAT(59, DO(MPI_Barrier, WORLD));
}

static void nonblocking(void)
{
	MPI_Request req;
	int flag, total = lay_out(157), mine = 157 + rank;

	for (int i = 0; i < 19; i++) {
		DO(MPI_Ibarrier, WORLD, &req);
		POLL_UNTIL(MPI_Test, flag, &req, &flag, MPI_STATUS_IGNORE);
	}
#define AND_WAIT(call) (call, DO(MPI_Wait, &req, MPI_STATUS_IGNORE))
	REPEAT(17, AND_WAIT(MOVE(MPI_Iallreduce, 163 * 4, 163 * 4, a, b, 163, MPI_FLOAT, MPI_SUM,
				 WORLD, &req)));
	REPEAT(13, AND_WAIT(MOVE(MPI_Ibcast, rank ? 0 : 167, rank ? 167 : 0, a, 167, MPI_CHAR, 0,
				 WORLD, &req)));
	REPEAT(11, AND_WAIT(MOVE(MPI_Ialltoall, 173 * size, 173 * size, a, 173, MPI_CHAR, b, 173,
				 MPI_CHAR, WORLD, &req)));
	REPEAT(7, AND_WAIT(MOVE(MPI_Iallgatherv, mine, total, a, mine, MPI_CHAR, b, counts, displs,
				MPI_CHAR, WORLD, &req)));
}

/*
 * Arguments that are not significant at a rank may be invalid: datatypes and lengths that only
 * matter at the root, and those that MPI_IN_PLACE replaces. Here they point nowhere.
 */
static void meaningless(void)
{
	const MPI_Datatype none = (MPI_Datatype)(uintptr_t)NOWHERE, theirs = rank ? none : MPI_INT;
	const int *nowhere = (const int *)NOWHERE, *ones = counts, *lengths = rank ? nowhere : ones;
	const int *at = rank ? nowhere : displs;
	int whole = rank ? 0 : size * 4, mine = rank, all[RANKS_MAX];

	for (int r = 0; r < size; r++) {
		counts[r] = 1;
		displs[r] = r;
	}
	MOVE(MPI_Gather, 4, whole, &mine, 1, MPI_INT, all, 1, theirs, 0, WORLD);
	MOVE(MPI_Scatter, whole, 4, all, 1, theirs, &mine, 1, MPI_INT, 0, WORLD);
	MUST(mine == rank);
	MOVE(MPI_Gatherv, 4, whole, &mine, 1, MPI_INT, all, lengths, at, theirs, 0, WORLD);
	MOVE(MPI_Scatterv, whole, 4, all, lengths, at, theirs, &mine, 1, MPI_INT, 0, WORLD);
	MUST(mine == rank);
	MOVE(MPI_Alltoallv, size * 4, size * 4, MPI_IN_PLACE, nowhere, nowhere, none, all, ones,
	     displs, MPI_INT, WORLD);
	MOVE(MPI_Allgather, 4, size * 4, MPI_IN_PLACE, 0, none, all, 1, MPI_INT, WORLD);
}

/* Allocates a list of equal numbers; memory after its end cannot be read. */
static int *list_of(int number, int cnt)
{
	long page = sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	int *list = (int *)(memory + page) - cnt;

	MUST(memory != MAP_FAILED && cnt <= RANKS_MAX && !mprotect(memory + page, page, PROT_NONE));
	for (int i = 0; i < cnt; i++)
		list[i] = number;
	return list;
}

/*
 * Rank 0 and the others, each group of which sees the other. Lists are as long as the remote group,
 * for a scattered reduction as the local one. Nobody looks at the arguments of those who neither
 * are the root nor send to it.
 */
static void two_groups(void)
{
	const MPI_Datatype none = (MPI_Datatype)(uintptr_t)NOWHERE;
	const int *nowhere = (const int *)NOWHERE;
	int alone = rank == 0, remote = alone ? size - 1 : 1, local = size - remote, here, there;
	int *each = list_of(7, remote), *zeros = list_of(0, remote);
	int *parts = list_of(alone ? 5 * (size - 1) : 5, local);
	MPI_Comm side, both;

	DO(MPI_Comm_split, WORLD, alone, 0, &side);
	DO(MPI_Intercomm_create, side, 0, WORLD, alone, 3, &both);
	DO(MPI_Comm_size, both, &here);
	MUST(here == local);
	DO(MPI_Comm_remote_size, both, &there);
	MUST(there == remote);
	MOVE(MPI_Alltoallv, 7 * remote, 7 * remote, a, each, zeros, MPI_CHAR, b, each, zeros,
	     MPI_CHAR, both);
	MOVE(MPI_Reduce_scatter, 5 * (size - 1) * 4, parts[0] * 4, a, b, parts, MPI_INT, MPI_SUM,
	     both);
	if (alone)
		MOVE(MPI_Gatherv, 11, 0, a, 11, MPI_CHAR, NULL, nowhere, nowhere, none, 0, both);
	else if (rank == 1)
		MOVE(MPI_Gatherv, 0, 11, NULL, 0, none, b, list_of(11, 1), zeros, MPI_CHAR,
		     MPI_ROOT, both);
	else
		MOVE(MPI_Gatherv, 0, 0, NULL, 0, none, NULL, nowhere, nowhere, none, MPI_PROC_NULL,
		     both);
	DO(MPI_Comm_free, &both);
	DO(MPI_Comm_free, &side);
}

/*
 * On a ring each rank has two neighbours, left and right (the same rank twice if there are two
 * ranks).
 */
static void neighbours_cart(void)
{
	int dims[1] = {size}, periods[1] = {1}, two[2] = {179, 181}, at[2] = {0, 181};
	int swapped[2] = {181, 179};
	MPI_Comm ring;

	DO(MPI_Cart_create, WORLD, 1, dims, periods, 0, &ring);
	REPEAT(23, MOVE(MPI_Neighbor_allgather, 191, 2 * 191, a, 191, MPI_CHAR, b, 191, MPI_CHAR,
			ring));
	REPEAT(19, MOVE(MPI_Neighbor_alltoall, 2 * 193, 2 * 193, a, 193, MPI_CHAR, b, 193, MPI_CHAR,
			ring));
	/* data sent to the left arrive from the right */
	REPEAT(17, MOVE(MPI_Neighbor_alltoallv, 360, 360, a, two, at, MPI_CHAR, b, swapped, at,
			MPI_CHAR, ring));
	DO(MPI_Comm_free, &ring);
}

/* Rank r sends to r+1 only; rank 0 also to itself, so that degrees differ. */
static void neighbours_graph(void)
{
	int src[2] = {(rank + size - 1) % size, 0}, dst[2] = {(rank + 1) % size, 0};
	int degree = rank == 0 ? 2 : 1;
	MPI_Comm graph;

	DO(MPI_Dist_graph_create_adjacent, WORLD, degree, src, MPI_UNWEIGHTED, degree, dst,
	   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	REPEAT(13, MOVE(MPI_Neighbor_allgather, 197, degree * 197, a, 197, MPI_CHAR, b, 197,
			MPI_CHAR, graph));
	REPEAT(11, MOVE(MPI_Neighbor_alltoall, degree * 199, degree * 199, a, 199, MPI_CHAR, b, 199,
			MPI_CHAR, graph));
	DO(MPI_Comm_free, &graph);
}

/*
 * A star around rank 0, whose ranks have different numbers of neighbours. Each rank asks for all
 * ranks' numbers, for rank 0's last.
 */
static void neighbours_star(void)
{
	int index[RANKS_MAX], edges[2 * RANKS_MAX], mine = rank ? 1 : size - 1, me, n;
	int *ones = list_of(1, mine), *zeros = list_of(0, mine);
	MPI_Comm star;

	for (int r = 0; r < size; r++) {
		index[r] = size - 1 + r;
		edges[r] = r + 1; /* rank 0's; the last one is overwritten */
	}
	for (int r = 1; r < size; r++)
		edges[size - 2 + r] = 0;
	DO(MPI_Graph_create, WORLD, size, index, edges, 0, &star);
	DO(MPI_Comm_rank, star, &me);
	MUST(me == rank);
	for (int r = size - 1; r >= 0; r--)
		DO(MPI_Graph_neighbors_count, star, r, &n);
	MUST(n == size - 1);
	REPEAT(7, MOVE(MPI_Neighbor_alltoallv, mine, mine, a, ones, zeros, MPI_CHAR, b, ones, zeros,
		       MPI_CHAR, star));
	DO(MPI_Comm_free, &star);
}

static void large_counts(void)
{
#ifdef HAS_MPI_Bcast_c
	MPI_Count n[RANKS_MAX];
	MPI_Aint at[RANKS_MAX];

	REPEAT(7, MOVE(MPI_Bcast_c, rank ? 0 : 211, rank ? 211 : 0, a, (MPI_Count)211, MPI_CHAR, 0,
		       WORLD));
	REPEAT(5, MOVE(MPI_Allreduce_c, 223 * 8, 223 * 8, a, b, (MPI_Count)223, MPI_DOUBLE, MPI_SUM,
		       WORLD));
	for (int r = 0; r < size; r++) {
		n[r] = 227;
		at[r] = r * 227;
	}
	REPEAT(3, MOVE(MPI_Alltoallv_c, 227 * size, 227 * size, a, n, at, MPI_CHAR, b, n, at,
		       MPI_CHAR, WORLD));
#endif
}

int main(int argc, char **argv)
{
	expect_init(&argc, &argv);
	MUST(size >= 2 && size <= RANKS_MAX);
	rooted();
	vector();
	symmetric();
	nonblocking();
	meaningless();
	two_groups();
	neighbours_cart();
	neighbours_graph();
	neighbours_star();
	large_counts();
	expect_finish();
	return 0;
}
