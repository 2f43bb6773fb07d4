/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Every task times a number of operations in a row. The acknowledgments are sent before, so many at most that
 * a library keeps them without trouble.
 */
#include "broadcast/gap.h"
#include "lib/log.h"

#include <stdlib.h>

#define REPORTS 8
#define REPEAT_MAX 100
#define PS_PER_NS 1000 /* so that a word carries parts of a ns */

void gap_init(struct gap *g)
{
	*g = (struct gap){.task = 0};
	samples_init(&g->ns);
}

void gap_release(struct gap *g)
{
	samples_release(&g->ns);
}

/* One operation first: behind it everybody is in step. */
static double report(const struct rooted_case *rc)
{
	struct comm *c = rc->comm;
	uint64_t repeat = rc->repeat < REPEAT_MAX ? rc->repeat : REPEAT_MAX, begin, i;

	for (i = 0; c->rank == 1 && i < repeat; i++)
		rooted_ack_send(c, 0);
	comm_sync(c, 0);
	rc->op->run(rc, 0);
	begin = c->ops->now_ns(c);
	for (i = 0; i < repeat; i++) {
		rc->op->run(rc, 0);
		if (c->rank == 0)
			rooted_ack_recv(c, 1);
	}
	return (double)(c->ops->now_ns(c) - begin) / (double)repeat;
}

/* Task 0: of all tasks' samples those with the longest median. */
static void take_longest(const struct samples *task, int cnt, struct gap *out)
{
	double longest = -1, median;
	size_t k;
	int i;

	for (i = 0; i < cnt; i++) {
		median = stats_quantile(&task[i], 0.5);
		if (median <= longest)
			continue;
		longest = median;
		out->task = i;
	}
	samples_clear(&out->ns);
	for (k = 0; k < task[out->task].cnt; k++)
		samples_add(&out->ns, task[out->task].value[k]);
}

void gap_measure(struct bench_run *run, const struct rooted_case *rc, uint64_t limit_ns,
		 struct gap *out)
{
	struct comm *c = rc->comm;
	size_t cnt = (size_t)c->size, reports = 0, i;
	struct samples *task = xcalloc(cnt, sizeof(*task));
	uint64_t *ps = xcalloc(cnt, sizeof(*ps)), begin = c->ops->now_ns(c);
	uint64_t wanted = run->opt->samples < REPORTS ? run->opt->samples : REPORTS;
	bool more = true;

	while (comm_sync(c, more)) {
		comm_collect(c, (uint64_t)(report(rc) * PS_PER_NS), ps);
		for (i = 0; c->rank == 0 && i < cnt; i++)
			samples_add(&task[i], (double)ps[i] / PS_PER_NS);
		more = ++reports < wanted && !(limit_ns && c->ops->now_ns(c) - begin > limit_ns);
	}
	if (c->rank == 0)
		take_longest(task, c->size, out);
	for (i = 0; i < cnt; i++)
		samples_release(&task[i]);
	free(task);
	free(ps);
}

bool gap_holds(const struct gap *g, const struct samples *e)
{
	struct summary gap, own;

	stats_summarize(&g->ns, &gap);
	stats_summarize(e, &own);
	return own.ci_low > gap.ci_high;
}
