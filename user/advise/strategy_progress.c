/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Progress: transfers that stood still although both sides had posted them. One side was outside
 * MPI, and its library moves data only during calls. The other side waited in MPI until that side
 * called again.
 *
 * Data: for each call site that posted such messages, their number and their waits.
 *
 * Rule: the wait was longer than such a message takes once both sides are in MPI.
 *
 * Gain: the run without these waits (whatif.h). At the low end, each transfer still takes its own
 * time. At the high end, the side that computed saves the time of the transfer as well.
 *
 * Transfers that only the computing side waits for (analysis/overlap.h) do not count. On a single
 * host, the core that would move the data is usually the one that computes.
 */
#include <stdlib.h>
#include <string.h>

#include "advise/advise.h"
#include "advise/library.h"
#include "analysis/find.h"
#include "analysis/whatif.h"
#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"

struct progress_site {
	uint64_t cost_ns, cnt, bytes;
	uint32_t waiter, outside; /* threads' idx in the longest wait */
	uint64_t worst_ns;
};

struct progress {
	struct advise *a;
	struct progress_site *site; /* by the number of the site; owned */
	uint32_t nsite;
	uint64_t cost_ns, cnt, between_cnt;
	bool sure;
	struct whatif_once once;
};

static void *begin(struct advise *a)
{
	struct progress *p = xcalloc(1, sizeof(*p));

	p->a = a;
	return p;
}

static void release(void *data)
{
	struct progress *p = data;

	free(p->site);
	free(p);
}

static void cost_add(void *ctx, const struct whatif_dep *d)
{
	struct progress *p = ctx;
	struct progress_site *s;
	uint64_t ns;

	if (d->kind != WHATIF_PEER_IN_MPI)
		return;
	ns = whatif_once_ns(&p->once, d);
	s = table_row(p->site, p->nsite, d->site);
	s->cost_ns += ns;
	s->cnt++;
	s->bytes += d->bytes > 0 ? (uint64_t)d->bytes : 0;
	if (ns > s->worst_ns) {
		s->worst_ns = ns;
		s->waiter = d->thread;
		s->outside = d->on;
	}
	p->cost_ns += ns;
	p->cnt++;
	p->between_cnt += d->other_host;
}

static bool leave_out(void *ctx, const struct whatif_dep *d, struct whatif_instead *instead)
{
	const struct progress *p = ctx;
	int64_t rest_ns = (int64_t)whatif_rest_ns(d);
	int64_t transfer_ns = (int64_t)whatif_transfer_ns(p->a->whatif, d->bytes, d->other_host);

	if (d->kind == WHATIF_PEER_IN_MPI)
		return true;
	/*
	 * The side that computed finds the data there. Moving the data may or may not have taken
	 * its core.
	 */
	if (d->stood_still && !p->sure)
		instead->extra_ns = -(rest_ns < transfer_ns ? rest_ns : transfer_ns);
	return false;
}

static char *advice_text(const struct progress *p, uint32_t worst)
{
	const struct progress_site *s = &p->site[worst];
	const struct whatif_site *site = whatif_site(p->a->whatif, worst);
	struct findings *f = &p->a->findings;
	char *text = words_ns(xstrdup("Ranks waited "), "", p->cost_ns, " in MPI for ");
	char bytes[HUMAN_BYTES];

	text = words_count(text, p->cnt, "message", "messages");
	text = words(
		text,
		" that both sides had posted, but whose other side was outside MPI. Most of it was "
		"in %s",
		site->func->name);
	text = words_process(f, words(words_site(f, text, &site->site), ": "),
			     model_thread_get(p->a->model, s->waiter)->proc);
	text = words_process(f, words(text, " waited for "),
			     model_thread_get(p->a->model, s->outside)->proc);
	return words(text, " (%s on average)",
		     human_bytes(bytes, sizeof(bytes), s->cnt ? s->bytes / s->cnt : 0));
}

/* True if there are at least two CPUs for each rank. */
static bool cores_free(const struct advise *a)
{
	return model_get_info(a->model)->nr_cpus >= 2 * a->ranks;
}

extern const struct strategy strategy_progress;

/*
 * Reports waits for passive targets without a gain, because whatif.h does not model one-sided
 * communication.
 */
static void passive_tell(struct advise *a)
{
	uint64_t ns = 0;
	uint32_t n;
	struct waited_for *w = waited_for_list(&a->findings.epochs.waits[EPOCH_NO_PROGRESS], &n);
	char *advice = advice_target(&a->findings);

	for (uint32_t i = 0; i < n; i++)
		ns += w[i].ns;
	if (ns >= ADVICE_NS)
		advise_nothing(
			a, &strategy_progress,
			words(words_ns(xstrdup("Ranks waited "), "", ns,
				       " to access memory of ranks that were outside MPI. What "
				       "avoiding this gains is not computed. To avoid it: "),
			      "%s", advice));
	free(advice);
	free(w);
}

static void conclude(void *data, struct advise *a)
{
	struct progress *p = data;
	struct advice d = {.strategy = &strategy_progress};
	char *setting;
	uint32_t worst = 0;

	whatif_each(a->whatif, cost_add, p);
	passive_tell(a);
	if (!p->cnt) {
		advise_nothing(
			a, &strategy_progress,
			xstrdup("Once both sides had posted a message, no rank waited because its "
				"peer was outside MPI"));
		return;
	}
	for (uint32_t i = 0; i < p->nsite; i++)
		worst = p->site[i].cost_ns > p->site[worst].cost_ns ? i : worst;
	d.gain = advise_gain(p->a, leave_out, p, &p->sure);
	d.text = advice_text(p, worst);
	setting = library_progress_setting(a->library, p->between_cnt > p->cnt / 2, cores_free(a));
	d.setting = xasprintf("call MPI_Testall, or MPI_Test on the request, about every %s while "
			      "computing%s%s",
			      "100 us", setting ? "; or without changing the program: " : "",
			      setting ? setting : "");
	free(setting);
	d.warning = xstrdup(
		"each call costs about a microsecond, and a progress thread costs a core");
	d.number[d.nnumber++] = (struct advice_number){"messages", p->cnt};
	d.number[d.nnumber++] = (struct advice_number){"waited_ns", p->cost_ns};
	advise_add(a, &d);
}

const struct strategy strategy_progress = {
	.name = "progress",
	.brief = "transfers that stood still while one side computed",
	.source = "Denis & Trahay 2016, IV; Hoefler & Lumsdaine 2008",
	.begin = begin,
	.release = release,
	.conclude = conclude,
};
