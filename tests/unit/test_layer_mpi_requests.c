/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Requests from start to completion, statuses, and errors among several. */
#include <stdio.h>
#include <string.h>

#include "unit/test.h"
#include "layer_fixture.h"

#define OMPI(off) (OMPI_BIAS + (off))
#define OMPI_WORLD OMPI(0x1000)
#define OMPI_REQUEST_NULL OMPI(0x1300)
#define OMPI_INT OMPI(0x2000)
#define JUNK 0xffff123400000000ull
#define CNT(a) (sizeof(a) / sizeof((a)[0]))

struct ompi_status {
	int32_t source, tag, error, cancelled;
	uint64_t bytes;
};

static void start_openmpi(const char *func, uint64_t req)
{
	rec_begin(&fx, func, 0, 7, 1ull, 10ull, OMPI_INT, 2ull, 5ull, OMPI_WORLD, 0x5000ull);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_u64(&fx, POV_FIELD_OUT, 6, 1, req);
	rec_decode(&fx);
}

/* A receive was started and, for all that is known, completed by calls that were left out: the handle may be another's. */
TEST_WITH(left_out, fixture_setup_openmpi, fixture_teardown)
{
	struct func_info send = {.group = "p2p"}, ask = {.group = "comm"};

	start_openmpi("MPI_Irecv", 0xa000);
	fx.layer->decoder_left_out(fx.d, &ask); /* concerns no request */
	start_openmpi("MPI_Irecv", 0xb000);
	assert_false(fx.view.roles.requests_forgotten);
	fx.layer->decoder_left_out(fx.d, &send);
	rec_begin(&fx, "MPI_Wait", 0, 2, 0x5000ull, 0x6000ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, 0xa000);
	rec_decode(&fx);
	assert_true(fx.view.roles.requests_forgotten);
	for (uint32_t i = 0; i < fx.view.roles.nrequests; i++)
		assert_null(fx.view.roles.requests[i].op);
	start_openmpi("MPI_Irecv", 0xa000);
	assert_false(fx.view.roles.requests_forgotten);
}

TEST_WITH(start_and_wait, fixture_setup_openmpi, fixture_teardown)
{
	struct ompi_status st = {2, 5, 0, 0, 40};
	const struct call_request *r;

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
	assert_int_equal(value_int(&fx, "status_bytes"), 40);
	/* again: nobody started it since, so what its status says is not known to mean anything */
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 1);
	assert_false(fx.view.roles.requests->has_status);
	assert_null(value_find(&fx, "status_bytes"));
	/* a send's status is junk */
	start_openmpi("MPI_Isend", 0xb000);
	rec_begin(&fx, "MPI_Wait", 0, 2, 0x5000ull, 0x6000ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, 0xb000);
	rec_field(&fx, POV_FIELD_OUT, 1, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 1);
	assert_false(fx.view.roles.requests->has_status);
	assert_null(value_find(&fx, "status_bytes"));
	/* a null request is none */
	rec_begin(&fx, "MPI_Wait", 0, 2, 0x5000ull, 0ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, OMPI_REQUEST_NULL);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "req"), "MPI_REQUEST_NULL");
	assert_int_equal(fx.view.roles.nrequests, 0);
}

/* What an operation that is done at once returns stands for nothing outstanding. */
TEST_WITH(shared, fixture_setup_openmpi, fixture_teardown)
{
	uint64_t reqs[] = {OMPI(0x1380), 0xa000};

	start_openmpi("MPI_Isend", OMPI(0x1380));
	assert_string_equal(value_text(&fx, "req"), "ompi_request_empty");
	assert_int_equal(fx.view.roles.nrequests, 0);
	assert_int_equal(fx.view.roles.send_bytes, 40);
	rec_begin(&fx, "MPI_Waitall", 0, 3, 2ull, 0x5000ull, 0ull);
	rec_field(&fx, POV_FIELD_IN, 1, 2, reqs, sizeof(reqs));
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 1);
	assert_int_equal(fx.view.roles.requests[0].handle, 0xa000);
}

TEST_WITH(shared_mpich, fixture_setup_mpich, fixture_teardown)
{
	rec_begin(&fx, "MPI_Isend", 0, 7, 1ull, 10ull, 0x4c000405ull, 2ull, 5ull, 0x44000000ull,
		  1ull);
	rec_u64(&fx, POV_FIELD_OUT, 6, 1, JUNK | 0x6c000001);
	rec_decode(&fx);
	assert_int_equal(value_hex(&fx, "req"), 0x6c000001);
	assert_int_equal(fx.view.roles.nrequests, 0);
	rec_u64(&fx, POV_FIELD_OUT, 6, 1, 0xac000001);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, 1);
}

/* One thread frees a request; before that returns another one is given its handle: later starts mean the new one. */
TEST_WITH(persistent_reused, fixture_setup_openmpi, fixture_teardown)
{
	uint64_t freed_ns;

	start_openmpi("MPI_Send_init", 0xa000);
	freed_ns = fx.now; /* the free begins here */
	start_openmpi("MPI_Recv_init", 0xa000);
	rec_begin(&fx, "MPI_Request_free", 0, 1, 0x5000ull);
	rec_call(&fx)->dur_ns = fx.now - freed_ns;
	rec_u64(&fx, POV_FIELD_IN, 0, 1, 0xa000);
	rec_decode(&fx);
	assert_string_equal(fx.view.roles.requests[0].op->func->name, "MPI_Send_init");
	rec_begin(&fx, "MPI_Start", 0, 1, 0x5000ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, 0xa000);
	rec_decode(&fx);
	assert_string_equal(fx.view.roles.requests[0].op->func->name, "MPI_Recv_init");
	assert_int_equal(fx.view.roles.requests[0].op->roles.recv_bytes, 40);
	assert_int_equal(fx.view.roles.requests[0].in_flight_bytes, 40);
	rec_begin(&fx, "MPI_Start", 0, 1, 0x5000ull); /* the completion between was lost */
	rec_u64(&fx, POV_FIELD_IN, 0, 1, 0xa000);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.requests[0].in_flight_bytes, 0);
	rec_begin(&fx, "MPI_Wait", 0, 2, 0x5000ull, 0ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, 0xa000);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.requests[0].in_flight_bytes, -40);
	assert_int_equal(fx.view.roles.requests[0].op->roles.peer, 2);
}

TEST_WITH(persistent, fixture_setup_openmpi, fixture_teardown)
{
	uint64_t reqs[] = {0xa000, 0xb000};

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
	assert_int_equal(fx.view.roles.nrequests, 1);
	assert_int_equal(fx.view.roles.requests[0].event, REQUEST_CANCEL);
	assert_int_equal(fx.view.roles.requests[0].handle, 0xb000);
}

#define MANY 300

/* Requests and statuses of 300: the first few in the record, the others in continuations. */
TEST_WITH(waitall_more, fixture_setup_openmpi, fixture_teardown)
{
	static struct ompi_status st[MANY];
	static uint64_t reqs[MANY];
	const struct call_value *v;

	for (uint32_t i = 0; i < MANY; i++) {
		reqs[i] = 0xa000 + 16 * i;
		st[i] = (struct ompi_status){i % 4, i, 0, 0, 1000 + i};
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
	v = value_find(&fx, "status_req");
	assert_int_equal(v->n, MANY / 2);
	assert_int_equal(v->ints[7], 15);
	v = value_find(&fx, "status_bytes");
	assert_int_equal(v->ints[7], 1015);
}

/* Continuations of merged polls reach no call of their own, and must not leak into the next one. */
TEST_WITH(stale_more, fixture_setup_openmpi, fixture_teardown)
{
	uint64_t reqs[] = {0xa000, 0xb000, 0xc000}, junk[] = {1, 2, 3};

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

TEST_WITH(testsome, fixture_setup_openmpi, fixture_teardown)
{
	uint64_t reqs[] = {0xa000, 0xb000, 0xc000, OMPI_REQUEST_NULL};
	struct ompi_status st[] = {{2, 5, 0, 0, 12}, {3, 6, 0, 0, 16}};
	int32_t idx[] = {2, 0}, outcount = 2;
	const struct call_value *v;

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
	v = value_find(&fx, "status_req");
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

TEST_WITH(testany, fixture_setup_openmpi, fixture_teardown)
{
	uint64_t reqs[] = {0xa000, 0xb000};
	struct ompi_status st = {2, 5, 0, 0, 12};
	int32_t idx = 1, flag = 1;

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
	assert_int_equal(value_int(&fx, "status_source"), 2);
	idx = -32766;
	rec_begin(&fx, "MPI_Waitany", 0, 4, 2ull, 1ull, 2ull, 3ull);
	rec_field(&fx, POV_FIELD_IN, 1, 2, reqs, sizeof(reqs));
	rec_field(&fx, POV_FIELD_OUT, 2, 1, &idx, 4);
	rec_decode(&fx);
	assert_string_equal(value_text(&fx, "index"), "MPI_UNDEFINED");
	assert_int_equal(fx.view.roles.nrequests, 0);
}

TEST_WITH(iprobe, fixture_setup_openmpi, fixture_teardown)
{
	struct ompi_status st = {2, 5, 0, 0, 12};
	int32_t flag = 1;

	rec_begin(&fx, "MPI_Iprobe", 0, 5, JUNK | 0xffffffff, 5ull, OMPI_WORLD, 0x10ull, 0x20ull);
	rec_field(&fx, POV_FIELD_OUT, 3, 1, &flag, 4);
	rec_field(&fx, POV_FIELD_OUT, 4, 1, &st, sizeof(st));
	rec_decode(&fx);
	assert_true(fx.view.roles.poll_found && !fx.view.roles.receives);
	assert_int_equal(fx.view.roles.peer, 2);
	assert_int_equal(value_int(&fx, "status_bytes"), 12);
}

TEST_WITH(errors, fixture_setup_openmpi, fixture_teardown)
{
	struct ompi_status st[] = {{2, 5, 15, 0, 12}, {2, 5, 19, 0, 0}, {2, 5, 0, 0, 8}};
	uint64_t reqs[] = {0xa000, 0xb000, 0xc000};

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

/* ---- threads: a handle freed inside a Wait is somebody else's before that Wait returns ---- */

static void at(uint64_t begin_ns, uint64_t end_ns)
{
	rec_call(&fx)->hdr.ts_ns = end_ns;
	rec_call(&fx)->dur_ns = end_ns - begin_ns;
}

static void start_at(const char *func, uint64_t req, uint64_t begin_ns, uint64_t end_ns)
{
	rec_begin(&fx, func, 0, 7, 1ull, 10ull, OMPI_INT, 2ull, 5ull, OMPI_WORLD, 0x5000ull);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_u64(&fx, POV_FIELD_OUT, 6, 1, req);
	at(begin_ns, end_ns);
	rec_decode(&fx);
}

/* Waitall of n; their statuses say i + 1 bytes. Returns the calls's first request. */
static const struct call_request *wait_at(const uint64_t *reqs, uint32_t n, uint64_t begin_ns,
					  uint64_t end_ns)
{
	struct ompi_status st[8] = {{0}};

	for (uint32_t i = 0; i < n; i++)
		st[i] = (struct ompi_status){2, 5, 0, 0, i + 1};
	rec_begin(&fx, "MPI_Waitall", 0, 3, (uint64_t)n, 0x5000ull, 0x6000ull);
	rec_field(&fx, POV_FIELD_IN, 1, n, reqs, n * sizeof(*reqs));
	rec_field(&fx, POV_FIELD_OUT, 2, n, st, n * sizeof(*st));
	at(begin_ns, end_ns);
	rec_decode(&fx);
	assert_int_equal(fx.view.roles.nrequests, n);
	return fx.view.roles.requests;
}

TEST_WITH(reused_in_wait, fixture_setup_openmpi, fixture_teardown)
{
	const uint64_t reqs[] = {0xa000, 0xb000};
	const struct call_request *r;

	start_at("MPI_Irecv", 0xa000, 1000, 1010);
	start_at("MPI_Isend", 0xb000, 1020, 1030);
	/* inside this thread's Waitall another one gets both handles, for the reverse, and is done with one */
	start_at("MPI_Isend", 0xa000, 1050, 1100);
	start_at("MPI_Irecv", 0xb000, 1110, 1120);
	assert_false(wait_at(reqs, 1, 1130, 1140)->has_status);
	r = wait_at(reqs, 2, 1040, 1200);
	assert_true(r[0].has_status);
	assert_int_equal(r[0].bytes, 1);
	assert_false(r[1].has_status);
	/* what the other thread has started is still there */
	r = wait_at(&reqs[1], 1, 1150, 1250);
	assert_true(r->has_status);
	assert_int_equal(r->bytes, 1);
	assert_false(wait_at(reqs, 2, 1300, 1310)[0].has_status);
	assert_false(fx.view.roles.requests[1].has_status);
}

/* Request_free, too, means what was there when it began. */
TEST_WITH(reused_in_free, fixture_setup_openmpi, fixture_teardown)
{
	const uint64_t req = 0xa000;

	start_at("MPI_Recv_init", req, 1000, 1010);
	start_at("MPI_Irecv", req, 1030, 1040);
	rec_begin(&fx, "MPI_Request_free", 0, 1, 0x5000ull);
	rec_u64(&fx, POV_FIELD_IN, 0, 1, req);
	at(1020, 1050);
	rec_decode(&fx);
	assert_true(wait_at(&req, 1, 1060, 1070)->has_status);
}

#define RANDOM_THREADS 5
#define RANDOM_HANDLES 3
#define RANDOM_STEPS 20011

struct sim_thread {
	int handle; /* that it waits for, or -1 */
	bool receives, freed;
	uint64_t begin_ns;
};

/*
 * Threads wait for one request at a time; it is freed at some moment inside the wait, and from then on anybody
 * may be given its handle. Each wait must tell of the kind of request that its own thread started.
 */
TEST_WITH(reused_random, fixture_setup_openmpi, fixture_teardown)
{
	struct sim_thread thread[RANDOM_THREADS];
	bool taken[RANDOM_HANDLES] = {0};
	uint64_t now = 1000, handle;
	uint32_t seed = 12345, waits = 0, reused = 0;

	memset(thread, 0, sizeof(thread));
	for (int i = 0; i < RANDOM_THREADS; i++)
		thread[i].handle = -1;
	for (int step = 0; step < RANDOM_STEPS; step++) {
		struct sim_thread *t;

		seed = seed * 1664525 + 1013904223;
		t = &thread[(seed >> 16) % RANDOM_THREADS];
		now += 10;
		if (t->handle >= 0 && !t->freed) {
			taken[t->handle] = false;
			t->freed = true;
		} else if (t->handle >= 0) {
			handle = 0xa000 + 16 * (uint64_t)t->handle;
			assert_int_equal(wait_at(&handle, 1, t->begin_ns, now)->has_status,
					 t->receives);
			waits++;
			reused += taken[t->handle];
			t->handle = -1;
		} else {
			int h = (int)(seed >> 24) % RANDOM_HANDLES;

			if (taken[h])
				continue;
			taken[h] = true;
			*t = (struct sim_thread){.handle = h, .receives = seed >> 13 & 1};
			start_at(t->receives ? "MPI_Irecv" : "MPI_Isend", 0xa000 + 16 * (uint64_t)h,
				 now - 5, now);
			t->begin_ns = now + 1;
		}
	}
	assert_true(waits > 1000 && reused > 100);
}
