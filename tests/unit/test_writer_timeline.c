/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What the timeline makes of the model's story, written down as lines: "B name@begin", "E@end", "I name@time",
 * "S cpu:prev>next@time state". The model's objects are made by hand, so that damage can be, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/story.h"
#include "unit/test.h"
#include "abi/event.h"
#include "base/log.h"
#include "writer/timeline.h"

#define START 1000

static unsigned int rel(uint64_t ns)
{
	return (unsigned int)(ns - START);
}

static void on_process(void *ctx, const struct model_process *p, int32_t order)
{
	(void)ctx;
	note("P%u %s #%d\n", p->out_pid, p->name, order);
}

static void on_thread(void *ctx, const struct sched_task *t, int32_t order, uint64_t ts_ns)
{
	(void)ctx;
	(void)order;
	(void)ts_ns;
	note("T%u/%u %s\n", t->tgid, t->tid, t->comm);
}

static void on_slice(void *ctx, struct track *t, const struct slice *s)
{
	(void)ctx;
	note("%u %c %s@%u", t->tid, s->instant ? 'I' : 'B', s->name, rel(s->begin_ns));
	if (s->flow_out)
		note(" out %u", (unsigned int)s->flow_out);
	if (s->flow_in)
		note(" in %u", (unsigned int)s->flow_in);
	note("\n");
}

static void on_slice_end(void *ctx, struct track *t, uint64_t ts_ns)
{
	(void)ctx;
	note("%u E@%u\n", t->tid, rel(ts_ns));
}

static void on_counter(void *ctx, struct track *t, uint64_t ts_ns, int64_t value)
{
	(void)ctx;
	note("C %s=%d@%u\n", t->name, (int)value, rel(ts_ns));
}

static void task_name(char *buf, size_t n, const struct sched_task *t)
{
	if (t->tid >= TIMELINE_UNRECORDED_TID && t->tid < TIMELINE_UNRECORDED_TID + 1024)
		snprintf(buf, n, "?");
	else
		snprintf(buf, n, "%u", t->tid);
}

static void on_sched_switch(void *ctx, const struct sched_switch *s)
{
	char prev[16], next[16];

	(void)ctx;
	task_name(prev, sizeof(prev), &s->prev);
	task_name(next, sizeof(next), &s->next);
	note("S%u %s>%s@%u %x%s\n", s->cpu, prev, next, rel(s->ts_ns), s->prev_state,
	     s->first ? " first" : "");
}

static void on_sched_waking(void *ctx, const struct sched_waking *w)
{
	(void)ctx;
	note("W%u %u>%u@%u%s\n", w->cpu, w->waker.tid, w->target.tid, rel(w->ts_ns),
	     w->waker_current ? "" : " stranger");
}

static void on_sched_lost(void *ctx, uint32_t cpu)
{
	(void)ctx;
	note("L%u\n", cpu);
}

static const struct timeline_ops ops = {
	.process = on_process,
	.thread = on_thread,
	.slice = on_slice,
	.slice_end = on_slice_end,
	.counter = on_counter,
	.sched_switch = on_sched_switch,
	.sched_waking = on_sched_waking,
	.sched_lost = on_sched_lost,
};

static struct model_process proc = {
	.pid = 10, .out_pid = 10, .is_target = true, .is_rank = true, .name = "app"};
static struct model_process other = {.pid = 90, .out_pid = 90, .rank = -1, .name = "other"};
static struct model_thread a, b, x, idle;
static const struct func_info send = {.id = 1, .name = "send", .group = "p2p"};
static const struct func_info recv = {.id = 2, .name = "recv", .group = "p2p"};
static struct writer_totals totals;
static struct timeline *tl;
static const struct model_sink *sink;

static struct timeline_options defaults(void)
{
	return (struct timeline_options){.start_ns = START,
					 .end_ns = START + 1000,
					 .slices = true,
					 .sched = true,
					 .sched_recorded = true,
					 .sched_all = true,
					 .nr_cpus = 2,
					 .rings = 1,
					 .cpus_per_ring = 2};
}

static void begin_with(const struct timeline_options *opt)
{
	memset(&totals, 0, sizeof(totals));
	a = (struct model_thread){.tid = 11, .out_tid = 11, .proc = &proc, .comm = "a"};
	b = (struct model_thread){.tid = 12, .out_tid = 12, .proc = &proc, .comm = "b"};
	x = (struct model_thread){.tid = 90, .out_tid = 90, .proc = &other, .comm = "x"};
	idle = (struct model_thread){.idle = true, .comm = "swapper/0"};
	tl = timeline_new(opt, &ops, NULL, &totals);
	sink = timeline_get_sink(tl);
	timeline_add_process(tl, &proc);
	timeline_add_thread(tl, &a);
	timeline_add_thread(tl, &b);
	story_clear();
}

static void begin(void)
{
	struct timeline_options opt = defaults();

	begin_with(&opt);
}

static void end(void)
{
	timeline_finish(tl);
	timeline_free(tl);
	assert_null(a.user);
}

static void call(struct model_thread *t, const struct func_info *f, uint64_t from, uint64_t to,
		 uint8_t depth)
{
	struct model_call c = {.func = f,
			       .thread = t,
			       .begin_ns = START + from,
			       .end_ns = START + to,
			       .depth = depth,
			       .open = to == 0};

	if (c.open)
		c.end_ns = START + 1000;
	sink->call(sink->ctx, &c);
}

static void sw(uint16_t cpu, struct model_thread *prev, struct model_thread *next, uint64_t ts,
	       uint32_t state)
{
	struct model_switch s = {.ts_ns = START + ts,
				 .cpu = cpu,
				 .prev = prev,
				 .next = next,
				 .prev_state = state,
				 .preempted = !state && !prev->idle};

	sink->on_switch(sink->ctx, &s);
}

static void wake(uint16_t cpu, struct model_thread *waker, struct model_thread *target, uint64_t ts)
{
	struct model_waking w = {.ts_ns = START + ts, .cpu = cpu, .waker = waker, .target = target};

	sink->waking(sink->ctx, &w);
}

static void interrupt(uint16_t cpu, struct model_thread *hit, struct model_thread *target,
		      uint64_t ts)
{
	struct model_waking w = {.ts_ns = START + ts,
				 .cpu = cpu,
				 .waker = hit,
				 .target = target,
				 .by_interrupt = true};

	sink->waking(sink->ctx, &w);
}

static void lost(uint64_t since, uint64_t ts, uint16_t ring, uint16_t class)
{
	struct model_lost l = {.since_ns = START + since,
			       .ts_ns = START + ts,
			       .cnt = 5,
			       .ring = ring,
			       .class = class};

	sink->lost(sink->ctx, &l);
}

/* ---- slices ---- */

TEST(nesting)
{
	begin();
	call(&a, &send, 10, 50, 0);
	call(&a, &recv, 10, 20, 1);
	call(&a, &recv, 20, 50, 1);
	call(&a, &send, 50, 60, 0);
	call(&a, &send, 60, 60, 0); /* of no length, behind */
	call(&a, &send, 70, 70, 0); /* one within the other, both of no length */
	call(&a, &recv, 70, 70, 1);
	end();
	expect("11 B send@10\n11 B recv@10\n11 E@20\n11 B recv@20\n11 E@50\n11 E@50\n11 B send@50\n11 E@60\n"
	       "11 B send@60\n11 E@60\n11 B send@70\n11 B recv@70\n11 E@70\n11 E@70\n");
	assert_int_equal(totals.slices, 7);
	assert_int_equal(totals.misplaced, 0);
}

TEST(open_calls)
{
	begin();
	call(&a, &send, 10, 0, 0);
	call(&a, &recv, 20, 30, 1);
	call(&a, &recv, 40, 0, 1);
	end();
	expect("11 B send@10\n11 B recv@20\n11 E@30\n11 B recv@40\n");
	assert_int_equal(totals.open, 2);
}

TEST(overlap_becomes_instant)
{
	begin();
	call(&a, &send, 10, 50, 0);
	call(&a, &recv, 40, 60, 1);
	call(&a, &recv, 60, 50, 1); /* ends before it begins */
	call(&a, &recv, 45, 48, 1);
	call(&a, &send, 30, 35, 0); /* goes back, and is nobody's parent */
	end();
	expect("11 B send@10\n11 I recv@40\n11 I recv@60\n11 B recv@45\n11 I send@30\n11 E@48\n11 E@50\n");
	assert_int_equal(totals.calls, 5);
	assert_int_equal(totals.slices, 2);
	assert_int_equal(totals.misplaced, 3);
	assert_int_equal(totals.instants, 3);
}

/* A call with too many nested ones to hold: the first are told before it. */
TEST(late_parent)
{
	begin();
	call(&a, &send, 5, 8, 0);
	call(&a, &recv, 20, 25, 1);
	call(&a, &recv, 30, 35, 2);
	call(&a, &recv, 28, 40, 1); /* itself the late parent of one */
	call(&a, &send, 10, 90, 0);
	call(&a, &recv, 50, 60, 1);
	call(&a, &send, 95, 99, 0);
	end();
	expect("11 B send@5\n11 E@8\n11 B recv@20\n11 E@25\n11 B recv@30\n11 E@35\n11 B recv@28\n11 E@40\n"
	       "11 B send@10\n11 B recv@50\n11 E@60\n11 E@90\n11 B send@95\n11 E@99\n");
	assert_int_equal(totals.misplaced, 0);

	/* One that does not hold its children, or reaches into what was before, has no place. */
	begin();
	call(&a, &send, 5, 8, 0);
	call(&a, &recv, 20, 25, 1);
	call(&a, &send, 10, 24, 0);
	end();
	assert_int_equal(totals.misplaced, 1);
	begin();
	call(&a, &send, 5, 8, 0);
	call(&a, &recv, 20, 25, 1);
	call(&a, &send, 7, 30, 0);
	end();
	assert_int_equal(totals.misplaced, 1);
}

TEST(selection)
{
	const char *const globs[] = {"re*"};
	struct rank_range third = {.job = -1, .first = 3, .last = 3};
	struct writer_select sel = {.from_ns = 100, .to_ns = 200};
	struct timeline_options opt = defaults();

	opt.select = &sel;
	begin_with(&opt);
	call(&a, &send, 10, 99, 0);
	call(&a, &send, 99, 100, 0); /* touches */
	call(&a, &send, 150, 300, 0);
	call(&a, &send, 301, 0, 0);
	sw(0, &a, &idle, 99, 1);
	sw(0, &idle, &a, 100, 0);
	end();
	expect("11 B send@99\n11 E@100\n11 B send@150\nS0 0>11@100 0 first\n11 E@300\n");
	sel = (struct writer_select){.functions = globs, .nfunctions = 1};
	begin_with(&opt);
	call(&a, &send, 10, 20, 0);
	call(&a, &recv, 12, 14, 1);
	end();
	expect("11 B recv@12\n11 E@14\n");
	sel = (struct writer_select){.ranks = {&third, 1}};
	begin_with(&opt);
	call(&a, &send, 10, 20, 0);
	proc.rank = 3;
	call(&a, &send, 20, 30, 0);
	proc.rank = 0;
	end();
	expect("11 B send@20\n11 E@30\n");
}

TEST(markers)
{
	begin();
	lost(10, 20, 0, POV_CLASS_CALL);
	lost(20, 30, 0, POV_CLASS_CALL);
	lost(15, 25, 1, POV_CLASS_CALL); /* another ring: another track */
	lost(28, 40, 0, 77);
	end();
	expect("P2000000000 povtrace #1\n"
	       "2000000001 B lost 5 calls@10\n2000000001 E@20\n2000000001 B lost 5 calls@20\n"
	       "2000000002 B lost 5 calls@15\n2000000003 B lost 5 records of an unknown class@28\n"
	       "2000000001 E@30\n2000000002 E@25\n2000000003 E@40\n");
	assert_int_equal(totals.markers, 4);
}

/* ---- switches ---- */

TEST(chain)
{
	begin();
	sw(0, &idle, &a, 10, 0);
	sw(0, &a, &x, 20, 0);
	sw(0, &x, &a, 30, 0x402);
	sw(0, &a, &idle, 40, 0x80);
	wake(0, &idle, &b, 45);
	wake(0, &x, &b, 46);
	end();
	expect("S0 0>11@10 0 first\nS0 11>90@20 100\nS0 90>11@30 80\nS0 11>0@40 10\n"
	       "W0 0>12@45\nW0 90>12@46 stranger\nP90 other #1\nT90/90 x\n");
	assert_int_equal(totals.switches, 4);
	assert_int_equal(totals.synthetic, 0);
}

TEST(chain_mended)
{
	begin();
	/* x is on the CPU, and then suddenly b was: nobody knows from when to when */
	sw(0, &a, &x, 10, 1);
	sw(0, &b, &idle, 30, 1);
	/* b runs on CPU 1 while CPU 0 still has it */
	sw(0, &idle, &b, 40, 0);
	sw(1, &a, &b, 50, 1);
	sw(1, &b, &a, 60, 1);
	end();
	expect("S0 11>90@10 1 first\n"
	       "P2000000000 povtrace #1\nT2000000000/2001000000 (not recorded)\n"
	       "S0 90>?@10 40\nS0 ?>12@30 40\nS0 12>0@30 1\n"
	       "S0 0>12@40 0\nS0 12>?@40 40\nS1 11>12@50 1 first\nS1 12>11@60 1\n"
	       "P90 other #2\nT90/90 x\n");
	assert_int_equal(totals.switches, 8);
	assert_int_equal(totals.synthetic, 3);
}

TEST(chain_lost)
{
	begin();
	sw(0, &a, &b, 10, 1);
	lost(20, 30, 0, POV_CLASS_SCHED); /* b ran until 20 at least */
	sw(0, &b, &idle, 50, 1);
	end();
	expect("S0 11>12@10 1 first\n"
	       "P2000000000 povtrace #1\n2000000001 B lost 5 scheduler events@20\n"
	       "T2000000000/2001000000 (not recorded)\nS0 12>?@20 40\nL0\nL1\n"
	       "S0 ?>12@50 40\nS0 12>0@50 1\n2000000001 E@30\n");
	assert_int_equal(totals.synthetic, 2);
}

/* Only targets' events are recorded: how long the others stay is not known. */
TEST(chain_of_ranks_only)
{
	struct timeline_options opt = defaults();

	opt.sched_all = false;
	begin_with(&opt);
	sw(0, &a, &x, 10, 0);
	sw(0, &idle, &a, 20, 0);
	sw(0, &a, &b, 30, 1);
	end();
	expect("P2000000000 povtrace #1\nT2000000000/2001000000 (not recorded)\n"
	       "S0 11>?@10 100 first\nS0 ?>11@20 40\nS0 11>12@30 1\nP90 other #2\nT90/90 x\n");
	assert_int_equal(totals.synthetic, 0);
}

/* ---- arrows ---- */

TEST(arrow)
{
	begin();
	sw(1, &b, &idle, 10, 1);
	wake(0, &a, &b, 20);
	wake(0, &a, &b, 21); /* it is awake already */
	sw(1, &idle, &b, 25, 0);
	story.used = 0;
	call(&b, &recv, 5, 30, 0);
	expect("12 B recv@5\n");
	call(&a, &send, 15, 40, 0);
	expect("11 B send@15\n11 I wakes@20 out 1\n12 I woken@25 in 1\n");
	end();
	assert_int_equal(totals.flows, 1);
	assert_int_equal(totals.instants, 2);
}

TEST(no_arrow)
{
	begin();
	/* the waker is between calls */
	sw(1, &b, &idle, 10, 1);
	wake(0, &a, &b, 20);
	sw(1, &idle, &b, 25, 0);
	call(&a, &send, 15, 19, 0);
	call(&a, &send, 21, 22, 0);
	call(&b, &recv, 5, 30, 0);
	/* the sleeper is between calls */
	sw(1, &b, &idle, 40, 1);
	wake(0, &a, &b, 45);
	sw(1, &idle, &b, 50, 0);
	call(&a, &send, 41, 49, 0);
	call(&b, &recv, 60, 70, 0);
	/* woken by an interrupt that hit a call */
	sw(1, &b, &idle, 80, 1);
	interrupt(0, &a, &b, 85);
	sw(1, &idle, &b, 90, 0);
	call(&a, &send, 81, 92, 0);
	call(&b, &recv, 79, 95, 0);
	/* preempted, not asleep */
	sw(1, &b, &x, 100, 0);
	wake(0, &a, &b, 105);
	sw(1, &x, &b, 110, 0);
	call(&a, &send, 104, 106, 0);
	call(&b, &recv, 99, 120, 0);
	end();
	assert_int_equal(totals.flows, 0);
	assert_int_equal(totals.undecided, 0);
}

/* A thread that never calls anything must not stop the others' arrows, nor take memory without end. */
TEST(wakes_bounded)
{
	struct timeline_options opt = defaults();
	uint64_t t = 0;

	opt.sched = false;
	begin_with(&opt);
	for (uint32_t i = 0; i < 2 * TIMELINE_WAKES_MAX; i++, t += 10) {
		sw(1, &b, &idle, t, 1);
		wake(0, &a, &b, t + 1);
		sw(1, &idle, &b, t + 2, 0);
	}
	call(&b, &recv, 0, t, 0);
	call(&a, &send, t - 10, t, 0);
	assert_int_equal(totals.flows, 1);
	end();
	assert_int_equal(totals.undecided, TIMELINE_WAKES_MAX);
}

/* ---- identities ---- */

TEST(stranger_is_told_late)
{
	struct model_process late = {.pid = 70, .out_pid = 70, .name = "late", .rank = -1};
	struct model_thread t = {.tid = 71, .out_tid = 71, .proc = &other, .comm = "tid 71"};

	begin();
	sw(0, &a, &t, 10, 1);
	t.proc = &late; /* its first call tells */
	call(&t, &send, 11, 12, 0);
	end();
	expect("S0 11>71@10 1 first\n71 B send@11\n71 E@12\nP70 late #1\nT70/71 tid 71\n");
	assert_null(t.user);
	assert_null(late.user);
}

TEST(rename_is_told)
{
	begin();
	sink->thread(sink->ctx, &a, START + 1);
	strcpy(a.comm, "new");
	sink->thread(sink->ctx, &a, START + 2);
	end();
	expect("T10/11 new\n");
}
