/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Measures about once a second what tracing costs (overhead.h), decides which functions are
 * throttled, carries that out, and writes it to the trace. A flag in its recipe makes a function
 * counted. A detached function loses its probes, and processes that record their own calls skip it.
 * Nothing is undone: what a function costs without probes cannot be known.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/func_table.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/table.h"
#include "record/probes/throttle.h"
#include "record/session_priv.h"

/* ---- the decision: the costliest functions first, until the rest is below the limit ---- */

/* fraction of the limit below which throttling a function does not pay */
#define SMALL 0.05

void throttle_init(struct throttle *t, double pct, const bool *may_throttle, uint32_t cnt)
{
	*t = (struct throttle){.pct = pct, .cnt = cnt};
	t->func = xcalloc(cnt + 1, sizeof(*t->func));
	for (uint32_t i = 0; i < cnt; i++)
		t->func[i].may_throttle = may_throttle[i];
}

void throttle_release(struct throttle *t)
{
	free(t->func);
	*t = (struct throttle){0};
}

/* Sorts by process, costliest functions first. */
TABLE_ORDER(share_compare, struct overhead_share, table_compare(a->tgid, b->tgid),
	    table_compare(b->pct, a->pct), table_compare(a->func, b->func))

/* Adds a change, unless another process has caused the same one already. */
static void change_add(struct throttle_change *out, size_t *cnt,
		       const struct throttle_change *change)
{
	for (size_t i = 0; i < *cnt; i++)
		if (out[i].func == change->func) {
			if (change->pct > out[i].pct)
				out[i] = *change;
			return;
		}
	out[(*cnt)++] = *change;
}

/* Returns what a function's next step will save; 0: it has none. */
static double saving(const struct throttle *t, const struct overhead_share *s)
{
	const struct throttle_func *f = s->func < t->cnt ? &t->func[s->func] : NULL;

	if (!f || !f->may_throttle || s->pct < SMALL * t->pct)
		return 0;
	if (f->state == POV_LIMIT_COUNTED)
		return f->may_detach ? s->pct : 0;
	if (f->state == POV_LIMIT_DETACHED)
		return 0;
	/*
	 * If counting alone would exceed the limit, the function will be detached next, so all of
	 * its cost will be saved. Then no other function is throttled needlessly.
	 */
	return f->may_detach && s->counted_pct > t->pct ? s->pct : s->pct - s->counted_pct;
}

/* Adds to out[] the throttling changes for one process. share[0..n) are its shares. */
static void process_changes_add(const struct throttle *t, const struct overhead_share *share,
				size_t n, struct throttle_change *out, size_t *cnt)
{
	struct throttle_change change = {.tgid = share->tgid};
	double left, saved;

	/* calls of a detached function do not count: they were made before its probes went */
	for (size_t i = 0; i < n; i++)
		if (share[i].func >= t->cnt || t->func[share[i].func].state != POV_LIMIT_DETACHED)
			change.pct += share[i].pct;
	left = change.pct;
	for (size_t i = 0; i < n && left > t->pct; i++) {
		saved = saving(t, &share[i]);
		if (saved <= 0)
			continue;
		left -= saved;
		change.func = share[i].func;
		change.state = t->func[share[i].func].state + 1;
		change_add(out, cnt, &change);
	}
}

size_t throttle_decide(struct throttle *t, struct overhead_share *share, size_t n,
		       struct throttle_change *out)
{
	size_t cnt = 0, to;

	if (n)
		qsort(share, n, sizeof(*share), share_compare);
	for (size_t from = 0; from < n; from = to) {
		for (to = from; to < n && share[to].tgid == share[from].tgid; to++)
			;
		process_changes_add(t, &share[from], to - from, out, &cnt);
	}
	for (size_t i = 0; i < cnt; i++)
		t->func[out[i].func].state = out[i].state;
	return cnt;
}

/* ---- measuring and acting ---- */

#define WINDOW_NS 1000000000ull	       /* between decisions */
#define WINDOW_CHANGED_NS 500000000ull /* to the next decision after a change */
#define NAMES 4			       /* number of function names in the warning */

/* What was written to the trace about a throttled function. */
struct throttled {
	uint64_t written_ns; /* its state is written up to here */
	uint32_t tgid;	     /* the process whose cost decided */
	double pct;	     /* its cost */
};

struct session_throttle {
	struct throttle throttle;
	struct throttle_change *change;
	struct throttled *func; /* by row */
	bool *gone;		/* by row: is detached */
	uint64_t next_ns;	/* time of the next decision */
	uint32_t worst_tgid;	/* the process with the highest cost that decided anything */
	double worst_pct;
};

void session_throttle_prepare(struct session *s)
{
	if (s->opt->max_overhead_pct <= 0)
		return;
	s->may_throttle = xcalloc(func_table_count(), sizeof(*s->may_throttle));
	for (size_t i = 0; i < func_table_count(); i++)
		s->may_throttle[i] = s->opt->recorded[i] && func_table_may_throttle(i) &&
				     !session_keep_watches(s, i);
}

void session_throttle_start(struct session *s)
{
	uint32_t cnt = (uint32_t)func_table_count();
	struct session_throttle *m;

	if (!s->may_throttle)
		return;
	if (s->cost.call_ns <= 0) {
		log_warn("--max-overhead is off: the cost of probes could not be measured");
		return;
	}
	m = xcalloc(1, sizeof(*m));
	throttle_init(&m->throttle, s->opt->max_overhead_pct, s->may_throttle, cnt);
	m->change = xcalloc(cnt + 1, sizeof(*m->change));
	m->func = xcalloc(cnt + 1, sizeof(*m->func));
	m->gone = xcalloc(cnt + 1, sizeof(*m->gone));
	s->overhead.window_ns = clock_now_ns();
	m->next_ns = s->overhead.window_ns + WINDOW_NS;
	s->throttle = m;
}

/* Returns true if the limit includes what processes spend on recording their own calls. */
static bool limits_preloaded(const struct session *s)
{
	return s->preload && session_preload_records(s) && s->opt->max_overhead_all;
}

static void window_end(struct session *s, uint64_t now_ns, struct overhead_shares *out)
{
	struct probe_cost cost;

	session_preload_cost(s);
	cost = s->cost;
	if (!limits_preloaded(s))
		cost.preload_ns = cost.preload_counted_ns = 0;
	for (uint32_t i = 0; i < images_library_count(s->images); i++)
		overhead_library(&s->overhead, images_library_meta(s->images, i));
	overhead_window(&s->overhead, &cost, now_ns, out);
}

/* ---- trace records ---- */

static void state_write(struct session *s, uint32_t func, uint64_t ts_ns)
{
	const struct throttled *f = &s->throttle->func[func];
	const struct pov_limit r = {
		.hdr = {.size = sizeof(r), .kind = POV_KIND_LIMIT, .ts_ns = ts_ns},
		.since_ns = f->written_ns,
		.tgid = f->tgid,
		.func = (uint16_t)func,
		.state = s->throttle->throttle.func[func].state,
		.cost_ppm = f->pct < 100000 ? (uint32_t)(f->pct * 1e4 + 0.5) : UINT32_MAX,
		.limit_ppm = (uint32_t)(s->opt->max_overhead_pct * 1e4 + 0.5),
	};

	session_record(s, TRACE_STREAM_TASKS, &r.hdr);
}

void session_throttle_write(struct session *s, uint64_t ts_ns)
{
	struct session_throttle *m = s->throttle;

	for (uint32_t i = 0; m && i < m->throttle.cnt; i++)
		if (m->throttle.func[i].state != POV_LIMIT_RECORDED &&
		    m->func[i].written_ns < ts_ns)
			state_write(s, i, ts_ns);
}

/* ---- actions ---- */

/* Notes the functions with probes that can be detached. */
static void links_note(void *ctx, struct links *links)
{
	struct throttle *t = ctx;

	for (size_t i = 0; i < links->ret.cnt; i++)
		for (size_t k = 0; k < links->ret.v[i].cnt; k++)
			t->func[links->ret.v[i].member[k].func].may_detach = true;
}

static void function_throttle(struct session *s, const struct throttle_change *c, uint64_t now_ns)
{
	bool detached = c->state == POV_LIMIT_DETACHED;
	struct session_throttle *m = s->throttle;
	uint32_t func = c->func;

	m->gone[func] = detached;
	m->func[func].tgid = c->tgid;
	m->func[func].pct = c->pct;
	if (c->pct > m->worst_pct) {
		m->worst_pct = c->pct;
		m->worst_tgid = c->tgid;
	}
	s->fns[func].counted = true;
	if (bpf_map_update_elem(s->kernel.fns_fd, &func, &s->fns[func], BPF_ANY))
		log_debug("cannot change the recipe of %s: %s", func_table_get(func)->name,
			  strerror(errno));
	if (limits_preloaded(s))
		preload_function_set(s->preload, func, true, detached);
	state_write(s, func, now_ns);
	log_info("--max-overhead: %s is %s from now on", func_table_get(func)->name,
		 detached ? "not recorded" : "only counted");
}

void session_throttle_tick(struct session *s, uint64_t now_ns)
{
	struct session_throttle *m = s->throttle;
	struct overhead_shares shares = {0};
	size_t cnt;

	if (!m || now_ns < m->next_ns)
		return;
	window_end(s, now_ns, &shares);
	session_throttle_write(s, now_ns);
	for (uint32_t i = 0; i < m->throttle.cnt; i++) {
		m->func[i].written_ns = now_ns;
		m->throttle.func[i].may_detach = limits_preloaded(s);
	}
	images_links_each(s->images, links_note, &m->throttle);
	cnt = throttle_decide(&m->throttle, shares.v, shares.cnt, m->change);
	for (size_t i = 0; i < cnt; i++)
		function_throttle(s, &m->change[i], now_ns);
	images_detach_functions(s->images, m->gone);
	overhead_shares_release(&shares);
	m->next_ns = now_ns + (cnt ? WINDOW_CHANGED_NS : WINDOW_NS);
}

/* ---- the end ---- */

static void throttled_text(const struct session *s, char *out, size_t bytes)
{
	const struct session_throttle *m = s->throttle;
	int rank = images_rank_of(s->images, (pid_t)m->worst_tgid);
	char names[200] = "";
	unsigned int cnt = 0;
	size_t used = 0;

	for (uint32_t i = 0; i < m->throttle.cnt; i++) {
		if (m->throttle.func[i].state == POV_LIMIT_RECORDED || cnt++ >= NAMES)
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
		"because of --max-overhead %g not every call of %s was recorded: tracing took %.0f "
		"%% of %s %d's time; `povtrace report` shows since when; --max-overhead off "
		"records every call",
		s->opt->max_overhead_pct, names, m->worst_pct, rank >= 0 ? "rank" : "process",
		rank >= 0 ? rank : (int)m->worst_tgid);
}

void session_throttle_end(struct session *s)
{
	if (!s->throttle)
		return;
	session_throttle_write(s, s->end_ns);
	throttled_text(s, s->res->throttled, sizeof(s->res->throttled));
}

void session_throttle_release(struct session *s)
{
	struct session_throttle *m = s->throttle;

	free(s->may_throttle);
	if (!m)
		return;
	throttle_release(&m->throttle);
	free(m->change);
	free(m->func);
	free(m->gone);
	free(m);
}
