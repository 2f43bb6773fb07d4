/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Traffic and starts of transfers, from posts made by hand; and the report's three forms of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/pairs.h"
#include "base/log.h"
#include "report/report.h"
#include "unit/model_fixture.h"

static const struct layer upper = {.name = "upper", .nearness = 1};
static const struct layer middle = {.name = "middle", .nearness = 2};
static const struct layer lowest = {.name = "lowest", .nearness = 4};
static const struct func_info upper_post = {
	.id = 900, .name = "upper_post", .layer_name = "upper", .layer = &upper};
static const struct func_info middle_post = {
	.id = 901, .name = "middle_post", .layer_name = "middle", .layer = &middle};
static const struct func_info lowest_post = {
	.id = 902, .name = "lowest_post", .layer_name = "lowest", .layer = &lowest};
static const struct func_info mpi_bcast = {
	.id = 1, .name = "MPI_Bcast", .group = "coll", .layer_name = "mpi", .waits = true};
static const struct func_info mpi_isend = {
	.id = 2, .name = "MPI_Isend", .group = "p2p", .layer_name = "mpi"};
static const struct func_info mpi_wait = {
	.id = 3, .name = "MPI_Wait", .group = "req", .layer_name = "mpi", .waits = true};
static const struct func_info mpi_irecv = {
	.id = 4, .name = "MPI_Irecv", .group = "p2p", .layer_name = "mpi"};
static const struct func_info mpi_pcontrol = {
	.id = 5, .name = "MPI_Pcontrol", .group = "tool", .layer_name = "mpi"};

/* A trace of three ranks, of which rank 0 has two threads; posts are put into its report. */
struct world {
	struct mfix f;
	struct trace_source source;
	struct report_options opt;
	struct report r;
	struct model_thread
		*thread[4]; /* 0, 1, 2: main threads of the ranks; 3: a second one of rank 0 */
};

static struct model_thread *thread_of(const struct model *m, uint32_t tid)
{
	for (uint32_t i = 0; i < model_thread_count(m); i++) {
		if (model_thread_get(m, i)->tid == tid)
			return model_thread_get(m, i);
	}
	fail_msg("no thread %u", tid);
	return NULL;
}

static void world_open(struct world *w, bool lossy)
{
	static const uint32_t tids[] = {100, 200, 300, 101};

	memset(w, 0, sizeof(*w));
	w->opt.top = 15;
	mfix_begin(&w->f, "\"sched\":\"off\",\"rings\":1");
	mfix_functions(&w->f);
	for (uint32_t i = 0; i < 3; i++) {
		mfix_rank(&w->f, 1000, tids[i], (int)i, "app");
		put_task(&w->f, 1000, tids[i], tids[i], 0, 1, 0, "app");
	}
	put_task(&w->f, 1000, 101, 100, 0, 1, 0, "progress");
	if (lossy)
		put_lost(&w->f, 5000, 6000, 0, POV_CLASS_CALL, 3);
	mfix_end(&w->f, 9000);
	mfix_open(&w->f, false);
	w->source.path = w->f.path;
	assert_int_equal(report_open(&w->source, 1, &w->opt, &w->r), 0);
	for (uint32_t i = 0; i < 4; i++)
		w->thread[i] = thread_of(w->r.model, tids[i]);
	w->r.transfers.on = true;
}

static void world_settle(struct world *w)
{
	struct traffic *t = &w->r.traffic;
	struct transfer_start *s = &w->r.transfers;

	free(t->received);
	assert_int_equal(t->sink.finish(t, w->r.model), 0);
	assert_int_equal(s->sink.finish(s, w->r.model), 0);
}

static void world_close(struct world *w)
{
	report_close(&w->r);
	mfix_release(&w->f);
}

static void tell(struct world *w, int thread, const struct func_info *f, uint64_t ts,
		 const struct func_info *within, struct call_post post)
{
	struct model_call call = {
		.func = f, .thread = w->thread[thread], .begin_ns = ts, .end_ns = ts + 1};
	struct model_within in = {.func = within};
	struct model_post p = {.post = &post, .call = &call, .within = within ? &in : NULL};

	w->r.traffic.sink.post(&w->r.traffic, &p);
	w->r.transfers.sink.post(&w->r.transfers, &p);
}

/* ---- traffic ---- */

static struct call_post send_of(enum post_carrier carrier, int64_t bytes)
{
	return (struct call_post){.kind = POST_SEND, .carrier = carrier, .bytes = bytes};
}

static void sums_of(const struct world *w, struct traffic_flow flow[3])
{
	uint32_t n;
	struct traffic_group *g = traffic_by(&w->r.traffic, w->r.chosen, w->r.nprocesses,
					     TRAFFIC_BY_PROCESS, &n);

	memset(flow, 0, 3 * sizeof(*flow));
	for (uint32_t i = 0; i < n; i++)
		flow[g[i].key.process] = g[i].flow;
	free(g);
}

/* By carrier the nearest layer counts, though it comes later; those of no known carrier only where there are no others. */
static void test_layers(void **state)
{
	struct traffic_flow flow[3];
	struct world w;

	(void)state;
	world_open(&w, false);
	tell(&w, 0, &upper_post, 1, NULL, send_of(CARRIER_UNKNOWN, 1000));
	tell(&w, 0, &middle_post, 2, NULL, send_of(CARRIER_SOCKET, 300));
	tell(&w, 0, &middle_post, 2, NULL, send_of(CARRIER_SHM, 40));
	tell(&w, 0, &lowest_post, 3, NULL, send_of(CARRIER_SOCKET, 310));
	tell(&w, 1, &upper_post, 1, NULL, send_of(CARRIER_UNKNOWN, 5));
	tell(&w, 1, &upper_post, 1, NULL, send_of(CARRIER_UNKNOWN, BYTES_UNKNOWN));
	world_settle(&w);
	sums_of(&w, flow);
	assert_int_equal(flow[0].sent, 2);
	assert_int_equal(flow[0].sent_bytes, 350);
	assert_int_equal(flow[1].sent, 2);
	assert_int_equal(flow[1].sent_bytes, 5);
	assert_int_equal(flow[1].sent_unknown, 1);
	assert_int_equal(flow[2].posts, 0);
	world_close(&w);
}

/* What does not move data has no say in which layer counts, nor has what was refused. */
static void test_kinds(void **state)
{
	struct call_post post = send_of(CARRIER_NIC, 100);
	struct traffic_flow flow[3];
	struct world w;

	(void)state;
	world_open(&w, false);
	tell(&w, 0, &middle_post, 1, NULL, post);
	post.kind = POST_COMPLETION;
	tell(&w, 0, &lowest_post, 1, NULL, post);
	post.kind = POST_RECV;
	tell(&w, 0, &middle_post, 1, NULL, post);
	post.kind = POST_ATOMIC;
	post.bytes = 8;
	tell(&w, 0, &middle_post, 1, NULL, post);
	post.kind = POST_READ;
	post.bytes = 7;
	tell(&w, 0, &middle_post, 1, NULL, post);
	post.failed = true;
	tell(&w, 0, &middle_post, 1, NULL, post);
	world_settle(&w);
	sums_of(&w, flow);
	assert_int_equal(flow[0].posts, 3);
	assert_int_equal(flow[0].sent_bytes, 108);
	assert_int_equal(flow[0].read_bytes, 15);
	assert_int_equal(flow[0].failed, 1);
	world_close(&w);
}

static struct call_post to_end(enum post_kind kind, enum post_carrier carrier, int64_t bytes,
			       const char *from, const char *to)
{
	return (struct call_post){.kind = kind,
				  .carrier = carrier,
				  .bytes = bytes,
				  .transport = "t",
				  .device = "dev:1",
				  .dest = "somewhere",
				  .local_end = from,
				  .remote_end = to};
}

static uint64_t pair_bytes(const struct world *w, uint32_t from, uint32_t to)
{
	uint32_t n;
	struct pair *p = pairs_find(&w->r.traffic, w->r.chosen, w->r.nprocesses, false, &n);
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += p[i].from == from && p[i].to == to ? p[i].bytes : 0;
	free(p);
	return bytes;
}

/* Ends are learned later than they are led to; an end of several is nobody's; bytes that are read flow to who reads. */
static void test_peers(void **state)
{
	struct traffic_received *got;
	struct world w;

	(void)state;
	world_open(&w, false);
	tell(&w, 0, &lowest_post, 1, NULL, to_end(POST_SEND, CARRIER_NIC, 100, "a", "b"));
	tell(&w, 0, &lowest_post, 1, NULL, to_end(POST_WRITE, CARRIER_NIC, 20, "a", "b"));
	tell(&w, 0, &lowest_post, 1, NULL, to_end(POST_SEND, CARRIER_NIC, 4000, "a", "shared"));
	tell(&w, 1, &lowest_post, 2, NULL, to_end(POST_READ, CARRIER_NIC, 3, "b", "a"));
	tell(&w, 1, &lowest_post, 2, NULL, to_end(POST_RECV, CARRIER_NIC, 9, "shared", NULL));
	tell(&w, 2, &lowest_post, 2, NULL, to_end(POST_RECV, CARRIER_NIC, 9, "shared", NULL));
	tell(&w, 2, &lowest_post, 2, NULL, to_end(POST_READ, CARRIER_CMA, 50, NULL, "pid 100"));
	tell(&w, 2, &lowest_post, 2, NULL, to_end(POST_READ, CARRIER_NIC, 6, NULL, "nobody's"));
	world_settle(&w);
	assert_int_equal(pair_bytes(&w, 0, 1), 123);
	assert_int_equal(pair_bytes(&w, 1, 0), 0);
	assert_int_equal(pair_bytes(&w, 0, 2), 50);
	got = w.r.traffic.received;
	assert_int_equal(got[0].total_bytes, 0);
	assert_int_equal(got[1].sent_bytes, 100);
	assert_int_equal(got[1].written_bytes, 20);
	assert_int_equal(got[1].read_bytes, 3);
	assert_int_equal(got[1].total_bytes, 123);
	assert_int_equal(got[2].total_bytes, 56);
	world_close(&w);
}

/* What was seen to arrive is not counted again as what the other side sent; what it wrote does not arrive so. */
static void test_arrivals(void **state)
{
	struct traffic_received *got;
	struct world w;

	(void)state;
	world_open(&w, false);
	tell(&w, 0, &lowest_post, 1, NULL, to_end(POST_SEND, CARRIER_SOCKET, 100, "a", "b"));
	tell(&w, 0, &lowest_post, 1, NULL, to_end(POST_WRITE, CARRIER_SHM, 20, "sa", "sb"));
	tell(&w, 1, &lowest_post, 2, NULL, to_end(POST_ARRIVAL, CARRIER_SOCKET, 90, "b", "a"));
	tell(&w, 1, &middle_post, 2, NULL, to_end(POST_ARRIVAL, CARRIER_SOCKET, 85, "b", "a"));
	tell(&w, 1, &lowest_post, 2, NULL, to_end(POST_RECV, CARRIER_SHM, 85, "sb", "sa"));
	world_settle(&w);
	got = w.r.traffic.received;
	assert_int_equal(got[1].arrived_bytes, 90);
	assert_int_equal(got[1].sent_bytes, 0);
	assert_int_equal(got[1].written_bytes, 20);
	assert_int_equal(got[1].total_bytes, 110);
	world_close(&w);
}

static char *printed(const struct report *r, char form)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (form == 'j')
		assert_int_equal(report_json(r, out), 0);
	else if (form == 'c')
		assert_int_equal(report_traffic_csv(r, out), 0);
	else
		report_traffic(r, out);
	fclose(out);
	return text;
}

static void check_has(const char *text, const char *const *lines)
{
	for (; *lines; lines++) {
		if (!strstr(text, *lines))
			fail_msg("no \"%s\" in:\n%s", *lines, text);
	}
}

static void mark(struct world *w, int thread, uint64_t ts, enum mark_event event, uint8_t level,
		 const char *name)
{
	struct call_view view = {.roles = {.mark = event, .mark_level = level, .mark_name = name}};
	struct model_call c = {.func = &mpi_pcontrol,
			       .thread = w->thread[thread],
			       .begin_ns = ts,
			       .end_ns = ts,
			       .view = &view};

	w->r.traffic.sink.call(&w->r.traffic, &c);
}

static void check_phase(const struct world *w, const char *name, uint64_t bytes)
{
	uint32_t n;
	struct traffic_group *g = traffic_by(&w->r.traffic, w->r.chosen, w->r.nprocesses,
					     TRAFFIC_BY_PHASE, &n);
	uint64_t got = 0;

	for (uint32_t i = 0; i < n; i++) {
		const char *phase = names_text(&w->r.traffic.names, g[i].key.phase);

		if (!phase == !name && (!name || !strcmp(name, phase)))
			got += g[i].flow.sent_bytes;
	}
	free(g);
	assert_int_equal(got, bytes);
}

/* The innermost open phase; of a thread that marks none, its process's; also of posts that are told late. */
static void test_phases(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, false);
	tell(&w, 0, &lowest_post, 90, NULL, send_of(CARRIER_SHM, 1));
	mark(&w, 0, 100, MARK_BEGIN, 0, "solve");
	tell(&w, 0, &lowest_post, 110, &mpi_bcast, send_of(CARRIER_SHM, 20));
	tell(&w, 3, &lowest_post, 110, NULL, send_of(CARRIER_SHM, 300));
	tell(&w, 1, &lowest_post, 110, NULL, send_of(CARRIER_SHM, 2));
	mark(&w, 0, 200, MARK_BEGIN, 1, "inner");
	tell(&w, 0, &lowest_post, 210, NULL, send_of(CARRIER_SHM, 4000));
	tell(&w, 3, &lowest_post, 150, NULL, send_of(CARRIER_SHM, 50000));
	mark(&w, 0, 300, MARK_END, 1, NULL);
	tell(&w, 0, &lowest_post, 310, NULL, send_of(CARRIER_SHM, 600000));
	mark(&w, 0, 400, MARK_END, 0, NULL);
	tell(&w, 3, &lowest_post, 410, NULL, send_of(CARRIER_SHM, 4));
	world_settle(&w);
	check_phase(&w, "solve", 650320);
	check_phase(&w, "inner", 4000);
	check_phase(&w, NULL, 7);
	world_close(&w);
}

static void region(struct world *w, int thread, uint64_t ts, enum region_end ended, uint32_t depth,
		   const char *name)
{
	struct model_region r = {.thread = w->thread[thread],
				 .name = name,
				 .ended = ended,
				 .begin_ns = ts,
				 .end_ns = ts,
				 .depth = depth};

	w->r.traffic.sink.region(&w->r.traffic, &r);
}

/* Regions are the same, beside the phases. */
static void test_regions(void **state)
{
	static const char *const lines[] = {",solve,outer,1,2,", ",,inner,1,30,", ",,,1,400,",
					    NULL};
	struct world w;
	char *text;

	(void)state;
	world_open(&w, false);
	mark(&w, 0, 100, MARK_BEGIN, 0, "solve");
	region(&w, 0, 110, REGION_UNDER_WAY, 0, "outer");
	tell(&w, 3, &lowest_post, 120, NULL, send_of(CARRIER_SHM, 2));
	mark(&w, 0, 130, MARK_END, 0, NULL);
	region(&w, 0, 140, REGION_UNDER_WAY, 1, "inner");
	tell(&w, 0, &lowest_post, 150, NULL, send_of(CARRIER_SHM, 30));
	region(&w, 0, 160, REGION_RETURNED, 1, "inner");
	region(&w, 0, 170, REGION_UNWOUND, 0, "outer");
	tell(&w, 0, &lowest_post, 180, NULL, send_of(CARRIER_SHM, 400));
	world_settle(&w);
	text = printed(&w.r, 'c');
	check_has(text, lines);
	free(text);
	world_close(&w);
}

/* Of so many changes ago that it was forgotten. */
static void test_phases_forgotten(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, false);
	for (uint64_t i = 0; i < 1000; i++)
		mark(&w, 0, 100 + i, MARK_BEGIN, 0, "x");
	tell(&w, 3, &lowest_post, 110, NULL, send_of(CARRIER_SHM, 1));
	tell(&w, 3, &lowest_post, 1090, NULL, send_of(CARRIER_SHM, 20));
	world_settle(&w);
	check_phase(&w, "?", 1);
	check_phase(&w, "x", 20);
	world_close(&w);
}

/* ---- contexts, and the report ---- */

static void contexts_tell(struct world *w)
{
	struct call_post post = to_end(POST_SEND, CARRIER_SOCKET, 1000, "1.1.1.1:1", "1.1.1.2:2");
	struct model_call call = {.func = &lowest_post, .thread = w->thread[0], .begin_ns = 3};

	tell(w, 0, &lowest_post, 1, &mpi_bcast, post);
	post.bytes = 24;
	tell(w, 3, &lowest_post, 2, NULL, post);
	post = to_end(POST_SEND, CARRIER_SOCKET, 2, "1.1.1.2:2", "1.1.1.1:1");
	post.dest = "quote\" and , comma";
	tell(w, 1, &lowest_post, 2, &mpi_wait, post);
	post = send_of(CARRIER_SOCKET, BYTES_UNKNOWN);
	w->r.traffic.sink.post(&w->r.traffic, &(struct model_post){.post = &post,
								   .call = &call,
								   .within_unknown = true});
}

static void test_report_text(void **state)
{
	static const char *const lines[] = {
		"Posts: what was handed to the network",
		"     0  app          3  >1 KiB     -  97.7     2.3       2 B  t 1 KiB (lowest), socket 0 B (lowest)",
		"(none: thread progress)",
		"MPI_Bcast",
		"From rank (row) to rank (column), all functions: bytes",
		"From rank (row) to rank (column), MPI_Bcast: bytes",
		"1 post of unknown size",
		NULL,
	};
	struct world w;
	char *text;

	(void)state;
	world_open(&w, false);
	contexts_tell(&w);
	world_settle(&w);
	text = printed(&w.r, 't');
	check_has(text, lines);
	free(text);
	world_close(&w);
}

static void test_report_csv(void **state)
{
	static const char *const lines[] = {
		"rank,job,pid,device,destination,peer_rank,",
		"\r\n0,0,100,dev:1,somewhere,1,0,200,socket,t,lowest,call,MPI_Bcast,coll,,,,1,1000,0,0,0,0,0,0,0,0\r\n",
		"\r\n0,0,100,dev:1,somewhere,1,0,200,socket,t,lowest,background,,,progress,,,1,24,0,",
		"\r\n1,0,200,dev:1,\"quote\"\" and , comma\",0,0,100,socket,t,lowest,call,MPI_Wait,req,,,,1,2,0,",
		"\r\n0,0,100,,,,,,socket,,lowest,,,,,,,1,0,1,",
		NULL,
	};
	struct world w;
	char *text;

	(void)state;
	world_open(&w, false);
	contexts_tell(&w);
	world_settle(&w);
	text = printed(&w.r, 'c');
	check_has(text, lines);
	free(text);
	world_close(&w);
}

static json_t *row_with(const json_t *list, const char *key, const char *value)
{
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)list, i, row)
	{
		if (json_is_string(json_object_get(row, key)) &&
		    !strcmp(json_string_value(json_object_get(row, key)), value))
			return row;
	}
	fail_msg("no %s %s", key, value);
	return NULL;
}

static void test_report_json(void **state)
{
	json_t *root, *traffic, *row;
	struct world w;
	char *text;

	(void)state;
	world_open(&w, false);
	contexts_tell(&w);
	world_settle(&w);
	text = printed(&w.r, 'j');
	root = json_loads(text, 0, NULL);
	traffic = json_object_get(root, "traffic");
	row = row_with(json_object_get(traffic, "contexts"), "function", "MPI_Bcast");
	assert_int_equal(json_integer_value(json_object_get(row, "sent_bytes")), 1000);
	row = row_with(json_object_get(traffic, "contexts"), "thread", "progress");
	assert_int_equal(json_integer_value(json_object_get(row, "sent_bytes")), 24);
	row = row_with(json_object_get(traffic, "pairs"), "function", "MPI_Wait");
	assert_int_equal(json_integer_value(json_object_get(row, "from_rank")), 1);
	assert_int_equal(json_integer_value(json_object_get(row, "to_rank")), 0);
	assert_int_equal(json_integer_value(json_object_get(row, "bytes")), 2);
	row = row_with(json_object_get(traffic, "rows"), "destination", "quote\" and , comma");
	assert_string_equal(json_string_value(json_object_get(row, "device")), "dev:1");
	json_decref(root);
	free(text);
	world_close(&w);
}

/* A trace without posts has no such section, and asking for it fails. */
static void test_report_none(void **state)
{
	struct world w;
	char *text;

	(void)state;
	world_open(&w, false);
	text = printed(&w.r, 'j');
	assert_null(strstr(text, "\"traffic\""));
	free(text);
	log_set_level(LOG_QUIET);
	assert_int_equal(report_traffic_check(&w.r), -ENODATA);
	log_set_level(LOG_INFO);
	world_close(&w);
}

/* ---- starts of transfers ---- */

struct operation {
	const struct func_info *func;
	uint64_t begin, posted, completing, end;
	int peer;
	int64_t bytes;
};

/* As the model tells a nonblocking operation: its start and its end as calls, and itself. */
static void operate(struct world *w, uint64_t request, const struct operation *op)
{
	bool sends = op->func == &mpi_isend;
	struct call_request started = {.handle = request, .event = REQUEST_START},
			    over = {.handle = request,
				    .event = REQUEST_COMPLETE,
				    .bytes = op->bytes};
	struct call_view view = {.roles = {.sends = sends,
					   .receives = !sends,
					   .has_peer = true,
					   .peer = op->peer,
					   .recv_peer = op->peer,
					   .peer_world = op->peer,
					   .recv_peer_world = op->peer,
					   .send_bytes = op->bytes,
					   .recv_bytes = op->bytes,
					   .requests = &started,
					   .nrequests = 1}};
	struct call_operation described = {.func = op->func, .roles = view.roles};
	struct call_view end_view = {.roles = {.requests = &over, .nrequests = 1}};
	struct transfer_start *a = &w->r.transfers;

	over.op = &described;
	a->sink.call(a, &(struct model_call){.func = op->func,
					     .thread = w->thread[0],
					     .begin_ns = op->begin,
					     .end_ns = op->posted,
					     .view = &view});
	if (!op->end)
		return;
	a->sink.call(a, &(struct model_call){.func = &mpi_wait,
					     .thread = w->thread[0],
					     .begin_ns = op->completing,
					     .end_ns = op->end,
					     .view = &end_view});
	a->sink.operation(a, &(struct model_operation){.thread = w->thread[0],
						       .func = op->func,
						       .roles = &view.roles,
						       .begin_ns = op->begin,
						       .posted_ns = op->posted,
						       .completing_ns = op->completing,
						       .end_ns = op->end,
						       .completion = &over});
}

static void check_starts(struct world *w, const struct func_info *f, const uint64_t *cnt)
{
	const struct transfer_start *a = &w->r.transfers;
	const struct transfer_row *r = NULL;

	for (uint32_t i = 0; i < a->nrow; i++)
		r = a->row[i].func == f->id ? &a->row[i] : r;
	assert_non_null(r);
	for (int i = 0; i < TRANSFER_WHEN_CNT; i++)
		assert_int_equal(r->cnt[i], cnt[i]);
}

static const struct operation alone[] = {
	{&mpi_isend, 100, 110, 190, 200, 1, 8192}, {&mpi_isend, 300, 310, 390, 400, 1, 8192},
	{&mpi_isend, 500, 510, 590, 600, 1, 8192}, {&mpi_isend, 700, 710, 790, 800, 1, 8192},
	{&mpi_isend, 900, 910, 990, 999, 1, 0}, /* has no data */
};

static void test_starts(void **state)
{
	struct call_post post = to_end(POST_SEND, CARRIER_NIC, 8192, "a", "b");
	struct call_post control = post, read = post;
	struct world w;

	(void)state;
	world_open(&w, false);
	control.bytes = 64;
	read.kind = POST_READ;
	for (uint64_t i = 0; i < 5; i++)
		operate(&w, 77, &alone[i]);
	tell(&w, 0, &lowest_post, 105, &mpi_isend, post);
	tell(&w, 0, &lowest_post, 305, &mpi_isend, control);
	control.step = STEP_RTS;
	control.bytes = 8192;
	tell(&w, 0, &lowest_post, 306, &mpi_isend, control);
	tell(&w, 3, &lowest_post, 350, NULL, post);
	tell(&w, 0, &lowest_post, 395, &mpi_wait, post);
	tell(&w, 0, &lowest_post, 595, &mpi_wait, post);
	tell(&w, 0, &lowest_post, 750, NULL, read); /* no send's */
	world_settle(&w);
	check_starts(&w, &mpi_isend, (uint64_t[]){1, 1, 1, 1, 0});
	assert_int_equal(w.r.transfers.nby, 1);
	assert_int_equal(w.r.transfers.by[0].in_func, 0);
	assert_string_equal(names_text(&w.r.traffic.names, w.r.transfers.by[0].thread), "progress");
	world_close(&w);
}

/* A receiver's reads are its receives'; sends and receives do not hide each other. */
static void test_starts_both_ways(void **state)
{
	static const struct operation ops[] = {{&mpi_isend, 100, 110, 190, 200, 1, 8192},
					       {&mpi_irecv, 90, 95, 190, 200, 1, 8192}};
	struct call_post post = to_end(POST_READ, CARRIER_CMA, 8192, NULL, "pid 200");
	struct world w;

	(void)state;
	world_open(&w, false);
	operate(&w, 1, &ops[0]);
	operate(&w, 2, &ops[1]);
	tell(&w, 0, &lowest_post, 150, &mpi_bcast, post);
	world_settle(&w);
	check_starts(&w, &mpi_isend, (uint64_t[]){0, 0, 0, 1, 0});
	check_starts(&w, &mpi_irecv, (uint64_t[]){0, 1, 0, 0, 0});
	world_close(&w);
}

/* Two at once to the same peer cannot be told apart, unless posts name their request; to different peers they can. */
static void test_starts_doubt(void **state)
{
	static const struct operation same[] = {{&mpi_isend, 100, 110, 190, 200, 1, 8192},
						{&mpi_isend, 120, 130, 190, 200, 1, 8192}},
				      other = {&mpi_isend, 140, 150, 190, 200, 2, 8192},
				      never = {&mpi_isend, 10, 20, 0, 0, 2, 8192};
	struct call_post post = to_end(POST_SEND, CARRIER_CMA, 8192, NULL, "pid 200"),
			 far = to_end(POST_SEND, CARRIER_CMA, 8192, NULL, "pid 300");
	struct world w;

	(void)state;
	world_open(&w, false);
	operate(&w, 1, &same[0]);
	operate(&w, 2, &same[1]);
	operate(&w, 3, &other);
	tell(&w, 0, &lowest_post, 125, &mpi_isend, post);
	tell(&w, 0, &lowest_post, 195, &mpi_wait, far);
	world_settle(&w);
	check_starts(&w, &mpi_isend, (uint64_t[]){0, 0, 1, 0, 2});
	world_close(&w);

	world_open(&w, false);
	operate(&w, 1, &same[0]);
	operate(&w, 2, &same[1]);
	post.message = 2;
	tell(&w, 0, &lowest_post, 125, &mpi_isend, post);
	world_settle(&w);
	check_starts(&w, &mpi_isend, (uint64_t[]){1, 0, 0, 0, 1});
	world_close(&w);

	world_open(&w, false); /* one that is never over is in the way of all to its peer */
	operate(&w, 3, &never);
	operate(&w, 1, &other);
	tell(&w, 0, &lowest_post, 145, &mpi_isend, far);
	world_settle(&w);
	check_starts(&w, &mpi_isend, (uint64_t[]){0, 0, 0, 0, 1});
	world_close(&w);
}

/* Where calls are missing, nothing is told. */
static void test_starts_gap(void **state)
{
	static const struct operation ops[] = {{&mpi_isend, 5100, 5110, 5190, 5200, 1, 8192},
					       {&mpi_isend, 7100, 7110, 7190, 7200, 1, 8192}};
	struct call_post post = to_end(POST_SEND, CARRIER_NIC, 8192, "a", "b");
	struct world w;

	(void)state;
	world_open(&w, true);
	for (int i = 0; i < 2; i++) {
		operate(&w, 1, &ops[i]);
		tell(&w, 0, &lowest_post, ops[i].begin + 1, &mpi_isend, post);
	}
	world_settle(&w);
	check_starts(&w, &mpi_isend, (uint64_t[]){1, 0, 0, 0, 1});
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_arrivals),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_phases_forgotten),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_report_text),
		cmocka_unit_test(test_report_csv),
		cmocka_unit_test(test_report_json),
		cmocka_unit_test(test_report_none),
		cmocka_unit_test(test_starts),
		cmocka_unit_test(test_starts_both_ways),
		cmocka_unit_test(test_starts_doubt),
		cmocka_unit_test(test_starts_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
