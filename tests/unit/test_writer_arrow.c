/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arrows of messages and of nonblocking operations: where they leave and arrive, what they say, and which are not drawn. What matching and
 * the model tell is made by hand. An end is written as "thread name@time" with the number of its arrow and its values.
 */
#include <stdio.h>
#include <string.h>

#include "unit/story.h"
#include "unit/test.h"
#include "analysis/match.h"
#include "writer/timeline.h"

#define START 1000
#define WINDOW_NS 5000 /* what is later is not selected */

static void on_process(void *ctx, const struct model_process *p, int32_t order)
{
	(void)ctx, (void)p, (void)order;
}

static void on_thread(void *ctx, const struct sched_task *t, int32_t order, uint64_t ts_ns)
{
	(void)ctx, (void)t, (void)order, (void)ts_ns;
}

static void on_slice(void *ctx, struct track *t, const struct slice *s)
{
	(void)ctx;
	assert_true(s->instant && s->end_ns == s->begin_ns);
	note("%u %s@%d %s%u", t->tid, s->name, (int)(s->begin_ns - START), s->flow_out ? ">" : "<",
	     (unsigned int)(s->flow_out | s->flow_in));
	for (uint32_t i = 0; i < s->args->n; i++) {
		const struct call_value *v = &s->args->arg[i];

		if (v->kind == VALUE_TEXT)
			note(" %s=%s", v->name, v->text);
		else
			note(" %s=%d", v->name, (int)v->i);
	}
	note("\n");
}

static const struct timeline_ops ops = {
	.process = on_process, .thread = on_thread, .slice = on_slice};
static const struct func_info isend = {.id = 1, .name = "Isend"},
			      irecv = {.id = 2, .name = "Irecv"};
static const struct writer_select window = {.to_ns = WINDOW_NS};
static struct model_process proc[2];
static struct model_thread thread[3]; /* the last one is of the first process, too */
static struct writer_totals totals;
static struct timeline *tl;

static int begin(void **state)
{
	const struct timeline_options opt = {.start_ns = START, .slices = true, .select = &window};

	(void)state;
	totals = (struct writer_totals){0};
	for (uint32_t i = 0; i < 2; i++)
		proc[i] = (struct model_process){
			.pid = i, .out_pid = i, .idx = i, .rank = (int32_t)i, .is_rank = true};
	for (uint32_t i = 0; i < 3; i++)
		thread[i] =
			(struct model_thread){.out_tid = 10 + i, .idx = i, .proc = &proc[i % 2]};
	tl = timeline_new(&opt, &ops, NULL, &totals);
	story_clear();
	return 0;
}

static int end(void **state)
{
	(void)state;
	timeline_finish(tl);
	timeline_free(tl);
	return 0;
}

/* ---- operations ---- */

static const struct call_roles sends_100 = {.sends = true, .send_bytes = 100};
static const struct call_roles receives_200 = {.receives = true, .recv_bytes = 200};

static void operate(const struct model_operation *of, const struct call_request *completion)
{
	struct model_operation o = *of;

	o.completion = completion;
	o.begin_ns += START;
	o.posted_ns += START;
	o.completing_ns += START;
	o.end_ns += START;
	timeline_get_sink(tl)->operation(tl, &o);
}

TEST(operation)
{
	const struct call_request done = {.bytes = BYTES_UNKNOWN};
	const struct call_request got = {.has_status = true, .bytes = 150};

	operate(&(struct model_operation){.thread = &thread[0],
					  .starter = &thread[2],
					  .func = &isend,
					  .roles = &sends_100,
					  .begin_ns = 10,
					  .posted_ns = 2010,
					  .completing_ns = 3010,
					  .end_ns = 4510},
		&done);
	expect("12 started@2009 >1 operation=Isend bytes=100\n"
	       "10 finished@4509 <1 operation=Isend bytes=100 between_us=1000 completing_us=1500\n");
	/* what the status says came; completed by a call of another thread that began before */
	operate(&(struct model_operation){.thread = &thread[0],
					  .starter = &thread[0],
					  .func = &irecv,
					  .roles = &receives_200,
					  .begin_ns = 20,
					  .posted_ns = 30,
					  .completing_ns = 25,
					  .end_ns = 60},
		&got);
	expect("10 started@29 >2 operation=Irecv bytes=150\n"
	       "10 finished@59 <2 operation=Irecv bytes=150 completing_us=35\n");
	assert_int_equal(totals.operations, 2);
	assert_int_equal(totals.flows, 2);
	assert_int_equal(totals.instants, 4);
}

/* Several of one call do not share a nanosecond, unless the call is shorter. */
TEST(operations_of_a_call)
{
	const struct call_request done = {.bytes = BYTES_UNKNOWN};
	struct model_operation o = {.thread = &thread[0],
				    .starter = &thread[0],
				    .func = &isend,
				    .roles = &(struct call_roles){0},
				    .posted_ns = 10,
				    .completing_ns = 50,
				    .end_ns = 53};

	for (; o.place < 3; o.end_place = ++o.place)
		operate(&o, &done);
	expect("10 started@9 >1 operation=Isend bytes=0\n"
	       "10 finished@52 <1 operation=Isend bytes=0 between_us=40 completing_us=3\n"
	       "10 started@8 >2 operation=Isend bytes=0\n"
	       "10 finished@50 <2 operation=Isend bytes=0 between_us=40 completing_us=3\n"
	       "10 started@7 >3 operation=Isend bytes=0\n"
	       "10 finished@52 <3 operation=Isend bytes=0 between_us=40 completing_us=3\n");
}

TEST(no_operation)
{
	const struct call_request done = {.bytes = BYTES_UNKNOWN};
	const struct model_operation whole = {.thread = &thread[0],
					      .starter = &thread[0],
					      .func = &isend,
					      .roles = &sends_100,
					      .begin_ns = 10,
					      .posted_ns = 20,
					      .completing_ns = 30,
					      .end_ns = 40};
	struct model_operation o = whole;

	operate(&o, NULL); /* it blocks */
	o.starter = NULL;
	operate(&o, &done);
	o = whole;
	o.end_ns = WINDOW_NS + 2;
	operate(&o, &done);
	o.end_ns = o.completing_ns; /* damaged: calls of no length */
	operate(&o, &done);
	o = whole;
	o.begin_ns = o.posted_ns;
	operate(&o, &done);
	expect("");
	assert_int_equal(totals.flows, 0);
}

/* ---- messages ---- */

/* Rank 0's call that sends begins at sent, that receives at received; both are completed by waits. */
static struct match message(uint64_t sent, uint64_t send_wait, uint64_t send_end, uint64_t received,
			    uint64_t recv_wait, uint64_t recv_end)
{
	struct match m = {
		.send = {.process = &proc[0],
			 .thread = &thread[0],
			 .completer = &thread[0],
			 .func = &isend,
			 .begin_ns = START + sent,
			 .posted_ns = START + sent + 5,
			 .completing_ns = START + send_wait,
			 .end_ns = START + send_end},
		.recv = {.process = &proc[1],
			 .thread = &thread[1],
			 .completer = &thread[1],
			 .func = &irecv,
			 .begin_ns = START + received,
			 .posted_ns = START + received + 5,
			 .completing_ns = START + recv_wait,
			 .end_ns = START + recv_end},
		.tag = 3,
		.bytes = 64,
	};

	return m;
}

static void tell(struct match m)
{
	tl_arrow_message(tl, &m);
}

TEST(message_waits)
{
	struct match m;

	/* late sender, waited for from 150 on */
	tell(message(200, 300, 400, 100, 150, 250));
	expect("10 sent@200 >1 to_rank=1 bytes=64 tag=3 latency_us=50 receiver_waited_us=50\n"
	       "11 received@248 <1 from_rank=0 bytes=64 tag=3 latency_us=50 receiver_waited_us=50\n");
	/* late receiver, waited for from 110 on */
	tell(message(100, 110, 400, 300, 310, 450));
	expect("10 sent@100 >2 to_rank=1 bytes=64 tag=3 latency_us=350 sender_waited_us=190\n"
	       "11 received@448 <2 from_rank=0 bytes=64 tag=3 latency_us=350 sender_waited_us=190\n");
	/* both had called before either waited */
	m = message(100, 140, 400, 120, 130, 450);
	tell(m);
	expect("10 sent@100 >3 to_rank=1 bytes=64 tag=3 latency_us=350\n"
	       "11 received@448 <3 from_rank=0 bytes=64 tag=3 latency_us=350\n");
	/* nothing is concluded from what may belong together otherwise */
	m = message(200, 300, 400, 100, 150, 250);
	m.assumed = true;
	tell(m);
	expect("10 sent@200 >4 to_rank=1 bytes=64 tag=3 latency_us=50 assumed=1\n"
	       "11 received@248 <4 from_rank=0 bytes=64 tag=3 latency_us=50 assumed=1\n");
	assert_int_equal(totals.arrows, 4);
	assert_int_equal(totals.arrows_reversed, 0);
}

/* Started by one call, or completed by one. */
TEST(messages_of_a_call)
{
	struct match m = message(100, 300, 400, 90, 150, 250);

	m.send.place = 2;
	m.recv.end_place = 4;
	tell(m);
	expect("10 sent@102 >1 to_rank=1 bytes=64 tag=3 latency_us=150\n"
	       "11 received@240 <1 from_rank=0 bytes=64 tag=3 latency_us=150\n");
	m = message(100, 300, 400, 90, 95, 102);
	m.send.place = 3;
	m.recv.end_place = 1;
	tell(m); /* not turned back by that */
	expect("10 sent@100 >2 to_rank=1 bytes=64 tag=3 latency_us=2 receiver_waited_us=5\n"
	       "11 received@101 <2 from_rank=0 bytes=64 tag=3 latency_us=2 receiver_waited_us=5\n");
}

TEST(no_message)
{
	struct match m = message(300, 310, 400, 100, 150, 250);

	tell(m); /* by the clocks of two hosts it came before it was sent */
	assert_int_equal(totals.arrows_reversed, 1);
	m = message(100, 110, 400, 100, 150, 250);
	m.recv.completer = NULL;
	tell(m);
	tell(message(100, 110, 400, 100, 150, WINDOW_NS + 2));
	expect("");
	assert_int_equal(totals.flows, 0);
}

EACH_TEST(begin, end);
