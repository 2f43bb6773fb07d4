/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Traffic, from posts made by hand; and the report's three forms of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "analysis/pairs.h"
#include "base/log.h"
#include "unit/traffic_world.h"

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
TEST(layers)
{
	struct traffic_flow flow[3];
	struct world w;

	world_open(&w, false);
	world_post(&w, 0, &func_upper_post, 1, NULL, send_of(CARRIER_UNKNOWN, 1000));
	world_post(&w, 0, &func_middle_post, 2, NULL, send_of(CARRIER_SOCKET, 300));
	world_post(&w, 0, &func_middle_post, 2, NULL, send_of(CARRIER_SHM, 40));
	world_post(&w, 0, &func_lowest_post, 3, NULL, send_of(CARRIER_SOCKET, 310));
	world_post(&w, 1, &func_upper_post, 1, NULL, send_of(CARRIER_UNKNOWN, 5));
	world_post(&w, 1, &func_upper_post, 1, NULL, send_of(CARRIER_UNKNOWN, BYTES_UNKNOWN));
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
TEST(kinds)
{
	struct call_post post = send_of(CARRIER_NIC, 100);
	struct traffic_flow flow[3];
	struct world w;

	world_open(&w, false);
	world_post(&w, 0, &func_middle_post, 1, NULL, post);
	post.kind = POST_COMPLETION;
	world_post(&w, 0, &func_lowest_post, 1, NULL, post);
	post.kind = POST_RECV;
	world_post(&w, 0, &func_middle_post, 1, NULL, post);
	post.kind = POST_ATOMIC;
	post.bytes = 8;
	world_post(&w, 0, &func_middle_post, 1, NULL, post);
	post.kind = POST_READ;
	post.bytes = 7;
	world_post(&w, 0, &func_middle_post, 1, NULL, post);
	post.failed = true;
	world_post(&w, 0, &func_middle_post, 1, NULL, post);
	world_settle(&w);
	sums_of(&w, flow);
	assert_int_equal(flow[0].posts, 3);
	assert_int_equal(flow[0].sent_bytes, 108);
	assert_int_equal(flow[0].read_bytes, 15);
	assert_int_equal(flow[0].failed, 1);
	world_close(&w);
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
TEST(peers)
{
	struct traffic_received *got;
	struct world w;

	world_open(&w, false);
	world_post(&w, 0, &func_lowest_post, 1, NULL,
		   post_between(POST_SEND, CARRIER_NIC, 100, "a", "b"));
	world_post(&w, 0, &func_lowest_post, 1, NULL,
		   post_between(POST_WRITE, CARRIER_NIC, 20, "a", "b"));
	world_post(&w, 0, &func_lowest_post, 1, NULL,
		   post_between(POST_SEND, CARRIER_NIC, 4000, "a", "shared"));
	world_post(&w, 1, &func_lowest_post, 2, NULL,
		   post_between(POST_READ, CARRIER_NIC, 3, "b", "a"));
	world_post(&w, 1, &func_lowest_post, 2, NULL,
		   post_between(POST_RECV, CARRIER_NIC, 9, "shared", NULL));
	world_post(&w, 2, &func_lowest_post, 2, NULL,
		   post_between(POST_RECV, CARRIER_NIC, 9, "shared", NULL));
	world_post(&w, 2, &func_lowest_post, 2, NULL,
		   post_between(POST_READ, CARRIER_CMA, 50, NULL, "pid 100"));
	world_post(&w, 2, &func_lowest_post, 2, NULL,
		   post_between(POST_READ, CARRIER_NIC, 6, NULL, "nobody's"));
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
TEST(arrivals)
{
	struct traffic_received *got;
	struct world w;

	world_open(&w, false);
	world_post(&w, 0, &func_lowest_post, 1, NULL,
		   post_between(POST_SEND, CARRIER_SOCKET, 100, "a", "b"));
	world_post(&w, 0, &func_lowest_post, 1, NULL,
		   post_between(POST_WRITE, CARRIER_SHM, 20, "sa", "sb"));
	world_post(&w, 1, &func_lowest_post, 2, NULL,
		   post_between(POST_ARRIVAL, CARRIER_SOCKET, 90, "b", "a"));
	world_post(&w, 1, &func_middle_post, 2, NULL,
		   post_between(POST_ARRIVAL, CARRIER_SOCKET, 85, "b", "a"));
	world_post(&w, 1, &func_lowest_post, 2, NULL,
		   post_between(POST_RECV, CARRIER_SHM, 85, "sb", "sa"));
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
	struct model_call c = {.func = &func_mpi_pcontrol,
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
TEST(phases)
{
	struct world w;

	world_open(&w, false);
	world_post(&w, 0, &func_lowest_post, 90, NULL, send_of(CARRIER_SHM, 1));
	mark(&w, 0, 100, MARK_BEGIN, 0, "solve");
	world_post(&w, 0, &func_lowest_post, 110, &func_mpi_bcast, send_of(CARRIER_SHM, 20));
	world_post(&w, 3, &func_lowest_post, 110, NULL, send_of(CARRIER_SHM, 300));
	world_post(&w, 1, &func_lowest_post, 110, NULL, send_of(CARRIER_SHM, 2));
	mark(&w, 0, 200, MARK_BEGIN, 1, "inner");
	world_post(&w, 0, &func_lowest_post, 210, NULL, send_of(CARRIER_SHM, 4000));
	world_post(&w, 3, &func_lowest_post, 150, NULL, send_of(CARRIER_SHM, 50000));
	mark(&w, 0, 300, MARK_END, 1, NULL);
	world_post(&w, 0, &func_lowest_post, 310, NULL, send_of(CARRIER_SHM, 600000));
	mark(&w, 0, 400, MARK_END, 0, NULL);
	world_post(&w, 3, &func_lowest_post, 410, NULL, send_of(CARRIER_SHM, 4));
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
TEST(regions)
{
	static const char *const lines[] = {",solve,outer,,1,2,", ",,inner,,1,30,", ",,,,1,400,",
					    NULL};
	struct world w;
	char *text;

	world_open(&w, false);
	mark(&w, 0, 100, MARK_BEGIN, 0, "solve");
	region(&w, 0, 110, REGION_UNDER_WAY, 0, "outer");
	world_post(&w, 3, &func_lowest_post, 120, NULL, send_of(CARRIER_SHM, 2));
	mark(&w, 0, 130, MARK_END, 0, NULL);
	region(&w, 0, 140, REGION_UNDER_WAY, 1, "inner");
	world_post(&w, 0, &func_lowest_post, 150, NULL, send_of(CARRIER_SHM, 30));
	region(&w, 0, 160, REGION_RETURNED, 1, "inner");
	region(&w, 0, 170, REGION_UNWOUND, 0, "outer");
	world_post(&w, 0, &func_lowest_post, 180, NULL, send_of(CARRIER_SHM, 400));
	world_settle(&w);
	text = printed(&w.r, 'c');
	check_has(text, lines);
	free(text);
	world_close(&w);
}

/* By which protocol a phase's messages went. */
TEST(steps)
{
	static const char *const rows[] = {",1 KiB,,eager,2,2000,", ",1 MiB,,RTS,1,0,",
					   ",1 MiB,,data,1,1000000,", NULL};
	static const char *const lines[] = {
		"Traffic by phase and step of the protocol",
		"1 KiB  unknown  eager      2      2    2 KiB",
		NULL,
	};
	struct call_post post = send_of(CARRIER_UNKNOWN, 1000);
	struct world w;
	char *text;

	world_open(&w, false);
	mark(&w, 0, 100, MARK_BEGIN, 0, "1 KiB");
	post.step = STEP_EAGER;
	world_post(&w, 0, &func_lowest_post, 110, NULL, post);
	world_post(&w, 0, &func_lowest_post, 120, NULL, post);
	mark(&w, 0, 130, MARK_END, 0, NULL);
	mark(&w, 0, 200, MARK_BEGIN, 0, "1 MiB");
	post.step = STEP_RTS;
	post.bytes = 0;
	world_post(&w, 0, &func_lowest_post, 210, NULL, post);
	post.step = STEP_DATA;
	post.bytes = 1000000;
	world_post(&w, 0, &func_lowest_post, 220, NULL, post);
	mark(&w, 0, 230, MARK_END, 0, NULL);
	world_settle(&w);
	text = printed(&w.r, 'c');
	check_has(text, rows);
	free(text);
	text = printed(&w.r, 't');
	check_has(text, lines);
	free(text);
	world_close(&w);
}

/* Of so many changes ago that it was forgotten. */
TEST(phases_forgotten)
{
	struct world w;

	world_open(&w, false);
	for (uint64_t i = 0; i < 1000; i++)
		mark(&w, 0, 100 + i, MARK_BEGIN, 0, "x");
	world_post(&w, 3, &func_lowest_post, 110, NULL, send_of(CARRIER_SHM, 1));
	world_post(&w, 3, &func_lowest_post, 1090, NULL, send_of(CARRIER_SHM, 20));
	world_settle(&w);
	check_phase(&w, "?", 1);
	check_phase(&w, "x", 20);
	world_close(&w);
}

/* ---- contexts, and the report ---- */

static void contexts_tell(struct world *w)
{
	struct call_post post = post_between(POST_SEND, CARRIER_SOCKET, 1000, "1.1.1.1:1",
					     "1.1.1.2:2");
	struct model_call call = {.func = &func_lowest_post, .thread = w->thread[0], .begin_ns = 3};

	world_post(w, 0, &func_lowest_post, 1, &func_mpi_bcast, post);
	post.bytes = 24;
	world_post(w, 3, &func_lowest_post, 2, NULL, post);
	post = post_between(POST_SEND, CARRIER_SOCKET, 2, "1.1.1.2:2", "1.1.1.1:1");
	post.dest = "quote\" and , comma";
	world_post(w, 1, &func_lowest_post, 2, &func_mpi_wait, post);
	post = send_of(CARRIER_SOCKET, BYTES_UNKNOWN);
	w->r.traffic.sink.post(&w->r.traffic, &(struct model_post){.post = &post,
								   .call = &call,
								   .within_unknown = true});
}

TEST(report_text)
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

	world_open(&w, false);
	contexts_tell(&w);
	world_settle(&w);
	text = printed(&w.r, 't');
	check_has(text, lines);
	free(text);
	world_close(&w);
}

TEST(report_csv)
{
	static const char *const lines[] = {
		"rank,job,pid,device,destination,peer_rank,",
		"\r\n0,0,100,dev:1,somewhere,1,0,200,socket,t,lowest,call,MPI_Bcast,coll,,,,,1,1000,0,0,0,0,0,0,0,0\r\n",
		"\r\n0,0,100,dev:1,somewhere,1,0,200,socket,t,lowest,background,,,progress,,,,1,24,0,",
		"\r\n1,0,200,dev:1,\"quote\"\" and , comma\",0,0,100,socket,t,lowest,call,MPI_Wait,req,,,,,1,2,0,",
		"\r\n0,0,100,,,,,,socket,,lowest,,,,,,,,1,0,1,",
		NULL,
	};
	struct world w;
	char *text;

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

TEST(report_json)
{
	json_t *root, *traffic, *row;
	struct world w;
	char *text;

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
TEST(report_none)
{
	struct world w;
	char *text;

	world_open(&w, false);
	text = printed(&w.r, 'j');
	assert_null(strstr(text, "\"traffic\""));
	free(text);
	log_set_level(LOG_QUIET);
	assert_int_equal(report_traffic_check(&w.r), -ENODATA);
	log_set_level(LOG_INFO);
	world_close(&w);
}
