/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Counts like analysis/coverage.c, but from the records alone. */
#include "record/toll.h"

#include <stdlib.h>
#include <string.h>

#include "abi/config.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "layers/func_table.h"

static uint64_t key_of(uint32_t tgid, uint16_t lib, uint16_t func)
{
	return (uint64_t)tgid << 32 | (uint64_t)lib << 16 | func;
}

static inline struct toll_last *last_of(struct toll *t, uint64_t key)
{
	return &t->last[(key ^ key >> 32) % TOLL_LAST];
}

static struct toll_hits *hits_of(struct toll *t, uint64_t key)
{
	struct toll_last *last = last_of(t, key);

	if (!last->hits || last->key != key)
		*last = (struct toll_last){key, map_make(&t->hits, key, sizeof(*last->hits))};
	return last->hits;
}

struct toll_hits *toll_hits_of(struct toll *t, uint32_t tgid, uint16_t lib, uint16_t func)
{
	return hits_of(t, key_of(tgid, lib, func));
}

static void life_note(struct map *m, uint32_t tgid, uint64_t ts_ns)
{
	map_set(m, tgid, (void *)(uintptr_t)(ts_ns + 1));
}

static void spin_count(struct toll *t, const struct pov_spin *s)
{
	struct toll_hits *h;

	for (unsigned int i = 0; i < s->nfuncs && i < POV_SPIN_FUNCS_MAX; i++) {
		if (s->func[i].lib == POV_LIB_KERNEL)
			continue;
		h = hits_of(t, key_of(s->tgid, s->func[i].lib, s->func[i].func));
		if (s->hdr.flags & POV_SPIN_PRELOADED) {
			h->preloaded += s->func[i].cnt;
			h->preloaded_polls += s->func[i].cnt;
		} else {
			h->polls += s->func[i].cnt;
		}
	}
}

static void call_count(struct toll *t, const struct pov_call *call)
{
	struct toll_hits *h = hits_of(t, key_of(call->tgid, call->lib, call->func));

	if (call->hdr.flags & POV_CALL_PRELOADED)
		h->preloaded++;
	else
		h->calls++;
}

static void counted_count(struct toll *t, const struct pov_counted *c)
{
	struct toll_hits *h = hits_of(t, key_of(c->tgid, c->lib, c->func));

	if (c->hdr.flags & POV_COUNTED_PRELOADED)
		h->preloaded_counted += c->calls;
	else
		h->counted += c->calls;
}

/* A region has two probes, like a call. Its return is single-stepped. */
static void region_count(struct toll *t, const struct pov_region *r)
{
	struct toll_hits *h = hits_of(t, key_of(r->tgid, UINT16_MAX, UINT16_MAX));

	h->calls++;
	h->stepped = true;
}

static __attribute__((noinline)) void record_count(struct toll *t, const struct pov_hdr *rec)
{
	const struct pov_call *call = (const struct pov_call *)rec;
	const struct pov_region *region = (const struct pov_region *)rec;
	const struct pov_fork *fork = (const struct pov_fork *)rec;
	const struct pov_exit *exit = (const struct pov_exit *)rec;

	switch (rec->kind) {
	case POV_KIND_CALL: /* calls inside the kernel hit no probe */
		if (call->lib != POV_LIB_KERNEL)
			call_count(t, call);
		break;
	case POV_KIND_SPIN:
		spin_count(t, (const struct pov_spin *)rec);
		break;
	case POV_KIND_COUNTED:
		counted_count(t, (const struct pov_counted *)rec);
		break;
	case POV_KIND_REGION:
		if ((rec->flags & (POV_REGION_END | POV_REGION_UNWOUND)) == POV_REGION_END)
			region_count(t, region);
		break;
	case POV_KIND_FORK:
		if (fork->child_tid == fork->child_tgid) {
			life_note(&t->begin, fork->child_tid, rec->ts_ns);
			/* an ended process that had the same number */
			map_remove(&t->end, fork->child_tid);
		}
		break;
	case POV_KIND_EXIT:
		if (rec->tid == exit->tgid)
			life_note(&t->end, rec->tid, rec->ts_ns);
		break;
	default:
		break;
	}
}

void toll_record(struct toll *t, const struct pov_hdr *rec)
{
	const struct pov_call *call = (const struct pov_call *)rec;
	const struct toll_last *last;
	uint64_t key;

	/* most are calls of the same functions as before */
	if (rec->kind == POV_KIND_CALL && call->hdr.flags & POV_CALL_PRELOADED) {
		key = key_of(call->tgid, call->lib, call->func);
		last = last_of(t, key);
		if (last->hits && last->key == key) {
			last->hits->preloaded++;
			return;
		}
	}
	record_count(t, rec);
}

static const char *function_name(uint64_t key)
{
	uint16_t func = (uint16_t)key;

	return func < func_table_count() ? func_table_get(func)->name : "?";
}

void toll_library(struct toll *t, const json_t *meta)
{
	const json_t *names = json_object_get(meta, "stepped_names");
	json_int_t id = json_get_int(meta, "id");
	struct toll_hits *h;
	uint64_t key;

	if (!json_array_size(names))
		return;
	for (size_t at = 0; (h = map_next(&t->hits, &at, &key));)
		h->stepped |= (uint16_t)(key >> 16) == id &&
			      json_has_text(names, function_name(key));
}

double toll_cost(const struct toll_hits *h, const struct probe_cost *cost)
{
	double ns = (double)h->calls * cost->call_ns + (double)h->polls * cost->spin_ns +
		    (double)h->counted * cost->counted_ns +
		    (double)h->preloaded * cost->preload_ns +
		    (double)h->preloaded_counted * cost->preload_counted_ns;

	if (h->stepped && cost->stepped_ns > cost->call_ns)
		ns += (double)(h->calls + h->polls + h->counted) *
		      (cost->stepped_ns - cost->call_ns);
	return ns;
}

/* Returns the cost of polls that found nothing: they would have waited anyway. */
static double polls_cost(const struct toll_hits *h, const struct probe_cost *cost)
{
	double step_ns = h->stepped && cost->stepped_ns > cost->call_ns ?
				 cost->stepped_ns - cost->call_ns :
				 0;

	return (double)h->polls * (cost->spin_ns + step_ns) +
	       (double)h->preloaded_polls * cost->preload_ns;
}

struct sums {
	struct map process; /* → owned double */
	double *func;
	uint32_t nfunc;
};

static void sums_make(const struct toll *t, const struct probe_cost *cost, struct sums *s)
{
	const struct toll_hits *h;
	double *sum, ns;
	uint64_t key;

	s->nfunc = func_table_count();
	s->func = xcalloc(s->nfunc + 1, sizeof(*s->func));
	for (size_t at = 0; (h = map_next(&t->hits, &at, &key));) {
		ns = toll_cost(h, cost) - polls_cost(h, cost);
		sum = map_make(&s->process, key >> 32, sizeof(*sum));
		*sum += ns;
		if ((uint16_t)key < s->nfunc)
			s->func[(uint16_t)key] += ns;
	}
}

static uint64_t life_ns(const struct toll *t, uint64_t tgid, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t begin = (uint64_t)(uintptr_t)map_get(&t->begin, tgid);
	uint64_t end = (uint64_t)(uintptr_t)map_get(&t->end, tgid);

	begin = begin && begin - 1 > start_ns ? begin - 1 : start_ns;
	end = end && end - 1 < end_ns ? end - 1 : end_ns;
	return end > begin ? end - begin : 0;
}

void toll_find(const struct toll *t, const struct probe_cost *cost, uint64_t start_ns,
	       uint64_t end_ns, struct distortion *out, uint32_t *pid)
{
	struct sums s = {0};
	uint64_t tgid, ns;
	double *sum, pct;

	*out = (struct distortion){0};
	*pid = 0;
	if (!cost->samples)
		return;
	sums_make(t, cost, &s);
	for (uint32_t i = 0; i < s.nfunc; i++)
		distortion_add_func(out, func_table_get(i)->name, s.func[i]);
	for (size_t at = 0; (sum = map_next(&s.process, &at, &tgid));) {
		ns = life_ns(t, tgid, start_ns, end_ns);
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

static bool ended_before(const struct toll *t, uint64_t tgid, uint64_t before_ns)
{
	uint64_t end = (uint64_t)(uintptr_t)map_get(&t->end, tgid);

	return end && end - 1 < before_ns;
}

/* Copies a map of times without processes that ended before before_ns. */
static struct map lives_pruned(const struct toll *t, const struct map *times, uint64_t before_ns)
{
	struct map kept = {0};
	uint64_t tgid;
	void *ts;

	for (size_t at = 0; (ts = map_next(times, &at, &tgid));)
		if (!ended_before(t, tgid, before_ns))
			map_set(&kept, tgid, ts);
	return kept;
}

void toll_prune(struct toll *t, uint64_t before_ns)
{
	struct map hits = {0}, begin, end;
	struct toll_hits *h;
	uint64_t key;

	for (size_t at = 0; (h = map_next(&t->hits, &at, &key));)
		if (ended_before(t, key >> 32, before_ns))
			free(h);
		else
			map_set(&hits, key, h);
	begin = lives_pruned(t, &t->begin, before_ns);
	end = lives_pruned(t, &t->end, before_ns);
	map_release(&t->hits);
	map_release(&t->begin);
	map_release(&t->end);
	*t = (struct toll){.hits = hits, .begin = begin, .end = end};
}

void toll_release(struct toll *t)
{
	map_free(&t->hits, free);
	map_release(&t->begin);
	map_release(&t->end);
	memset(t, 0, sizeof(*t));
}
