/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What nonblocking operations hid and what was left of them, by calls and messages made by hand. All times here are in us. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"
#include "analysis/overlap.h"

#define US 1000

static const struct model_module module = {.path = "/bin/app"};

static const struct func_info irecv = {
	.id = 1, .name = "MPI_Irecv", .group = "p2p", .layer_name = "mpi"};
static const struct func_info isend = {
	.id = 2, .name = "MPI_Isend", .group = "p2p", .layer_name = "mpi"};
static const struct func_info ibarrier = {
	.id = 3, .name = "MPI_Ibarrier", .group = "coll", .layer_name = "mpi"};
static const struct func_info waitall = {
	.id = 4, .name = "MPI_Waitall", .group = "p2p", .layer_name = "mpi", .waits = true};
static const struct func_info send = {
	.id = 5, .name = "MPI_Send", .group = "p2p", .layer_name = "mpi", .waits = true};
static const struct func_info test = {
	.id = 6, .name = "MPI_Test", .group = "p2p", .layer_name = "mpi", .polls = true};

struct world {
	struct overlaps a;
	struct model_process process[2];
	struct model_thread thread[2];
};

static void world_open(struct world *w)
{
	memset(w, 0, sizeof(*w));
	overlaps_init(&w->a);
	for (uint32_t i = 0; i < 2; i++) {
		w->process[i] = (struct model_process){.idx = i, .rank = (int)i};
		w->thread[i] = (struct model_thread){.idx = i, .proc = &w->process[i]};
	}
}

/* Of what rank 0 started by request n. */
struct op {
	const struct func_info *func;
	uint64_t begin, posted;
	int64_t bytes;
	struct call_operation kept;
};

static struct call_roles roles_of(const struct func_info *f, int64_t bytes)
{
	bool sends = f == &isend, receives = f == &irecv;

	return (struct call_roles){.sends = sends,
				   .receives = receives,
				   .has_peer = true,
				   .peer = 1,
				   .recv_peer = 1,
				   .send_bytes = sends ? bytes : 0,
				   .recv_bytes = receives ? bytes : 0};
}

static void call(struct world *w, const struct func_info *f, uint64_t begin, uint64_t end,
		 uint64_t runnable, const struct call_request *q, uint32_t n)
{
	struct call_view view = {.roles = {.requests = q, .nrequests = n}};

	w->a.sink.call(&w->a,
		       &(struct model_call){.func = f,
					    .thread = &w->thread[0],
					    .begin_ns = begin * US,
					    .end_ns = end * US,
					    .site = {.module = &module, .offset = 0x10 * f->id},
					    .split.ns[THREAD_RUNNABLE] = runnable * US,
					    .view = &view});
}

static void start(struct world *w, struct op *op, uint64_t request)
{
	const struct call_request q = {.handle = request, .event = REQUEST_START};

	op->kept = (struct call_operation){.func = op->func,
					   .begin_ns = op->begin * US,
					   .posted_ns = op->posted * US,
					   .roles = roles_of(op->func, op->bytes)};
	call(w, op->func, op->begin, op->posted, 0, &q, 1);
}

/* Completes requests 1 to n, which stand for ops. */
static void complete(struct world *w, const struct op *op, uint32_t n, uint64_t begin, uint64_t end,
		     uint64_t runnable)
{
	struct call_request q[4];

	for (uint32_t i = 0; i < n; i++)
		q[i] = (struct call_request){
			.handle = i + 1, .event = REQUEST_COMPLETE, .op = &op[i].kept};
	call(w, &waitall, begin, end, runnable, q, n);
}

/* Rank 1's end of a message, that its call had from begin to end. */
static void other_end(struct world *w, const struct op *op, uint64_t completing, uint64_t over,
		      uint64_t begin, uint64_t end)
{
	const struct match_end own = {.process = &w->process[0],
				      .completer = &w->thread[0],
				      .begin_ns = op->begin * US,
				      .posted_ns = op->posted * US,
				      .completing_ns = completing * US,
				      .end_ns = over * US,
				      .bytes = op->bytes};
	const struct match_end other = {.process = &w->process[1],
					.completer = &w->thread[1],
					.begin_ns = begin * US,
					.posted_ns = end * US,
					.completing_ns = begin * US,
					.end_ns = end * US,
					.bytes = op->bytes};

	overlaps_match(&w->a, &(struct match){.send = op->func == &isend ? own : other,
					      .recv = op->func == &isend ? other : own,
					      .bytes = op->bytes});
}

static struct overlap_row sum_of(struct world *w, const struct func_info *f)
{
	struct overlap_row row = {0}, *list;
	uint32_t n;

	overlaps_settle(&w->a);
	list = overlaps_list(&w->a, NULL, &n);
	for (uint32_t i = 0; i < n; i++)
		if (list[i].key.start == f)
			row = list[i];
	free(list);
	return row;
}

/* One receive: computation from 1010 to 4010, Wait until end; its send begins at sent. */
static struct overlap_row one_receive(uint64_t end, uint64_t sent, uint64_t runnable)
{
	struct op op = {&irecv, 1000, 1010, 4096, {0}};
	struct overlap_row row;
	struct world w;

	world_open(&w);
	start(&w, &op, 1);
	complete(&w, &op, 1, 4010, end, runnable);
	other_end(&w, &op, 4010, end, sent, sent + 20);
	row = sum_of(&w, &irecv);
	overlaps_release(&w.a);
	assert_int_equal(row.cnt, 1);
	assert_int_equal(row.bytes, 4096);
	assert_int_equal(row.key.bucket, 13);
	assert_int_equal(row.key.start_site.offset, 0x10);
	assert_int_equal(row.key.done_site.offset, 0x40);
	assert_int_equal(row.outside_ns, 3000 * US);
	assert_int_equal(row.computing_ns, 3000 * US);
	assert_int_equal(row.wait_ns, (end - 4010) * US);
	assert_int_equal(row.wait_ns, row.late_ns + row.left_ns + runnable * US);
	return row;
}

TEST(one)
{
	struct overlap_row row;

	assert_int_equal(one_receive(4500, 900, 0).saved_ns, 490 * US);
	assert_int_equal(one_receive(8010, 900, 0).saved_ns,
			 3000 * US);				 /* no more than computation */
	assert_int_equal(one_receive(4019, 900, 0).saved_ns, 0); /* the cost of the call */
	assert_int_equal(one_receive(4039, 900, 0).saved_ns, 0); /* below 1 % of the computation */
	assert_int_equal(one_receive(4040, 900, 0).saved_ns, 30 * US);
	assert_int_equal(one_receive(4500, 900, 90).saved_ns, 400 * US);
	row = one_receive(4500, 4210, 0); /* late: nothing could have been hidden */
	assert_int_equal(row.late_ns, 200 * US);
	assert_int_equal(row.saved_ns, 0);
	row = one_receive(4500, 3910, 0); /* the last 100 of the computation could have */
	assert_int_equal(row.late_ns, 0);
	assert_int_equal(row.saved_ns, 100 * US);
}

/* While the other side had no core, once it had posted, nothing could move. */
TEST(other_away)
{
	static const uint64_t away[][2] = {{100, 950}, {3900, 4020}, {4100, 4150}, {4490, 4600}};
	struct op op = {&irecv, 1000, 1010, 4096, {0}};
	struct overlap_row row;
	struct world w;

	world_open(&w);
	w.process[1].is_rank = true;
	start(&w, &op, 1);
	complete(&w, &op, 1, 4010, 4500, 0);
	for (int i = 0; i < 4; i++)
		w.a.sink.state(&w.a, &w.thread[1], away[i][0] * US, away[i][1] * US,
			       THREAD_RUNNABLE, 0);
	w.a.sink.state(&w.a, &w.thread[1], 4200 * US, 4300 * US, THREAD_RUNNING, 0);
	other_end(&w, &op, 4010, 4500, 900, 920);
	row = sum_of(&w, &irecv);
	assert_int_equal(row.left_ns, (490 - 10 - 50 - 10) * US);
	assert_int_equal(row.saved_ns, row.left_ns);
	overlaps_release(&w.a);
}

/* What a Waitall waits for is shared by bytes, and a late one makes all of it late. */
TEST(several)
{
	struct op op[] = {{&irecv, 1000, 1010, 3000, {0}}, {&isend, 1010, 1020, 1000, {0}}};
	struct overlap_row in, out;
	struct world w;

	for (uint64_t late = 0; late <= 100; late += 100) {
		world_open(&w);
		start(&w, &op[0], 1);
		start(&w, &op[1], 2);
		complete(&w, op, 2, 4020, 4420, 0);
		other_end(&w, &op[0], 4020, 4420, 900, 910);
		other_end(&w, &op[1], 4020, 4420, late ? 4120 : 900, 4420);
		in = sum_of(&w, &irecv);
		out = sum_of(&w, &isend);
		assert_int_equal(in.late_ns, late * US);
		assert_int_equal(in.left_ns, (400 - late) * US);
		assert_int_equal(in.saved_ns, (late ? 225 : 300) * US);
		assert_int_equal(out.left_ns, (400 - late) * US);
		assert_int_equal(out.saved_ns, (late ? 0 : 100) * US);
		assert_int_equal(in.unsure + out.unsure, 0);
		overlaps_release(&w.a);
	}
}

/* One computation of 3000 hides no more than that, however many are waited for behind it. */
TEST(computation_once)
{
	struct op op[] = {{&irecv, 1000, 1010, 4096, {0}}, {&irecv, 1010, 1020, 4096, {0}}};
	struct call_request second = {.handle = 2, .event = REQUEST_COMPLETE, .op = &op[1].kept};
	struct overlap_row row;
	struct world w;

	world_open(&w);
	start(&w, &op[0], 1);
	start(&w, &op[1], 2);
	complete(&w, op, 1, 4020, 6020, 0);
	call(&w, &waitall, 6020, 8020, 0, &second, 1);
	other_end(&w, &op[0], 4020, 6020, 900, 910);
	other_end(&w, &op[1], 6020, 8020, 900, 910);
	row = sum_of(&w, &irecv);
	assert_int_equal(row.cnt, 2);
	assert_int_equal(row.wait_ns, 4000 * US);
	assert_int_equal(row.outside_ns, 6000 * US);
	assert_int_equal(row.saved_ns, 3000 * US);
	assert_int_equal(row.saved_cnt, 2);
	overlaps_release(&w.a);
}

/* What has hidden something in one round is not missing in the next one. */
TEST(rounds)
{
	struct op op = {&irecv, 0, 0, 4096, {0}};
	struct world w;

	world_open(&w);
	for (uint64_t at = 1000; at < 11000; at += 1000) {
		op.begin = at;
		op.posted = at + 10;
		start(&w, &op, 1);
		complete(&w, &op, 1, at + 310, at + 510, 0);
		other_end(&w, &op, at + 310, at + 510, at - 10, at);
	}
	assert_int_equal(sum_of(&w, &irecv).saved_ns, 10 * 200 * US);
	overlaps_release(&w.a);
}

/* Other calls and polls without pause are no computation; polls now and then lie in one. */
TEST(outside)
{
	struct op op = {&irecv, 1000, 1010, 4096, {0}};
	struct model_spin polls = {.begin_ns = 2000 * US,
				   .end_ns = 3000 * US,
				   .nfuncs = 1,
				   .func = {{.func = &test, .cnt = 10}},
				   .cnt = 10,
				   .busy_ns = 30 * US};
	struct overlap_row row;
	struct world w;

	for (int dense = 0; dense < 2; dense++) {
		world_open(&w);
		start(&w, &op, 1);
		call(&w, &send, 1100, 1200, 0, NULL, 0);
		polls.thread = &w.thread[0];
		polls.cnt = dense ? 500 : 10;
		w.a.sink.spin(&w.a, &polls);
		complete(&w, &op, 1, 4010, 4110, 0);
		row = sum_of(&w, &irecv);
		assert_int_equal(row.outside_ns, (3000 - 100 - (dense ? 1000 : 30)) * US);
		assert_int_equal(row.unsure, 1); /* nobody told of the other end */
		assert_int_equal(row.saved_ns, 0);
		overlaps_release(&w.a);
	}
}

/* A thread without a core does not compute. */
TEST(computing)
{
	struct op op = {&irecv, 1000, 1010, 4096, {0}};
	struct overlap_row row;
	struct world w;

	world_open(&w);
	w.a.sched = true;
	w.thread[0].state = THREAD_RUNNING;
	w.thread[0].since_ns = 900 * US;
	start(&w, &op, 1);
	w.thread[0].since_ns = 3900 * US; /* ran until 1500 and from 3900 on */
	w.thread[0].times.ns[THREAD_RUNNING] = 600 * US;
	complete(&w, &op, 1, 4010, 5010, 0);
	other_end(&w, &op, 4010, 5010, 900, 910);
	row = sum_of(&w, &irecv);
	assert_int_equal(row.outside_ns, 3000 * US);
	assert_int_equal(row.computing_ns, 1710 * US - 110 * US);
	overlaps_release(&w.a);
}

/* Of collectives it is not known when the others came; of other threads' operations, what was meanwhile. */
TEST(not_known)
{
	struct op op = {&ibarrier, 1000, 1010, 0, {0}}, other = {&irecv, 1000, 1010, 4096, {0}};
	struct overlap_row row;
	struct world w;

	world_open(&w);
	start(&w, &op, 1);
	complete(&w, &op, 1, 4010, 5010, 0);
	row = sum_of(&w, &ibarrier);
	assert_int_equal(row.cnt, 1);
	assert_int_equal(row.unsure, 1);
	assert_int_equal(row.saved_ns, 0);
	assert_int_equal(row.outside_ns, 3000 * US);
	overlaps_release(&w.a);

	world_open(&w);
	w.thread[1].proc = &w.process[0];
	start(&w, &other, 1);
	w.a.sink.call(
		&w.a,
		&(struct model_call){
			.func = &waitall,
			.thread = &w.thread[1],
			.begin_ns = 4010 * US,
			.end_ns = 5010 * US,
			.view = &(struct call_view){
				.roles = {.requests = &(
						  struct call_request){.handle = 1,
								       .event = REQUEST_COMPLETE,
								       .op = &other.kept},
					  .nrequests = 1}}});
	row = sum_of(&w, &irecv);
	assert_int_equal(row.cnt, 1);
	assert_int_equal(row.outside_ns, 0);
	overlaps_release(&w.a);
}

/* Messages of this size took 400 alone. Of the operation: how long Wait took, and until when the receiver of it did. */
static double ratio(const struct func_info *f, uint64_t wait, uint64_t receiver)
{
	const struct match_end from = {.completer = (void *)1,
				       .begin_ns = 100 * US,
				       .completing_ns = 100 * US,
				       .end_ns = 200 * US},
			       to = {.completer = (void *)1,
				     .begin_ns = 50 * US,
				     .posted_ns = 100 * US,
				     .completing_ns = 104 * US, /* not late: a hundredth */
				     .end_ns = 500 * US};
	struct op op = {f, 1000, 1010, 4096, {0}}, brief = {f, 700, 710, 4096, {0}};
	struct match alone = {.send = from, .recv = to, .bytes = 4096};
	struct overlap_row row;
	struct world w;

	world_open(&w);
	alone.send.process = &w.process[0];
	alone.recv.process = &w.process[1];
	alone.send.completer = &w.thread[0];
	alone.recv.completer = &w.thread[1];
	overlaps_match(&w.a, &alone);
	for (int i = 0; i < 2; i++) { /* the median of 400, 900, 100 */
		alone.recv.completing_ns = 50 * US;
		alone.recv.end_ns = (i ? 1000 : 200) * US;
		overlaps_match(&w.a, &alone);
	}
	/* Part of the message was there before: no time of a transfer. */
	alone.recv.end_ns = 200 * US;
	alone.recv.begin_ns = alone.recv.completing_ns = 102 * US;
	overlaps_match(&w.a, &alone);
	start(&w, &brief, 1); /* computes for 39: less than a tenth, and not in the ratio */
	complete(&w, &brief, 1, 749, 990, 0);
	other_end(&w, &brief, 749, 990, 600, 990);
	start(&w, &op, 1);
	complete(&w, &op, 1, 4010, 4010 + wait, 0);
	other_end(&w, &op, 4010, 4010 + wait, 900, receiver);
	row = sum_of(&w, f);
	assert_int_equal(row.alone_cnt, 2);
	assert_int_equal(row.alone_ns, 800 * US);
	assert_int_equal(row.compared, 1);
	overlaps_release(&w.a);
	return overlap_row_ratio(&row);
}

TEST(ratio)
{
	struct overlap_row none = {0};

	assert_float_equal(ratio(&irecv, 390, 910), 1, 1e-9);
	assert_float_equal(ratio(&irecv, 0, 910), 10 / 400.0, 1e-9);
	assert_float_equal(ratio(&isend, 190, 4100), 0.5, 1e-9);
	assert_float_equal(ratio(&isend, 0, 4400), 1, 1e-9); /* until its receiver had it */
	assert_true(isnan(overlap_row_ratio(&none)));
}

/* No more operations are kept than fit: the oldest are counted as they are. */
TEST(bounded)
{
	struct op op = {&irecv, 1000, 1010, 4096, {0}};
	struct world w;

	world_open(&w);
	for (uint64_t i = 0; i < OVERLAP_KEPT_MAX + 10; i++) {
		op.begin = 1000 + 30 * i;
		op.posted = op.begin + 10;
		start(&w, &op, 1);
		complete(&w, &op, 1, op.posted + 10, op.posted + 20, 0);
	}
	assert_int_equal(w.a.kept, OVERLAP_KEPT_MAX);
	assert_int_equal(sum_of(&w, &irecv).cnt, OVERLAP_KEPT_MAX + 10);
	assert_int_equal(w.a.kept, 0);
	overlaps_release(&w.a);
}
