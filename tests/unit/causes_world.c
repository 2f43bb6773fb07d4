/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See causes_world.h. */
#include "unit/causes_world.h"
#include "unit/test.h"

static const struct func_info barrier = {
	.name = "MPI_Barrier", .group_bit = GROUP_COLL, .layer_name = "mpi", .waits = true};
static const struct func_info send_func = {
	.name = "MPI_Send", .group_bit = GROUP_P2P, .layer_name = "mpi"};

void causes_world_open(struct causes_world *w)
{
	memset(w, 0, sizeof(*w));
	mfix_ranks(&w->f, "\"sched\":\"all\",\"rings\":1", RANKS, w->thread);
	for (uint32_t i = 0; i < RANKS; i++)
		w->thread[i].state = THREAD_DEAD;
	w->hog_process.idx = RANKS;
	w->hog.proc = &w->hog_process;
	w->hog.idx = RANKS;
	holders_init(&w->holders);
	arrivals_init(&w->arrivals);
	late_init(&w->late);
	epochs_init(&w->epochs);
	causes_init(&w->causes, &w->late, &w->arrivals, &w->epochs, &w->holders);
	mfix_sink_start(&w->arrivals.sink, w->f.model);
	mfix_sink_start(&w->causes.sink, w->f.model);
}

void causes_world_end(struct causes_world *w)
{
	mfix_sink_finish(&w->causes.sink, w->f.model);
}

void causes_world_close(struct causes_world *w)
{
	causes_release(&w->causes);
	holders_release(&w->holders);
	arrivals_release(&w->arrivals);
	late_release(&w->late);
	epochs_release(&w->epochs);
	mfix_release(&w->f);
}

void state_at(struct causes_world *w, int rank, uint64_t from_ns, uint64_t to_ns,
	      enum thread_state s)
{
	if (s == THREAD_RUNNABLE)
		observers_notify(&w->holders.stretches,
				 &(struct held_stretch){&w->thread[rank], &w->hog, from_ns, to_ns});
	w->causes.sink.state(&w->causes, &w->thread[rank], from_ns, to_ns, s, 0);
}

void call_at(struct causes_world *w, int rank, uint64_t begin_ns, uint64_t end_ns)
{
	const struct model_call c = {.func = &send_func,
				     .thread = &w->thread[rank],
				     .begin_ns = begin_ns,
				     .end_ns = end_ns,
				     .split = {.ns = {[THREAD_RUNNING] = end_ns - begin_ns}}};

	w->causes.sink.call(&w->causes, &c);
}

void told_polls(struct causes_world *w, int rank, uint64_t begin_ns, uint64_t end_ns)
{
	const struct model_spin s = {.thread = &w->thread[rank],
				     .begin_ns = begin_ns,
				     .end_ns = end_ns,
				     .nfuncs = 1,
				     .func = {{.func = &send_func}}};

	w->causes.sink.spin(&w->causes, &s);
}

void told_receive(struct causes_world *w, int rank, uint64_t from_ns, int sender, uint64_t sent_ns)
{
	const struct match m = {
		.send = {.process = w->thread[sender].proc,
			 .thread = &w->thread[sender],
			 .begin_ns = sent_ns,
			 .end_ns = sent_ns + 1},
		.recv = {.process = w->thread[rank].proc,
			 .thread = &w->thread[rank],
			 .completer = &w->thread[rank],
			 .begin_ns = from_ns,
			 .completing_ns = from_ns,
			 .waiting_ns = from_ns,
			 .end_ns = sent_ns + 1},
	};

	w->late.matches.notify(w->late.matches.ctx, &m);
}

void told_join(struct causes_world *w, int rank, uint32_t comm, int members, uint64_t begin_ns,
	       uint64_t end_ns)
{
	struct call_view view = {.roles = {.has_comm = true,
					   .comm_id = comm,
					   .comm_size = members,
					   .comm_all = members}};
	const struct model_call c = {.func = &barrier,
				     .thread = &w->thread[rank],
				     .begin_ns = begin_ns,
				     .end_ns = end_ns,
				     .split = {.ns = {[THREAD_RUNNING] = end_ns - begin_ns}},
				     .view = &view};

	w->arrivals.sink.call(&w->arrivals, &c);
	w->causes.sink.call(&w->causes, &c);
}

uint64_t causes_world_ns(const struct map *of, uint32_t process, int kind)
{
	uint64_t ns = 0;
	uint32_t n;
	struct cause *c = causes_list(of, &n);

	for (uint32_t i = 0; i < n; i++)
		if ((process == CAUSE_NOBODY || c[i].process == process) &&
		    (kind == CAUSE_KINDS || (int)c[i].kind == kind))
			ns += c[i].ns;
	free(c);
	return ns;
}

uint64_t causes_world_root_ns(struct causes_world *w, uint32_t process, int kind)
{
	return causes_world_ns(&w->causes.roots, process, kind);
}

uint64_t causes_world_waited_ns(struct causes_world *w)
{
	const struct waited_for *l;
	uint64_t ns = 0;

	for (int kind = 0; kind < LATE_KINDS; kind++)
		for (size_t at = 0; (l = map_next(&w->late.pairs[kind], &at, NULL));)
			ns += l->ns;
	for (uint32_t i = 0; i < w->arrivals.nprocess; i++)
		ns += w->arrivals.process[i].waited_ns;
	return ns;
}
