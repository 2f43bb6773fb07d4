/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads the recorder's own figures from the meta blocks, and counts losses and hits during the
 * replay.
 */
#include "analysis/coverage.h"

#include <stdlib.h>

#include "analysis/loss.h"
#include "lib/json_get.h"
#include "lib/table.h"
#include "trace/trace_read.h"

static uint64_t count_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_array(v))
		return json_array_size(v);
	return json_integer_value(v) < 0 ? 0 : (uint64_t)json_integer_value(v);
}

static struct coverage_hits *hits_of(struct coverage *a, const struct model_thread *t)
{
	return table_row(a->process, a->nprocess, t->proc->idx);
}

static uint64_t site_key(uint16_t lib, uint16_t func)
{
	return (uint64_t)lib << 16 | func;
}

static void made_add(const struct coverage *a, const struct coverage_made *m,
		     struct coverage_hits *to)
{
	if (m->func->layer && m->func->layer->in_kernel) {
		to->kernel += m->calls + m->polls;
	} else if (m->preloaded) {
		to->preloaded += m->calls + m->polls;
		to->preloaded_polls += m->polls;
		to->preloaded_counted += m->counted;
	} else {
		to->calls += m->calls;
		to->polls += m->polls;
		to->counted += m->counted;
		if (map_get(&a->stepped, site_key(m->lib, m->func->id))) {
			to->stepped += m->calls + m->polls + m->counted;
			to->stepped_polls += m->polls;
		}
	}
}

static void hits_add(struct coverage *a, const struct model_thread *t,
		     const struct coverage_made *m)
{
	made_add(a, m, hits_of(a, t));
	/* the calls of other processes do not distort ranks */
	if (t->proc->is_rank)
		made_add(a, m, table_row(a->func, a->nfunc, m->func->id));
}

static void on_call(void *ctx, const struct model_call *c)
{
	const struct coverage_made made = {c->func, c->lib, c->preloaded, 1, 0, 0};
	struct coverage *a = ctx;

	hits_add(a, c->thread, &made);
	a->open_calls += c->open;
	a->unwound_calls += c->unwound && !c->open;
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	for (uint32_t i = 0; i < s->nfuncs; i++)
		hits_add(ctx, s->thread,
			 &(struct coverage_made){s->func[i].func, s->func[i].lib, s->preloaded, 0,
						 s->func[i].cnt, 0});
}

static struct coverage_limit *limit_of(struct coverage *a, const struct func_info *f)
{
	struct coverage_limit *l = table_row(a->limited, a->nlimited, f->id);

	l->func = f;
	return l;
}

static void on_counted(void *ctx, const struct model_counted *c)
{
	struct coverage *a = ctx;

	hits_add(a, c->thread,
		 &(struct coverage_made){c->func, c->lib, c->preloaded, 0, 0, c->calls});
	/* a function without limit records has no row; it was only counted for a short time */
	if (c->func->id < a->nlimited && a->limited[c->func->id].func)
		a->limited[c->func->id].calls += c->calls;
}

static void on_limit(void *ctx, const struct model_limit *l)
{
	struct coverage *a = ctx;
	struct coverage_limit *to = limit_of(a, l->func);
	uint64_t *since_ns = l->state == POV_LIMIT_DETACHED ? &to->detached_since_ns :
							      &to->counted_since_ns;

	a->limit = l->limit;
	if (!*since_ns || l->since_ns < *since_ns)
		*since_ns = l->since_ns;
	if (l->cost > to->cost) {
		to->cost = l->cost;
		to->proc = l->proc;
	}
}

/* A region hits two probes, like a call. The return probe is single-stepped. */
static void on_region(void *ctx, const struct model_region *r)
{
	struct coverage_hits *h;

	if (r->ended != REGION_RETURNED)
		return;
	h = hits_of(ctx, r->thread);
	h->calls++;
	h->stepped++;
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	hits_of(ctx, s->next)->switches++;
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	struct coverage *a = ctx;
	struct coverage_loss *loss;

	if (l->class >= POV_CLASS_CNT || l->left_out)
		return;
	loss = &a->loss[l->class];
	if (!loss->stretches || l->since_ns < loss->first_ns)
		loss->first_ns = l->since_ns;
	loss->last_ns = u64_max(loss->last_ns, l->ts_ns);
	loss->stretches++;
	loss->cnt += l->cnt;
	if (a->nlost == COVERAGE_LOST_MAX)
		return;
	if (!a->lost)
		a->lost = xcalloc(COVERAGE_LOST_MAX, sizeof(*a->lost));
	a->lost[a->nlost++] = *l;
}

/* Marks the library's functions whose probed instruction is single-stepped. */
static void stepped_read(struct coverage *a, const struct model *m, const json_t *meta)
{
	const json_t *names = json_object_get(meta, "stepped_names");
	uint64_t lib = count_of(meta, "id");
	json_t *set = json_object();
	const struct func_info *f;
	const char *name;

	for (uint32_t i = 0; i < json_array_size(names); i++) {
		name = json_string_value(json_array_get(names, i));
		if (name)
			json_object_set_new(set, name, json_true());
	}
	for (uint32_t i = 0; lib <= UINT16_MAX && i < model_func_count(m); i++) {
		f = model_func_get(m, i);
		if (json_object_get(set, f->name))
			map_set(&a->stepped, site_key((uint16_t)lib, f->id), a);
	}
	json_decref(set);
}

static void library_read(struct coverage *a, const json_t *meta)
{
	struct coverage_library *l = table_append(a->library, a->nlibrary);

	l->id = count_of(meta, "id");
	l->path = json_get_text(meta, "path");
	l->build_id = json_get_text(meta, "build_id");
	l->flavour = json_get_text(meta, "flavour");
	l->version = json_get_text(meta, "version");
	l->link = json_get_text(meta, "link");
	l->attached = count_of(meta, "attached");
	l->preloaded = count_of(meta, "preloaded");
	l->missing = count_of(meta, "missing");
	l->failed = count_of(meta, "failed");
	l->emulated = count_of(meta, "emulated");
	l->stepped = count_of(meta, "stepped");
	l->refused = json_get_text(meta, "refused");
	l->missing_names = json_object_get(meta, "missing");
	l->failed_names = json_object_get(meta, "failed");
}

/*
 * Reads which process ran a library before its probes were attached. The meta blocks of the
 * libraries have been read before.
 */
static void late_read(struct coverage *a, const json_t *meta)
{
	uint64_t id = count_of(meta, "library");
	struct coverage_late *l = table_append(a->late, a->nlate);

	l->ts_ns = count_of(meta, "ts_ns");
	l->late_ns = count_of(meta, "late_ns");
	l->pid = (uint32_t)count_of(meta, "pid");
	l->path = "";
	for (uint32_t i = 0; i < a->nlibrary; i++) {
		if (a->library[i].id == id)
			l->path = a->library[i].path;
	}
}

static void end_read(struct coverage *a, const json_t *end)
{
	uint64_t timed;

	a->has_end = true;
	a->end_reason = json_get_text(end, "reason");
	a->own_cpu_ns = count_of(end, "own_cpu_ns");
	a->own_cpu_split = json_object_get(end, "own_cpu_start_ns") &&
			   json_object_get(end, "own_cpu_stop_ns");
	a->own_cpu_start_ns = count_of(end, "own_cpu_start_ns");
	a->own_cpu_stop_ns = count_of(end, "own_cpu_stop_ns");
	a->misses = json_object_get(end, "misses");
	a->stats = json_object_get(end, "stats");
	a->questions = count_of(a->stats, "questions");
	a->wait_ns = count_of(a->stats, "wait_ns");
	timed = count_of(a->stats, "switches_timed");
	if (timed)
		a->switch_ns = (double)count_of(a->stats, "switch_ns") / (double)timed;
	losses_counted(end, a->lost_cnt);
}

static void on_start(void *ctx, const struct model *m)
{
	const struct trace *t = model_get_trace(m);
	struct coverage *a = ctx;
	const json_t *meta, *config;

	for (size_t i = 0; i < trace_meta_count(t); i++) {
		meta = trace_meta_get(t, i);
		if (json_is_type(meta, "late"))
			late_read(a, meta);
		if (!json_is_type(meta, "library"))
			continue;
		library_read(a, meta);
		stepped_read(a, m, meta);
	}
	config = json_object_get(trace_meta_find(t, "recording"), "config");
	a->limit = json_number_value(json_object_get(config, "max_overhead_pct")) / 100;
	a->limit_all = json_is_true(json_object_get(config, "max_overhead_all"));
	meta = trace_meta_find(t, "probe_cost");
	if (meta) {
		a->calibrated = true;
		a->call_ns = json_number_value(json_object_get(meta, "call_ns"));
		a->spin_ns = json_number_value(json_object_get(meta, "spin_ns"));
		a->stepped_ns = json_number_value(json_object_get(meta, "stepped_ns"));
		a->counted_ns = json_number_value(json_object_get(meta, "counted_ns"));
	}
	meta = trace_meta_find(t, "preload");
	if (meta) {
		a->has_preload = true;
		a->preload_ns = json_number_value(json_object_get(meta, "call_ns"));
		a->preload_counted_ns = json_number_value(json_object_get(meta, "counted_ns"));
		a->preload_wait_ns = count_of(meta, "wait_ns");
		a->preload_no_area = count_of(meta, "no_area");
		a->preload_damaged = count_of(meta, "damaged");
		a->preload_missed = count_of(meta, "missed");
	}
	meta = trace_meta_find(t, "end");
	if (meta)
		end_read(a, meta);
}

uint64_t coverage_own_cpu_steady(const struct coverage *a)
{
	uint64_t apart_ns = a->own_cpu_start_ns + a->own_cpu_stop_ns;

	return a->own_cpu_ns > apart_ns ? a->own_cpu_ns - apart_ns : 0;
}

uint32_t coverage_probed(const struct coverage *a)
{
	return table_sum(a->nprocess, i,
			 a->process[i].calls + a->process[i].polls + a->process[i].counted > 0);
}

double coverage_step_ns(const struct coverage *a)
{
	return a->stepped_ns > a->call_ns ? a->stepped_ns - a->call_ns : 0;
}

static bool late_is_of(const struct coverage_late *l, const struct model_process *p)
{
	return l->pid == (uint32_t)p->pid && l->ts_ns >= p->start_ns && l->ts_ns <= p->end_ns;
}

bool coverage_was_late(const struct coverage *a, const struct model_process *p)
{
	return table_any(a->nlate, i, late_is_of(&a->late[i], p));
}

static bool late_is_of_rank(const struct coverage_late *l, const struct model *m)
{
	const struct model_process *p;

	for (uint32_t i = 0; i < model_process_count(m); i++) {
		p = model_process_get(m, i);
		if (p->is_rank && late_is_of(l, p))
			return true;
	}
	return false;
}

bool coverage_late_others(const struct coverage *a, const struct model *m)
{
	return table_any(a->nlate, i, !late_is_of_rank(&a->late[i], m));
}

static double hits_cost(uint64_t hits, double each_ns)
{
	double ns = (double)hits * each_ns;

	return ns > 0 && ns < 1e18 ? ns : 0;
}

double coverage_cost(const struct coverage *a, const struct coverage_hits *h)
{
	return hits_cost(h->calls, a->call_ns) + hits_cost(h->polls, a->spin_ns) +
	       hits_cost(h->counted, a->counted_ns) + hits_cost(h->stepped, coverage_step_ns(a)) +
	       hits_cost(h->preloaded, a->preload_ns) +
	       hits_cost(h->preloaded_counted, a->preload_counted_ns) +
	       hits_cost(h->switches, a->switch_ns);
}

double coverage_made_cost(const struct coverage *a, const struct coverage_made *made)
{
	struct coverage_hits hits = {0};

	made_add(a, made, &hits);
	return coverage_cost(a, &hits);
}

double coverage_poll_cost(const struct coverage *a, const struct coverage_hits *h)
{
	return hits_cost(h->polls, a->spin_ns) + hits_cost(h->stepped_polls, coverage_step_ns(a)) +
	       hits_cost(h->preloaded_polls, a->preload_ns);
}

static void on_finish(void *ctx, const struct model *m)
{
	struct coverage *a = ctx;
	struct coverage_hits *hits;

	for (uint32_t i = 0; i < POV_CLASS_CNT; i++) {
		if (a->lost_cnt[i] < a->loss[i].cnt)
			a->lost_cnt[i] = a->loss[i].cnt;
	}
	for (uint32_t i = 0; i < model_process_count(m); i++) {
		hits = table_row(a->process, a->nprocess, i);
		hits->cost_ns = (uint64_t)coverage_cost(a, hits);
	}
}

void coverage_init(struct coverage *a)
{
	*a = (struct coverage){
		.sink = {.ctx = a,
			 .start = on_start,
			 .call = on_call,
			 .spin = on_spin,
			 .counted = on_counted,
			 .limit = on_limit,
			 .region = on_region,
			 .on_switch = on_switch,
			 .lost = on_lost,
			 .finish = on_finish},
		.end_reason = "",
	};
}

void coverage_release(struct coverage *a)
{
	map_release(&a->stepped);
	free(a->lost);
	free(a->limited);
	free(a->process);
	free(a->func);
	free(a->library);
	free(a->late);
}
