/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Counts scheduler events by thread.
 */
#include "analysis/switches.h"

#include <stdlib.h>

#include "analysis/table.h"

static struct switch_row *thread_row(struct switches *a, const struct model_thread *t)
{
	return table_row(a->thread, a->nthread, t->idx);
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	struct switch_row *r = thread_row(ctx, s->prev);

	r->switches++;
	r->involuntary += s->preempted;
	r->voluntary += !s->preempted;
}

static void on_migrate(void *ctx, const struct model_migrate *g)
{
	thread_row(ctx, g->thread)->migrations += g->orig_cpu != g->dest_cpu;
}

static void on_waking(void *ctx, const struct model_waking *w)
{
	thread_row(ctx, w->target)->wakeups++;
}

static int on_finish(void *ctx, const struct model *m)
{
	struct switches *a = ctx;
	uint32_t i;

	for (i = 0; i < model_thread_count(m); i++) {
		const struct model_thread *t = model_thread_get(m, i);

		table_row_add(table_row(a->process, a->nprocess, t->proc->idx), thread_row(a, t),
			      switches);
	}
	/* makes all rows valid */
	(void)table_row(a->process, a->nprocess, model_process_count(m));
	return 0;
}

void switches_init(struct switches *a)
{
	*a = (struct switches){
		.sink = {.ctx = a,
			 .on_switch = on_switch,
			 .migrate = on_migrate,
			 .waking = on_waking,
			 .finish = on_finish},
	};
}

void switches_release(struct switches *a)
{
	free(a->process);
	free(a->thread);
}
