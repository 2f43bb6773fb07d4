/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Matching of sends and receives, compared with the truth of a small MPI (match_world.h). */
#include "unit/test.h"
#include "unit/match_world.h"

/* ---- at random ---- */

/* Asserts that each end is counted once. */
static void counts_check(const struct match_world *w, uint64_t by[MATCH_WHY_CNT])
{
	uint64_t sends = 0, recvs = 0;

	memset(by, 0, MATCH_WHY_CNT * sizeof(*by));
	for (uint32_t i = 0; i < RANKS; i++) {
		const struct match_row *r = matches_of(&w->a, i);

		for (int why = 0; why < MATCH_WHY_CNT; why++) {
			by[why] += r->sends[why] + r->recvs[why];
			sends += r->sends[why];
			recvs += r->recvs[why];
		}
	}
	for (const struct side *s = w->newest; s; s = s->older) {
		bool cancelled = !s->sends && !s->over && s->request && !s->freed;

		for (uint32_t i = 0; cancelled && i < w->rank[s->rank].nrequests; i++)
			cancelled &= w->rank[s->rank].request[i] != s;
		sends -= s->sends;
		recvs -= !s->sends && !cancelled && w->rank[s->rank].blocked != s;
	}
	assert_int_equal(sends, 0);
	assert_int_equal(recvs, 0);
	assert_int_equal(by[MATCHED], 2 * w->told);
}

static void run(uint64_t seed, bool any, bool ask_always, uint64_t by[MATCH_WHY_CNT],
		uint32_t *truly)
{
	struct match_world w;

	match_world_open(&w, seed, any, ask_always);
	for (int i = 0; i < 20000; i++)
		match_world_step(&w);
	match_world_drain(&w);
	mfix_sink_finish(&w.a.sink, w.f.model);
	counts_check(&w, by);
	*truly = w.truly;
	match_world_close(&w);
}

/* Asserts that all received messages are found and none is wrong. */
static void all_found(bool any)
{
	uint64_t by[MATCH_WHY_CNT];
	uint32_t truly;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		run(seed * 7919, any, true, by, &truly);
		assert_true(truly > 1000);
		assert_int_equal(by[MATCHED], 2 * truly);
	}
}

TEST(all_known)
{
	all_found(false);
}

TEST(wildcards)
{
	all_found(true);
}

/*
 * Nobody requests the status of some receives from any source or with any tag. No match may be
 * wrong, and the unknown ones must be reported.
 */
TEST(statuses_ignored)
{
	uint64_t by[MATCH_WHY_CNT];
	uint32_t truly;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		run(seed * 7919, true, false, by, &truly);
		assert_true(by[MATCHED] > 0);
		assert_true(by[MATCH_STATUS] > 0);
		assert_int_equal(by[MATCH_CONFLICT], 0);
	}
}

/* ---- one by one ---- */

static uint64_t ends_of(const struct match_world *w, uint32_t rank, bool sends, enum match_why why)
{
	const struct match_row *r = matches_of(&w->a, rank);

	return (sends ? r->sends : r->recvs)[why];
}

/*
 * Two receives took two messages in unknown order. The sends are still in flight when that is
 * examined.
 */
TEST(sends_under_way)
{
	struct match_world w;
	struct side *s[2];

	match_world_open(&w, 1, true, false);
	s[0] = match_world_post(&w, 0, true, 1, true);
	s[1] = match_world_post(&w, 2, true, 1, true);
	(void)match_world_post(&w, 1, false, PEER_ANY, false);
	(void)match_world_post(&w, 1, false, PEER_ANY, false);
	for (int i = 0; i < 3000; i++)
		match_world_call(&w, 3, &match_world_wait, w.now, &(struct call_roles){0});
	match_world_complete(&w, s[1]);
	match_world_complete(&w, s[0]);
	mfix_sink_finish(&w.a.sink, w.f.model);
	assert_int_equal(w.told, 0);
	assert_int_equal(ends_of(&w, 1, false, MATCH_STATUS), 2);
	assert_int_equal(ends_of(&w, 0, true, MATCH_BEHIND), 1);
	assert_int_equal(ends_of(&w, 2, true, MATCH_BEHIND), 1);
	match_world_close(&w);
}

/*
 * A receive was to be cancelled, but nobody asked if it was. The next message then goes to the next
 * receive. That may be wrong if the message was sent before the cancelled receive was completed.
 */
static void cancelled_check(int from, bool sent_before)
{
	struct match_world w;
	struct side *r;

	match_world_open(&w, 1, true, false);
	w.assumed = sent_before;
	r = match_world_post(&w, 1, false, from, true);
	match_world_cancel(&w, r);
	if (!sent_before)
		match_world_complete(&w, r);
	(void)match_world_post(&w, 0, true, 1, false);
	if (sent_before)
		match_world_complete(&w, r);
	(void)match_world_post(&w, 1, false, 0, false);
	mfix_sink_finish(&w.a.sink, w.f.model);
	assert_int_equal(w.told, 1);
	assert_int_equal(ends_of(&w, 1, false, MATCHED), 1);
	assert_int_equal(matches_of(&w.a, 1)->assumed, sent_before);
	match_world_close(&w);
}

TEST(cancelled)
{
	cancelled_check(0, false);
	cancelled_check(PEER_ANY, false);
}

TEST(cancelled_in_doubt)
{
	cancelled_check(0, true);
	cancelled_check(PEER_ANY, true);
}

/*
 * As above, but a third rank sends before the receives are examined. Its message is unambiguous,
 * although it came into the same inbox.
 */
TEST(clear_again)
{
	struct match_world w;

	match_world_open(&w, 1, true, false);
	(void)match_world_post(&w, 0, true, 1, false);
	(void)match_world_post(&w, 2, true, 1, false);
	(void)match_world_post(&w, 1, false, PEER_ANY, false);
	(void)match_world_post(&w, 1, false, PEER_ANY, false);
	(void)match_world_post(&w, 3, true, 1, false);
	(void)match_world_post(&w, 1, false, PEER_ANY, false);
	mfix_sink_finish(&w.a.sink, w.f.model);
	assert_int_equal(w.told, 1);
	assert_int_equal(ends_of(&w, 1, false, MATCH_STATUS), 2);
	assert_int_equal(ends_of(&w, 3, true, MATCHED), 1);
	match_world_close(&w);
}

static void send_to_unknown(struct match_world *w, int rank)
{
	struct call_request q = {.event = REQUEST_START, .handle = 1000};
	struct call_roles roles = {.sends = true,
				   .has_peer = true,
				   .has_tag = true,
				   .peer = 1,
				   .peer_world = -1,
				   .peer_why = PEER_UNKNOWN_ORDER,
				   .comm_id = 1,
				   .requests = &q,
				   .nrequests = 1};

	match_world_call(w, rank, &match_world_isend, w->now, &roles);
}

/* A rank sent in the same communicator to an unknown receiver, which may have been this one. */
TEST(sent_to_unknown)
{
	struct match_world w;

	match_world_open(&w, 1, true, false);
	send_to_unknown(&w, 2);
	(void)match_world_post(&w, 0, true, 1, false);
	(void)match_world_post(&w, 1, false, PEER_ANY, false);
	mfix_sink_finish(&w.a.sink, w.f.model);
	assert_int_equal(w.told, 0);
	assert_int_equal(ends_of(&w, 2, true, MATCH_PEER_UNKNOWN), 1);
	assert_int_equal(ends_of(&w, 1, false, MATCH_STATUS), 1);
	assert_int_equal(ends_of(&w, 0, true, MATCH_BEHIND), 1);
	match_world_close(&w);
}

/* A later send of that rank may be the second message that its receiver gets from it. */
TEST(after_unknown)
{
	struct match_world w;

	match_world_open(&w, 1, false, false);
	(void)match_world_post(&w, 2, true, 1, false);
	(void)match_world_post(&w, 1, false, 2, false);
	send_to_unknown(&w, 2);
	(void)match_world_post(&w, 0, true, 1, false);
	(void)match_world_post(&w, 1, false, 0, false);
	assert_int_equal(w.told, 2);
	w.assumed = true;
	(void)match_world_post(&w, 2, true, 1, false);
	(void)match_world_post(&w, 1, false, 2, false);
	assert_int_equal(w.told, 3);
	match_world_close(&w);
}

/*
 * What another host sent by then is only known at the end, unless the hosts' clocks are known to
 * agree.
 */
TEST(clocks_apart)
{
	struct match_world w;

	for (int apart = 0; apart < 2; apart++) {
		match_world_open(&w, 1, true, false);
		w.a.clocks_apart = apart;
		(void)match_world_post(&w, 0, true, 1, false);
		(void)match_world_post(&w, 1, false, PEER_ANY, false);
		for (int i = 0; i < 3000; i++)
			match_world_call(&w, 3, &match_world_wait, w.now, &(struct call_roles){0});
		assert_int_equal(w.told, !apart);
		mfix_sink_finish(&w.a.sink, w.f.model);
		assert_int_equal(w.told, 1);
		match_world_close(&w);
	}
}
