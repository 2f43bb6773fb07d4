/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Decoding of point-to-point calls, for Open MPI and MPICH. */
#include <stdio.h>
#include <string.h>

#include "unit/test.h"
#include "layer_fixture.h"

#define OMPI(off) (OMPI_BIAS + (off))
#define OMPI_WORLD OMPI(0x1000)
#define OMPI_INT OMPI(0x2000)
#define JUNK \
	0xffff123400000000ull /* above an int or a 32-bit handle: whatever was in the register */
#define CNT(a) (sizeof(a) / sizeof((a)[0]))

struct ompi_status {
	int32_t source, tag, error, cancelled;
	uint64_t bytes;
};

struct mpich_status {
	uint32_t lo, hi;
	int32_t source, tag, error;
};

TEST_WITH(send_openmpi, fixture_setup_openmpi, fixture_teardown)
{
	static const char *const order[] = {"buf", "count", "dtype", "dest",
					    "tag", "comm",  "bytes"};

	rec_begin(&fx, "MPI_Send", 0, 6, 0x7ffc0010ull, JUNK | 1000, OMPI_INT, JUNK | 2, JUNK | 77,
		  OMPI_WORLD);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_decode(&fx);
	assert_int_equal(fx.view.nvalues, CNT(order));
	for (size_t i = 0; i < CNT(order); i++)
		assert_string_equal(fx.view.values[i].name, order[i]);
	assert_int_equal(value_hex(&fx, "buf"), 0x7ffc0010);
	assert_int_equal(value_int(&fx, "count"), 1000);
	assert_string_equal(value_text(&fx, "dtype"), "MPI_INT");
	assert_int_equal(value_int(&fx, "dest"), 2);
	assert_string_equal(value_text(&fx, "comm"), "MPI_COMM_WORLD");
	assert_int_equal(value_int(&fx, "bytes"), 4000);
	assert_true(fx.view.roles.sends && !fx.view.roles.receives);
	assert_int_equal(fx.view.roles.send_bytes, 4000);
	assert_int_equal(fx.view.roles.recv_bytes, 0);
	assert_true(fx.view.roles.has_peer && fx.view.roles.has_tag && fx.view.roles.has_comm);
	assert_int_equal(fx.view.roles.peer, 2);
	assert_int_equal(fx.view.roles.tag, 77);
	assert_int_equal(fx.view.roles.comm, OMPI_WORLD);
	assert_int_equal(fx.view.roles.error, 0);
	assert_false(fx.view.roles.has_root);
	assert_int_equal(fx.view.roles.nrequests, 0);
}

/* The datatype object of the library was copied into the executable: known there, not in the library. */
/* What a call does is known without what is only shown of it. */
TEST_WITH(roles_only, fixture_setup_openmpi, fixture_teardown)
{
	struct call_roles roles;

	rec_begin(&fx, "MPI_Send", 0, 6, 0ull, 1000ull, OMPI_INT, 2ull, 77ull, OMPI_WORLD);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_decode(&fx);
	roles = fx.view.roles;
	fx.roles_only = true;
	rec_decode(&fx);
	assert_null(value_find(&fx, "count"));
	assert_true(fx.view.roles.sends && fx.view.roles.has_peer && fx.view.roles.has_comm);
	assert_int_equal(fx.view.roles.send_bytes, roles.send_bytes);
	assert_int_equal(fx.view.roles.peer, roles.peer);
	assert_int_equal(fx.view.roles.tag, roles.tag);
	fx.roles_only = false;
}

TEST_WITH(copied_openmpi, fixture_setup_openmpi, fixture_teardown)
{
	rec_begin(&fx, "MPI_Send", 0, 6, 0ull, 3ull, 0x404040ull, 2ull, 5ull, OMPI_WORLD);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "dtype"), "MPI_DOUBLE");
	assert_int_equal(value_int(&fx, "bytes"), 24);
	rec_begin(&fx, "MPI_Send", 0, 6, 0ull, 3ull, OMPI(0x2100), 2ull, 5ull, OMPI_WORLD);
	rec_decode(&fx);
	assert_int_equal(value_hex(&fx, "dtype"), OMPI(0x2100));
	assert_null(value_find(&fx, "bytes"));
	assert_true(fx.view.roles.send_bytes == BYTES_UNKNOWN);
}

TEST_WITH(recv_openmpi, fixture_setup_openmpi, fixture_teardown)
{
	struct ompi_status st = {3, 42, 99 /* not set by one completion */, 0, 123};

	rec_begin(&fx, "MPI_Recv", 0, 7, 1ull, JUNK | 1000, OMPI_INT, JUNK | 0xffffffff,
		  JUNK | 0xffffffff, OMPI_WORLD, 0x1234ull);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_field(&fx, POV_FIELD_OUT, 6, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "source"), "MPI_ANY_SOURCE");
	assert_string_equal(value_text(&fx, "tag"), "MPI_ANY_TAG");
	assert_int_equal(value_int(&fx, "status_source"), 3);
	assert_int_equal(value_int(&fx, "status_tag"), 42);
	assert_int_equal(value_int(&fx, "status_bytes"), 123);
	assert_int_equal(value_int(&fx, "bytes"), 4000);
	assert_true(fx.view.roles.receives && !fx.view.roles.sends);
	assert_int_equal(fx.view.roles.recv_bytes, 123);
	assert_int_equal(fx.view.roles.peer, 3);
	assert_int_equal(fx.view.roles.tag, 42);
}

/* MPI_STATUS_IGNORE: the wildcard stays one, and the bytes are what could come. */
TEST_WITH(recv_ignored_status, fixture_setup_openmpi, fixture_teardown)
{
	rec_begin(&fx, "MPI_Recv", 0, 7, 1ull, 10ull, OMPI_INT, JUNK | 0xffffffff, 5ull, OMPI_WORLD,
		  0ull);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_decode(&fx);
	assert_null(value_find(&fx, "status_bytes"));
	assert_int_equal(fx.view.roles.recv_bytes, 40);
	assert_int_equal(fx.view.roles.peer, PEER_ANY);
}

TEST_WITH(proc_null, fixture_setup_openmpi, fixture_teardown)
{
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, 10ull, OMPI_INT, JUNK | (uint32_t)-2, 5ull,
		  OMPI_WORLD);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "dest"), "MPI_PROC_NULL");
	assert_int_equal(fx.view.roles.peer, PEER_NULL);
	assert_int_equal(fx.view.roles.send_bytes, 0);
	assert_int_equal(value_int(&fx, "bytes"), 0);
}

TEST_WITH(recv_mpich, fixture_setup_mpich, fixture_teardown)
{
	struct mpich_status st = {5, 2 << 1, 0, 7, -1};

	rec_begin(&fx, "MPI_Recv", 0, 7, 1ull, JUNK | 1000, JUNK | 0x4c00080b, JUNK | (uint32_t)-2,
		  JUNK | (uint32_t)-1, JUNK | 0x44000000, 0x1234ull);
	rec_field(&fx, POV_FIELD_OUT, 6, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "dtype"), "MPI_DOUBLE");
	assert_string_equal(value_text(&fx, "source"), "MPI_ANY_SOURCE");
	assert_string_equal(value_text(&fx, "tag"), "MPI_ANY_TAG");
	assert_string_equal(value_text(&fx, "comm"), "MPI_COMM_WORLD");
	assert_int_equal(value_int(&fx, "status_source"), 0);
	assert_true(value_int(&fx, "status_bytes") == (2ll << 32 | 5));
	assert_true(fx.view.roles.recv_bytes == (2ll << 32 | 5));
	assert_int_equal(fx.view.roles.comm, 0x44000000);
	/* -1 is PROC_NULL here */
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, 1ull, 0x4c00080bull, JUNK | (uint32_t)-1, 7ull,
		  0x84000002ull);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "dest"), "MPI_PROC_NULL");
	assert_int_equal(value_hex(&fx, "comm"), 0x84000002);
}

/* A type the tables do not name: the handle itself tells; a pair is no such type. */
TEST_WITH(types_mpich, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, 3ull, 0x4c000203ull, 0ull, 7ull, 0x44000000ull);
	rec_decode(&fx);
	assert_int_equal(value_hex(&fx, "dtype"), 0x4c000203);
	assert_int_equal(value_int(&fx, "bytes"), 6);
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, 3ull, 0x8c000000ull, 0ull, 7ull, 0x44000000ull);
	rec_decode(&fx);
	assert_int_equal(value_int(&fx, "bytes"), 24);
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, 3ull, 0x8c000001ull, 0ull, 7ull, 0x44000000ull);
	rec_decode(&fx);
	assert_null(value_find(&fx, "bytes"));
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, 0ull, 0x8c000001ull, 0ull, 7ull, 0x44000000ull);
	rec_decode(&fx);
	assert_int_equal(value_int(&fx, "bytes"), 0); /* nothing of whatever size */
}

TEST_WITH(large_counts, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Send_c", 0, 6, 1ull, 3ull << 32, 0x4c00080bull, 0ull, 7ull,
		  0x44000000ull);
	rec_decode(&fx);
	assert_true(value_int(&fx, "count") == 3ll << 32);
	assert_true(value_int(&fx, "bytes") == 24ll << 32);
	rec_begin(&fx, "MPI_Send_c", 0, 6, 1ull, 1ull << 62, 0x4c00080bull, 0ull, 7ull,
		  0x44000000ull);
	rec_decode(&fx);
	assert_null(value_find(&fx, "bytes")); /* does not fit */
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, JUNK | (uint32_t)-5, 0x4c00080bull, 0ull, 7ull,
		  0x44000000ull);
	rec_decode(&fx);
	assert_int_equal(value_int(&fx, "count"), -5);
	assert_null(value_find(&fx, "bytes"));
}

TEST_WITH(sendrecv, fixture_setup_mpich, fixture_teardown)
{
	struct mpich_status st = {160, 0, 3, 9, 0};

	rec_begin(&fx, "MPI_Sendrecv", 0, 12, 1ull, 10ull, JUNK | 0x4c000405, JUNK | 2, JUNK | 8,
		  2ull, JUNK | 30, JUNK | 0x4c00080b, JUNK | 3, JUNK | (uint32_t)-1,
		  JUNK | 0x44000000, 0x99ull);
	rec_field(&fx, POV_FIELD_OUT, 11, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_int_equal(value_int(&fx, "send_bytes"), 40);
	assert_int_equal(value_int(&fx, "recv_bytes"), 240);
	assert_int_equal(value_int(&fx, "bytes"), 40);
	assert_int_equal(value_int(&fx, "stag"), 8);
	assert_string_equal(value_text(&fx, "rtag"), "MPI_ANY_TAG");
	assert_int_equal(fx.view.roles.send_bytes, 40);
	assert_int_equal(fx.view.roles.recv_bytes, 160);
	assert_int_equal(fx.view.roles.peer, 2);
	assert_int_equal(fx.view.roles.tag, 8);
	assert_int_equal(fx.view.roles.recv_peer, 3);
	assert_int_equal(fx.view.roles.recv_tag, 9);
}

TEST_WITH(errors_mpich, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Send", 0x2a1b3c0e, 6, 1ull, 10ull, 0x4c000405ull, 1ull, 5ull,
		  0x44000000ull);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.error, 0x2a1b3c0e);
	assert_string_equal(value_text(&fx, "error_class"), "MPI_ERR_TRUNCATE");
	/* a time is no error */
	rec_begin(&fx, "MPI_Wtime", 0x12345678, 0);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.error, 0);
	assert_int_equal(fx.view.nvalues, 0);
	/* nor is a yes */
	rec_begin(&fx, "MPIX_Query_rocm_support", 1, 0);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.error, 0);
}

TEST_WITH(open_call, fixture_setup_openmpi, fixture_teardown)
{
	rec_begin(&fx, "MPI_Recv", 0, 7, 1ull, 10ull, OMPI_INT, 2ull, 5ull, OMPI_WORLD, 0x1234ull);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_call(&fx)->hdr.flags |= POV_CALL_OPEN;
	rec_call(&fx)->ret = 0;
	rec_decode(&fx);
	assert_int_equal(value_int(&fx, "source"), 2);
	assert_int_equal(fx.view.roles.peer, 2);
	rec_begin(&fx, "MPI_Wait", 0, 2, 0x5000ull, 0x6000ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, 0xa000);
	rec_call(&fx)->hdr.flags |= POV_CALL_OPEN;
	rec_decode(&fx);
	assert_int_equal(value_hex(&fx, "req"), 0xa000);
	assert_int_equal(fx.view.roles.nrequests, 0);
}

/* Ranges are triples; of a damaged field no more is shown than there is. */
TEST_WITH(ranges, fixture_setup_mpich, fixture_teardown)
{
	const int32_t ranges[] = {4, 0, -2, 5, 5, 1};
	const struct call_value *v;

	rec_begin(&fx, "MPI_Group_range_incl", 0, 4, 0x10ull, 2ull, 0x20ull, 0x30ull);
	rec_field(&fx, POV_FIELD_IN, 2, 2, ranges, sizeof(ranges));
	rec_decode(&fx);
	v = value_find(&fx, "ranges");
	assert_non_null(v);
	assert_int_equal(v->kind, VALUE_INTS);
	assert_int_equal(v->n, 6);
	assert_int_equal(v->cnt, 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(v->ints[i], ranges[i]);
}
