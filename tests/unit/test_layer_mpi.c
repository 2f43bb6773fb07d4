/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Decoding of point-to-point calls, requests and statuses, for Open MPI and MPICH. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "layer_fixture.h"

#define OMPI(off) (OMPI_BIAS + (off))
#define OMPI_WORLD OMPI(0x1000)
#define OMPI_REQUEST_NULL OMPI(0x1300)
#define OMPI_INT OMPI(0x2000)
#define JUNK 0xffff123400000000ull /* above an int or a 32-bit handle: whatever was in the register */
#define CNT(a) (sizeof(a) / sizeof((a)[0]))

struct ompi_status {
	int32_t source, tag, error, cancelled;
	uint64_t bytes;
};

struct mpich_status {
	uint32_t lo, hi;
	int32_t source, tag, error;
};

static struct fixture fx;

static int setup_openmpi(void **state)
{
	(void)state;
	fixture_init_openmpi(&fx);
	return 0;
}

static int setup_mpich(void **state)
{
	(void)state;
	fixture_init_mpich(&fx);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fixture_release(&fx);
	return 0;
}

static void test_send_openmpi(void **state)
{
	static const char *const order[] = { "buf", "count", "dtype", "dest", "tag", "comm",
					     "bytes" };

	(void)state;
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
	assert_string_equal(fx.view.roles.comm_name, "MPI_COMM_WORLD");
	assert_int_equal(fx.view.roles.error, 0);
	assert_false(fx.view.roles.has_root);
	assert_int_equal(fx.view.roles.nrequests, 0);
}

/* The datatype object of the library was copied into the executable: known there, not in the library. */
static void test_copied_openmpi(void **state)
{
	(void)state;
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

static void test_recv_openmpi(void **state)
{
	struct ompi_status st = { 3, 42, 99 /* not set by one completion */, 0, 123 };

	(void)state;
	rec_begin(&fx, "MPI_Recv", 0, 7, 1ull, JUNK | 1000, OMPI_INT, JUNK | 0xffffffff,
		  JUNK | 0xffffffff, OMPI_WORLD, 0x1234ull);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_field(&fx, POV_FIELD_OUT, 6, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "source"), "MPI_ANY_SOURCE");
	assert_string_equal(value_text(&fx, "tag"), "MPI_ANY_TAG");
	assert_int_equal(value_int(&fx, "status.source"), 3);
	assert_int_equal(value_int(&fx, "status.tag"), 42);
	assert_int_equal(value_int(&fx, "status.bytes"), 123);
	assert_int_equal(value_int(&fx, "bytes"), 4000);
	assert_true(fx.view.roles.receives && !fx.view.roles.sends);
	assert_int_equal(fx.view.roles.recv_bytes, 123);
	assert_int_equal(fx.view.roles.peer, 3);
	assert_int_equal(fx.view.roles.tag, 42);
}

/* MPI_STATUS_IGNORE: the wildcard stays one, and the bytes are what could come. */
static void test_recv_ignored_status(void **state)
{
	(void)state;
	rec_begin(&fx, "MPI_Recv", 0, 7, 1ull, 10ull, OMPI_INT, JUNK | 0xffffffff, 5ull, OMPI_WORLD,
		  0ull);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_decode(&fx);
	assert_null(value_find(&fx, "status.bytes"));
	assert_int_equal(fx.view.roles.recv_bytes, 40);
	assert_int_equal(fx.view.roles.peer, PEER_ANY);
}

static void test_proc_null(void **state)
{
	(void)state;
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, 10ull, OMPI_INT, JUNK | (uint32_t)-2, 5ull,
		  OMPI_WORLD);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "dest"), "MPI_PROC_NULL");
	assert_int_equal(fx.view.roles.peer, PEER_NULL);
	assert_int_equal(fx.view.roles.send_bytes, 0);
	assert_int_equal(value_int(&fx, "bytes"), 0);
}

static void test_recv_mpich(void **state)
{
	struct mpich_status st = { 5, 2 << 1, 0, 7, -1 };

	(void)state;
	rec_begin(&fx, "MPI_Recv", 0, 7, 1ull, JUNK | 1000, JUNK | 0x4c00080b, JUNK | (uint32_t)-2,
		  JUNK | (uint32_t)-1, JUNK | 0x44000000, 0x1234ull);
	rec_field(&fx, POV_FIELD_OUT, 6, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "dtype"), "MPI_DOUBLE");
	assert_string_equal(value_text(&fx, "source"), "MPI_ANY_SOURCE");
	assert_string_equal(value_text(&fx, "tag"), "MPI_ANY_TAG");
	assert_string_equal(value_text(&fx, "comm"), "MPI_COMM_WORLD");
	assert_int_equal(value_int(&fx, "status.source"), 0);
	assert_true(value_int(&fx, "status.bytes") == (2ll << 32 | 5));
	assert_true(fx.view.roles.recv_bytes == (2ll << 32 | 5));
	assert_int_equal(fx.view.roles.comm, 0x44000000);
	/* -1 is PROC_NULL here */
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, 1ull, 0x4c00080bull, JUNK | (uint32_t)-1, 7ull,
		  0x84000002ull);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "dest"), "MPI_PROC_NULL");
	assert_int_equal(value_hex(&fx, "comm"), 0x84000002);
	assert_null(fx.view.roles.comm_name);
}

/* A type the tables do not name: the handle itself tells; a pair is no such type. */
static void test_types_mpich(void **state)
{
	(void)state;
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

static void test_large_counts(void **state)
{
	(void)state;
	rec_begin(&fx, "MPI_Send_c", 0, 6, 1ull, 3ull << 32, 0x4c00080bull, 0ull, 7ull,
		  0x44000000ull);
	rec_decode(&fx);
	assert_true(value_int(&fx, "count") == 3ll << 32);
	assert_true(value_int(&fx, "bytes") == 24ll << 32);
	rec_begin(&fx, "MPI_Send_c", 0, 6, 1ull, 1ull << 62, 0x4c00080bull, 0ull, 7ull, 0x44000000ull);
	rec_decode(&fx);
	assert_null(value_find(&fx, "bytes")); /* does not fit */
	rec_begin(&fx, "MPI_Send", 0, 6, 1ull, JUNK | (uint32_t)-5, 0x4c00080bull, 0ull, 7ull,
		  0x44000000ull);
	rec_decode(&fx);
	assert_int_equal(value_int(&fx, "count"), -5);
	assert_null(value_find(&fx, "bytes"));
}

static void test_sendrecv(void **state)
{
	struct mpich_status st = { 160, 0, 3, 9, 0 };

	(void)state;
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

static void start_openmpi(const char *func, uint64_t req)
{
	rec_begin(&fx, func, 0, 7, 1ull, 10ull, OMPI_INT, 2ull, 5ull, OMPI_WORLD, 0x5000ull);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_u64(&fx, POV_FIELD_OUT, 6, 1, req);
	rec_decode(&fx);
}

static void test_start_and_wait(void **state)
{
	struct ompi_status st = { 2, 5, 0, 0, 40 };
	const struct call_request *r;

	(void)state;
	start_openmpi("MPI_Irecv", 0xa000);
	assert_int_equal(value_hex(&fx, "req"), 0xa000);
	assert_int_equal(fx.view.roles.nrequests, 1);
	assert_int_equal(fx.view.roles.requests[0].event, REQUEST_START);
	assert_int_equal(fx.view.roles.requests[0].handle, 0xa000);
	assert_int_equal(fx.view.roles.requests[0].bytes, 40);
	rec_begin(&fx, "MPI_Wait", 0, 2, 0x5000ull, 0x6000ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, 0xa000);
	rec_field(&fx, POV_FIELD_OUT, 1, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 1);
	r = fx.view.roles.requests;
	assert_int_equal(r->event, REQUEST_COMPLETE);
	assert_int_equal(r->handle, 0xa000);
	assert_true(r->has_status);
	assert_int_equal(r->source, 2);
	assert_int_equal(r->tag, 5);
	assert_int_equal(r->bytes, 40);
	assert_int_equal(value_int(&fx, "status.bytes"), 40);
	/* again: nobody started it since, so what its status says is not known to mean anything */
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 1);
	assert_false(fx.view.roles.requests->has_status);
	assert_null(value_find(&fx, "status.bytes"));
	/* a send's status is junk */
	start_openmpi("MPI_Isend", 0xb000);
	rec_begin(&fx, "MPI_Wait", 0, 2, 0x5000ull, 0x6000ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, 0xb000);
	rec_field(&fx, POV_FIELD_OUT, 1, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 1);
	assert_false(fx.view.roles.requests->has_status);
	assert_null(value_find(&fx, "status.bytes"));
	/* a null request is none */
	rec_begin(&fx, "MPI_Wait", 0, 2, 0x5000ull, 0ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, OMPI_REQUEST_NULL);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "req"), "MPI_REQUEST_NULL");
	assert_int_equal(fx.view.roles.nrequests, 0);
}

static void test_persistent(void **state)
{
	uint64_t reqs[] = { 0xa000, 0xb000 };

	(void)state;
	start_openmpi("MPI_Send_init", 0xa000);
	assert_int_equal(fx.view.roles.requests[0].event, REQUEST_INIT);
	assert_int_equal(fx.view.roles.requests[0].bytes, 40);
	rec_begin(&fx, "MPI_Startall", 0, 2, 2ull, 0x5000ull);
	rec_field(&fx, POV_FIELD_IN, 1, 2, reqs, sizeof(reqs));
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 2);
	assert_int_equal(fx.view.roles.requests[1].event, REQUEST_RESTART);
	assert_int_equal(fx.view.roles.requests[1].handle, 0xb000);
	rec_begin(&fx, "MPI_Request_free", 0, 1, 0x5000ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, 0xa000);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.requests[0].event, REQUEST_FREE);
	rec_begin(&fx, "MPI_Cancel", 0, 1, 0x5000ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, 0xb000);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 0);
}

#define MANY 300

/* Requests and statuses of 300: the first few in the record, the others in continuations. */
static void test_waitall_more(void **state)
{
	static struct ompi_status st[MANY];
	static uint64_t reqs[MANY];
	const struct call_value *v;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		reqs[i] = 0xa000 + 16 * i;
		st[i] = (struct ompi_status){ i % 4, i, 0, 0, 1000 + i };
		start_openmpi(i % 2 ? "MPI_Irecv" : "MPI_Isend", reqs[i]);
	}
	rec_begin(&fx, "MPI_Waitall", 0, 3, (uint64_t)MANY, 0x5000ull, 0x6000ull);
	for (uint32_t i = 20; i < MANY; i += 64)
		rec_more(&fx, POV_FIELD_IN, 1, i, &reqs[i], (i + 64 < MANY ? 64 : MANY - i) * 8);
	for (uint32_t i = 0; i < MANY; i += 21)
		rec_more(&fx, POV_FIELD_OUT, 2, i, &st[i], (i + 21 < MANY ? 21 : MANY - i) * 24);
	rec_field(&fx, POV_FIELD_IN, 1, MANY, reqs, 20 * 8);
	rec_field(&fx, POV_FIELD_OUT, 2, MANY, NULL, 0); /* none fitted */
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		const struct call_request *r = &fx.view.roles.requests[i];

		assert_int_equal(r->handle, reqs[i]);
		assert_int_equal(r->event, REQUEST_COMPLETE);
		assert_int_equal(r->has_status, i % 2);
		assert_true(r->bytes == (i % 2 ? 1000 + i : BYTES_UNKNOWN));
	}
	v = value_find(&fx, "req");
	assert_int_equal(v->kind, VALUE_HEXES);
	assert_int_equal(v->n, MANY);
	assert_int_equal(v->cnt, MANY);
	v = value_find(&fx, "status.req");
	assert_int_equal(v->n, MANY / 2);
	assert_int_equal(v->ints[7], 15);
	v = value_find(&fx, "status.bytes");
	assert_int_equal(v->ints[7], 1015);
}

/* Continuations of merged polls reach no call of their own, and must not leak into the next one. */
static void test_stale_more(void **state)
{
	uint64_t reqs[] = { 0xa000, 0xb000, 0xc000 }, junk[] = { 1, 2, 3 };

	(void)state;
	rec_begin(&fx, "MPI_Testall", 0, 4, 3ull, 0x5000ull, 0x5800ull, 0x6000ull);
	rec_more(&fx, POV_FIELD_IN, 1, 1, junk, 16);
	rec_begin(&fx, "MPI_Waitall", 0, 3, 3ull, 0x5000ull, 0ull);
	rec_more(&fx, POV_FIELD_IN, 1, 1, &reqs[1], 16);
	rec_field(&fx, POV_FIELD_IN, 1, 3, reqs, 8);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 3);
	assert_int_equal(fx.view.roles.requests[2].handle, 0xc000);
	/* consumed: the same call without its continuations */
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 1);
	assert_int_equal(value_find(&fx, "req")->n, 1);
	assert_int_equal(value_find(&fx, "req")->cnt, 3);
}

static void test_testsome(void **state)
{
	uint64_t reqs[] = { 0xa000, 0xb000, 0xc000, OMPI_REQUEST_NULL };
	struct ompi_status st[] = { { 2, 5, 0, 0, 12 }, { 3, 6, 0, 0, 16 } };
	int32_t idx[] = { 2, 0 }, outcount = 2;
	const struct call_value *v;

	(void)state;
	start_openmpi("MPI_Irecv", 0xa000);
	start_openmpi("MPI_Irecv", 0xc000);
	rec_begin(&fx, "MPI_Testsome", 0, 5, 4ull, 0x5000ull, 0x5800ull, 0x5900ull, 0x6000ull);
	rec_field(&fx, POV_FIELD_IN, 1, 4, reqs, sizeof(reqs));
	rec_field(&fx, POV_FIELD_OUT, 2, 1, &outcount, 4);
	rec_field(&fx, POV_FIELD_OUT, 3, 2, idx, sizeof(idx));
	rec_field(&fx, POV_FIELD_OUT, 4, 2, st, sizeof(st));
	rec_decode(&fx);
	assert_true(fx.view.roles.poll_found);
	assert_int_equal(value_int(&fx, "outcount"), 2);
	assert_int_equal(fx.view.roles.nrequests, 2);
	assert_int_equal(fx.view.roles.requests[0].handle, 0xc000);
	assert_int_equal(fx.view.roles.requests[0].bytes, 12);
	assert_int_equal(fx.view.roles.requests[1].handle, 0xa000);
	assert_int_equal(fx.view.roles.requests[1].bytes, 16);
	v = value_find(&fx, "status.req");
	assert_int_equal(v->n, 2);
	assert_int_equal(v->ints[0], 2);
	assert_int_equal(value_find(&fx, "indices")->ints[1], 0);
	outcount = -32766;
	rec_begin(&fx, "MPI_Testsome", 0, 5, 4ull, 0x5000ull, 0x5800ull, 0x5900ull, 0x6000ull);
	rec_field(&fx, POV_FIELD_IN, 1, 4, reqs, sizeof(reqs));
	rec_field(&fx, POV_FIELD_OUT, 2, 1, &outcount, 4);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "outcount"), "MPI_UNDEFINED");
	assert_false(fx.view.roles.poll_found);
	assert_int_equal(fx.view.roles.nrequests, 0);
}

static void test_testany(void **state)
{
	uint64_t reqs[] = { 0xa000, 0xb000 };
	struct ompi_status st = { 2, 5, 0, 0, 12 };
	int32_t idx = 1, flag = 1;

	(void)state;
	start_openmpi("MPI_Irecv", 0xb000);
	rec_begin(&fx, "MPI_Testany", 0, 5, 2ull, 1ull, 2ull, 3ull, 4ull);
	rec_field(&fx, POV_FIELD_IN, 1, 2, reqs, sizeof(reqs));
	rec_field(&fx, POV_FIELD_OUT, 2, 1, &idx, 4);
	rec_field(&fx, POV_FIELD_OUT, 3, 1, &flag, 4);
	rec_field(&fx, POV_FIELD_OUT, 4, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_true(fx.view.roles.poll_found);
	assert_int_equal(fx.view.roles.nrequests, 1);
	assert_int_equal(fx.view.roles.requests[0].handle, 0xb000);
	assert_int_equal(value_int(&fx, "index"), 1);
	assert_int_equal(value_int(&fx, "status.source"), 2);
	idx = -32766;
	rec_begin(&fx, "MPI_Waitany", 0, 4, 2ull, 1ull, 2ull, 3ull);
	rec_field(&fx, POV_FIELD_IN, 1, 2, reqs, sizeof(reqs));
	rec_field(&fx, POV_FIELD_OUT, 2, 1, &idx, 4);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "index"), "MPI_UNDEFINED");
	assert_int_equal(fx.view.roles.nrequests, 0);
}

static void test_iprobe(void **state)
{
	struct ompi_status st = { 2, 5, 0, 0, 12 };
	int32_t flag = 1;

	(void)state;
	rec_begin(&fx, "MPI_Iprobe", 0, 5, JUNK | 0xffffffff, 5ull, OMPI_WORLD, 0x10ull, 0x20ull);
	rec_field(&fx, POV_FIELD_OUT, 3, 1, &flag, 4);
	rec_field(&fx, POV_FIELD_OUT, 4, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_true(fx.view.roles.poll_found && !fx.view.roles.receives);
	assert_int_equal(fx.view.roles.peer, 2);
	assert_int_equal(value_int(&fx, "status.bytes"), 12);
}

static void test_errors(void **state)
{
	struct ompi_status st[] = { { 2, 5, 15, 0, 12 }, { 2, 5, 19, 0, 0 }, { 2, 5, 0, 0, 8 } };
	uint64_t reqs[] = { 0xa000, 0xb000, 0xc000 };

	(void)state;
	rec_begin(&fx, "MPI_Send", 6, 6, 1ull, 10ull, OMPI_INT, 99ull, 5ull, OMPI_WORLD);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.error, 6);
	assert_string_equal(value_text(&fx, "error_class"), "MPI_ERR_RANK");
	for (size_t i = 0; i < CNT(reqs); i++)
		start_openmpi("MPI_Irecv", reqs[i]);
	rec_begin(&fx, "MPI_Waitall", 18, 3, 3ull, 0x5000ull, 0x6000ull);
	rec_field(&fx, POV_FIELD_IN, 1, 3, reqs, sizeof(reqs));
	rec_field(&fx, POV_FIELD_OUT, 2, 3, st, sizeof(st));
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "error_class"), "MPI_ERR_IN_STATUS");
	assert_int_equal(fx.view.roles.nrequests, 2); /* the second is pending */
	assert_int_equal(fx.view.roles.requests[0].error, 15);
	assert_false(fx.view.roles.requests[0].has_status);
	assert_int_equal(fx.view.roles.requests[1].handle, 0xc000);
	assert_int_equal(fx.view.roles.requests[1].bytes, 8);
	/* the call itself failed: what completed is not known */
	rec_begin(&fx, "MPI_Waitall", 13, 3, 3ull, 0x5000ull, 0x6000ull);
	rec_field(&fx, POV_FIELD_IN, 1, 3, reqs, sizeof(reqs));
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 0);
}

static void test_errors_mpich(void **state)
{
	(void)state;
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
}

static void test_open_call(void **state)
{
	(void)state;
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

/* A library nobody described: numbers as they are, and no meaning made up for them. */
static void test_unknown_library(void **state)
{
	(void)state;
	fixture_init(&fx, NULL, NULL);
	rec_begin(&fx, "MPI_Recv", 0, 7, 1ull, 10ull, 0x4c000405ull, JUNK | (uint32_t)-1, 5ull,
		  0x44000000ull, 0x1234ull);
	rec_decode(&fx);
	assert_int_equal(value_int(&fx, "source"), -1);
	assert_int_equal(value_hex(&fx, "dtype"), 0x4c000405);
	assert_null(value_find(&fx, "bytes"));
	assert_false(fx.view.roles.has_peer);
	assert_true(fx.view.roles.recv_bytes == BYTES_UNKNOWN);
	fixture_release(&fx);
}

/* Another program in the same process: what was learned of the first one's handles is void. */
static void test_exec(void **state)
{
	json_t *process = json_loads("{\"type\":\"process\",\"ts_ns\":\"2000000\",\"pid\":100,"
				     "\"rank\":0,\"size\":2,\"exe\":\"/bin/other\","
				     "\"libs\":[{\"id\":3,\"bias\":0}]}",
				     0, NULL);

	(void)state;
	layer_mpi.decoder_meta(fx.d, process);
	json_decref(process);
	start_openmpi("MPI_Irecv", 0xa000);
	assert_string_equal(fx.view.roles.comm_name, "MPI_COMM_WORLD");
	fx.now = 3000000;
	start_openmpi("MPI_Irecv", 0xa000);
	assert_null(fx.view.roles.comm_name);
	rec_begin(&fx, "MPI_Barrier", 0, 1, 0x1000ull);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "comm"), "MPI_COMM_WORLD");
}

static void test_spin_arg(void **state)
{
	static const struct {
		const char *func, *name;
	} rows[] = {
		{ "MPI_Test", "req_address" },	     { "MPI_Testall", "reqs_address" },
		{ "MPI_Request_get_status", "req" }, { "MPI_Iprobe", "comm" },
		{ "MPI_Win_test", "win" },
	};

	(void)state;
	for (size_t i = 0; i < CNT(rows); i++)
		for (size_t k = 0; k < fx.cnt; k++)
			if (!strcmp(fx.funcs[k].name, rows[i].func))
				assert_string_equal(layer_mpi.spin_arg_name(&fx.funcs[k]),
						    rows[i].name);
}

static void test_bad_rows(void **state)
{
	static const char *const rows[] = {
		"{}",
		"{\"name\":\"MPI_X\",\"group\":\"p2p\",\"attrs\":\"NONE\"}",
		"{\"name\":\"MPI_X\",\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"<\"}",
		"{\"name\":1,\"group\":\"p2p\",\"attrs\":\"NONE\",\"sig\":\"\"}",
	};
	struct func_info f = { 0 };

	(void)state;
	log_set_level(LOG_QUIET);
	for (size_t i = 0; i < CNT(rows); i++) {
		json_t *row = json_loads(rows[i], 0, NULL);

		assert_true(layer_mpi.func_parse(row, &f) < 0);
		json_decref(row);
	}
	log_set_level(LOG_WARN);
}

#define OPENMPI(t) cmocka_unit_test_setup_teardown(t, setup_openmpi, teardown)
#define MPICH(t) cmocka_unit_test_setup_teardown(t, setup_mpich, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENMPI(test_send_openmpi),
		OPENMPI(test_copied_openmpi),
		OPENMPI(test_recv_openmpi),
		OPENMPI(test_recv_ignored_status),
		OPENMPI(test_proc_null),
		MPICH(test_recv_mpich),
		MPICH(test_types_mpich),
		MPICH(test_large_counts),
		MPICH(test_sendrecv),
		OPENMPI(test_start_and_wait),
		OPENMPI(test_persistent),
		OPENMPI(test_waitall_more),
		OPENMPI(test_stale_more),
		OPENMPI(test_testsome),
		OPENMPI(test_testany),
		OPENMPI(test_iprobe),
		OPENMPI(test_errors),
		MPICH(test_errors_mpich),
		OPENMPI(test_open_call),
		cmocka_unit_test(test_unknown_library),
		OPENMPI(test_exec),
		OPENMPI(test_spin_arg),
		cmocka_unit_test(test_bad_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
