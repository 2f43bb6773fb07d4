/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Selects slices and counters, and adds markers. The other parts: calls timeline_call.c, identities
 * and places of slices timeline_track.c, scheduler timeline_sched.c, arrows timeline_arrow.c, posts
 * timeline_post.c.
 */
#include "timeline/timeline_priv.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "abi/event.h"
#include "analysis/coverage.h"
#include "analysis/finding.h"
#include "analysis/rank_ends.h"
#include "analysis/time_split.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "timeline/timeline.h"
#include "timeline/writer.h"
#include "trace/trace_read.h"

#define LOST_CLASSES 16 /* tracks of lost records: ring × LOST_CLASSES + class */
/* The tracks of limits follow these, by function. */
#define LIMIT_ORDER (UINT16_MAX * LOST_CLASSES)

static const char *const class_name[POV_CLASS_CNT] = {
	[POV_CLASS_CALL] = "calls",	   [POV_CLASS_SPIN] = "spins",
	[POV_CLASS_MORE] = "call details", [POV_CLASS_SCHED] = "scheduler events",
	[POV_CLASS_IRQ] = "interrupts",	   [POV_CLASS_TASK] = "task events",
};

static const char *const softirq_name[] = {"HI",       "TIMER",	  "NET_TX", "NET_RX",  "BLOCK",
					   "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

/* ---- selection ---- */

bool tl_process_shown(const struct timeline *tl, const struct model_process *p)
{
	return select_process(tl->opt.select, p);
}

bool tl_func_shown(struct timeline *tl, const struct func_info *f)
{
	const struct writer_select *sel = tl->opt.select;
	int8_t *known = &tl->func_shown[f->id];

	if (!sel || !sel->nfunctions)
		return true;
	if (!*known) {
		*known = -1;
		for (uint32_t i = 0; i < sel->nfunctions; i++) {
			if (!fnmatch(sel->functions[i], f->name, 0))
				*known = 1;
		}
	}
	return *known > 0;
}

bool tl_interval_shown(const struct timeline *tl, uint64_t begin_ns, uint64_t end_ns)
{
	return end_ns >= tl->from_ns && begin_ns <= tl->to_ns;
}

bool tl_call_shown(struct timeline *tl, const struct model_process *p, const struct func_info *f)
{
	return tl_process_shown(tl, p) && tl_func_shown(tl, f);
}

/* ---- slices ---- */

/* Posts are shown with their call. */
static void tl_posted(void *ctx, const struct model_post *p)
{
	struct timeline *tl = ctx;

	if (tl_call_selected(tl, p->call))
		tl_post(tl, tl_caller_of(tl, p->call->thread), p);
}

static void tl_counted(void *ctx, const struct model_counted *c)
{
	struct timeline *tl = ctx;

	if (tl_interval_shown(tl, c->begin_ns, c->end_ns) &&
	    tl_call_shown(tl, c->thread->proc, c->func))
		tl_counted_add(tl, tl_caller_of(tl, c->thread), c);
}

/* On a track of its own, because it may lie inside a call. */
static void tl_room(void *ctx, const struct model_room *r)
{
	struct timeline *tl = ctx;
	struct tl_thread *th = tl_caller_of(tl, r->thread);
	struct slice s = {.begin_ns = r->begin_ns,
			  .end_ns = r->end_ns,
			  .name = "waits for room to record",
			  .category = "povtrace",
			  .few_names = true,
			  .args = &tl->args};

	if (!tl_interval_shown(tl, r->begin_ns, r->end_ns) ||
	    !tl_process_shown(tl, r->thread->proc))
		return;
	if (!th->tracing)
		th->tracing = tl_track_new(tl, TRACK_TRACING, th->track.pid, th->track.order,
					   xasprintf("tracing of %u", th->model->tid));
	args_reset(&tl->args);
	tl_track_add(tl, th->tracing, &s, 0, false);
	tl->totals->markers++;
}

static void tl_region_event(void *ctx, const struct model_region *r)
{
	struct timeline *tl = ctx;
	uint64_t end_ns = r->ended == REGION_OPEN ? UINT64_MAX : r->end_ns;

	if (r->ended != REGION_UNDER_WAY && tl_interval_shown(tl, r->begin_ns, end_ns) &&
	    tl_process_shown(tl, r->thread->proc))
		tl_region(tl, tl_caller_of(tl, r->thread), r);
}

static void tl_irq(void *ctx, const struct model_irq *q)
{
	struct timeline *tl = ctx;
	struct tl_cpu *cpu = tl_cpu_of(tl, q->cpu);
	struct slice s = {
		.begin_ns = q->begin_ns, .end_ns = q->end_ns, .category = "irq", .args = &tl->args};
	uint32_t nsoft = sizeof(softirq_name) / sizeof(softirq_name[0]);

	if (!tl_interval_shown(tl, q->begin_ns, q->end_ns))
		return;
	if (!cpu->irq[q->soft])
		cpu->irq[q->soft] =
			tl_track_new(tl, TRACK_IRQ, TIMELINE_PID, 2u * q->cpu + q->soft,
				     tl_cpu_name(tl, q->cpu, q->soft ? "softirq" : "irq"));
	args_reset(&tl->args);
	if (q->soft && q->vec < nsoft)
		s.name = softirq_name[q->vec];
	else
		s.name = args_keep(&tl->args, "%s %u", q->soft ? "softirq" : "irq", q->vec);
	if (q->thread && !q->thread->idle)
		args_add_uint(&tl->args, "interrupted_tid", q->thread->out_tid);
	tl_track_add(tl, cpu->irq[q->soft], &s, 0, false);
	tl->totals->irqs++;
}

/* ---- markers and counters ---- */

static void lost_marker(struct timeline *tl, const struct model_lost *l)
{
	const char *class = l->class < POV_CLASS_CNT ? class_name[l->class] :
						       "records of an unknown class";
	uint32_t order = l->ring * LOST_CLASSES +
			 (l->class < POV_CLASS_CNT ? l->class : POV_CLASS_CNT);
	struct track *t = tl_track_find(tl, TRACK_LOST, TIMELINE_PID, order);
	bool interval = l->since_ns && l->since_ns < l->ts_ns;
	struct slice s = {.begin_ns = interval ? l->since_ns : l->ts_ns,
			  .end_ns = l->ts_ns,
			  .category = "lost",
			  .args = &tl->args};
	char cnt[32];

	if (!tl_interval_shown(tl, s.begin_ns, s.end_ns))
		return;
	if (!t)
		t = tl_track_new(tl, TRACK_LOST, TIMELINE_PID, order,
				 xasprintf("lost %s, ring %u", class, l->ring));
	args_reset(&tl->args);
	human_count(cnt, sizeof(cnt), l->cnt);
	s.name = args_keep(&tl->args, "lost %s %s", cnt, class);
	args_add_uint(&tl->args, "count", l->cnt);
	args_add_text(&tl->args, "class", class);
	args_add_uint(&tl->args, "ring", l->ring);
	tl_track_add(tl, t, &s, 0, false);
	tl->totals->markers++;
}

/* Functions that the overhead limit throttled. Each has its own track among those of losses. */
static void tl_limit(void *ctx, const struct model_limit *l)
{
	static const char *const words[] = {
		[POV_LIMIT_COUNTED] = "counted",
		[POV_LIMIT_DETACHED] = "not recorded",
	};
	uint32_t order = LIMIT_ORDER + l->func->id;
	struct slice s = {.begin_ns = l->since_ns, .end_ns = l->ts_ns, .category = "limit"};
	struct timeline *tl = ctx;
	struct track *t;

	if (!tl->opt.slices || l->since_ns == l->ts_ns ||
	    !tl_interval_shown(tl, s.begin_ns, s.end_ns))
		return;
	t = tl_track_find(tl, TRACK_LOST, TIMELINE_PID, order) ?:
		    tl_track_new(tl, TRACK_LOST, TIMELINE_PID, order,
				 xasprintf("limit, %s", l->func->name));
	args_reset(&tl->args);
	s.args = &tl->args;
	s.name = args_keep(&tl->args, "%s %s", l->func->name, words[l->state]);
	args_add_text(&tl->args, "by",
		      args_keep(&tl->args, "record --max-overhead %g", 100 * l->limit));
	args_add_text(&tl->args, "tracing_took",
		      args_keep(&tl->args, "%.1f %% of a process's time", 100 * l->cost));
	if (l->proc)
		args_add_uint(&tl->args, "of_process", l->proc->host_pid);
	tl_track_add(tl, t, &s, 0, false);
	tl->totals->markers++;
}

static void tl_lost(void *ctx, const struct model_lost *l)
{
	struct timeline *tl = ctx;

	if (tl->opt.slices && !l->left_out)
		lost_marker(tl, l);
	if (l->class == POV_CLASS_CALL || l->class == POV_CLASS_MORE)
		tl_pairs_forget(tl, l->ts_ns);
	if (l->class == POV_CLASS_SCHED && tl_in_window(tl, l->ts_ns))
		tl_sched_lost(tl, l);
}

/* Adds a slice as long as the recording, alone on its track. */
static void whole_add(struct timeline *tl, enum track_kind kind, uint32_t pid, const char *track,
		      const char *name, const struct writer_args *args)
{
	uint64_t begin_ns = tl->opt.start_ns, end_ns = tl->opt.end_ns;
	struct slice s = {.begin_ns = begin_ns,
			  .end_ns = end_ns > begin_ns ? end_ns : begin_ns,
			  .name = name,
			  .category = "povtrace",
			  .args = args};

	tl_track_add(tl, tl_track_new(tl, kind, pid, 0, xstrdup(track)), &s, 0, false);
	tl->totals->markers++;
}

/* Adds a slice for the whole recording. */
static void timeline_add_recording(struct timeline *tl)
{
	whole_add(tl, TRACK_RECORDING, TIMELINE_PID, "recording", "recording", tl->opt.recording);
}

/*
 * Shows that tracing cost much: text over the whole time, above everything else. Call before
 * timeline_finish().
 */
static void timeline_add_distortion(struct timeline *tl, const struct distortion *d)
{
	unsigned int n = distortion_func_cnt(d);
	char *text = distortion_text(d);

	args_reset(&tl->args);
	args_add_int(&tl->args, "percent_of_wall", (int64_t)(d->pct < 1e9 ? d->pct + 0.5 : 1e9));
	args_add_text(&tl->args, "of", d->who);
	args_add_uint(&tl->args, "ranks_above_5_percent", d->above);
	for (unsigned int i = 0; i < n; i++)
		args_add_text(&tl->args, args_keep(&tl->args, "function_%u", i + 1),
			      d->func[i].name);
	tl_own_process_tell(tl, TIMELINE_DISTORTION_PID, "povtrace: tracing distorts", -2);
	whole_add(tl, TRACK_DISTORTION, TIMELINE_DISTORTION_PID, "tracing distorts", text,
		  &tl->args);
	free(text);
}

static struct track *counter_track(struct timeline *tl, const struct model_counter *c)
{
	struct tl_cpu *cpu;

	if (c->id == COUNTER_RUNNABLE) {
		cpu = tl_cpu_of(tl, c->cpu);
		if (!cpu->runnable)
			cpu->runnable = tl_track_new(tl, TRACK_RUNNABLE, TIMELINE_PID, c->cpu,
						     tl_cpu_name(tl, c->cpu, "runnable"));
		return cpu->runnable;
	}
	return tl_track_find(tl, TRACK_IN_FLIGHT, c->proc->out_pid, 0) ?:
		       tl_track_new(tl, TRACK_IN_FLIGHT, c->proc->out_pid, 0,
				    xstrdup("bytes in flight"));
}

static void tl_counter(void *ctx, const struct model_counter *c)
{
	struct timeline *tl = ctx;
	bool shown = c->id == COUNTER_RUNNABLE ||
		     (c->id == COUNTER_BYTES_IN_FLIGHT && c->proc && tl_process_shown(tl, c->proc));

	if (!shown || !tl_in_window(tl, c->ts_ns))
		return;
	tl_counter_add(tl, counter_track(tl, c), c->ts_ns, c->value);
}

static void tl_sample(void *ctx, const struct model_sample *s)
{
	struct timeline *tl = ctx;

	if ((!s->ncallers && !s->cut) || !tl_interval_shown(tl, s->ts_ns, s->ts_ns) ||
	    !tl_process_shown(tl, s->thread->proc))
		return;
	tl->ops->sample(tl->ctx, s);
	tl->totals->samples++;
}

/* ---- new, run, free ---- */

static void sink_init(struct timeline *tl)
{
	tl->sink.ctx = tl;
	tl->sink.lost = tl_lost;
	tl->sink.limit = tl_limit;
	/*
	 * Both passes follow the scheduler: one to write it, one to find out which thread woke
	 * which.
	 */
	if (tl->opt.sched_recorded) {
		tl->sink.on_switch = tl_on_switch;
		tl->sink.waking = tl_on_waking;
		tl->sink.call = tl_yield_call;
		tl->sink.spin = tl_yield_spin;
	}
	if (!tl->opt.slices)
		return;
	tl->sink.thread = tl_thread_event;
	tl->sink.call = tl_call;
	tl->sink.post = tl_posted;
	tl->sink.spin = tl_spin;
	tl->sink.counted = tl_counted;
	tl->sink.room = tl_room;
	tl->sink.operation = tl_arrow_operation;
	tl->sink.region = tl_region_event;
	tl->sink.irq = tl_irq;
	tl->sink.counter = tl_counter;
	if (tl->ops->sample && !(tl->opt.select && tl->opt.select->nfunctions))
		tl->sink.sample = tl_sample;
}

struct timeline *timeline_new(const struct timeline_options *opt, const struct timeline_ops *ops,
			      void *ctx, struct writer_totals *totals)
{
	struct timeline *tl = xcalloc(1, sizeof(*tl));
	const struct writer_select *sel = opt->select;

	tl->opt = *opt;
	tl->ops = ops;
	tl->ctx = ctx;
	tl->totals = totals;
	tl->args.sites = opt->sites;
	tl->func_shown = xcalloc(FUNC_IDS, 1);
	TAILQ_INIT(&tl->wakes);
	tl->to_ns = UINT64_MAX;
	if (sel && sel->from_ns)
		tl->from_ns = opt->start_ns + sel->from_ns;
	if (sel && sel->to_ns)
		tl->to_ns = opt->start_ns + sel->to_ns;
	sink_init(tl);
	return tl;
}

const struct model_sink *timeline_get_sink(struct timeline *tl)
{
	return &tl->sink;
}

void timeline_finish(struct timeline *tl)
{
	tl_yield_flush_all(tl);
	for (uint32_t i = 0; i < tl->nthreads; i++) {
		tl_group_flush(tl, tl->thread[i]);
		tl_track_close(tl, &tl->thread[i]->track);
		tl_phases_finish(tl, tl->thread[i]);
		tl_counted_finish(tl, tl->thread[i]);
	}
	tl_pairs_forget(tl, 0);
	tl_messages_finish(tl);
	for (uint32_t i = 0; i < tl->ntracks; i++) {
		tl_counter_flush(tl, tl->track[i]);
		tl_track_close(tl, tl->track[i]);
	}
	tl_wake_finish(tl);
	tl_identities_complete(tl);
}

void timeline_free(struct timeline *tl)
{
	if (!tl)
		return;
	for (int kind = 0; kind < TRACK_KIND_CNT; kind++)
		map_release(&tl->track_of[kind]);
	tl_wakes_free(tl);
	tl_pairs_free(tl);
	tl_messages_free(tl);
	for (uint32_t i = 0; i < tl->nthreads; i++) {
		struct model_thread *t = tl->thread[i]->model;

		t->user = NULL;
		if (t->proc)
			t->proc->user = NULL;
		if (tl->thread[i]->proc)
			tl->thread[i]->proc->user = NULL;
		tl_track_release(&tl->thread[i]->track);
		tl_phases_free(tl->thread[i]);
		tl_post_tracks_free(tl->thread[i]);
		free(tl->thread[i]->counted);
		free(tl->thread[i]->group);
		free(tl->thread[i]);
	}
	for (uint32_t i = 0; i < tl->ntracks; i++) {
		tl_track_release(tl->track[i]);
		free(tl->track[i]);
	}
	free(tl->thread);
	free(tl->track);
	for (uint32_t i = 0; i < tl->ncpus; i++)
		free(tl->cpu[i].yield);
	free(tl->cpu);
	free(tl->func_shown);
	free(tl);
}

/* ---- running ---- */

/* Connects a timeline with a model: fills in the recording's own description and runs one pass. */

void timeline_options_fill(struct timeline_options *opt, struct model *m,
			   const struct writer_select *sel, const struct writer_args *recording)
{
	const struct model_info *info = model_get_info(m);
	struct trace *t = model_get_trace(m);
	const json_t *config = json_object_get(trace_meta_find(t, "recording"), "config");

	*opt = (struct timeline_options){
		.select = sel,
		.recording = recording,
		.start_ns = info->start_ns,
		.end_ns = info->end_ns,
		.sched_recorded = info->sched_recorded,
		.sched_all = info->sched_all,
		.rings = json_get_u32(config, "rings"),
		.cpus_per_ring = json_get_u32(config, "cpus_per_ring"),
		.poll_cost = poll_cost_read(t),
		.nr_cpus = info->nr_cpus < 65536 ? info->nr_cpus : 0,
		.model = m,
	};
}

/* Adds what is known only at the end. */
static void timeline_conclude(struct timeline *tl, struct model *m, const struct writer_select *sel,
			      const struct coverage *coverage, struct findings *findings,
			      const struct last_calls *calls)
{
	bool *chosen = select_processes(m, sel);
	struct rank_ends ends;
	struct account account;
	struct distortion d;

	account_make(&account, m, &findings->app, &findings->causes);
	if (distorted_find(coverage, &findings->untraced, &account, m, &d) &&
	    distortion_matters(&d))
		timeline_add_distortion(tl, &d);
	account_release(&account);
	findings_make(findings, m, chosen);
	timeline_add_findings(tl, findings);
	rank_ends_make(&ends, m, calls, findings->sites);
	timeline_add_ends(tl, &ends, chosen);
	rank_ends_release(&ends);
	free(chosen);
}

int timeline_run(struct model *m, const struct timeline_options *opt,
		 const struct timeline_ops *ops, void *ctx, struct writer_totals *totals)
{
	struct timeline *tl = timeline_new(opt, ops, ctx, totals);
	struct coverage coverage;
	struct findings findings;
	struct last_calls calls;
	const struct model_sink *sinks[3 + FINDING_SINKS_MAX] = {timeline_get_sink(tl),
								 &coverage.sink, &calls.sink};
	uint32_t n;
	int err;

	timeline_add_model(tl, m);
	if (opt->slices)
		timeline_add_recording(tl);
	coverage_init(&coverage);
	last_calls_init(&calls);
	findings_init(&findings);
	findings.sites = opt->sites;
	findings.app.coverage = &coverage;
	observers_add(&findings.late.matched, tl_arrow_message, tl);
	n = 3 + findings_sinks(&findings, sinks + 3);
	err = model_run(m, sinks, opt->slices ? n : 1);
	if (!err && opt->slices)
		timeline_conclude(tl, m, opt->select, &coverage, &findings, &calls);
	if (!err) {
		timeline_add_stragglers(tl, m);
		timeline_finish(tl);
	}
	last_calls_release(&calls);
	findings_release(&findings);
	coverage_release(&coverage);
	timeline_free(tl);
	return err;
}
