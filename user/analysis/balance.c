/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See balance.h. */
#include "analysis/balance.h"

#include <stdlib.h>

#include "analysis/table.h"

static struct balance_row *row_of(struct balance *a, const struct model_thread *t)
{
	return table_row(a->process, a->nprocess, t->proc->idx);
}

static bool is(const struct model_call *c, const char *a, const char *b)
{
	return !strcmp(c->func->name, a) || !strcmp(c->func->name, b);
}

/* What runs at this moment is in no stretch yet. */
static uint64_t running_ns(const struct model_thread *t, uint64_t ts_ns)
{
	return t->state == THREAD_RUNNING && ts_ns > t->since_ns ? ts_ns - t->since_ns : 0;
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct balance_row *r;

	if (!func_is_top(c->func) || c->nested || !c->thread->proc->is_rank)
		return;
	r = row_of(ctx, c->thread);
	if (!r->begun && is(c, "MPI_Init", "MPI_Init_thread")) {
		r->begun = true;
		r->begin_ns = c->end_ns;
		r->before_ns = r->ran_ns + running_ns(c->thread, c->end_ns);
	} else if (r->begun && !r->over && is(c, "MPI_Finalize", "MPI_Finalize")) {
		r->over = true;
		r->end_ns = c->begin_ns;
		r->ran_ns += running_ns(c->thread, c->end_ns);
		r->calls_ns += c->split.ns[THREAD_RUNNING];
	} else if (r->begun && !r->over) {
		r->calls_ns += c->split.ns[THREAD_RUNNING];
	}
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	struct balance_row *r = row_of(ctx, s->thread);

	if (r->begun && !r->over && !s->nested && func_is_top(s->func[0].func))
		r->calls_ns += s->split.ns[THREAD_RUNNING];
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct balance_row *r;

	(void)cpu;
	if (s != THREAD_RUNNING || !t->proc->is_rank)
		return;
	r = row_of(ctx, t);
	if (!r->over)
		r->ran_ns += to_ns - from_ns;
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	(void)l;
	((struct balance *)ctx)->lost = true;
}

static int on_finish(void *ctx, const struct model *m)
{
	struct balance *a = ctx;

	(void)table_row(a->process, a->nprocess,
			model_process_count(m)); /* all up to it are valid */
	return 0;
}

void balance_init(struct balance *a)
{
	*a = (struct balance){
		.sink = {.ctx = a,
			 .call = on_call,
			 .spin = on_spin,
			 .state = on_state,
			 .lost = on_lost,
			 .finish = on_finish},
	};
}

void balance_release(struct balance *a)
{
	free(a->process);
}

uint64_t balance_computed_ns(const struct balance *a, uint32_t process)
{
	const struct balance_row *r = &a->process[process];
	uint64_t ns = r->begun ? r->ran_ns - r->before_ns : 0;

	return ns > r->calls_ns ? ns - r->calls_ns : 0;
}
