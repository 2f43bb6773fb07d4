/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Decoding of collectives, one-sided and file operations: bytes each way; what constructors teach. */
#include <stdio.h>
#include <string.h>

#include "unit/test.h"
#include "layer_fixture.h"

/* MPICH: rank 1 of 4 */
#define WORLD 0x44000000ull
#define SELF 0x44000001ull
#define NEWCOMM 0x84000002u
#define INT 0x4c000405ull
#define DOUBLE 0x4c00080bull
#define NEWTYPE 0x8c000010u
#define IN_PLACE UINT64_MAX
#define NEG(v) ((uint64_t)(uint32_t)(v))

#define UNKNOWN BYTES_UNKNOWN
static void assert_bytes(int64_t send, int64_t recv)
{
	if (fx.view.roles.send_bytes != send || fx.view.roles.recv_bytes != recv)
		fail_msg("sends %lld, receives %lld", (long long)fx.view.roles.send_bytes,
			 (long long)fx.view.roles.recv_bytes);
	assert_int_equal(fx.view.roles.sends, send != 0);
	assert_int_equal(fx.view.roles.receives, recv != 0);
}

/* Decodes and compares: all buffers 10 ints or doubles. */
static void one_buffer(const char *func, uint64_t root, uint64_t comm, int64_t send, int64_t recv)
{
	if (strstr(func, "cast"))
		rec_begin(&fx, func, 0, 5, 1ull, 10ull, INT, root, comm);
	else
		rec_begin(&fx, func, 0, 7, 1ull, 2ull, 10ull, INT, 0x58000003ull, root, comm);
	rec_decode(&fx);
	assert_bytes(send, recv);
}

static void two_buffers(const char *func, uint64_t sendbuf, uint64_t recvbuf, uint64_t root,
			uint64_t comm, int64_t send, int64_t recv)
{
	rec_begin(&fx, func, 0, 8, sendbuf, 10ull, INT, recvbuf, 10ull, DOUBLE, root, comm);
	rec_decode(&fx);
	assert_bytes(send, recv);
}

TEST_WITH(rooted, fixture_setup_mpich, fixture_teardown)
{
	one_buffer("MPI_Bcast", 1, WORLD, 40, 0);
	assert_int_equal(value_int(&fx, "bytes"), 40);
	assert_true(fx.view.roles.has_root);
	assert_int_equal(fx.view.roles.root, 1);
	one_buffer("MPI_Bcast", 2, WORLD, 0, 40);
	one_buffer("MPI_Bcast", 2, NEWCOMM, UNKNOWN, UNKNOWN);
	assert_int_equal(value_int(&fx, "bytes"), 40); /* whichever way */
	one_buffer("MPI_Reduce", 1, WORLD, 40, 40);
	one_buffer("MPI_Reduce", 0, WORLD, 40, 0);
	two_buffers("MPI_Gather", 1, 2, 1, WORLD, 40, 320);
	two_buffers("MPI_Gather", 1, 2, 0, WORLD, 40, 0);
	two_buffers("MPI_Gather", 1, 2, 0, NEWCOMM, 40, UNKNOWN);
	two_buffers("MPI_Scatter", 1, 2, 1, WORLD, 160, 80);
	two_buffers("MPI_Scatter", 1, 2, 0, WORLD, 0, 80);
	assert_int_equal(value_int(&fx, "bytes"), 80);
	two_buffers("MPI_Gather", 1, 2, 0, SELF, 40, 80);
}

TEST_WITH(in_place, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Gather", 0, 8, IN_PLACE, 0ull, 0ull, 2ull, 10ull, DOUBLE, 1ull, WORLD);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "sendbuf"), "MPI_IN_PLACE");
	assert_int_equal(value_int(&fx, "recv_bytes"), 320);
	assert_int_equal(fx.view.roles.send_bytes, 0);
	rec_begin(&fx, "MPI_Allgather", 0, 7, IN_PLACE, 0ull, 0ull, 2ull, 10ull, DOUBLE, WORLD);
	rec_decode(&fx);
	assert_bytes(80, 320);
	rec_begin(&fx, "MPI_Alltoall", 0, 7, IN_PLACE, 0ull, 0ull, 2ull, 10ull, DOUBLE, WORLD);
	rec_decode(&fx);
	assert_bytes(320, 320);
}

/* MPI_ROOT and MPI_PROC_NULL are -3 and -1 here. */
TEST_WITH(intercomm, fixture_setup_mpich, fixture_teardown)
{
	one_buffer("MPI_Bcast", NEG(-3), NEWCOMM, 40, 0);
	assert_string_equal(value_text(&fx, "root"), "MPI_ROOT");
	assert_int_equal(fx.view.roles.root, PEER_ROOT);
	one_buffer("MPI_Bcast", NEG(-1), NEWCOMM, 0, 0);
	assert_string_equal(value_text(&fx, "root"), "MPI_PROC_NULL");
	rec_begin(&fx, "MPI_Intercomm_create", 0, 6, WORLD, 0ull, WORLD, 2ull, 9ull, 0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 5, 1, NEWCOMM);
	rec_decode(&fx);
	one_buffer("MPI_Bcast", 1, NEWCOMM, 0, 40); /* rank 1 of the others */
	rec_begin(&fx, "MPI_Comm_remote_size", 0, 2, (uint64_t)NEWCOMM, 0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 1, 1, 7);
	rec_decode(&fx);
	rec_begin(&fx, "MPI_Alltoall", 0, 7, 1ull, 10ull, INT, 2ull, 10ull, DOUBLE,
		  (uint64_t)NEWCOMM);
	rec_decode(&fx);
	assert_bytes(7 * 40, 7 * 80);
}

TEST_WITH(all, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Allgather", 0, 7, 1ull, 10ull, INT, 2ull, 10ull, DOUBLE, WORLD);
	rec_decode(&fx);
	assert_bytes(40, 320);
	assert_int_equal(value_int(&fx, "bytes"), 40);
	rec_begin(&fx, "MPI_Ialltoall_c", 0, 8, 1ull, 10ull, INT, 2ull, 10ull, DOUBLE, WORLD,
		  0x5000ull);
	rec_u64(&fx, POV_FIELD_OUT, 7, 1, 0x98000001);
	rec_decode(&fx);
	assert_bytes(160, 320);
	assert_int_equal(fx.view.roles.nrequests, 1);
	assert_int_equal(fx.view.roles.requests[0].bytes, 480);
	rec_begin(&fx, "MPI_Allreduce", 0, 6, 1ull, 2ull, 10ull, DOUBLE, 0x58000003ull, WORLD);
	rec_decode(&fx);
	assert_bytes(80, 80);
	assert_string_equal(value_text(&fx, "op"), "MPI_SUM");
	rec_begin(&fx, "MPI_Exscan", 0, 6, 1ull, 2ull, 10ull, DOUBLE, 0x58000003ull, SELF);
	rec_decode(&fx);
	assert_bytes(80, 80 * 0); /* rank 0 of itself */
	rec_begin(&fx, "MPI_Reduce_scatter_block", 0, 6, 1ull, 2ull, 10ull, INT, 1ull, WORLD);
	rec_decode(&fx);
	assert_bytes(160, 40);
	rec_begin(&fx, "MPI_Reduce_scatter", 0, 6, 1ull, 2ull, 3ull, INT, 1ull, WORLD);
	rec_u64(&fx, POV_FIELD_SUM, 2, 4, 100);
	rec_decode(&fx);
	assert_bytes(400, UNKNOWN);
	rec_begin(&fx, "MPI_Barrier", 0, 1, WORLD);
	rec_decode(&fx);
	assert_bytes(0, 0);
	assert_null(value_find(&fx, "bytes"));
}

TEST_WITH(vectors, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Alltoallv", 0, 9, 1ull, 2ull, 3ull, INT, 4ull, 5ull, 6ull, DOUBLE,
		  (uint64_t)NEWCOMM);
	rec_u64(&fx, POV_FIELD_SUM, 1, 6, 100);
	rec_u64(&fx, POV_FIELD_SUM, 5, 6, 1000);
	rec_decode(&fx);
	assert_bytes(400, 8000);
	assert_int_equal(value_int(&fx, "scount_sum"), 100);
	assert_int_equal(value_int(&fx, "send_bytes"), 400);
	/* the arrays' length told the size of the communicator */
	rec_begin(&fx, "MPI_Alltoall", 0, 7, 1ull, 1ull, INT, 2ull, 1ull, INT, (uint64_t)NEWCOMM);
	rec_decode(&fx);
	assert_bytes(24, 24);
	/* only the root's counts are read: whoever has them is the root */
	rec_begin(&fx, "MPI_Gatherv", 0, 9, 1ull, 10ull, INT, 2ull, 3ull, 4ull, DOUBLE, 5ull,
		  (uint64_t)NEWCOMM);
	rec_u64(&fx, POV_FIELD_SUM, 4, 6, 60);
	rec_decode(&fx);
	assert_bytes(40, 480);
	one_buffer("MPI_Bcast", 5, NEWCOMM, 40, 0);
	one_buffer("MPI_Bcast", 4, NEWCOMM, 0, 40);
}

TEST_WITH(alltoallw, fixture_setup_mpich, fixture_teardown)
{
	uint32_t types[] = {0x4c000405, 0x4c00080b, 0x8c000099, 0x4c000405};
	int32_t counts[] = {1, 2, 0, 4};

	rec_begin(&fx, "MPI_Alltoallw", 0, 9, 1ull, 2ull, 3ull, 4ull, IN_PLACE, 5ull, 6ull, 7ull,
		  WORLD);
	rec_field(&fx, POV_FIELD_IN, 1, 4, counts, sizeof(counts));
	rec_field(&fx, POV_FIELD_IN, 3, 4, types, sizeof(types));
	rec_field(&fx, POV_FIELD_IN, 5, 4, counts, 8); /* cut */
	rec_field(&fx, POV_FIELD_IN, 7, 4, types, sizeof(types));
	rec_decode(&fx);
	assert_bytes(4 + 16 + 16, UNKNOWN);
	assert_string_equal(value_text(&fx, "sdtype"), "MPI_INT, MPI_DOUBLE, 0x8c000099, MPI_INT");
	assert_null(value_find(&fx, "recv_bytes"));
}

TEST_WITH(neighbors, fixture_setup_mpich, fixture_teardown)
{
	int32_t dims[] = {2, 2};

	rec_begin(&fx, "MPI_Cart_create", 0, 6, WORLD, 2ull, 0x10ull, 0x20ull, 0ull, 0x30ull);
	rec_field(&fx, POV_FIELD_IN, 2, 2, dims, 8);
	rec_u64(&fx, POV_FIELD_OUT, 5, 1, NEWCOMM);
	rec_decode(&fx);
	assert_int_equal(value_find(&fx, "dims")->ints[1], 2);
	rec_begin(&fx, "MPI_Neighbor_alltoall", 0, 7, 1ull, 10ull, INT, 2ull, 10ull, DOUBLE,
		  (uint64_t)NEWCOMM);
	rec_decode(&fx);
	assert_bytes(160, 320);
	rec_begin(&fx, "MPI_Neighbor_allgather", 0, 7, 1ull, 10ull, INT, 2ull, 10ull, DOUBLE,
		  (uint64_t)NEWCOMM);
	rec_decode(&fx);
	assert_bytes(40, 320);
	one_buffer("MPI_Bcast", 1, NEWCOMM, 40, 0); /* not reordered: still rank 1 */
	rec_begin(&fx, "MPI_Dist_graph_create_adjacent", 0, 10, WORLD, 3ull, 1ull, 1ull, 5ull, 1ull,
		  1ull, 0ull, 1ull, 0x30ull);
	rec_u64(&fx, POV_FIELD_OUT, 9, 1, NEWCOMM + 1);
	rec_decode(&fx);
	rec_begin(&fx, "MPI_Ineighbor_alltoall", 0, 8, 1ull, 10ull, INT, 2ull, 10ull, DOUBLE,
		  NEWCOMM + 1ull, 0x30ull);
	rec_decode(&fx);
	assert_bytes(200, 240);
	/* freed: its handle means nothing now */
	rec_begin(&fx, "MPI_Comm_free", 0, 1, 0x30ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, NEWCOMM);
	rec_decode(&fx);
	one_buffer("MPI_Bcast", 1, NEWCOMM, UNKNOWN, UNKNOWN);
}

TEST_WITH(comm_field, fixture_setup_mpich, fixture_teardown)
{
	struct pov_field_comm comm = {17, 2, 3};

	rec_begin(&fx, "MPI_Bcast", 0, 5, 1ull, 10ull, INT, 2ull, (uint64_t)NEWCOMM);
	rec_field(&fx, POV_FIELD_COMM, 4, 1, &comm, sizeof(comm));
	rec_decode(&fx);
	assert_bytes(40, 0);
	two_buffers("MPI_Gather", 1, 2, 2, NEWCOMM, 40, 240); /* remembered */
	rec_begin(&fx, "MPI_Comm_dup", 0, 2, (uint64_t)NEWCOMM, 0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 1, 1, NEWCOMM + 1);
	rec_decode(&fx);
	two_buffers("MPI_Gather", 1, 2, 2, NEWCOMM + 1, 40, 240);
	rec_begin(&fx, "MPI_Comm_split", 0, 4, WORLD, NEG(-32766), 0ull, 0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 3, 1, 0x04000000);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "color"), "MPI_UNDEFINED");
	assert_string_equal(value_text(&fx, "newcomm"), "MPI_COMM_NULL");
}

/* ---- derived datatypes ---- */

static int64_t send_bytes_of(uint64_t type)
{
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, 1ull, type, 0ull, 0ull, WORLD);
	rec_decode(&fx);
	return fx.view.roles.send_bytes;
}

static void made(uint8_t arg)
{
	rec_u64(&fx, POV_FIELD_OUT, arg, 1, NEWTYPE);
	rec_decode(&fx);
}

TEST_WITH(types, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Type_contiguous", 0, 3, 5ull, INT, 0x10ull);
	made(2);
	assert_string_equal(value_text(&fx, "newtype"), "contiguous(5) of MPI_INT");
	assert_int_equal(send_bytes_of(NEWTYPE), 20);
	assert_string_equal(value_text(&fx, "dtype"), "contiguous(5) of MPI_INT");
	rec_begin(&fx, "MPI_Type_vector", 0, 5, 4ull, 2ull, 8ull, DOUBLE, 0x10ull);
	made(4);
	assert_int_equal(send_bytes_of(NEWTYPE), 64);
	assert_string_equal(value_text(&fx, "dtype"), "vector(4, 2, 8) of MPI_DOUBLE");
	rec_begin(&fx, "MPI_Type_create_hvector_c", 0, 5, 4ull, 3ull, 1ull << 40, (uint64_t)NEWTYPE,
		  0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 4, 1, NEWTYPE + 1);
	rec_decode(&fx);
	assert_int_equal(send_bytes_of(NEWTYPE + 1), 12 * 64);
	assert_string_equal(value_text(&fx, "dtype"),
			    "hvector(4, 3, 1099511627776) of vector(4, 2, 8) of MPI_DOUBLE");
	rec_begin(&fx, "MPI_Type_indexed", 0, 5, 3ull, 0x20ull, 0x30ull, INT, 0x10ull);
	rec_u64(&fx, POV_FIELD_SUM, 1, 3, 17);
	made(4);
	assert_int_equal(send_bytes_of(NEWTYPE), 68);
	rec_begin(&fx, "MPI_Type_create_indexed_block", 0, 5, 3ull, 7ull, 0x30ull, INT, 0x10ull);
	made(4);
	assert_int_equal(send_bytes_of(NEWTYPE), 84);
	rec_begin(&fx, "MPI_Type_create_resized", 0, 4, (uint64_t)NEWTYPE, 0ull, 1000ull, 0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 3, 1, NEWTYPE + 1);
	rec_decode(&fx);
	assert_int_equal(send_bytes_of(NEWTYPE + 1), 84);
	rec_begin(&fx, "MPI_Type_dup", 0, 2, NEWTYPE + 1ull, 0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 1, 1, NEWTYPE + 2);
	rec_decode(&fx);
	assert_int_equal(send_bytes_of(NEWTYPE + 2), 84);
}

TEST_WITH(struct_and_subarray, fixture_setup_mpich, fixture_teardown)
{
	uint32_t types[] = {0x4c000405, 0x4c00080b, NEWTYPE}, bad[] = {0x4c000405, 0x8c0000ff};
	int32_t lens[] = {1, 3, 2}, sub[] = {5, 6};

	rec_begin(&fx, "MPI_Type_contiguous", 0, 3, 5ull, INT, 0x10ull);
	made(2);
	rec_begin(&fx, "MPI_Type_create_struct", 0, 5, 3ull, 1ull, 2ull, 3ull, 4ull);
	rec_field(&fx, POV_FIELD_IN, 1, 3, lens, sizeof(lens));
	rec_field(&fx, POV_FIELD_IN, 3, 3, types, sizeof(types));
	rec_u64(&fx, POV_FIELD_OUT, 4, 1, NEWTYPE + 1);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "types"),
			    "MPI_INT, MPI_DOUBLE, contiguous(5) of MPI_INT");
	assert_int_equal(send_bytes_of(NEWTYPE + 1), 4 + 24 + 40);
	rec_begin(&fx, "MPI_Type_create_struct", 0, 5, 2ull, 1ull, 2ull, 3ull, 4ull);
	rec_field(&fx, POV_FIELD_IN, 1, 2, lens, 8);
	rec_field(&fx, POV_FIELD_IN, 3, 2, bad, sizeof(bad));
	rec_u64(&fx, POV_FIELD_OUT, 4, 1, NEWTYPE + 1);
	rec_decode(&fx);
	assert_true(send_bytes_of(NEWTYPE + 1) == BYTES_UNKNOWN);
	assert_string_equal(value_text(&fx, "dtype"), "struct(2)");
	rec_begin(&fx, "MPI_Type_create_subarray", 0, 7, 2ull, 1ull, 2ull, 3ull, 56ull, DOUBLE,
		  4ull);
	rec_field(&fx, POV_FIELD_IN, 2, 2, sub, sizeof(sub));
	made(6);
	assert_int_equal(send_bytes_of(NEWTYPE), 240);
	assert_string_equal(value_text(&fx, "dtype"), "subarray(2) of MPI_DOUBLE");
}

TEST_WITH(type_told_and_freed, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Type_create_f90_real", 0, 3, 15ull, 300ull, 0x10ull);
	made(2);
	assert_true(send_bytes_of(NEWTYPE) == BYTES_UNKNOWN);
	rec_begin(&fx, "MPI_Type_size", 0, 2, (uint64_t)NEWTYPE, 0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 1, 1, 8);
	rec_decode(&fx);
	assert_int_equal(send_bytes_of(NEWTYPE), 8);
	assert_string_equal(value_text(&fx, "dtype"), "f90_real(15, 300)");
	rec_begin(&fx, "MPI_Type_free", 0, 1, 0x10ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, NEWTYPE);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "dtype"), "f90_real(15, 300)");
	assert_true(send_bytes_of(NEWTYPE) == BYTES_UNKNOWN);
	assert_int_equal(value_hex(&fx, "dtype"), NEWTYPE);
	/* one that failed made nothing */
	rec_begin(&fx, "MPI_Type_contiguous", 3, 3, 5ull, INT, 0x10ull);
	made(2);
	assert_true(send_bytes_of(NEWTYPE) == BYTES_UNKNOWN);
}

/* Open MPI: the library's own object tells the size, the constructor the shape. */
TEST_WITH(types_openmpi, fixture_setup_openmpi, fixture_teardown)
{
	rec_begin(&fx, "MPI_Type_vector", 0, 5, 4ull, 2ull, 8ull, OMPI_BIAS + 0x2000, 0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 4, 1, 0x555000);
	rec_decode(&fx);
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, 3ull, 0x555000ull, 0ull, 0ull, OMPI_BIAS + 0x1000);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 32);
	rec_decode(&fx);
	assert_int_equal(value_int(&fx, "bytes"), 96);
	assert_string_equal(value_text(&fx, "dtype"), "vector(4, 2, 8) of MPI_INT");
}

/* ---- one-sided, files, partitioned ---- */

TEST_WITH(one_sided, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Put", 0, 8, 1ull, 10ull, INT, 2ull, 16ull, 5ull, DOUBLE, 0xa0000000ull);
	rec_decode(&fx);
	assert_bytes(40, 0);
	assert_int_equal(fx.view.roles.peer, 2);
	assert_int_equal(value_int(&fx, "tdisp"), 16);
	rec_begin(&fx, "MPI_Rget", 0, 9, 1ull, 10ull, INT, NEG(-1), 16ull, 5ull, DOUBLE,
		  0xa0000000ull, 0x10ull);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.peer, PEER_NULL);
	assert_int_equal(fx.view.roles.recv_bytes, 0);
	rec_begin(&fx, "MPI_Get", 0, 8, 1ull, 10ull, INT, 2ull, 16ull, 5ull, DOUBLE, 0xa0000000ull);
	rec_decode(&fx);
	assert_bytes(0, 40);
	rec_begin(&fx, "MPI_Get_accumulate", 0, 12, 1ull, 10ull, INT, 2ull, 20ull, DOUBLE, 3ull,
		  0ull, 5ull, INT, 0x58000003ull, 0xa0000000ull);
	rec_decode(&fx);
	assert_bytes(40, 160);
	rec_begin(&fx, "MPI_Fetch_and_op", 0, 7, 1ull, 2ull, DOUBLE, 3ull, 0ull, 0x58000003ull,
		  0xa0000000ull);
	rec_decode(&fx);
	assert_bytes(8, 8);
}

TEST_WITH(files, fixture_setup_mpich, fixture_teardown)
{
	struct {
		uint32_t lo, hi;
		int32_t source, tag, error;
	} st = {24, 0, 77, 77, 77};

	rec_begin(&fx, "MPI_File_write_at_all", 0, 6, 0x99ull, 4096ull, 1ull, 10ull, INT, 2ull);
	rec_field(&fx, POV_FIELD_OUT, 5, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_bytes(24, 0);
	assert_int_equal(value_int(&fx, "bytes"), 40);
	assert_int_equal(value_int(&fx, "status_bytes"), 24);
	assert_null(value_find(&fx, "status_source"));
	rec_begin(&fx, "MPI_File_iread", 0, 5, 0x99ull, 1ull, 10ull, INT, 2ull);
	rec_u64(&fx, POV_FIELD_OUT, 4, 1, 0x98000001);
	rec_decode(&fx);
	assert_bytes(0, 40);
	rec_begin(&fx, "MPI_File_read_all_end", 0, 3, 0x99ull, 1ull, 2ull);
	rec_field(&fx, POV_FIELD_OUT, 2, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_bytes(0, 24);
}

TEST_WITH(partitioned, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Psend_init", 0, 9, 1ull, 8ull, 100ull, INT, 2ull, 7ull, WORLD, 0ull,
		  0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 8, 1, 0x98000001);
	rec_decode(&fx);
	assert_bytes(3200, 0);
	assert_int_equal(fx.view.roles.requests[0].event, REQUEST_INIT);
	rec_begin(&fx, "MPI_Precv_init", 0, 9, 1ull, 8ull, 100ull, INT, 2ull, 7ull, WORLD, 0ull,
		  0x10ull);
	rec_decode(&fx);
	assert_bytes(0, 3200);
	assert_int_equal(fx.view.roles.peer, 2);
}

TEST_WITH(levels, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Init_thread", 0, 4, 1ull, 2ull, 3ull, 0x10ull);
	rec_u64(&fx, POV_FIELD_OUT, 3, 1, 1);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "required"), "MPI_THREAD_MULTIPLE");
	assert_string_equal(value_text(&fx, "provided"), "MPI_THREAD_FUNNELED");
}
