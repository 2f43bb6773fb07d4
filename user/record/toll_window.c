/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Totals are compared, told and untold ones together: what a thread tells between two looks is in the one or in the other. What it tells
 * while it is looked at may be in neither for once; then the larger total stands.
 */
#include "record/toll_window.h"

#include <stdlib.h>

#include "abi/config.h"
#include "abi/thread.h"
#include "lib/log.h"

void toll_open_begin(struct toll *t)
{
	struct toll_hits *h;
	uint64_t key;

	for (size_t at = 0; (h = map_next(&t->hits, &at, &key));)
		h->open_polls = h->open_counted = h->open_preloaded = h->open_preloaded_counted = 0;
}

void toll_open_thread(struct toll *t, const struct pov_thread *thread)
{
	const struct pov_counting *c = thread->counting;

	for (uint32_t d = 0; d < POV_CALL_DEPTH_MAX; d++) {
		const struct pov_spin *s = (const struct pov_spin *)thread->spin[d].rec;

		for (uint32_t i = 0;
		     thread->spinning >> d & 1 && i < s->nfuncs && i < POV_SPIN_FUNCS_MAX; i++)
			if (s->func[i].lib != POV_LIB_KERNEL)
				toll_hits_of(t, thread->tgid, s->func[i].lib, s->func[i].func)
					->open_polls += s->func[i].cnt;
	}
	for (uint32_t i = 0; i < POV_COUNTING_MAX && c[i].calls; i++)
		toll_hits_of(t, thread->tgid, c[i].lib, c[i].func)->open_counted += c[i].calls;
}

void toll_open_preloaded(struct toll *t, const struct pov_hdr *rec)
{
	const struct pov_counted *c = (const struct pov_counted *)rec;
	const struct pov_spin *s = (const struct pov_spin *)rec;

	for (uint32_t i = 0; rec->kind == POV_KIND_SPIN && i < s->nfuncs; i++)
		toll_hits_of(t, s->tgid, s->func[i].lib, s->func[i].func)->open_preloaded +=
			s->func[i].cnt;
	if (rec->kind == POV_KIND_COUNTED)
		toll_hits_of(t, c->tgid, c->lib, c->func)->open_preloaded_counted += c->calls;
}

static uint64_t since(uint64_t total, uint64_t *seen)
{
	uint64_t more = total > *seen ? total - *seen : 0;

	*seen += more;
	return more;
}

void toll_costs_add(struct toll_costs *c, const struct limit_cost *one)
{
	if (c->cnt == c->room) {
		c->room = c->room ? 2 * c->room : 64;
		c->v = xrealloc(c->v, c->room * sizeof(*c->v));
	}
	c->v[c->cnt++] = *one;
}

/* The same function of several libraries is told several times, which is no matter: costs are added up. */
void toll_look(struct toll *t, const struct probe_cost *cost, uint64_t elapsed_ns,
	       struct toll_costs *out)
{
	struct toll_hits *h, more;
	struct limit_cost one;
	uint64_t key;

	for (size_t at = 0; (h = map_next(&t->hits, &at, &key));) {
		more = (struct toll_hits){
			.calls = since(h->calls, &h->seen_calls),
			.polls = since(h->polls + h->open_polls, &h->seen_polls),
			.counted = since(h->counted + h->open_counted, &h->seen_counted),
			.preloaded = since(h->preloaded + h->open_preloaded, &h->seen_preloaded),
			.preloaded_counted = since(h->preloaded_counted + h->open_preloaded_counted,
						   &h->seen_preloaded_counted),
			.stepped = h->stepped,
		};
		if (!elapsed_ns || !(more.calls + more.polls + more.counted + more.preloaded +
				     more.preloaded_counted))
			continue;
		one = (struct limit_cost){.tgid = (uint32_t)(key >> 32), .func = (uint16_t)key};
		one.now_pct = 100 * toll_cost(&more, cost) / (double)elapsed_ns;
		more.calls += more.counted;
		more.preloaded += more.preloaded_counted;
		more.counted = more.preloaded_counted = 0;
		one.full_pct = 100 * toll_cost(&more, cost) / (double)elapsed_ns;
		toll_costs_add(out, &one);
	}
}

void toll_costs_release(struct toll_costs *c)
{
	free(c->v);
	*c = (struct toll_costs){0};
}
