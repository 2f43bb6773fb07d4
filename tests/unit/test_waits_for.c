/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Ranks that others wait for: who is late to a collective, who has not sent or received yet. test_traces.c: who has their core. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "analysis/arrivals.h"
#include "analysis/late.h"
#include "unit/model_fixture.h"

static const struct func_info barrier = {
	.name = "MPI_Barrier", .group = "coll", .layer_name = "mpi", .waits = true};
static const struct func_info ibarrier = {
	.name = "MPI_Ibarrier", .group = "coll", .layer_name = "mpi"};

struct ranks {
	struct mfix f;
	struct model_thread thread[3];
};

static void ranks_open(struct ranks *w)
{
	memset(w, 0, sizeof(*w));
	mfix_ranks(&w->f, "\"sched\":\"off\",\"rings\":1", 3, w->thread);
}

static void collective(struct arrivals *a, struct ranks *w, int rank, const struct func_info *f,
		       uint64_t begin_ns, uint64_t end_ns)
{
	struct call_request started = {.event = REQUEST_START};
	struct call_view view = {.roles = {.has_comm = true,
					   .comm_id = 1,
					   .comm_size = 3,
					   .requests = &started,
					   .nrequests = f == &ibarrier}};
	const struct model_call c = {.func = f,
				     .thread = &w->thread[rank],
				     .begin_ns = begin_ns,
				     .end_ns = end_ns,
				     .view = &view};

	a->sink.call(a, &c);
}

/*
 * Rank 0 comes at 100, 1 at 200, 2 at 500: from 100 to 200 rank 0 waits for two, half of it for each; from then on both wait for rank
 * 2. Of a call that does not block nobody waits; and who could leave before waits no longer.
 */
TEST(arrivals)
{
	struct arrivals a;
	struct ranks w;

	ranks_open(&w);
	arrivals_init(&a);
	a.sink.start(&a, w.f.model);
	collective(&a, &w, 1, &ibarrier, 50, 51);
	collective(&a, &w, 0, &ibarrier, 60, 61);
	collective(&a, &w, 0, &barrier, 100, 510);
	collective(&a, &w, 1, &barrier, 200, 510);
	collective(&a, &w, 2, &ibarrier, 90, 91);
	assert_int_equal(a.process[2].calls, 1);
	assert_int_equal(a.process[2].waited_ns, 0);
	collective(&a, &w, 2, &barrier, 500, 510);
	assert_int_equal(a.process[2].calls, 2);
	assert_int_equal(a.process[0].waited_ns, 0);
	assert_int_equal(a.process[1].waited_ns, 50);
	assert_int_equal(a.process[2].waited_ns, 50 + 2 * 300);
	assert_int_equal(a.process[2].worst.late_ns, 400);
	assert_int_equal(a.process[2].last, 2);
	collective(&a, &w, 0, &barrier, 600, 650);
	collective(&a, &w, 1, &barrier, 640, 910);
	collective(&a, &w, 2, &barrier, 900, 910);
	/* 40 shared by 1 and 2; then rank 0 for 10, and rank 1 for 260 */
	assert_int_equal(a.process[2].waited_ns, 650 + 20 + 10 + 260);
	w.thread[0].proc->start_ns =
		1000; /* it ran before: which of its calls this is nobody knows */
	collective(&a, &w, 0, &barrier, 1000, 1010);
	assert_int_equal(a.uncertain, 1);
	arrivals_release(&a);
	mfix_release(&w.f);
}

static struct match match_of(struct ranks *w, uint64_t send_ns, uint64_t sent_ns, uint64_t recv_ns,
			     uint64_t received_ns)
{
	const struct match_end send = {.process = w->thread[1].proc,
				       .thread = &w->thread[1],
				       .completer = &w->thread[1],
				       .begin_ns = send_ns,
				       .completing_ns = send_ns,
				       .end_ns = sent_ns};
	const struct match_end recv = {.process = w->thread[0].proc,
				       .thread = &w->thread[0],
				       .completer = &w->thread[0],
				       .begin_ns = recv_ns,
				       .completing_ns = recv_ns,
				       .end_ns = received_ns};

	return (struct match){.send = send, .recv = recv};
}

TEST(late)
{
	struct late_pairs a;
	struct match m;
	struct waited_for *l;
	struct ranks w;
	uint32_t n;

	ranks_open(&w);
	late_init(&a);
	m = match_of(&w, 500, 510, 200, 520); /* the receive waits 300 for its send */
	a.matches.tell(a.matches.ctx, &m);
	m = match_of(&w, 700, 710, 650, 660); /* it ended before the send began: no such message */
	a.matches.tell(a.matches.ctx, &m);
	m = match_of(&w, 800, 990, 950, 1000); /* the send waits 150 for its receive */
	a.matches.tell(a.matches.ctx, &m);
	m = match_of(&w, 1100, 1110, 1300, 1310); /* buffered: nobody waits */
	a.matches.tell(a.matches.ctx, &m);
	/* one call completes two receives: from 2000 to the later one's send */
	m = match_of(&w, 2200, 2210, 1500, 2600);
	m.recv.completing_ns = 2000;
	a.matches.tell(a.matches.ctx, &m);
	m = match_of(&w, 2500, 2510, 1500, 2600);
	m.recv.completing_ns = 2000;
	a.matches.tell(a.matches.ctx, &m);
	/* another such call, whose second message becomes known behind that of a later call: 100, 50, and 100 more */
	m = match_of(&w, 4100, 4110, 4000, 4600);
	a.matches.tell(a.matches.ctx, &m);
	m = match_of(&w, 4750, 4760, 4700, 4800);
	a.matches.tell(a.matches.ctx, &m);
	m = match_of(&w, 4200, 4210, 4000, 4600);
	a.matches.tell(a.matches.ctx, &m);
	m = match_of(&w, 3500, 3510, 3000, 3520);
	m.assumed = true;
	a.matches.tell(a.matches.ctx, &m);
	assert_int_equal(a.uncertain[ASSUMED_WHOLE], 1);
	l = waited_for_list(&a.pairs[LATE_SENDER], &n);
	assert_int_equal(n, 1);
	assert_int_equal(l->ns, 300 + 500 + 100 + 50 + 100);
	assert_int_equal(l->waiter, w.thread[0].proc->idx);
	assert_int_equal(l->late, w.thread[1].proc->idx);
	assert_int_equal(l->worst_ns, 300);
	assert_int_equal(l->worst_from_ns, 200);
	assert_int_equal(l->worst_to_ns, 500);
	free(l);
	l = waited_for_list(&a.pairs[LATE_RECEIVER], &n);
	assert_int_equal(n, 1);
	assert_int_equal(l->ns, 150);
	assert_int_equal(l->waiter, w.thread[1].proc->idx);
	free(l);
	late_release(&a);
	mfix_release(&w.f);
}
