/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Many requests at once, and requests of many threads. Single calls are in
 * tests/unit/layer/mpi_requests.calls.
 */
#include "unit/test.h"
#include "lib/text.h"
#include "unit/cases.h"
#include "unit/layer_fixture.h"

#define U(n) ((unsigned long long)(n))

/* Decodes a call of thread 101 in Open MPI's process: povmake's line after its function. */
static void decode(const char *func, uint64_t begin_ns, uint64_t end_ns, const char *pairs)
{
	char *line = xasprintf("call at=%llu..%llu tid=101 tgid=%d lib=%d func=%s %s", U(begin_ns),
			       U(end_ns), FIXTURE_PID, FIXTURE_LIB, func, pairs);
	const struct pov_call *c = (const struct pov_call *)cases_record(line);

	free(line);
	memset(&fx.view, 0xa5, sizeof(fx.view)); /* decoding must not read old contents */
	fx.view.roles_only = false;
	layer_decode(fx.layer, fx.d, &fx.funcs[c->func], c, &fx.view);
}

static void start_at(const char *func, uint64_t req, uint64_t begin_ns, uint64_t end_ns)
{
	char pairs[128];

	snprintf(pairs, sizeof(pairs),
		 "args=1,10,0x7f0000002000,2,5,0x7f0000001000,0x5000 tsize=2:4 out=6:%llu", U(req));
	decode(func, begin_ns, end_ns, pairs);
}

static uint64_t handle_of(int number)
{
	return 0xa000 + 16 * (uint64_t)number;
}

#define MANY 300

/* Passes a continuation of the call that began at 400,000. */
static void more(const char *type, int arg, int first, int end, const char *(*element)(int))
{
	char *line = xasprintf("more ts=401000 tid=101 begin=400000 type=%s arg=%d first=%d data=",
			       type, arg, first);

	for (int i = first; i < end && i < MANY; i++) {
		char *longer = xasprintf("%s%s%s", line, i > first ? "," : "", element(i));

		free(line);
		line = longer;
	}
	layer_decoder_more(fx.layer, fx.d, (const struct pov_more *)cases_record(line));
	free(line);
}

static const char *request_element(int i)
{
	static char text[32];

	snprintf(text, sizeof(text), "%llu", U(handle_of(i)));
	return text;
}

/* Source, tag, error, cancelled, bytes. */
static const char *status_element(int i)
{
	static char text[64];

	snprintf(text, sizeof(text), "i%d,i%d,i0,i0,%d", i % 4, i, 1000 + i);
	return text;
}

/* 300 requests and statuses: but for one request, all are in continuations. */
TEST_WITH(waitall_more, fixture_setup_openmpi, fixture_teardown)
{
	const struct call_value *v;

	for (int i = 0; i < MANY; i++)
		start_at(i % 2 ? "MPI_Irecv" : "MPI_Isend", handle_of(i), 1000 * i, 1000 * i + 10);
	more("in", 1, 1, 20, request_element);
	for (int i = 20; i < MANY; i += 64)
		more("in", 1, i, i + 64, request_element);
	for (int i = 0; i < MANY; i += 21)
		more("out", 2, i, i + 21, status_element);
	decode("MPI_Waitall", 400000, 401000,
	       "args=300,0x5000,0x6000 in=1/300:0xa000 out=2/300: flags=more");
	assert_int_equal(fx.view.roles.nrequests, MANY);
	for (int i = 0; i < MANY; i++) {
		const struct call_request *r = &fx.view.roles.requests[i];

		assert_int_equal(r->handle, handle_of(i));
		assert_int_equal(r->event, REQUEST_COMPLETE);
		assert_int_equal(r->has_status, i % 2);
		assert_true(r->bytes == (i % 2 ? 1000 + i : BYTES_UNKNOWN));
	}
	v = value_find(&fx.view, "req");
	assert_int_equal(v->kind, VALUE_HEXES);
	assert_int_equal(v->n, MANY);
	assert_int_equal(v->cnt, MANY);
	v = value_find(&fx.view, "status_req");
	assert_int_equal(v->n, MANY / 2);
	assert_int_equal(v->ints[7], 15);
	v = value_find(&fx.view, "status_bytes");
	assert_int_equal(v->ints[7], 1015);
}

/*
 * Decodes a Waitall of one request whose status has 1 byte. Returns whether the view has the
 * status.
 */
static bool wait_at(uint64_t req, uint64_t begin_ns, uint64_t end_ns)
{
	char pairs[128];

	snprintf(pairs, sizeof(pairs), "args=1,0x5000,0x6000 in=1:%llu out=2/1:i2,i5,i0,i0,1",
		 U(req));
	decode("MPI_Waitall", begin_ns, end_ns, pairs);
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
