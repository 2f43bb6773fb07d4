/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Messages that queue at their receiver: who waits for one that serves others, and what came before it was asked for. */
#include <stdlib.h>

#include "unit/test.h"
#include "analysis/any_source.h"
#include "analysis/unexpected.h"

#define RANKS 3

static const struct func_info send_info = {.name = "MPI_Send"}, recv_info = {.name = "MPI_Recv"};

struct queues {
	struct model_process process[RANKS];
	struct model_thread thread[RANKS];
	struct late_pairs late;
	struct any_source any_source;
	struct unexpecteds unexpecteds;
	uint32_t waits; /* that whoever took them before has been told */
};

static void on_wait(void *ctx, const struct late_wait *w)
{
	(void)w;
	((struct queues *)ctx)->waits++;
}

static void on_match(void *ctx, const struct match *m)
{
	struct queues *q = ctx;

	any_source_match(&q->any_source, m);
	unexpecteds_match(&q->unexpecteds, m);
}

static void queues_open(struct queues *q)
{
	*q = (struct queues){0};
	for (uint32_t i = 0; i < RANKS; i++) {
		q->process[i].idx = q->thread[i].idx = i;
		q->thread[i].proc = &q->process[i];
	}
	late_init(&q->late);
	q->late.matched = on_match;
	q->late.matched_ctx = q;
	q->late.tell = on_wait;
	q->late.ctx = q;
	any_source_init(&q->any_source, &q->late);
	unexpecteds_init(&q->unexpecteds);
}

static void queues_close(struct queues *q)
{
	any_source_release(&q->any_source);
	unexpecteds_release(&q->unexpecteds);
	late_release(&q->late);
}

static struct match_end blocking(const struct queues *q, int rank, const struct func_info *func,
				 uint64_t begin_ns, uint64_t end_ns)
{
	return (struct match_end){
		.process = &q->process[rank],
		.thread = &q->thread[rank],
		.completer = &q->thread[rank],
		.func = func,
		.begin_ns = begin_ns,
		.posted_ns = end_ns,
		.completing_ns = begin_ns,
		.end_ns = end_ns,
		.bytes = 10,
	};
}

/* A message by blocking calls, from..until each. */
static struct match message(const struct queues *q, int from, uint64_t send_ns, uint64_t sent_ns,
			    int to, uint64_t recv_ns, uint64_t received_ns)
{
	return (struct match){
		.send = blocking(q, from, &send_info, send_ns, sent_ns),
		.recv = blocking(q, to, &recv_info, recv_ns, received_ns),
		.bytes = 10,
	};
}

static void tell(struct queues *q, const struct match *m)
{
	q->late.matches.tell(q->late.matches.ctx, m);
}

/* Rank 0 takes a message of another one from any source, or names it. */
static void take(struct queues *q, bool any, int from, uint64_t send_ns, uint64_t sent_ns,
		 uint64_t recv_ns, uint64_t received_ns)
{
	struct match m = message(q, from, send_ns, sent_ns, 0, recv_ns, received_ns);

	m.recv.any_source = any;
	tell(q, &m);
}

/* … and answers. */
static void answer(struct queues *q, int to, uint64_t send_ns, uint64_t recv_ns)
{
	struct match m = message(q, 0, send_ns, send_ns + 10, to, recv_ns, send_ns + 5);

	tell(q, &m);
}

static void serve_two(struct queues *q, bool any)
{
	take(q, any, 1, 100, 110, 90, 115);
	answer(q, 1, 200, 112); /* nobody was before it */
	take(q, any, 2, 120, 130, 215, 216);
	answer(q, 2, 300, 131); /* until 215 rank 0 was at rank 1's */
	take(q, any, 1, 220, 225, 315, 316);
	answer(q, 1, 400, 230); /* until 315 at rank 2's */
	take(q, any, 2, 330, 420, 415,
	     420); /* its send ends when it is taken: from 330 until 415 */
}

TEST(any_source)
{
	struct waited_for *list;
	struct queues q;
	uint32_t n;

	queues_open(&q);
	serve_two(&q, true);
	list = waited_for_list(&q.any_source.waits, &n);
	assert_int_equal(n, 2);
	assert_int_equal(list[0].waiter, 2);
	assert_int_equal(list[0].late, 0);
	assert_int_equal(list[0].cnt, 2);
	assert_int_equal(list[0].ns, (215 - 131) + (415 - 330));
	assert_int_equal(list[0].worst_ns, 415 - 330);
	assert_int_equal(list[0].worst_from_ns, 330);
	assert_int_equal(list[1].waiter, 1);
	assert_int_equal(list[1].ns, 315 - 230);
	assert_int_equal(q.waits, 5);
	free(list);
	queues_close(&q);
}

TEST(named_source)
{
	struct waited_for *list;
	struct queues q;
	uint32_t n;

	queues_open(&q);
	serve_two(&q, false);
	list = waited_for_list(&q.any_source.waits, &n);
	assert_int_equal(n, 0);
	assert_int_equal(q.waits, 5);
	free(list);
	queues_close(&q);
}

/* More messages than are kept: what is forgotten does not count, the rest does. */
TEST(many_services)
{
	struct waited_for *list;
	struct queues q;
	uint32_t n;

	queues_open(&q);
	for (uint64_t i = 0; i < 2000; i++)
		take(&q, true, 1, 10 * i, 10 * i + 1, 10 * i + 2, 10 * i + 3);
	take(&q, true, 2, 1, 2, 20000, 20001);
	answer(&q, 2, 20010, 3);
	list = waited_for_list(&q.any_source.waits, &n);
	assert_int_equal(n, 1);
	assert_int_equal(list[0].ns, 1022 * 9 + (20000 - 19993));
	free(list);
	queues_close(&q);
}

TEST(unexpected)
{
	const struct unexpected *u;
	struct queues q;
	struct match m;
	size_t at = 0;

	queues_open(&q);
	for (uint64_t i = 0; i < 10; i++) { /* the last one is received first */
		m = message(&q, 1, 100 - 10 * i, 105 - 10 * i, 0, 1000 + 10 * i, 1003 + 10 * i);
		tell(&q, &m);
	}
	m = message(&q, 1, 2000, 2021, 0, 2020, 2030); /* it may have come as late as 2021 */
	tell(&q, &m);
	m = message(&q, 1, 2100, 2101, 0, 2110, 2120);
	m.send.completer = NULL; /* nobody knows when it was complete */
	tell(&q, &m);
	m = message(&q, 1, 2200, 2201, 0, 2210, 2220);
	m.assumed = true;
	tell(&q, &m);
	u = map_next(&q.unexpecteds.process, &at, NULL);
	assert_non_null(u);
	assert_int_equal(u->process->idx, 0);
	assert_string_equal(u->func->name, "MPI_Recv");
	assert_int_equal(u->cnt, 10);
	assert_int_equal(u->bytes, 100);
	assert_int_equal(u->ns, 30);
	assert_int_equal(u->behind, 9);
	assert_int_equal(u->behind_from_ns, 15);
	assert_int_equal(u->behind_to_ns, 1090);
	assert_null(map_next(&q.unexpecteds.process, &at, NULL));
	queues_close(&q);
}

TEST(many_unexpected)
{
	const struct unexpected *u;
	struct queues q;
	size_t at = 0;

	queues_open(&q);
	for (uint64_t i = 0; i < 2 * UNEXPECTED_KEPT; i++) {
		struct match m = message(&q, 1, 1, 2, 0, 1000 + i, 1001 + i);

		tell(&q, &m);
	}
	u = map_next(&q.unexpecteds.process, &at, NULL);
	assert_int_equal(u->cnt, 2 * UNEXPECTED_KEPT);
	assert_int_equal(u->behind, UNEXPECTED_KEPT);
	assert_true(u->ntaken <= UNEXPECTED_KEPT);
	queues_close(&q);
}
