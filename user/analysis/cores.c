/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Adds up running time by process and CPU.
 */
#include "analysis/cores.h"

#include <stdlib.h>

#include "analysis/table.h"

static struct core_row *core_row(struct cores *a, uint32_t cpu)
{
	struct core_row *c = table_row(a->core, a->ncore, cpu);

	c->seen = true;
	return c;
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct cores *a = ctx;
	struct core_share *share;

	if (s != THREAD_RUNNING)
		return;
	if (t->idle) {
		core_row(a, cpu)->idle_ns += to_ns - from_ns;
		return;
	}
	share = table_row(a->process, a->nprocess, t->proc->idx);
	*table_row(share->ns, share->n, cpu) += to_ns - from_ns;
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	core_row(ctx, s->cpu)->switches++;
}

static void process_add(struct cores *a, const struct model_process *p,
			const struct core_share *share)
{
	struct core_row *c;
	uint32_t cpu;

	for (cpu = 0; cpu < share->n; cpu++) {
		if (!share->ns[cpu])
			continue;
		c = core_row(a, cpu);
		if (p->is_rank)
			c->rank_ns += share->ns[cpu];
		else if (p->is_target)
			c->target_ns += share->ns[cpu];
		else
			c->other_ns += share->ns[cpu];
	}
}

static int on_finish(void *ctx, const struct model *m)
{
	const struct model_info *info = model_get_info(m);
	struct cores *a = ctx;
	uint64_t known_ns;
	uint32_t i;

	a->wall_ns = info->end_ns - info->start_ns;
	for (i = 0; i < info->nr_cpus; i++)
		core_row(a, i);
	for (i = 0; i < a->nprocess && i < model_process_count(m); i++)
		process_add(a, model_process_get(m, i), &a->process[i]);
	for (i = 0; i < a->ncore; i++) {
		struct core_row *c = &a->core[i];

		known_ns = c->rank_ns + c->target_ns + c->other_ns + c->idle_ns;
		if (c->seen)
			c->unknown_ns = a->wall_ns > known_ns ? a->wall_ns - known_ns : 0;
	}
	return 0;
}

uint64_t cores_share_ns(const struct cores *a, uint32_t process_idx, uint32_t cpu)
{
	if (process_idx >= a->nprocess || cpu >= a->process[process_idx].n)
		return 0;
	return a->process[process_idx].ns[cpu];
}

void cores_init(struct cores *a)
{
	*a = (struct cores){
		.sink = {.ctx = a, .state = on_state, .on_switch = on_switch, .finish = on_finish},
	};
}

void cores_release(struct cores *a)
{
	uint32_t i;

	for (i = 0; i < a->nprocess; i++)
		free(a->process[i].ns);
	free(a->process);
	free(a->core);
}
