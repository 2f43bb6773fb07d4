/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Matching of sends and receives, compared with the truth of a small MPI (match_world.h). */
#include "unit/test.h"
#include "unit/cases.h"
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
	assert_int_equal(by[MATCHED], 2 * w->matched);
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

/* ---- one by one: cases/match.txt ---- */

struct play {
	struct match_world w;
	struct side *last[RANKS]; /* what each rank posted last */
	FILE *out;
};

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

static void post_tell(struct play *p, int rank, const char *verb, const char *peer)
{
	const bool starts = *verb == 'i';

	p->last[rank] = match_world_post(&p->w, rank, word_is(verb + starts, "sends"),
					 word_is(peer, "any") ? PEER_ANY : atoi(peer), starts);
}

static void line_tell(void *ctx, const struct cases_line *l)
{
	const char *first = l->word[0], *verb = l->word[1];
	struct play *p = ctx;
	int rank = atoi(first);

	if (word_is(first, "apart"))
		p->w.a.clocks_apart = true;
	else if (word_is(first, "assumed"))
		p->w.assumed = true;
	else if (word_is(first, "matches"))
		fprintf(p->out, "matches %u\n", p->w.matched);
	else if (word_is(first, "later"))
		for (int i = 0; i < 3000; i++)
			match_world_call(&p->w, 3, &match_world_wait, p->w.now,
					 &(struct call_roles){0});
	else if (word_is(verb, "completes"))
		match_world_complete(&p->w, p->last[rank]);
	else if (word_is(verb, "cancels"))
		match_world_cancel(&p->w, p->last[rank]);
	else if (word_is(l->word[2], "somebody"))
		send_to_unknown(&p->w, rank);
	else
		post_tell(p, rank, verb, l->word[2]);
}

static void counts_print(const uint64_t *cnt, FILE *out)
{
	static const char *const whys[MATCH_WHY_CNT] = {"matched",  "peer_unknown", "no_peer",
							"no_other", "status",	    "behind",
							"conflict", "too_many"};

	for (int why = 0; why < MATCH_WHY_CNT; why++)
		cases_figures_part(out, {whys[why], cnt[why]});
}

static void match_play(const struct script *lines, FILE *out)
{
	static const struct match_row none;
	struct play p = {.out = out};

	match_world_open(&p.w, 1, true, false);
	cases_each(lines, line_tell, &p);
	mfix_sink_finish(&p.w.a.sink, p.w.f.model);
	fprintf(out, "matches %u\n", p.w.matched);
	for (uint32_t i = 0; i < RANKS; i++) {
		const struct match_row *r = matches_of(&p.w.a, i);

		if (!memcmp(r, &none, sizeof(none)))
			continue;
		fprintf(out, "%u sends", i);
		counts_print(r->sends, out);
		fputs(", receives", out);
		counts_print(r->recvs, out);
		cases_figures(out, {"assumed", r->assumed});
	}
	match_world_close(&p.w);
}

TEST(one_by_one)
{
	cases_run("match", match_play);
}
