/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Looks about once a second what tracing has cost (toll_window.h), has it decided what is given up or comes back (limit.h), sees to it
 * (recipes, limit_probes.h), and says so in the trace. Functions that are detached are attached now and then for some milliseconds, in
 * which they are counted. What that may cost together has a share of its own of the limit, so it is done the more seldom the more it costs.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/thread.h"
#include "lib/log.h"
#include "record/probes/limit_probes.h"
#include "record/session_priv.h"
#include "record/toll_window.h"
#include "layers/func_table.h"

#define LOOK_NS 1000000000ull	     /* between looks; */
#define LOOK_CHANGED_NS 500000000ull /* after a change */
#define SAMPLE_NS 10000000ull	     /* how long detached functions are attached, at least */
#define SAMPLES_NS 1000000000ull     /* between samples, at least */
#define NAMES 4			     /* of functions that are given up are said */

enum step {
	LIMIT_IDLE,
	SAMPLE_ATTACHING, /* a sample: attaching, … */
	SAMPLE_ATTACHED,  /* … attached, … */
	SAMPLE_DETACHING, /* … detaching */
	LIMIT_RETURNING,  /* attaching for good */
};

/* What a function became by the limit. */
struct shed {
	uint8_t told; /* enum pov_limit_state, as the trace has it; */
	uint64_t told_ns;
	uint32_t tgid; /* why */
	double pct;
	bool ever;
};

struct session_limit {
	struct limit limit;
	struct limit_probes *probes;
	struct limit_change *change;
	struct shed *shed;  /* by row */
	bool *which;	    /* the same, for limit_probes.h */
	struct map callers; /* threads that make traced calls, by number */
	enum step step;
	uint64_t look_ns, next_ns;	    /* last look, next one */
	uint64_t over_ns;		    /* when it was looked what the sample says */
	uint64_t sample_ns, next_sample_ns; /* attached since; next one, at a look */
	struct toll_costs sample;	    /* what detached functions would cost */
	bool sampled;			    /* since the last look */
	struct toll_costs spent; /* by the sample that is under way, as percent of a second */
	struct limit_excess worst;
	struct distortion excess; /* by which functions */
	uint32_t decided_by;
	double decided_pct;
};

void session_limit_prepare(struct session *s)
{
	if (s->opt->max_overhead_pct <= 0)
		return;
	s->shed = xcalloc(func_table_count(), sizeof(*s->shed));
	for (size_t i = 0; i < func_table_count(); i++)
		s->shed[i] = s->opt->recorded[i] && func_table_may_shed(i) &&
			     !session_keep_watches(s, i);
}

void session_limit_start(struct session *s)
{
	uint32_t cnt = (uint32_t)func_table_count();
	struct session_limit *m;

	if (!s->shed)
		return;
	if (s->cost.call_ns <= 0) {
		log_warn(
			"--max-overhead: what probes cost could not be measured; there is no limit");
		return;
	}
	m = xcalloc(1, sizeof(*m));
	limit_init(&m->limit, s->opt->max_overhead_pct, s->cost.counted_ns / s->cost.call_ns,
		   s->shed, cnt);
	m->probes = limit_probes_new(s->images, &s->kernel.programs);
	m->change = xcalloc(cnt + 1, sizeof(*m->change));
	m->shed = xcalloc(cnt + 1, sizeof(*m->shed));
	m->which = xcalloc(cnt + 1, sizeof(*m->which));
	m->look_ns = kernel_now_ns();
	m->next_ns = m->look_ns + LOOK_NS;
	s->limit = m;
}

void session_limit_identity(struct session *s, const struct pov_hdr *rec)
{
	if (!s->limit)
		return;
	if (rec->kind == POV_KIND_CALLER)
		map_set(&s->limit->callers, rec->tid, s->limit);
	else if (rec->kind == POV_KIND_EXIT)
		map_remove(&s->limit->callers, rec->tid);
}

/* ---- what it cost ---- */

/* What processes that record their calls themselves spend on it counts, too. */
static bool limits_preloaded(const struct session *s)
{
	return s->preload && session_preload_records(s) && s->opt->max_overhead_all;
}

static void on_untold(void *ctx, const struct pov_hdr *rec)
{
	struct session *s = ctx;

	toll_open_preloaded(&s->toll, rec);
}

static void costs_take(struct session *s, uint64_t elapsed_ns, struct toll_costs *out)
{
	struct probe_cost cost;
	struct pov_thread t;
	uint64_t tid;

	ring_buffer__consume(s->rings);
	session_preload_take(s);
	toll_open_begin(&s->toll);
	for (size_t at = 0; map_next(&s->limit->callers, &at, &tid);)
		if (!kernel_read_thread(&s->kernel, (uint32_t)tid, &t))
			toll_open_thread(&s->toll, &t);
	session_preload_cost(s);
	cost = s->cost;
	if (limits_preloaded(s))
		preload_untold(s->preload, on_untold, s);
	else
		cost.preload_ns = cost.preload_counted_ns = 0;
	toll_look(&s->toll, &cost, elapsed_ns, out);
}

static bool is_detached(const struct session_limit *m, uint16_t func)
{
	return func < m->limit.cnt && m->limit.func[func].state == POV_LIMIT_DETACHED;
}

/*
 * What a sample has cost the process that it cost most, in ns; all was measured against one second. With perf events the kernel takes
 * the programs away first and the breakpoints later, which cost as much: lasts_ns longer than was measured.
 */
static double spent_ns(const struct session_limit *m, uint64_t lasts_ns)
{
	double max = 0, sum;

	for (size_t i = 0; i < m->spent.cnt; i++) {
		sum = 0;
		for (size_t k = 0; k < m->spent.cnt; k++)
			if (m->spent.v[k].tgid == m->spent.v[i].tgid &&
			    is_detached(m, m->spent.v[k].func))
				sum += m->spent.v[k].now_pct;
		max = sum > max ? sum : max;
	}
	max *= 1 + (double)lasts_ns / (double)(m->over_ns - m->sample_ns);
	return max / 100 * 1e9;
}

/* ---- what is said ---- */

static void limit_write(struct session *s, uint16_t func, uint8_t state, uint64_t since_ns,
			uint64_t ts_ns, uint32_t tgid, double pct)
{
	const struct pov_limit r = {
		.hdr = {.size = sizeof(r), .kind = POV_KIND_LIMIT, .ts_ns = ts_ns},
		.since_ns = since_ns,
		.tgid = tgid,
		.func = func,
		.state = state,
		.cost_ppm = pct < 100000 ? (uint32_t)(pct * 1e4 + 0.5) : UINT32_MAX,
		.limit_ppm = (uint32_t)(s->opt->max_overhead_pct * 1e4 + 0.5),
	};

	session_record(s, TRACE_STREAM_TASKS, &r.hdr);
}

/* How it has been with a function from when that was said last. */
static void shed_tell(struct session *s, uint16_t func, uint64_t ts_ns)
{
	struct shed *f = &s->limit->shed[func];

	if (f->told == POV_LIMIT_RECORDED || f->told_ns == ts_ns)
		return;
	limit_write(s, func, f->told, f->told_ns, ts_ns, f->tgid, f->pct);
	f->told_ns = ts_ns;
}

void session_limit_tell(struct session *s, uint64_t ts_ns)
{
	const struct shed *f;

	for (uint32_t i = 0; s->limit && i < s->limit->limit.cnt; i++) {
		f = &s->limit->shed[i];
		if (f->told != POV_LIMIT_RECORDED && f->told_ns < ts_ns)
			limit_write(s, (uint16_t)i, f->told, f->told_ns, ts_ns, f->tgid, f->pct);
	}
}

static void shed_change(struct session *s, uint16_t func, uint8_t state, uint64_t ts_ns)
{
	static const char *const words[] = {"recorded again", "counted only", "left out"};
	struct shed *f = &s->limit->shed[func];

	shed_tell(s, func, ts_ns);
	f->told = state;
	f->told_ns = ts_ns;
	f->ever = true;
	limit_write(s, func, state, ts_ns, ts_ns, f->tgid, f->pct);
	log_info("--max-overhead: %s is %s", func_table_get(func)->name, words[state]);
}

/* ---- what is done ---- */

static void recipe_change(struct session *s, uint32_t func, bool counted)
{
	s->fns[func].counted = counted;
	if (bpf_map_update_elem(s->kernel.fns_fd, &func, &s->fns[func], BPF_ANY))
		log_debug("recipe of %s: %s", func_table_get(func)->name, strerror(errno));
	if (limits_preloaded(s))
		preload_function_set(s->preload, func, counted, false);
}

static void which_detached(struct session_limit *m)
{
	for (uint32_t i = 0; i < m->limit.cnt; i++)
		m->which[i] = m->limit.func[i].state == POV_LIMIT_DETACHED;
}

/* Those of m->which: a job for their probes; at once in processes that record their calls themselves. */
static void which_leave_out(struct session *s, bool left_out)
{
	struct session_limit *m = s->limit;

	for (uint32_t i = 0; i < m->limit.cnt && limits_preloaded(s); i++)
		if (m->which[i])
			preload_function_set(s->preload, i, true, left_out);
	if (left_out)
		limit_probes_detach(m->probes, m->which);
	else
		limit_probes_attach(m->probes, m->which);
}

/* What comes back is said to when it is there. */
static void change_do(struct session *s, const struct limit_change *c, uint64_t now_ns)
{
	struct session_limit *m = s->limit;
	struct shed *f = &m->shed[c->func];
	bool was_detached = f->told == POV_LIMIT_DETACHED;

	if (c->state != POV_LIMIT_RECORDED) {
		f->tgid = c->tgid;
		f->pct = c->pct;
		if (c->pct > m->decided_pct) {
			m->decided_pct = c->pct;
			m->decided_by = c->tgid;
		}
	}
	if (c->state == POV_LIMIT_RECORDED && was_detached) { /* until then it is counted */
		m->which[c->func] = true;
		m->step = LIMIT_RETURNING;
		return;
	}
	recipe_change(s, c->func, c->state != POV_LIMIT_RECORDED);
	shed_change(s, c->func, c->state,
		    c->state == POV_LIMIT_RECORDED ? kernel_now_ns() : now_ns);
}

static void changes_do(struct session *s, size_t cnt, uint64_t now_ns)
{
	struct session_limit *m = s->limit;

	memset(m->which, 0, m->limit.cnt * sizeof(*m->which));
	for (size_t i = 0; i < cnt; i++)
		change_do(s, &m->change[i], now_ns);
	if (m->step == LIMIT_RETURNING) {
		which_leave_out(s, false);
		return;
	}
	/* also those of libraries that came meanwhile */
	which_detached(m);
	which_leave_out(s, true);
}

/* What could not be attached stays what it was, and is tried again like any other. */
static void returned(struct session *s)
{
	struct session_limit *m = s->limit;

	for (uint32_t i = 0; i < m->limit.cnt; i++) {
		if (m->shed[i].told != POV_LIMIT_DETACHED || is_detached(m, (uint16_t)i))
			continue;
		if (limit_probes_lacks(m->probes, (uint16_t)i)) {
			m->limit.func[i].state = POV_LIMIT_DETACHED;
			m->limit.detached++;
			continue;
		}
		recipe_change(s, i, false);
		shed_change(s, (uint16_t)i, POV_LIMIT_RECORDED, kernel_now_ns());
	}
	m->step = LIMIT_IDLE;
}

/* ---- looks ---- */

static void excess_note(struct session *s, const struct limit_excess *e,
			const struct toll_costs *costs, uint64_t now_ns)
{
	struct session_limit *m = s->limit;

	if (e->pct <= 0)
		return;
	limit_write(s, POV_LIMIT_ALL, POV_LIMIT_EXCEEDED, m->look_ns, now_ns, e->tgid, e->pct);
	if (e->pct <= m->worst.pct)
		return;
	m->worst = *e;
	m->excess = (struct distortion){0};
	for (size_t i = 0; i < costs->cnt; i++)
		if (costs->v[i].tgid == e->tgid && costs->v[i].func < m->limit.cnt)
			distortion_add_func(&m->excess, func_table_get(costs->v[i].func)->name,
					    costs->v[i].now_pct);
}

static void sample_begin(struct session *s)
{
	struct session_limit *m = s->limit;

	m->step = SAMPLE_ATTACHING;
	m->sample.cnt = m->spent.cnt = 0;
	which_detached(m);
	which_leave_out(s, false);
}

/* Functions that have no probes to be given up cost what they do. */
static void probes_look(struct session *s)
{
	struct session_limit *m = s->limit;

	if (limits_preloaded(s))
		return;
	for (uint32_t i = 0; i < m->limit.cnt; i++)
		if (m->limit.func[i].may_shed && m->limit.func[i].state == POV_LIMIT_COUNTED)
			m->limit.func[i].may_shed = limit_probes_has(m->probes, (uint16_t)i);
}

static void look(struct session *s, uint64_t now_ns)
{
	struct session_limit *m = s->limit;
	struct limit_excess excess;
	struct toll_costs costs = {0};
	size_t cnt;

	costs_take(s, now_ns - m->look_ns, &costs);
	for (size_t i = 0; i < m->sample.cnt; i++)
		toll_costs_add(&costs, &m->sample.v[i]);
	for (uint32_t i = 0; i < images_library_count(s->images); i++)
		toll_library(&s->toll, images_library_meta(s->images, i));
	probes_look(s);
	cnt = limit_decide(&m->limit, costs.v, costs.cnt, m->sampled, m->change, &excess);
	for (uint32_t i = 0; i < m->limit.cnt; i++)
		shed_tell(s, (uint16_t)i, now_ns);
	excess_note(s, &excess, &costs, now_ns);
	changes_do(s, cnt, now_ns);
	toll_costs_release(&costs);
	m->sampled = false;
	m->sample.cnt = 0;
	m->look_ns = now_ns;
	m->next_ns = now_ns + (cnt ? LOOK_CHANGED_NS : LOOK_NS);
	if (cnt && m->next_sample_ns < now_ns + SAMPLES_NS)
		m->next_sample_ns = now_ns + SAMPLES_NS;
	else if (m->limit.detached && now_ns >= m->next_sample_ns && !limit_probes_busy(m->probes))
		sample_begin(s);
}

/* ---- samples ---- */

/* What is attached from now on costs what is measured. */
static void sample_attached(struct session *s)
{
	struct session_limit *m = s->limit;

	costs_take(s, LOOK_NS, &m->spent);
	m->sample_ns = kernel_now_ns();
	m->step = SAMPLE_ATTACHED;
}

static void sample_end(struct session *s)
{
	struct session_limit *m = s->limit;
	struct toll_costs costs = {0};
	uint64_t elapsed_ns = kernel_now_ns() - m->sample_ns;
	struct limit_cost one;

	costs_take(s, elapsed_ns, &costs);
	for (size_t i = 0; i < costs.cnt; i++) {
		one = costs.v[i];
		if (!is_detached(m, one.func))
			continue;
		one.now_pct *= (double)elapsed_ns / 1e9;
		toll_costs_add(&m->spent, &one);
		one.now_pct = 0;
		toll_costs_add(&m->sample, &one);
	}
	toll_costs_release(&costs);
	m->sampled = true;
	m->over_ns = m->sample_ns + elapsed_ns;
	m->step = SAMPLE_DETACHING;
	which_detached(m);
	which_leave_out(s, true);
}

/* The next look begins anew: what the sample has cost is not part of it. */
static void sample_detached(struct session *s)
{
	struct session_limit *m = s->limit;
	double share = LIMIT_SAMPLES * m->limit.pct / 100;
	uint64_t now_ns = kernel_now_ns(), lasts_ns, pause_ns;

	costs_take(s, LOOK_NS, &m->spent);
	lasts_ns = s->kernel.programs.api == LINK_PERF ? now_ns - m->over_ns : 0;
	pause_ns = (uint64_t)(spent_ns(m, lasts_ns) / share);
	log_debug("limit: a sample of %.1f ms and %.1f ms until it was over cost %.1f ms",
		  (double)(m->over_ns - m->sample_ns) / 1e6, (double)(now_ns - m->over_ns) / 1e6,
		  spent_ns(m, lasts_ns) / 1e6);
	m->next_sample_ns = now_ns + (pause_ns > SAMPLES_NS ? pause_ns : SAMPLES_NS);
	m->look_ns = now_ns;
	m->next_ns = now_ns + LOOK_NS;
	m->step = LIMIT_IDLE;
}

void session_limit_tick(struct session *s, uint64_t now_ns)
{
	struct session_limit *m = s->limit;

	if (!m || limit_probes_busy(m->probes))
		return;
	switch (m->step) {
	case LIMIT_IDLE:
		if (now_ns >= m->next_ns)
			look(s, now_ns);
		break;
	case SAMPLE_ATTACHING:
		sample_attached(s);
		break;
	case SAMPLE_ATTACHED:
		if (now_ns >= m->sample_ns + SAMPLE_NS)
			sample_end(s);
		break;
	case SAMPLE_DETACHING:
		sample_detached(s);
		break;
	case LIMIT_RETURNING:
		returned(s);
		break;
	}
}

bool session_limit_hurries(const struct session *s)
{
	return s->limit && s->limit->step != LIMIT_IDLE;
}

/* ---- the end ---- */

static const char *who(const struct session *s, uint32_t tgid, char *buf, size_t bytes)
{
	int rank = images_rank_of(s->images, (pid_t)tgid);

	snprintf(buf, bytes, rank >= 0 ? "rank %d" : "process %d", rank >= 0 ? rank : (int)tgid);
	return buf;
}

static void limited_say(const struct session *s, char *out, size_t bytes)
{
	const struct session_limit *m = s->limit;
	char names[200] = "", by[48];
	unsigned int cnt = 0;
	size_t used = 0;

	for (uint32_t i = 0; i < m->limit.cnt; i++) {
		if (!m->shed[i].ever || cnt++ >= NAMES)
			continue;
		snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
			 func_table_get(i)->name);
		used = strlen(names);
	}
	if (!cnt)
		return;
	if (cnt > NAMES)
		snprintf(names + used, sizeof(names) - used, " and %u more", cnt - NAMES);
	snprintf(
		out, bytes,
		"by --max-overhead %g not all calls of %s were recorded one by one, for tracing took %.0f %% of "
		"%s's time: `povtrace report` says when; --max-overhead off records all",
		s->opt->max_overhead_pct, names, m->decided_pct,
		who(s, m->decided_by, by, sizeof(by)));
}

static void exceeded_say(const struct session *s, char *out, size_t bytes)
{
	const struct session_limit *m = s->limit;
	char by[48];

	if (m->worst.pct <= 0)
		return;
	snprintf(
		out, bytes,
		"--max-overhead %g could not be held: tracing took %.0f %% of a second of %s, mostly by %s, and no "
		"more is given up",
		s->opt->max_overhead_pct, m->worst.pct, who(s, m->worst.tgid, by, sizeof(by)),
		m->excess.func[0].name ?: "regions");
}

void session_limit_end(struct session *s)
{
	struct session_limit *m = s->limit;

	if (!m)
		return;
	limit_probes_free(m->probes);
	m->probes = NULL;
	for (uint32_t i = 0; i < m->limit.cnt; i++)
		shed_tell(s, (uint16_t)i, s->end_ns);
	limited_say(s, s->res->limited, sizeof(s->res->limited));
	exceeded_say(s, s->res->exceeded, sizeof(s->res->exceeded));
}

void session_limit_release(struct session *s)
{
	struct session_limit *m = s->limit;

	free(s->shed);
	if (!m)
		return;
	limit_probes_free(m->probes);
	limit_release(&m->limit);
	toll_costs_release(&m->sample);
	toll_costs_release(&m->spent);
	map_release(&m->callers);
	free(m->change);
	free(m->shed);
	free(m->which);
	free(m);
}
