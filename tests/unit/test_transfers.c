/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* When data of nonblocking operations began to move, from posts and operations made by hand. */
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "unit/traffic_world.h"

struct operation {
	const struct func_info *func;
	uint64_t begin, posted, completing, end;
	int peer;
	int64_t bytes;
	int32_t tag;
};

/* As the model tells a nonblocking operation: its start and its end as calls, and itself. */
static void operate(struct world *w, uint64_t request, const struct operation *op)
{
	bool sends = op->func == &func_mpi_isend;
	struct call_request started = {.handle = request, .event = REQUEST_START},
			    over = {.handle = request,
				    .event = REQUEST_COMPLETE,
				    .bytes = op->bytes};
	struct call_view view = {.roles = {.sends = sends,
					   .receives = !sends,
					   .has_peer = true,
					   .peer = op->peer,
					   .recv_peer = op->peer,
					   .recv_tag = op->tag,
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
	a->sink.call(a, &(struct model_call){.func = &func_mpi_wait,
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
	{&func_mpi_isend, 100, 110, 190, 200, 1, 8192, 0},
	{&func_mpi_isend, 300, 310, 390, 400, 1, 8192, 0},
	{&func_mpi_isend, 500, 510, 590, 600, 1, 8192, 0},
	{&func_mpi_isend, 700, 710, 790, 800, 1, 8192, 0},
	{&func_mpi_isend, 900, 910, 990, 999, 1, 0, 0}, /* has no data */
};

TEST(starts)
{
	struct call_post post = post_between(POST_SEND, CARRIER_NIC, 8192, "a", "b");
	struct call_post control = post, read = post;
	struct world w;

	world_open(&w, false);
	control.bytes = 64;
	read.kind = POST_READ;
	for (uint64_t i = 0; i < 5; i++)
		operate(&w, 77, &alone[i]);
	world_post(&w, 0, &func_lowest_post, 105, &func_mpi_isend, post);
	world_post(&w, 0, &func_lowest_post, 305, &func_mpi_isend, control);
	control.step = STEP_RTS;
	control.bytes = 8192;
	world_post(&w, 0, &func_lowest_post, 306, &func_mpi_isend, control);
	world_post(&w, 3, &func_lowest_post, 350, NULL, post);
	world_post(&w, 0, &func_lowest_post, 395, &func_mpi_wait, post);
	world_post(&w, 0, &func_lowest_post, 595, &func_mpi_wait, post);
	world_post(&w, 0, &func_lowest_post, 750, NULL, read); /* no send's */
	world_settle(&w);
	check_starts(&w, &func_mpi_isend, (uint64_t[]){1, 1, 1, 1, 0});
	assert_int_equal(w.r.transfers.nby, 1);
	assert_int_equal(w.r.transfers.by[0].in_func, 0);
	assert_string_equal(names_text(&w.r.traffic.names, w.r.transfers.by[0].thread), "progress");
	world_close(&w);
}

/* A receiver's reads are its receives'; sends and receives do not hide each other. */
TEST(starts_both_ways)
{
	static const struct operation ops[] = {{&func_mpi_isend, 100, 110, 190, 200, 1, 8192, 0},
					       {&func_mpi_irecv, 90, 95, 190, 200, 1, 8192, 0}};
	struct call_post post = post_between(POST_READ, CARRIER_CMA, 8192, NULL, "pid 200");
	struct world w;

	world_open(&w, false);
	operate(&w, 1, &ops[0]);
	operate(&w, 2, &ops[1]);
	world_post(&w, 0, &func_lowest_post, 150, &func_mpi_bcast, post);
	world_settle(&w);
	check_starts(&w, &func_mpi_isend, (uint64_t[]){0, 0, 0, 1, 0});
	check_starts(&w, &func_mpi_irecv, (uint64_t[]){0, 1, 0, 0, 0});
	world_close(&w);
}

/* Two at once to the same peer cannot be told apart, unless posts name their request; to different peers they can. */
TEST(starts_doubt)
{
	static const struct operation same[] = {{&func_mpi_isend, 100, 110, 190, 200, 1, 8192, 0},
						{&func_mpi_isend, 120, 130, 190, 200, 1, 8192, 0}},
				      other = {&func_mpi_isend, 140, 150, 190, 200, 2, 8192, 0},
				      never = {&func_mpi_isend, 10, 20, 0, 0, 2, 8192, 0};
	struct call_post post = post_between(POST_SEND, CARRIER_CMA, 8192, NULL, "pid 200"),
			 far = post_between(POST_SEND, CARRIER_CMA, 8192, NULL, "pid 300");
	struct world w;

	world_open(&w, false);
	operate(&w, 1, &same[0]);
	operate(&w, 2, &same[1]);
	operate(&w, 3, &other);
	world_post(&w, 0, &func_lowest_post, 125, &func_mpi_isend, post);
	world_post(&w, 0, &func_lowest_post, 195, &func_mpi_wait, far);
	world_settle(&w);
	check_starts(&w, &func_mpi_isend, (uint64_t[]){0, 0, 1, 0, 2});
	world_close(&w);

	world_open(&w, false);
	operate(&w, 1, &same[0]);
	operate(&w, 2, &same[1]);
	post.message = 2;
	world_post(&w, 0, &func_lowest_post, 125, &func_mpi_isend, post);
	world_settle(&w);
	check_starts(&w, &func_mpi_isend, (uint64_t[]){1, 0, 0, 0, 1});
	world_close(&w);

	world_open(&w, false); /* one that is never over is in the way of all to its peer */
	operate(&w, 3, &never);
	operate(&w, 1, &other);
	world_post(&w, 0, &func_lowest_post, 145, &func_mpi_isend, far);
	world_settle(&w);
	check_starts(&w, &func_mpi_isend, (uint64_t[]){0, 0, 0, 0, 1});
	world_close(&w);
}

/* Where calls are missing, nothing is told. */
TEST(starts_gap)
{
	static const struct operation ops[] = {
		{&func_mpi_isend, 5100, 5110, 5190, 5200, 1, 8192, 0},
		{&func_mpi_isend, 7100, 7110, 7190, 7200, 1, 8192, 0}};
	struct call_post post = post_between(POST_SEND, CARRIER_NIC, 8192, "a", "b");
	struct world w;

	world_open(&w, true);
	for (int i = 0; i < 2; i++) {
		operate(&w, 1, &ops[i]);
		world_post(&w, 0, &func_lowest_post, ops[i].begin + 1, &func_mpi_isend, post);
	}
	world_settle(&w);
	check_starts(&w, &func_mpi_isend, (uint64_t[]){1, 0, 0, 0, 1});
	world_close(&w);
}

static void check_arrivals(const struct world *w, uint64_t come, uint64_t early, uint64_t early_ns)
{
	const struct transfer_start *a = &w->r.transfers;
	const struct transfer_row *r = NULL;

	for (uint32_t i = 0; i < a->nrow; i++)
		r = a->row[i].func == func_mpi_irecv.id ? &a->row[i] : r;
	assert_non_null(r);
	assert_int_equal(r->come, come);
	assert_int_equal(r->early, early);
	assert_int_equal(r->early_ns, early_ns);
}

/* Receives of rank 0 from rank 1, whose status tells source and tag. */
static const struct operation receives[] = {
	{&func_mpi_irecv, 100, 110, 200, 210, 1, 8192, 5}, /* before its completing call */
	{&func_mpi_irecv, 120, 130, 200, 210, 1, 8192, 6}, /* in it */
	{&func_mpi_irecv, 140, 150, 200, 210, 1, 8192, 7}, /* nobody knows */
	{&func_mpi_irecv, 300, 310, 400, 410, 1, 8192, 8}, /* in two parts, that name it */
};

TEST(arrivals)
{
	struct call_post post = post_between(POST_ARRIVAL, CARRIER_UNKNOWN, 8192, NULL, NULL);
	struct world w;

	world_open(&w, false);
	for (uint64_t i = 0; i < 4; i++)
		operate(&w, 1 + i, &receives[i]);
	post.has_envelope = true;
	post.source = 1;
	post.tag = 5;
	world_post(&w, 0, &func_upper_post, 160, &func_mpi_bcast, post);
	post.tag = 6;
	world_post(&w, 0, &func_upper_post, 201, &func_mpi_wait, post);
	post.tag = -7; /* of a collective */
	world_post(&w, 0, &func_upper_post, 161, &func_mpi_bcast, post);
	post.tag = 7; /* of another one */
	post.source = 2;
	world_post(&w, 0, &func_upper_post, 162, &func_mpi_bcast, post);
	post.source = 1; /* too little of it */
	post.bytes = 4096;
	world_post(&w, 0, &func_upper_post, 163, &func_mpi_bcast, post);
	post.has_envelope = false;
	post.message = 4;
	world_post(&w, 0, &func_upper_post, 320, &func_mpi_bcast, post);
	world_post(&w, 0, &func_upper_post, 350, NULL, post);
	world_settle(&w);
	check_arrivals(&w, 3, 2, (200 - 161) + (400 - 351));
	world_close(&w);
}

/* Two that may be meant: neither is told, unless what arrives names its request. */
TEST(arrivals_doubt)
{
	static const struct operation same[] = {{&func_mpi_irecv, 100, 110, 200, 210, 1, 8192, 5},
						{&func_mpi_irecv, 120, 130, 200, 210, 1, 8192, 5}};
	struct call_post post = post_between(POST_ARRIVAL, CARRIER_UNKNOWN, 8192, NULL, NULL);
	struct world w;

	world_open(&w, false);
	operate(&w, 1, &same[0]);
	operate(&w, 2, &same[1]);
	post.has_envelope = true;
	post.source = 1;
	post.tag = 5;
	world_post(&w, 0, &func_upper_post, 160, &func_mpi_bcast, post);
	post.has_envelope = false;
	post.message = 2;
	world_post(&w, 0, &func_upper_post, 170, &func_mpi_bcast, post);
	world_settle(&w);
	check_arrivals(&w, 1, 1, 200 - 171);
	world_close(&w);
}

/* Without names: by the peer, of layers that count. */
TEST(arrivals_by_peer)
{
	static const struct operation ops[] = {{&func_mpi_irecv, 100, 110, 200, 210, 1, 8192, 5},
					       {&func_mpi_irecv, 300, 310, 400, 410, 1, 8192, 5},
					       {&func_mpi_irecv, 320, 330, 400, 410, 1, 8192, 6}};
	struct call_post post = post_between(POST_ARRIVAL, CARRIER_CMA, 4096, NULL, "pid 200"),
			 far = post_between(POST_ARRIVAL, CARRIER_CMA, 8192, NULL, "pid 300");
	struct world w;

	world_open(&w, false);
	for (uint64_t i = 0; i < 3; i++)
		operate(&w, 1 + i, &ops[i]);
	world_post(&w, 0, &func_lowest_post, 150, &func_mpi_bcast, far);
	world_post(&w, 0, &func_lowest_post, 160, &func_mpi_bcast, post);
	world_post(&w, 0, &func_lowest_post, 170, &func_mpi_bcast, post);
	world_post(&w, 0, &func_lowest_post, 340, &func_mpi_bcast, post);
	world_post(&w, 0, &func_lowest_post, 350, &func_mpi_bcast, post);
	world_settle(&w);
	check_arrivals(&w, 1, 1, 200 - 171);
	world_close(&w);
}
