/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Small messages one behind the other: which of them are of one storm, and what it took; and what processes move in all. */

#include "unit/test.h"
#include "analysis/storms.h"
#include "analysis/volumes.h"
#include "unit/model_fixture.h"

static void tell_message(struct storms *a, const struct model_thread *t, bool sends, int64_t bytes,
			 uint64_t begin_ns)
{
	static const struct func_info isend = {.name = "MPI_Isend", .layer_name = "mpi"};
	const struct model_operation o = {
		.thread = t, .func = &isend, .begin_ns = begin_ns, .posted_ns = begin_ns + 100};
	const struct model_message msg = {.operation = &o,
					  .sends = sends,
					  .peer_world = 1,
					  .peer_job = t->proc->job_idx,
					  .bytes = bytes};

	a->sink.message(a, &msg);
}

static void world(struct mfix *f, struct model_thread *thread, const struct model_sink *sink)
{
	mfix_ranks(f, "\"sched\":\"off\",\"rings\":1", 2, thread);
	assert_int_equal(model_run(f->model, &sink, 1), 0);
}

TEST(storms)
{
	struct model_thread ranks[2] = {0};
	const struct model_thread *t = &ranks[0];
	uint64_t ts = 10000;
	struct storms a;
	struct storm *s;
	struct mfix f;
	size_t at = 0;

	storms_init(&a);
	world(&f, ranks, &a.sink);
	for (int i = 0; i < STORM_MIN; i++, ts += 1000)
		tell_message(&a, t, true, 8, ts);
	tell_message(&a, t, true, STORM_BYTES + 1, ts); /* too large to count, and ends it */
	for (int i = 0; i < STORM_MIN - 1; i++, ts += 1000)
		tell_message(&a, t, true, 8, ts);
	tell_message(&a, t, false, 8, ts); /* an answer */
	for (int i = 0; i < STORM_MIN - 1; i++, ts += 1000)
		tell_message(&a, t, true, 8, ts);
	ts += STORM_GAP_NS;
	for (int i = 0; i < STORM_MIN + 3; i++, ts += 1000)
		tell_message(&a, t, true, 16, ts);
	assert_int_equal(a.sink.finish(&a, f.model), 0);
	s = map_next(&a.pairs, &at, NULL);
	assert_non_null(s);
	assert_int_equal(s->storms, 2);
	assert_int_equal(s->messages, 2 * STORM_MIN + 3);
	assert_int_equal(s->bytes, 8 * STORM_MIN + 16 * (STORM_MIN + 3));
	assert_int_equal(s->ns, 100 * (2 * STORM_MIN + 3));
	assert_int_equal(s->worst, STORM_MIN + 3);
	storms_release(&a);
	mfix_release(&f);
}

TEST(volumes)
{
	static const struct func_info send = {.name = "MPI_Send", .layer_name = "mpi"};
	static const struct call_roles roles = {.has_peer = true};
	struct model_operation o = {.func = &send, .roles = &roles};
	struct model_message msg = {.operation = &o, .sends = true, .peer_world = 1, .bytes = 70};
	struct model_thread ranks[2] = {0};
	struct volumes a;
	struct mfix f;

	volumes_init(&a);
	world(&f, ranks, &a.sink);
	o.thread = &ranks[0];
	msg.peer_job = o.thread->proc->job_idx;
	a.sink.message(&a, &msg);
	msg.bytes = BYTES_UNKNOWN;
	a.sink.message(&a, &msg);
	msg.bytes = 1000;
	msg.sends = false; /* who sends it says it */
	a.sink.message(&a, &msg);
	msg.sends = true;
	msg.why = PEER_UNKNOWN_COMM;
	a.sink.message(&a, &msg);
	assert_int_equal(a.bytes[ranks[0].proc->idx], 70);
	assert_int_equal(a.bytes[ranks[1].proc->idx], 70);
	volumes_release(&a);
	mfix_release(&f);
}
