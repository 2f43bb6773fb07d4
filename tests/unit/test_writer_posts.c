/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the timeline makes of posts, written down as lines: "track: name@begin-end", "track: name!time" for an instant, ">1" and "1>"
 * where an arrow leaves and arrives. The model's objects are made by hand.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/story.h"
#include "unit/test.h"
#include "abi/event.h"
#include "base/text.h"
#include "writer/timeline.h"

#define START 1000

static bool story_with_args;

static unsigned int rel(uint64_t ns)
{
	return (unsigned int)(ns - START);
}

static void note_value(const struct call_value *v)
{
	char number[TEXT_NUMBER_BYTES];

	switch (v->kind) {
	case VALUE_TEXT:
		note(" %s=%s", v->name, v->text);
		break;
	case VALUE_US:
		*text_us(number, v->u) = 0;
		note(" %s=%s", v->name, number);
		break;
	case VALUE_HEX:
		note(" %s=0x%llx", v->name, (unsigned long long)v->u);
		break;
	default:
		note(" %s=%lld", v->name, (long long)v->i);
	}
}

static void on_slice(void *ctx, struct track *t, const struct slice *s)
{
	(void)ctx;
	if (t->kind == TRACK_THREAD)
		return;
	assert_string_not_equal(s->category, "");
	note("%u %s: %s", t->pid, t->name, s->name);
	if (s->instant)
		note("!%u", rel(s->begin_ns));
	else if (s->open)
		note("@%u-", rel(s->begin_ns));
	else
		note("@%u-%u", rel(s->begin_ns), rel(s->end_ns));
	if (s->flow_out)
		note(" >%u", (unsigned int)s->flow_out);
	if (s->flow_in)
		note(" %u>", (unsigned int)s->flow_in);
	for (uint32_t i = 0; i < s->args->n && story_with_args; i++)
		note_value(&s->args->arg[i]);
	note("\n");
}

static void on_thread(void *ctx, const struct sched_task *t, int32_t order, uint64_t ts_ns)
{
	(void)ctx;
	(void)t;
	(void)order;
	(void)ts_ns;
}

static const struct timeline_ops ops = {.thread = on_thread, .slice = on_slice};

static struct model_process proc = {
	.pid = 10, .out_pid = 10, .is_target = true, .is_rank = true, .name = "app"};
static struct model_thread a, b;
static const struct func_info post_send = {.id = 1, .name = "post_send", .layer_name = "verbs"};
static const struct func_info poll_cq = {.id = 2, .name = "poll_cq", .layer_name = "verbs"};
static const struct func_info am_bcopy = {.id = 3, .name = "am_bcopy", .layer_name = "uct"};
static const struct func_info mpi_send = {.id = 4, .name = "MPI_Send", .layer_name = "mpi"};
static struct model_within within = {
	.func = &mpi_send, .begin_ns = START + 5, .end_ns = START + 900, .request = 0x77};
static struct writer_totals totals;
static struct timeline *tl;
static const struct model_sink *sink;
static struct writer_select chosen;

static void begin(void)
{
	struct timeline_options opt = {
		.start_ns = START, .end_ns = START + 1000, .slices = true, .select = &chosen};

	memset(&totals, 0, sizeof(totals));
	story_clear();
	story_with_args = false;
	a = (struct model_thread){.tid = 10, .out_tid = 10, .proc = &proc, .comm = "a"};
	b = (struct model_thread){.tid = 12, .out_tid = 12, .proc = &proc, .comm = "progress"};
	tl = timeline_new(&opt, &ops, NULL, &totals);
	sink = timeline_get_sink(tl);
	timeline_add_thread(tl, &a);
	timeline_add_thread(tl, &b);
}

static void end(void)
{
	timeline_finish(tl);
	timeline_free(tl);
	assert_int_equal(totals.slices, totals.posts + totals.completions + totals.arrivals +
						totals.messages - totals.misplaced);
	memset(&chosen, 0, sizeof(chosen));
}

struct shown_call {
	struct model_thread *thread;
	const struct func_info *func;
	uint64_t from, to; /* to 0: open */
	bool alone;	   /* in no MPI call */
};

static void told(const struct shown_call *sc, const struct call_post *posts, uint32_t n)
{
	const struct call_view view = {.posts = posts, .nposts = n};
	const struct model_call c = {.func = sc->func,
				     .thread = sc->thread,
				     .begin_ns = START + sc->from,
				     .end_ns = START + (sc->to ? sc->to : 1000),
				     .open = !sc->to,
				     .view = &view};
	struct model_post p = {.call = &c, .within = sc->alone ? NULL : &within};

	for (uint32_t i = 0; i < n; i++) {
		p.post = &posts[i];
		sink->post(sink->ctx, &p);
	}
}

#define TELL(thread_, func_, from_, to_, ...)                                                \
	told(                                                                                \
		&(struct shown_call){                                                        \
			.thread = (thread_), .func = (func_), .from = (from_), .to = (to_)}, \
		(const struct call_post[]){__VA_ARGS__},                                     \
		sizeof((const struct call_post[]){__VA_ARGS__}) / sizeof(struct call_post))

static struct call_post post(enum post_kind kind, const char *op, uint64_t id)
{
	return (struct call_post){.kind = kind,
				  .carrier = CARRIER_NIC,
				  .op = op,
				  .transport = kind == POST_COMPLETION ? NULL : "rc",
				  .bytes = 100,
				  .queue = 7,
				  .id = id,
				  .has_id = true};
}

static struct call_post step(enum post_kind kind, const char *op, enum post_step s,
			     uint64_t message)
{
	return (struct call_post){
		.kind = kind, .op = op, .step = s, .message = message, .bytes = 100};
}

/* ---- tracks ---- */

TEST(tracks)
{
	struct call_post tcp = post(POST_SEND, "am", 0), cma = post(POST_READ, NULL, 0);

	tcp.transport = "tcp";
	cma.transport = NULL;
	cma.carrier = CARRIER_CMA;
	begin();
	TELL(&a, &post_send, 10, 20, post(POST_SEND, "SEND", 1));
	TELL(&a, &poll_cq, 30, 40, post(POST_COMPLETION, "SEND", 9));
	TELL(&a, &am_bcopy, 50, 60, tcp);
	TELL(&a, &am_bcopy, 60, 70, cma);
	TELL(&a, &am_bcopy, 70, 80, post(POST_ARRIVAL, "RTS", 0));
	TELL(&b, &post_send, 15, 25, post(POST_RECV, "RECV", 1));
	end();
	expect("10 posts: rc (verbs): SEND@10-20\n10 completions (verbs): SEND@30-40\n"
	       "10 posts: tcp (uct): am@50-60\n10 posts: cma (uct): read@60-70\n"
	       "10 arrivals (uct): RTS@70-80\n10 posts: rc (verbs) of 12: RECV@15-25\n");
	assert_int_equal(totals.posts, 4);
	assert_int_equal(totals.completions, 1);
	assert_int_equal(totals.arrivals, 1);
	assert_int_equal(totals.unpaired, 1);
}

/* Posts of one call follow one another, on their own track; what lies in the call does not end behind it. */
TEST(shared_time)
{
	begin();
	TELL(&a, &post_send, 10, 41, post(POST_SEND, "SEND", 1), post(POST_WRITE, "WRITE", 2),
	     post(POST_COMPLETION, "SEND", 3), post(POST_SEND, "SEND", 4));
	TELL(&a, &post_send, 41, 41, post(POST_SEND, "SEND", 5), post(POST_SEND, "SEND", 6));
	TELL(&a, &post_send, 50, 0, post(POST_SEND, "SEND", 7), post(POST_SEND, "SEND", 8));
	end();
	expect("10 posts: rc (verbs): SEND@10-20\n10 posts: rc (verbs): WRITE@20-30\n"
	       "10 completions (verbs): SEND@10-41\n10 posts: rc (verbs): SEND@30-41\n"
	       "10 posts: rc (verbs): SEND@41-41\n10 posts: rc (verbs): SEND@41-41\n"
	       "10 posts: rc (verbs): SEND@50-\n10 posts: rc (verbs): SEND@50-\n");
	assert_int_equal(totals.misplaced, 0);
	assert_int_equal(totals.open, 2);
}

TEST(arguments)
{
	struct call_post p = post(POST_WRITE, "RDMA_WRITE", 0xab);

	p.dest = "lid 7";
	p.device = "mlx5_0:1";
	p.local_end = "lid 3 qp 7";
	p.remote_end = "lid 7 qp 81";
	p.step = STEP_DATA;
	p.failed = true;
	begin();
	story_with_args = true;
	TELL(&a, &post_send, 10, 20, p);
	expect("10 posts: rc (verbs): RDMA_WRITE data@10-20 bytes=100 dest=lid 7 transport=rc carrier=nic "
	       "device=mlx5_0:1 local_end=lid 3 qp 7 remote_end=lid 7 qp 81 step=data queue=0x7 id=0xab "
	       "failed=1 function=post_send thread=10 mpi_call=MPI_Send mpi_call_us=0.005 "
	       "mpi_request=0x77\n");
	p = (struct call_post){
		.kind = POST_SEND, .op = "RTS", .step = STEP_RTS, .bytes = BYTES_UNKNOWN};
	told(&(struct shown_call){&b, &am_bcopy, 30, 40, true}, (struct call_post[]){p, p}, 2);
	end();
	expect("10 posts (uct) of 12: RTS@30-35 step=RTS of_call=1 of 2 function=am_bcopy thread=12 "
	       "mpi_call=in no MPI call thread_name=progress\n"
	       "10 posts (uct) of 12: RTS@35-40 step=RTS of_call=2 of 2 function=am_bcopy thread=12 "
	       "mpi_call=in no MPI call thread_name=progress\n");
}

TEST(selection)
{
	const char *const globs[] = {"post_*"};
	struct rank_range third = {.job = -1, .first = 3, .last = 3};

	chosen = (struct writer_select){.from_ns = 100, .to_ns = 200};
	begin();
	TELL(&a, &post_send, 10, 99, post(POST_SEND, "early", 1));
	TELL(&a, &post_send, 99, 100, post(POST_SEND, "first", 1));
	TELL(&a, &post_send, 199, 300, post(POST_SEND, "last", 1));
	TELL(&a, &post_send, 301, 302, post(POST_SEND, "late", 1));
	end();
	expect("10 posts: rc (verbs): first@99-100\n10 posts: rc (verbs): last@199-300\n");
	chosen = (struct writer_select){.functions = globs, .nfunctions = 1};
	begin();
	TELL(&a, &post_send, 10, 20, post(POST_SEND, "SEND", 1));
	TELL(&a, &poll_cq, 30, 40, post(POST_COMPLETION, "SEND", 1));
	TELL(&a, &am_bcopy, 50, 60, step(POST_SEND, "RTS", STEP_RTS, 5));
	end();
	expect("10 posts: rc (verbs): SEND@10-20\n");
	chosen = (struct writer_select){.ranks = {&third, 1}};
	begin();
	TELL(&a, &post_send, 10, 20, post(POST_SEND, "SEND", 1));
	end();
	expect("");
}

/* ---- arrows ---- */

TEST(arrow)
{
	struct call_post elsewhere = post(POST_COMPLETION, "SEND", 1);

	elsewhere.queue = 8;
	begin();
	TELL(&a, &post_send, 10, 20, post(POST_SEND, "SEND", 1));
	TELL(&a, &poll_cq, 30, 40, post(POST_COMPLETION, "SEND", 2), elsewhere);
	TELL(&a, &poll_cq, 50, 60, post(POST_COMPLETION, "RECV", 1));
	story.used = 0;
	story_with_args = true;
	TELL(&a, &poll_cq, 70, 80, post(POST_COMPLETION, "SEND", 1));
	story_with_args = false;
	assert_non_null(strstr(story.text,
			       "\n10 posts: rc (verbs): posted!10 >1\n"
			       "10 completions (verbs): completed!79 1> latency_us=0.069\n"));
	/* once only */
	TELL(&a, &poll_cq, 90, 95, post(POST_COMPLETION, "SEND", 1));
	end();
	assert_int_equal(totals.pairs, 1);
	assert_int_equal(totals.flows, 1);
	assert_int_equal(totals.instants, 2);
	assert_int_equal(totals.unpaired, 4);
}

/* The completion is told of first, by another thread, whose call began before the post and lasts: the arrow does not turn back. */
TEST(arrow_from_later_told)
{
	begin();
	TELL(&b, &poll_cq, 5, 60, post(POST_COMPLETION, "SEND", 1));
	TELL(&b, &post_send, 59, 60, post(POST_SEND, "SEND", 1)); /* not before it was learned */
	TELL(&a, &post_send, 10, 20, post(POST_SEND, "SEND", 1));
	end();
	assert_non_null(strstr(story.text, "10 posts: rc (verbs): posted!10 >1\n"
					   "10 completions (verbs) of 12: completed!59 1>\n"));
	assert_int_equal(totals.pairs, 1);
	assert_int_equal(totals.unpaired, 0);
}

/* Unsignalled posts have no completion; that of a later one tells that they are over, and their ids are used again. */
TEST(unsignalled)
{
	begin();
	for (uint64_t t = 0; t < 600; t += 200) {
		TELL(&a, &post_send, t + 10, t + 20, post(POST_SEND, "SEND", 1));
		TELL(&a, &post_send, t + 30, t + 40, post(POST_SEND, "SEND", 2));
		TELL(&a, &poll_cq, t + 50, t + 60, post(POST_COMPLETION, "SEND", t == 400 ? 1 : 2));
	}
	end();
	assert_int_equal(totals.pairs, 3);
	assert_non_null(strstr(story.text, "posted!30 >1\n"));
	assert_non_null(strstr(story.text, "posted!230 >2\n"));
	assert_non_null(strstr(story.text, "posted!410 >3\n"));
}

/* All have the same id. Receives complete one by one; of the others it is not known which have completions. */
TEST(same_id)
{
	begin();
	TELL(&a, &post_send, 10, 20, post(POST_RECV, "RECV", 0));
	TELL(&a, &post_send, 20, 30, post(POST_RECV, "RECV", 0));
	TELL(&a, &post_send, 30, 40, post(POST_SEND, "SEND", 0));
	TELL(&a, &poll_cq, 50, 60, post(POST_COMPLETION, "RECV", 0));
	TELL(&a, &poll_cq, 60, 70, post(POST_COMPLETION, "SEND", 0));
	TELL(&a, &post_send, 70, 80, post(POST_SEND, "SEND", 0));
	TELL(&a, &post_send, 80, 90, post(POST_SEND, "SEND", 0));
	TELL(&a, &poll_cq, 90, 100, post(POST_COMPLETION, "SEND", 0));
	end();
	assert_non_null(strstr(story.text, "posted!10 >1\n"));
	assert_non_null(strstr(story.text, "posted!30 >2\n"));
	assert_int_equal(totals.pairs, 2);
	assert_int_equal(totals.unpaired, 1);
}

/* A completion that does not say of what it is: one post with its id that waits is meant, of either side. */
TEST(side_unknown)
{
	begin();
	TELL(&a, &post_send, 10, 20, post(POST_RECV, "RECV", 1));
	TELL(&a, &post_send, 20, 30, post(POST_SEND, "SEND", 2));
	TELL(&a, &poll_cq, 30, 40, post(POST_COMPLETION, NULL, 2));
	TELL(&a, &poll_cq, 40, 50, post(POST_COMPLETION, NULL, 1));
	TELL(&a, &post_send, 50, 60, post(POST_RECV, "RECV", 3));
	TELL(&a, &post_send, 60, 70, post(POST_SEND, "SEND", 3));
	TELL(&a, &poll_cq, 70, 80, post(POST_COMPLETION, NULL, 3));
	end();
	assert_non_null(strstr(story.text, "posted!20 >1\n"));
	assert_non_null(strstr(story.text, "posted!10 >2\n"));
	assert_int_equal(totals.pairs, 2);
	assert_int_equal(totals.unpaired, 1);
}

TEST(no_arrow_across_losses)
{
	struct call_post refused = post(POST_SEND, "SEND", 1);
	const struct model_lost lost = {
		.since_ns = START + 21, .ts_ns = START + 25, .cnt = 1, .class = POV_CLASS_CALL};

	refused.failed = true;
	begin();
	TELL(&a, &post_send, 10, 20, post(POST_SEND, "SEND", 1));
	sink->lost(sink->ctx, &lost);
	TELL(&b, &post_send, 15, 22, post(POST_SEND, "SEND", 1)); /* told late */
	TELL(&a, &post_send, 26, 28, refused);
	TELL(&a, &poll_cq, 30, 40, post(POST_COMPLETION, "SEND", 1));
	timeline_finish(tl);
	timeline_free(tl);
	assert_int_equal(totals.pairs, 0);
	assert_int_equal(totals.unpaired, 1);
}

TEST(pairs_bounded)
{
	uint64_t t = 0;

	begin();
	for (uint32_t i = 0; i < 2 * TIMELINE_PAIRS_MAX; i++, t += 10) {
		TELL(&a, &post_send, t, t + 5, post(POST_SEND, "SEND", i));
		story.used = 0;
	}
	TELL(&a, &poll_cq, t, t + 5, post(POST_COMPLETION, "SEND", 0),
	     post(POST_COMPLETION, "SEND", TIMELINE_PAIRS_MAX + 1));
	end();
	assert_int_equal(totals.pairs, 1);
	assert_int_equal(totals.unpaired, 1);
}

/* ---- messages ---- */

TEST(message)
{
	begin();
	TELL(&a, &am_bcopy, 10, 20, step(POST_SEND, "RTS", STEP_RTS, 5));
	TELL(&a, &am_bcopy, 30, 40, step(POST_ARRIVAL, "RTR", STEP_RTR, 5));
	TELL(&a, &am_bcopy, 50, 60, step(POST_WRITE, "put", STEP_DATA, 5),
	     step(POST_WRITE, "put", STEP_DATA, 5));
	TELL(&a, &am_bcopy, 70, 80, step(POST_SEND, "ATP", STEP_FIN, 5));
	TELL(&b, &am_bcopy, 60, 90, step(POST_COMPLETION, "put", STEP_NONE, 5));
	story.used = 0;
	story_with_args = true;
	end();
	expect("10 messages: uct: rendezvous@10-90 side=sends bytes=500 message=0x5 steps=6 "
	       "mpi_call=MPI_Send mpi_call_us=0.005\n"
	       "10 messages: uct: RTS!10 bytes=100 function=am_bcopy took_us=0.010\n"
	       "10 messages: uct: RTR!30 bytes=100 function=am_bcopy took_us=0.010\n"
	       "10 messages: uct: put data!50 bytes=100 function=am_bcopy took_us=0.005\n"
	       "10 messages: uct: put data!55 bytes=100 function=am_bcopy took_us=0.005\n"
	       "10 messages: uct: ATP FIN!70 bytes=100 function=am_bcopy took_us=0.010\n"
	       "10 messages: uct: put!90 bytes=100 function=am_bcopy took_us=0.030\n");
	assert_int_equal(totals.messages, 1);
	assert_int_equal(totals.instants, 6);
}

/* Numbers come again; what began before and was not over by then lies on another lane. */
TEST(lanes)
{
	begin();
	TELL(&a, &am_bcopy, 10, 20, step(POST_SEND, "RTS", STEP_RTS, 1));
	TELL(&a, &am_bcopy, 30, 40, step(POST_ARRIVAL, "eager", STEP_EAGER, 5));
	within.begin_ns += 50;
	TELL(&a, &am_bcopy, 60, 70, step(POST_SEND, "eager", STEP_EAGER, 5));
	TELL(&a, &am_bcopy, 80, 90, step(POST_ARRIVAL, "ATS", STEP_FIN, 1));
	TELL(&a, &am_bcopy, 100, 110, step(POST_ARRIVAL, "RTS", STEP_RTS, 1));
	TELL(&a, &am_bcopy, 120, 130, step(POST_COMPLETION, "x", STEP_NONE, 99));
	within.begin_ns -= 50;
	story.used = 0;
	end();
	/* of those that look finished the one that was told first, and the last one's has none */
	expect("10 messages: uct: eager@60-70\n10 messages: uct: eager!60\n"
	       "10 messages: uct: rendezvous@100-110\n10 messages: uct: RTS!100\n");
}

TEST(lanes_bounded)
{
	begin();
	for (uint64_t i = 0; i <= TIMELINE_LANES_MAX; i++)
		TELL(&a, &am_bcopy, 10 + i, 11 + i, step(POST_SEND, "RTS", STEP_RTS, 1 + i));
	for (uint64_t i = 0; i <= TIMELINE_LANES_MAX; i++)
		TELL(&a, &am_bcopy, 100 + i, 101 + i, step(POST_ARRIVAL, "ATS", STEP_FIN, 1 + i));
	end();
	assert_int_equal(totals.messages, TIMELINE_LANES_MAX);
	assert_int_equal(totals.messages_hidden, 1);
	assert_non_null(strstr(story.text, "messages: uct (16): rendezvous@25-116\n"));
}

/* Many short ones lie between, and behind, a few that never end: all have their place. */
TEST(lanes_hold_many)
{
	uint64_t t = 100;

	begin();
	TELL(&a, &am_bcopy, 10, 20, step(POST_SEND, "RTS", STEP_RTS, 1));
	TELL(&a, &am_bcopy, 20, 30, step(POST_SEND, "RTS", STEP_RTS, 2));
	for (uint64_t i = 0; i < 5000; i++, t += 20) {
		TELL(&a, &am_bcopy, t, t + 10, step(POST_SEND, "eager", STEP_EAGER, 10 + i));
		story.used = 0;
	}
	TELL(&a, &am_bcopy, t, t + 10, step(POST_ARRIVAL, "RTR", STEP_RTR, 1));
	story.used = 0;
	end();
	assert_int_equal(totals.messages, 5002);
	assert_int_equal(totals.messages_hidden, 0);
}
