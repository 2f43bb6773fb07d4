/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "unit/traffic_world.h"

static const struct layer upper = {.name = "upper", .nearness = 1};
static const struct layer middle = {.name = "middle", .nearness = 2};
static const struct layer lowest = {.name = "lowest", .nearness = 4};
const struct func_info func_upper_post = {
	.id = 900, .name = "upper_post", .layer_name = "upper", .layer = &upper};
const struct func_info func_middle_post = {
	.id = 901, .name = "middle_post", .layer_name = "middle", .layer = &middle};
const struct func_info func_lowest_post = {
	.id = 902, .name = "lowest_post", .layer_name = "lowest", .layer = &lowest};
const struct func_info func_mpi_bcast = {
	.id = 1, .name = "MPI_Bcast", .group = "coll", .layer_name = "mpi", .waits = true};
const struct func_info func_mpi_isend = {
	.id = 2, .name = "MPI_Isend", .group = "p2p", .layer_name = "mpi"};
const struct func_info func_mpi_wait = {
	.id = 3, .name = "MPI_Wait", .group = "req", .layer_name = "mpi", .waits = true};
const struct func_info func_mpi_irecv = {
	.id = 4, .name = "MPI_Irecv", .group = "p2p", .layer_name = "mpi"};
const struct func_info func_mpi_pcontrol = {
	.id = 5, .name = "MPI_Pcontrol", .group = "tool", .layer_name = "mpi"};

static struct model_thread *thread_of(const struct model *m, uint32_t tid)
{
	for (uint32_t i = 0; i < model_thread_count(m); i++) {
		if (model_thread_get(m, i)->tid == tid)
			return model_thread_get(m, i);
	}
	fail_msg("no thread %u", tid);
	return NULL;
}

void world_open(struct world *w, bool lossy)
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

void world_settle(struct world *w)
{
	struct traffic *t = &w->r.traffic;
	struct transfer_start *s = &w->r.transfers;

	free(t->received);
	assert_int_equal(t->sink.finish(t, w->r.model), 0);
	assert_int_equal(s->sink.finish(s, w->r.model), 0);
}

void world_close(struct world *w)
{
	report_close(&w->r);
	mfix_release(&w->f);
}

void world_post(struct world *w, int thread, const struct func_info *f, uint64_t ts,
		const struct func_info *within, struct call_post post)
{
	struct model_call call = {
		.func = f, .thread = w->thread[thread], .begin_ns = ts, .end_ns = ts + 1};
	struct model_within in = {.func = within};
	struct model_post p = {.post = &post, .call = &call, .within = within ? &in : NULL};

	w->r.traffic.sink.post(&w->r.traffic, &p);
	w->r.transfers.sink.post(&w->r.transfers, &p);
}

struct call_post post_between(enum post_kind kind, enum post_carrier carrier, int64_t bytes,
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
