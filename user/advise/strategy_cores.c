/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Cores for ranks: ranks that had to share a core with other ranks. Data: each stretch in which a rank's thread wanted a core that another rank
 * had (analysis/holders.h), whether another CPU of the host was idle meanwhile, and whether the one that had it was in MPI. Two rules:
 *	binding	there was an idle CPU: ranks are to have cores of their own. Gained is the run without these stretches (whatif.h); sure
 *		is only what lies in time in which another CPU was idle.
 *	yield	there was none, and who had the core was in MPI: waiting ranks are to leave it to others. Gained is at most what all such
 *		stretches cost, at least those that lie in one call of MPI as a whole.
 * Ranks that were given no CPU in common, and yet shared one, have moved themselves there: no setting keeps them apart, and that time counts for nothing.
 * As all that is known of the other program is its computation, which goes on as it was, it does not matter who waits for whom after it.
 */
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "advise/library.h"
#include "analysis/whatif.h"
#include "lib/log.h"
#include "finding/find.h"

#define BUSY_PART \
	4 /* a thread wants a core of its own if it computes for one part in so many of the run */

struct cores {
	struct advise *a;
	bool sure;
	uint64_t shared_ns, idle_ns, in_mpi_ns;
	uint64_t moved_ns;	 /* the same of ranks that have moved to one CPU themselves */
	uint32_t waiter, holder; /* idx of threads: of the longest stretch */
	uint64_t longest_ns;
};

static void *begin(struct advise *a)
{
	struct cores *c = xcalloc(1, sizeof(*c));

	c->a = a;
	return c;
}

static void release(void *data)
{
	free(data);
}

enum sharing { SHARED_NOT, SHARED, SHARED_BY_ITSELF };

/* While it uses MPI: what happens in MPI_Init is not the program's. */
static enum sharing sharing_of(struct cores *c, const struct whatif_no_core *n)
{
	const struct model_process *own = model_thread_get(c->a->model, n->thread)->proc;
	const struct model_process *holder = n->holder == UINT32_MAX ?
						     own :
						     model_thread_get(c->a->model, n->holder)->proc;

	if (!holder->is_rank || holder == own ||
	    !windows_has(&c->a->findings.app.windows, own, n->from_ns))
		return SHARED_NOT;
	return allotted_apart(&c->a->findings.allotted, own, holder) ? SHARED_BY_ITSELF : SHARED;
}

static uint64_t in_mpi_ns(const struct cores *c, const struct whatif_no_core *n)
{
	return whatif_in_mpi_ns(c->a->whatif, n->holder, n->from_ns, n->to_ns);
}

/* Sums up, and leaves nothing out. */
static uint64_t stretch_add(void *ctx, const struct whatif_no_core *n)
{
	struct cores *c = ctx;
	uint64_t ns = n->to_ns - n->from_ns;
	enum sharing s = sharing_of(c, n);

	c->moved_ns += s == SHARED_BY_ITSELF ? ns : 0;
	if (s != SHARED)
		return 0;
	c->shared_ns += ns;
	c->idle_ns += n->idle_ns;
	c->in_mpi_ns += in_mpi_ns(c, n);
	if (ns > c->longest_ns) {
		c->longest_ns = ns;
		c->waiter = n->thread;
		c->holder = n->holder;
	}
	return 0;
}

static uint64_t own_core(void *ctx, const struct whatif_no_core *n)
{
	struct cores *c = ctx;

	if (sharing_of(c, n) != SHARED)
		return 0;
	return c->sure ? n->idle_ns : n->to_ns - n->from_ns;
}

static uint64_t yielded_core(void *ctx, const struct whatif_no_core *n)
{
	struct cores *c = ctx;
	uint64_t ns = sharing_of(c, n) == SHARED ? in_mpi_ns(c, n) : 0;

	return c->sure && ns < n->to_ns - n->from_ns ? 0 : ns;
}

static struct gain gain_of(struct cores *c,
			   uint64_t (*give_core)(void *ctx, const struct whatif_no_core *n))
{
	struct whatif_change change = {.give_core = give_core, .ctx = c};
	struct gain g;

	c->sure = true;
	g.low_ns = whatif_run(c->a->whatif, &change);
	c->sure = false;
	change.with_others = true;
	g.high_ns = whatif_run(c->a->whatif, &change);
	return g;
}

/* Threads of a rank that need a core: of the rank with most of them. */
static uint32_t threads_busy(const struct cores *c)
{
	const struct app_time *t = &c->a->findings.app;
	uint32_t *busy = xcalloc(model_process_count(c->a->model) + 1, sizeof(*busy)), most = 1;

	for (uint32_t i = 0; i < t->nthread && i < model_thread_count(c->a->model); i++) {
		const struct model_process *p = model_thread_get(c->a->model, i)->proc;

		if (!p->is_rank || t->thread[i].compute_ns < c->a->run_ns / BUSY_PART)
			continue;
		busy[p->idx]++;
		most = busy[p->idx] > most ? busy[p->idx] : most;
	}
	free(busy);
	return most;
}

static char *text_of(const struct cores *c)
{
	struct findings *f = &c->a->findings;
	char *text = words_ns(xstrdup("ranks wanted a core for "), "", c->shared_ns,
			      " that another rank had");

	text = words_process(f, words(text, ", longest "),
			     model_thread_get(c->a->model, c->waiter)->proc);
	text = words_process(f, words(text, " for "),
			     model_thread_get(c->a->model, c->holder)->proc);
	text = words_ns(text, "; another CPU was idle for ", c->idle_ns, " of it");
	return words_ns(text, ", and the one that had it was in MPI for ", c->in_mpi_ns, " of it");
}

static void numbers_add(const struct cores *c, struct advice *d)
{
	d->number[d->nnumber++] = (struct advice_number){"shared_ns", c->shared_ns};
	d->number[d->nnumber++] = (struct advice_number){"other_idle_ns", c->idle_ns};
	d->number[d->nnumber++] = (struct advice_number){"holder_in_mpi_ns", c->in_mpi_ns};
}

extern const struct strategy strategy_cores;

static void binding_advise(struct cores *c)
{
	uint32_t n = threads_busy(c), most = allotted_cores_each(c->a->model);
	struct advice d = {
		.strategy = &strategy_cores,
		.gain = gain_of(c, own_core),
		.text = text_of(c),
	};

	n = n < most ? n : most;
	d.setting = library_binding_setting(c->a->library, n);
	numbers_add(c, &d);
	d.number[d.nnumber++] = (struct advice_number){"cores_per_rank", n};
	advise_add(c->a, &d);
}

static void yield_advise(struct cores *c)
{
	struct advice d = {.strategy = &strategy_cores, .text = text_of(c)};

	d.setting = library_yield_setting(c->a->library);
	if (!d.setting) {
		advise_nothing(
			c->a, &strategy_cores,
			words(d.text,
			      "; binding does not give each a core of its own, and no setting is known, or left to "
			      "be set, by which waiting ranks leave their core"));
		return;
	}
	d.gain = gain_of(c, yielded_core);
	d.warning = xstrdup(
		"a rank that has left its core learns of a message only when it gets one again");
	numbers_add(c, &d);
	advise_add(c->a, &d);
}

static void conclude(void *data, struct advise *a)
{
	const struct whatif_change change = {.give_core = stretch_add, .ctx = data};
	struct cores *c = data;

	if (!model_get_info(a->model)->sched_all) {
		advise_nothing(a, &strategy_cores,
			       xstrdup("who had the cores was not recorded (--sched all)"));
		return;
	}
	(void)whatif_run(a->whatif, &change);
	if (!c->shared_ns && c->moved_ns)
		advise_nothing(
			a, &strategy_cores,
			words_ns(xstrdup("for "), "", c->moved_ns,
				 " ranks wanted a core that another rank had, where the program itself had "
				 "moved them to one CPU: no setting keeps them apart"));
	else if (!c->shared_ns)
		advise_nothing(
			a, &strategy_cores,
			xstrdup("while they used MPI, no rank wanted a core that another rank had"));
	else if (c->idle_ns > c->shared_ns / 2 && allotted_cores_each(a->model))
		binding_advise(c);
	else
		yield_advise(c);
}

const struct strategy strategy_cores = {
	.name = "cores",
	.brief = "ranks that share cores: binding, and leaving the core while waiting",
	.source = "Gallardo et al. 2015 (MPI Advisor), 4.3",
	.begin = begin,
	.release = release,
	.conclude = conclude,
};
