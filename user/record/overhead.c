/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Counts like analysis/coverage.c, but from the records alone. */
#include "record/overhead.h"

#include <stdlib.h>
#include <string.h>

#include "abi/config.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "layers/func_table.h"
#include "lib/table.h"

static uint64_t key_of(uint32_t tgid, uint16_t lib, uint16_t func)
{
	return (uint64_t)tgid << 32 | (uint64_t)lib << 16 | func;
}

static inline struct overhead_last *last_of(struct overhead *o, uint64_t key)
{
	return &o->last[(key ^ key >> 32) % OVERHEAD_LAST];
}

static struct overhead_hits *hits_of(struct overhead *o, uint64_t key)
{
	struct overhead_last *last = last_of(o, key);

	if (!last->hits || last->key != key)
		*last = (struct overhead_last){key, map_make(&o->hits, key, sizeof(*last->hits))};
	return last->hits;
}

static void life_note(struct map *m, uint32_t tgid, uint64_t ts_ns)
{
	map_set(m, tgid, (void *)(uintptr_t)(ts_ns + 1));
}

/* Returns how many of cnt evenly spread polls lie in the window. */
static uint64_t polls_in_window(const struct overhead *o, const struct pov_spin *s, uint64_t cnt)
{
	uint64_t begin_ns = s->hdr.ts_ns - s->dur_ns;

	if (begin_ns >= o->window_ns)
		return cnt;
	if (s->hdr.ts_ns <= o->window_ns)
		return 0;
	return (uint64_t)((double)cnt * (double)(s->hdr.ts_ns - o->window_ns) / (double)s->dur_ns);
}

static void spin_count(struct overhead *o, const struct pov_spin *s)
{
	struct overhead_hits *h;
	uint64_t cnt, in_window;

	for (unsigned int i = 0; i < s->nfuncs && i < POV_SPIN_FUNCS_MAX; i++) {
		if (s->func[i].lib == POV_LIB_KERNEL)
			continue;
		h = hits_of(o, key_of(s->tgid, s->func[i].lib, s->func[i].func));
		cnt = s->func[i].cnt;
		in_window = polls_in_window(o, s, cnt);
		if (s->hdr.flags & POV_SPIN_PRELOADED) {
			h->all.preloaded += cnt;
			h->all.preloaded_polls += cnt;
			h->window.preloaded += in_window;
		} else {
			h->all.polls += cnt;
			h->window.polls += in_window;
		}
	}
}

static void call_count(struct overhead *o, const struct pov_call *call)
{
	struct overhead_hits *h = hits_of(o, key_of(call->tgid, call->lib, call->func));

	if (call->hdr.flags & POV_CALL_PRELOADED) {
		h->all.preloaded++;
		h->window.preloaded++;
	} else {
		h->all.calls++;
		h->window.calls++;
	}
}

static void counted_count(struct overhead *o, const struct pov_counted *c)
{
	struct overhead_hits *h = hits_of(o, key_of(c->tgid, c->lib, c->func));

	if (c->hdr.flags & POV_COUNTED_PRELOADED) {
		h->all.preloaded_counted += c->calls;
		h->window.preloaded_counted += c->calls;
	} else {
		h->all.counted += c->calls;
		h->window.counted += c->calls;
	}
}

/* A region has two probes, like a call. Its return is single-stepped. */
static void region_count(struct overhead *o, const struct pov_region *r)
{
	struct overhead_hits *h = hits_of(o, key_of(r->tgid, UINT16_MAX, UINT16_MAX));

	h->all.calls++;
	h->window.calls++;
	h->stepped = true;
}

static __attribute__((noinline)) void record_count(struct overhead *o, const struct pov_hdr *rec)
{
	const struct pov_call *call = (const struct pov_call *)rec;
	const struct pov_region *region = (const struct pov_region *)rec;
	const struct pov_fork *fork = (const struct pov_fork *)rec;
	const struct pov_exit *exit = (const struct pov_exit *)rec;
	uintptr_t end;

	switch (rec->kind) {
	case POV_KIND_CALL: /* calls inside the kernel hit no probe */
		if (call->lib != POV_LIB_KERNEL)
			call_count(o, call);
		break;
	case POV_KIND_SPIN:
		spin_count(o, (const struct pov_spin *)rec);
		break;
	case POV_KIND_COUNTED:
		counted_count(o, (const struct pov_counted *)rec);
		break;
	case POV_KIND_REGION:
		if ((rec->flags & (POV_REGION_END | POV_REGION_UNWOUND)) == POV_REGION_END)
			region_count(o, region);
		break;
	case POV_KIND_FORK:
		if (fork->child_tid == fork->child_tgid) {
			life_note(&o->begin, fork->child_tid, rec->ts_ns);
			/* an ended process that had the same number */
			map_remove(&o->end, fork->child_tid);
		}
		break;
	case POV_KIND_EXIT:
		/* other threads may outlive the first one */
		end = (uintptr_t)map_get(&o->end, exit->tgid);
		if (rec->tid == exit->tgid || (end && end <= rec->ts_ns))
			life_note(&o->end, exit->tgid, rec->ts_ns);
		break;
	default:
		break;
	}
}

void overhead_record(struct overhead *o, const struct pov_hdr *rec)
{
	const struct pov_call *call = (const struct pov_call *)rec;
	const struct overhead_last *last;
	uint64_t key;

	/* most are calls of the same functions as before */
	if (rec->kind == POV_KIND_CALL && call->hdr.flags & POV_CALL_PRELOADED) {
		key = key_of(call->tgid, call->lib, call->func);
		last = last_of(o, key);
		if (last->hits && last->key == key) {
			last->hits->all.preloaded++;
			last->hits->window.preloaded++;
			return;
		}
	}
	record_count(o, rec);
}

static const char *function_name(uint64_t key)
{
	uint16_t func = (uint16_t)key;

	return func < func_table_count() ? func_table_get(func)->name : "?";
}

void overhead_library(struct overhead *o, const json_t *meta)
{
	const json_t *names = json_object_get(meta, "stepped_names");
	json_int_t id = json_get_int(meta, "id");
	struct overhead_hits *h;
	uint64_t key;

	if (!json_array_size(names))
		return;
	for (size_t at = 0; (h = map_next(&o->hits, &at, &key));)
		h->stepped |= (uint16_t)(key >> 16) == id &&
			      json_has_text(names, function_name(key));
}

static double step_ns(bool stepped, const struct probe_cost *cost)
{
	return stepped && cost->stepped_ns > cost->call_ns ? cost->stepped_ns - cost->call_ns : 0;
}

static double hits_cost(const struct overhead_counts *c, bool stepped,
			const struct probe_cost *cost)
{
	return (double)c->calls * cost->call_ns + (double)c->polls * cost->spin_ns +
	       (double)c->counted * cost->counted_ns + (double)c->preloaded * cost->preload_ns +
	       (double)c->preloaded_counted * cost->preload_counted_ns +
	       (double)(c->calls + c->polls + c->counted) * step_ns(stepped, cost);
}

/* Returns the cost of polls that found nothing. It delays nobody: the thread would have waited. */
static double polls_cost(const struct overhead_counts *c, bool stepped,
			 const struct probe_cost *cost)
{
	return (double)c->polls * (cost->spin_ns + step_ns(stepped, cost)) +
	       (double)c->preloaded_polls * cost->preload_ns;
}

struct sums {
	struct map process; /* → owned double */
	double *func;
	uint32_t nfunc;
};

static void sums_make(const struct overhead *o, const struct probe_cost *cost, struct sums *s)
{
	const struct overhead_hits *h;
	double *sum, ns;
	uint64_t key;

	s->nfunc = func_table_count();
	s->func = xcalloc(s->nfunc + 1, sizeof(*s->func));
	for (size_t at = 0; (h = map_next(&o->hits, &at, &key));) {
		ns = hits_cost(&h->all, h->stepped, cost) - polls_cost(&h->all, h->stepped, cost);
		sum = map_make(&s->process, key >> 32, sizeof(*sum));
		*sum += ns;
		if ((uint16_t)key < s->nfunc)
			s->func[(uint16_t)key] += ns;
	}
}

static uint64_t life_ns(const struct overhead *o, uint64_t tgid, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t begin = (uint64_t)(uintptr_t)map_get(&o->begin, tgid);
	uint64_t end = (uint64_t)(uintptr_t)map_get(&o->end, tgid);

	begin = begin && begin - 1 > start_ns ? begin - 1 : start_ns;
	end = end && end - 1 < end_ns ? end - 1 : end_ns;
	return end > begin ? end - begin : 0;
}

void overhead_find(const struct overhead *o, const struct probe_cost *cost, uint64_t start_ns,
		   uint64_t end_ns, struct distortion *out, uint32_t *pid)
{
	struct sums s = {0};
	uint64_t tgid, ns;
	double *sum, pct;

	*out = (struct distortion){0};
	*pid = 0;
	if (!cost->samples)
		return;
	sums_make(o, cost, &s);
	for (uint32_t i = 0; i < s.nfunc; i++)
		distortion_add_func(out, func_table_get(i)->name, s.func[i]);
	for (size_t at = 0; (sum = map_next(&s.process, &at, &tgid));) {
		ns = life_ns(o, tgid, start_ns, end_ns);
		pct = ns ? 100 * *sum / (double)ns : 0;
		out->above += pct > DISTORTION_PCT;
		if (pct > out->pct) {
			out->pct = pct;
			*pid = (uint32_t)tgid;
		}
		free(sum);
	}
	map_release(&s.process);
	free(s.func);
}

/* ---- the cost of a window ---- */

/* The same function in several libraries gives several shares, which add up. */
void overhead_window(struct overhead *o, const struct probe_cost *cost, uint64_t now_ns,
		     struct overhead_shares *out)
{
	double percent_ns = (double)(now_ns - o->window_ns) / 100;
	struct overhead_share one;
	struct overhead_hits *h;
	uint64_t key;

	for (size_t at = 0; (h = map_next(&o->hits, &at, &key));) {
		struct overhead_counts c = h->window;

		h->window = (struct overhead_counts){0};
		one = (struct overhead_share){.tgid = (uint32_t)(key >> 32), .func = (uint16_t)key};
		one.pct = hits_cost(&c, h->stepped, cost) / percent_ns;
		if (one.pct <= 0)
			continue;
		c.counted += c.calls + c.polls;
		c.preloaded_counted += c.preloaded;
		c.calls = c.polls = c.preloaded = 0;
		one.counted_pct = hits_cost(&c, h->stepped, cost) / percent_ns;
		*table_append(out->v, out->cnt) = one;
	}
	o->window_ns = now_ns;
}

void overhead_shares_release(struct overhead_shares *s)
{
	free(s->v);
	*s = (struct overhead_shares){0};
}

/* ---- processes that ended long ago ---- */

static bool ended_before(const struct overhead *o, uint64_t tgid, uint64_t before_ns)
{
	uint64_t end = (uint64_t)(uintptr_t)map_get(&o->end, tgid);

	return end && end - 1 < before_ns;
}

/* Copies a map of times without processes that ended before before_ns. */
static struct map lives_pruned(const struct overhead *o, const struct map *times,
			       uint64_t before_ns)
{
	struct map kept = {0};
	uint64_t tgid;
	void *ts;

	for (size_t at = 0; (ts = map_next(times, &at, &tgid));)
		if (!ended_before(o, tgid, before_ns))
			map_set(&kept, tgid, ts);
	return kept;
}

void overhead_prune(struct overhead *o, uint64_t before_ns)
{
	struct map hits = {0}, begin, end;
	struct overhead_hits *h;
	uint64_t key;

	for (size_t at = 0; (h = map_next(&o->hits, &at, &key));)
		if (ended_before(o, key >> 32, before_ns))
			free(h);
		else
			map_set(&hits, key, h);
	begin = lives_pruned(o, &o->begin, before_ns);
	end = lives_pruned(o, &o->end, before_ns);
	map_release(&o->hits);
	map_release(&o->begin);
	map_release(&o->end);
	*o = (struct overhead){.hits = hits, .begin = begin, .end = end, .window_ns = o->window_ns};
}

void overhead_release(struct overhead *o)
{
	map_free(&o->hits, free);
	map_release(&o->begin);
	map_release(&o->end);
	memset(o, 0, sizeof(*o));
}
