/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * MPI_THREAD_MULTIPLE, which Denis & Trahay 2016 (VII) left as future work. Several threads of
 * rank 0 each post an Isend to their counterpart on rank 1, compute, wait, and wait for its ACK,
 * all at once. T_measured is from the first thread's start to the last one's end. T_comm is the
 * same without computation, T_comp that of the threads alone. bytes is the size of each thread's
 * message. With fewer cores than threads the computation itself takes longer.
 */
#include "overlap/map.h"

#include "lib/log.h"

#include <stdlib.h>

/* Enough to compete for the library's locks. Users can ask for more. */
#define THREADS_DEFAULT 2

struct thread_times {
	uint64_t start_ns, done_ns, end_ns;
	uint64_t post_ns, wait_ns; /* only in samples that time the calls */
};

struct threads {
	struct map *map;
	struct thread_times *times; /* of each thread */
};

/* Only tags separate the threads' messages. */
static int thread_tag(int thread, enum map_tag tag)
{
	return (thread + 1) * 0x100 + (int)tag;
}

static int messages(const struct bench_run *run)
{
	return run->opt->threads_max ? (int)run->opt->threads_max : THREADS_DEFAULT;
}

/*
 * Reports ready first. Its sender's clock starts when that message arrives (III.A, for each
 * thread).
 */
static void receive_thread(struct map *m, int thread)
{
	struct comm *c = m->comm;

	map_tell(m, 0, thread_tag(thread, MAP_TAG_CTS));
	c->ops->recv(c, &m->in[thread], 0, thread_tag(thread, MAP_TAG_DATA));
	map_tell(m, 0, thread_tag(thread, MAP_TAG_ACK));
}

static void overlap_thread(void *arg, int thread)
{
	struct threads *all = arg;
	struct thread_times *t = &all->times[thread];
	struct map *m = all->map;
	struct comm *c = m->comm;
	uint64_t posted = 0, computed = 0;
	uint64_t (*now_ns)(struct comm *) = c->ops->now_ns; /* map_now supports one thread only */
	bool detail = m->detail;

	if (c->rank == 1) {
		receive_thread(m, thread);
		return;
	}
	map_hear(m, 1, thread_tag(thread, MAP_TAG_CTS));
	map_compute_before(m);
	t->start_ns = now_ns(c);
	c->ops->isend(c, &m->out[thread], 1, thread_tag(thread, MAP_TAG_DATA), &m->request[thread]);
	if (detail)
		posted = now_ns(c);
	map_compute(m);
	if (detail)
		computed = now_ns(c);
	c->ops->wait(c, &m->request[thread]);
	t->done_ns = now_ns(c);
	if (detail) {
		t->post_ns = posted - t->start_ns;
		t->wait_ns = t->done_ns - computed;
	}
	map_hear(m, 1, thread_tag(thread, MAP_TAG_ACK));
	t->end_ns = now_ns(c);
}

/* Times from the first thread's start to the last one's end, without the creation of threads. */
static void threads_run(struct map *m, void (*fn)(void *arg, int thread), struct thread_times *sum)
{
	struct thread_times *t = xcalloc((size_t)m->message_cnt, sizeof(*t));
	struct threads all = {.map = m, .times = t};
	int i;

	m->comm->ops->threads_run(m->comm, m->message_cnt, fn, &all);
	*sum = t[0];
	for (i = 1; i < m->message_cnt; i++) {
		sum->start_ns = t[i].start_ns < sum->start_ns ? t[i].start_ns : sum->start_ns;
		sum->done_ns = t[i].done_ns > sum->done_ns ? t[i].done_ns : sum->done_ns;
		sum->end_ns = t[i].end_ns > sum->end_ns ? t[i].end_ns : sum->end_ns;
		sum->post_ns += t[i].post_ns;
		sum->wait_ns += t[i].wait_ns;
	}
	free(t);
}

static double sequence(struct map *m)
{
	double threads = (double)m->message_cnt;
	struct thread_times t;

	threads_run(m, overlap_thread, &t);
	map_in_calls(m, (double)t.post_ns / threads - m->clock_ns,
		     (double)t.wait_ns / threads - m->clock_ns);
	m->own_ns = (double)(t.done_ns - t.start_ns) - m->clock_ns;
	return (double)(t.end_ns - t.start_ns) - m->clock_ns;
}

static void compute_thread(void *arg, int thread)
{
	struct threads *all = arg;
	struct thread_times *t = &all->times[thread];
	struct map *m = all->map;

	/* The peer's thread waits for a message, as in the sequence. */
	if (m->comm->rank == 1) {
		map_tell(m, 0, thread_tag(thread, MAP_TAG_CTS));
		map_hear(m, 0, thread_tag(thread, MAP_TAG_COMPUTED));
		return;
	}
	map_hear(m, 1, thread_tag(thread, MAP_TAG_CTS));
	t->start_ns = m->comm->ops->now_ns(m->comm);
	map_compute(m);
	t->end_ns = m->comm->ops->now_ns(m->comm);
	map_tell(m, 1, thread_tag(thread, MAP_TAG_COMPUTED));
}

static double computation(struct map *m)
{
	struct thread_times t;

	threads_run(m, compute_thread, &t);
	return (double)(t.end_ns - t.start_ns) - m->clock_ns;
}

static void params(struct map *m, struct result_point *point)
{
	result_param(point, "threads", (uint64_t)m->message_cnt);
}

static const struct map_pattern pattern = {
	.sends_only = true,
	.ack_latency = true,
	.receives = 1U << 1,
	.sequence = sequence,
	.computation = computation,
	.messages = messages,
	.params = params,
};

const struct bench bench_multithreaded = {
	.name = "multithreaded",
	.group = "overlap",
	.brief = "sender's side in several threads at once, each with a message of its own",
	.source = "after Denis & Trahay 2016, VII: MPI_THREAD_MULTIPLE",
	.needs = COMM_HAS_MULTIPLE | COMM_HAS_THREADS,
	.shares_cores = true,
	MAP_PAIR(pattern),
};
