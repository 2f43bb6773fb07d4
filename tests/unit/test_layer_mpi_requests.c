/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Many requests at once, and requests of many threads. Single calls are in
 * tests/unit/layer/mpi_requests.calls.
 */
#include "unit/test.h"
#include "unit/layer_fixture.h"

#define OMPI_WORLD (OMPI_BIAS + 0x1000)
#define OMPI_INT (OMPI_BIAS + 0x2000)

struct ompi_status {
	int32_t source, tag, error, cancelled;
	uint64_t bytes;
};

static void decode_at(uint64_t begin_ns, uint64_t end_ns)
{
	rec_call(&fx)->hdr.ts_ns = end_ns;
	rec_call(&fx)->dur_ns = end_ns - begin_ns;
	rec_decode(&fx);
}

static void start_at(const char *func, uint64_t req, uint64_t begin_ns, uint64_t end_ns)
{
	rec_begin(&fx, func, 0, 7, 1ull, 10ull, OMPI_INT, 2ull, 5ull, OMPI_WORLD, 0x5000ull);
	rec_u64(&fx, POV_FIELD_TYPE_SIZE, 2, 1, 4);
	rec_u64(&fx, POV_FIELD_OUT, 6, 1, req);
	decode_at(begin_ns, end_ns);
}

static uint64_t handle_of(int number)
{
	return 0xa000 + 16 * (uint64_t)number;
}

#define MANY 300

/* 300 requests and statuses: the first few in the record, the others in continuations. */
TEST_WITH(waitall_more, fixture_setup_openmpi, fixture_teardown)
{
	static struct ompi_status st[MANY];
	static uint64_t reqs[MANY];
	const struct call_value *v;

	for (uint32_t i = 0; i < MANY; i++) {
		reqs[i] = handle_of((int)i);
		st[i] = (struct ompi_status){i % 4, i, 0, 0, 1000 + i};
		start_at(i % 2 ? "MPI_Irecv" : "MPI_Isend", reqs[i], 1000 * i, 1000 * i + 10);
	}
	rec_begin(&fx, "MPI_Waitall", 0, 3, (uint64_t)MANY, 0x5000ull, 0x6000ull);
	for (uint32_t i = 20; i < MANY; i += 64)
		rec_more(&fx, POV_FIELD_IN, 1, i, &reqs[i], (i + 64 < MANY ? 64 : MANY - i) * 8);
	for (uint32_t i = 0; i < MANY; i += 21)
		rec_more(&fx, POV_FIELD_OUT, 2, i, &st[i], (i + 21 < MANY ? 21 : MANY - i) * 24);
	rec_field(&fx, POV_FIELD_IN, 1, MANY, reqs, 20 * 8);
	rec_field(&fx, POV_FIELD_OUT, 2, MANY, NULL, 0); /* none fitted in */
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

/*
 * Decodes a Waitall of one request whose status has 1 byte. Returns whether the view has the
 * status.
 */
static bool wait_at(uint64_t req, uint64_t begin_ns, uint64_t end_ns)
{
	const struct ompi_status st = {2, 5, 0, 0, 1};

	rec_begin(&fx, "MPI_Waitall", 0, 3, 1ull, 0x5000ull, 0x6000ull);
	rec_u64(&fx, POV_FIELD_IN, 1, 1, req);
	rec_field(&fx, POV_FIELD_OUT, 2, 1, &st, sizeof(st));
	decode_at(begin_ns, end_ns);
	assert_int_equal(fx.view.roles.nrequests, 1);
	return fx.view.roles.requests[0].has_status;
}

#define RANDOM_THREADS 5
#define RANDOM_HANDLES 3
#define RANDOM_STEPS 20011

struct sim_thread {
	int handle; /* handle that the thread waits for, or -1 */
	bool receives, freed;
	uint64_t begin_ns;
};

/*
 * Threads wait for one request at a time. The request is freed at some moment within the wait. From
 * then on, its handle may be given to any thread. Each wait must show the kind of request that its
 * own thread started.
 */
TEST_WITH(reused_random, fixture_setup_openmpi, fixture_teardown)
{
	struct sim_thread thread[RANDOM_THREADS];
	bool taken[RANDOM_HANDLES] = {0};
	uint32_t seed = 12345, waits = 0, reused = 0;
	uint64_t now = 1000;

	for (int i = 0; i < RANDOM_THREADS; i++)
		thread[i] = (struct sim_thread){.handle = -1};
	for (int step = 0; step < RANDOM_STEPS; step++) {
		struct sim_thread *t;

		seed = seed * 1664525 + 1013904223;
		t = &thread[(seed >> 16) % RANDOM_THREADS];
		now += 10;
		if (t->handle < 0) {
			int h = (int)(seed >> 24) % RANDOM_HANDLES;

			if (taken[h])
				continue;
			taken[h] = true;
			*t = (struct sim_thread){h, seed >> 13 & 1, .begin_ns = now + 1};
			start_at(t->receives ? "MPI_Irecv" : "MPI_Isend", handle_of(h), now - 5,
				 now);
		} else if (!t->freed) {
			taken[t->handle] = false;
			t->freed = true;
		} else {
			assert_int_equal(wait_at(handle_of(t->handle), t->begin_ns, now),
					 t->receives);
			waits++;
			reused += taken[t->handle];
			t->handle = -1;
		}
	}
	assert_true(waits > 1000 && reused > 100);
}
