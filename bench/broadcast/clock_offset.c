/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Task 0 asks each task in turn for its time, a number of times. The offset stays good for as long as the clocks do not
 * drift: a point takes seconds, and clocks that a time service disciplines drift by some µs in one.
 */
#include "broadcast/clock_offset.h"

#define ASK_CNT 40
#define TAG_CLOCK 33
/* Nothing but memory is so near. */
#define NEAR_NS 2000

static void word_send(struct comm *c, int task, uint64_t word)
{
	struct comm_msg m = {&word, sizeof(word), COMM_CONTIGUOUS};

	c->ops->send(c, &m, task, TAG_CLOCK);
}

static uint64_t word_recv(struct comm *c, int task)
{
	uint64_t word = 0;
	struct comm_msg m = {&word, sizeof(word), COMM_CONTIGUOUS};

	c->ops->recv(c, &m, task, TAG_CLOCK);
	return word;
}

/* On task 0: task's offset, by the best of ASK_CNT round trips. */
static struct clock_offset ask(struct comm *c, int task)
{
	struct clock_offset best = {0, UINT64_MAX};
	uint64_t begin, there, end;
	int i;

	for (i = 0; i < ASK_CNT; i++) {
		begin = c->ops->now_ns(c);
		word_send(c, task, 0);
		there = word_recv(c, task);
		end = c->ops->now_ns(c);
		if ((end - begin) / 2 >= best.error_ns)
			continue;
		best.error_ns = (end - begin) / 2;
		best.ns = (int64_t)(there - (begin + best.error_ns));
	}
	if (best.error_ns <= NEAR_NS && best.ns <= (int64_t)best.error_ns &&
	    best.ns >= -(int64_t)best.error_ns)
		best.ns = 0;
	return best;
}

static void answer(struct comm *c)
{
	int i;

	for (i = 0; i < ASK_CNT; i++) {
		word_recv(c, 0);
		word_send(c, 0, c->ops->now_ns(c));
	}
}

void clock_offset_measure(struct comm *c, struct clock_offset *out)
{
	struct clock_offset o;
	int task;

	*out = (struct clock_offset){0, 0};
	for (task = 1; task < c->size; task++) {
		if (c->rank == 0) {
			o = ask(c, task);
			word_send(c, task, (uint64_t)o.ns);
			word_send(c, task, o.error_ns);
		} else if (c->rank == task) {
			answer(c);
			out->ns = (int64_t)word_recv(c, 0);
			out->error_ns = word_recv(c, 0);
		}
	}
}
