/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the place of each slice on its track: keeps the stack of open slices and lets no two of
 * them overlap partially. A healthy recording never requires that. In a damaged one, the later
 * slice becomes an instant at its begin that carries its duration, and is counted. Times are never
 * bent to fit.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "timeline/timeline_priv.h"

#define LATE_DEPTHS 8

/*
 * Children whose parent has not been reported yet. below[d]: from the first begin to the last end
 * of the children deeper than d.
 */
struct track_late {
	bool any;
	uint64_t solid_end_ns; /* end of everything reported before them */
	struct {
		uint64_t begin_ns, end_ns;
	} below[LATE_DEPTHS];
};

static void track_pop(struct timeline *tl, struct track *t)
{
	const struct track_slice *top = &t->stack[--t->depth];

	if (top->end_ns != UINT64_MAX && tl->ops->slice_end)
		tl->ops->slice_end(tl->ctx, t, top->end_ns);
}

/*
 * Ends slices that have ended before begin_ns. False if the new slice would stick out of another.
 */
static bool track_place(struct timeline *tl, struct track *t, uint64_t begin_ns, uint64_t end_ns,
			uint8_t depth)
{
	while (t->depth) {
		const struct track_slice *top = &t->stack[t->depth - 1];

		if (top->end_ns > begin_ns)
			return top->end_ns >= end_ns;
		/*
		 * Two slices without length at one time: the depth shows whether the second is
		 * inside the first.
		 */
		if (top->end_ns == begin_ns && begin_ns == end_ns && depth > top->depth)
			return true;
		track_pop(tl, t);
	}
	return true;
}

/*
 * Makes room for a parent whose children were reported before it. False unless it contains all of
 * them and begins after everything that was reported before them.
 */
static bool track_place_late(struct timeline *tl, struct track *t, uint64_t begin_ns,
			     uint64_t end_ns, uint8_t depth)
{
	struct track_late *l = t->late;

	if (!l || !l->any || depth >= LATE_DEPTHS || !l->below[depth].end_ns ||
	    begin_ns < l->solid_end_ns || begin_ns >= l->below[depth].begin_ns ||
	    end_ns < l->below[depth].end_ns)
		return false;
	while (t->depth && t->stack[t->depth - 1].depth > depth)
		track_pop(tl, t);
	return !t->depth || t->stack[t->depth - 1].end_ns <= begin_ns;
}

static void track_note_late(struct track *t, uint64_t begin_ns, uint64_t end_ns, uint8_t depth)
{
	struct track_late *l = t->late;

	if (!l)
		l = t->late = xcalloc(1, sizeof(*l));
	if (!l->any) {
		*l = (struct track_late){.any = true, .solid_end_ns = t->max_end_ns};
	}
	for (uint8_t d = 0; d < LATE_DEPTHS; d++) {
		if (d >= depth) {
			/* it contains the ones below */
			l->below[d].end_ns = 0;
			continue;
		}
		if (!l->below[d].end_ns || begin_ns < l->below[d].begin_ns)
			l->below[d].begin_ns = begin_ns;
		l->below[d].end_ns = u64_max(l->below[d].end_ns, end_ns);
	}
}

static void track_push(struct track *t, uint64_t begin_ns, uint64_t end_ns, uint8_t depth)
{
	*table_add(t->stack, t->depth, t->room) = (struct track_slice){begin_ns, end_ns, depth};
	t->last_begin_ns = u64_max(t->last_begin_ns, begin_ns);
	t->max_end_ns = u64_max(t->max_end_ns, end_ns);
}

static uint64_t track_shown_ns(const struct timeline *tl, uint64_t ns)
{
	return ns > tl->opt.floor_ns ? ns : tl->opt.floor_ns;
}

static bool slice_begins_with_open(const struct timeline *tl, const struct track *t,
				   uint64_t begin_ns)
{
	uint64_t at_ns = track_shown_ns(tl, begin_ns);

	for (uint32_t i = t->depth; i-- && track_shown_ns(tl, t->stack[i].begin_ns) == at_ns;) {
		if (t->stack[i].end_ns == UINT64_MAX)
			return true;
	}
	return false;
}

bool tl_track_add(struct timeline *tl, struct track *t, struct slice *s, uint8_t depth, bool orphan)
{
	uint64_t end_ns = s->open ? UINT64_MAX : s->end_ns;
	bool sane = s->end_ns >= s->begin_ns, placed = false;

	if (sane && s->begin_ns < t->last_begin_ns)
		placed = track_place_late(tl, t, s->begin_ns, end_ns, depth);
	else if (sane)
		placed = track_place(tl, t, s->begin_ns, end_ns, depth);
	if (placed) {
		s->with_open = slice_begins_with_open(tl, t, s->begin_ns);
		if (orphan)
			track_note_late(t, s->begin_ns, end_ns, depth);
		else if (t->late)
			t->late->any = false;
		track_push(t, s->begin_ns, end_ns, depth);
		tl->ops->slice(tl->ctx, t, s);
		tl->totals->slices++;
		tl->totals->open += s->open;
		return true;
	}
	args_add_bool(&tl->args, "misplaced", true);
	if (sane)
		args_add_us(&tl->args, "duration_us", s->end_ns - s->begin_ns);
	s->instant = true;
	tl->ops->slice(tl->ctx, t, s);
	tl->totals->instants++;
	tl->totals->misplaced++;
	return false;
}

void tl_instant_write(struct timeline *tl, struct track *t, struct slice *s)
{
	s->instant = s->few_names = true;
	s->end_ns = s->begin_ns;
	s->args = &tl->args;
	tl->ops->slice(tl->ctx, t, s);
	tl->totals->instants++;
}

void tl_track_close(struct timeline *tl, struct track *t)
{
	while (t->depth)
		track_pop(tl, t);
}

void tl_track_release(struct track *t)
{
	free(t->stack);
	free(t->late);
	free(t->thin);
	free(t->name);
}

/* ---- identities ---- */

/*
 * Identities on the timeline: processes, threads and the tracks that belong to no thread, and when
 * they are announced to the format. Most are known before the replay. Stragglers, whose identity
 * records were lost, are known only after it.
 */

struct tl_thread *tl_thread_of(struct timeline *tl, struct model_thread *t)
{
	struct tl_thread *th = t->user;

	if (th)
		return th;
	th = xcalloc(1, sizeof(*th));
	th->model = t;
	th->run_cpu = th->yield_cpu = -1;
	STAILQ_INIT(&th->wakes[WAKE_OUT]);
	STAILQ_INIT(&th->wakes[WAKE_IN]);
	th->track.kind = TRACK_THREAD;
	th->track.pid = t->proc ? t->proc->out_pid : t->out_tid;
	th->track.tid = t->out_tid;
	th->track.order = tl->nthreads;
	*table_append(tl->thread, tl->nthreads) = th;
	t->user = th;
	return th;
}

struct tl_cpu *tl_cpu_of(struct timeline *tl, uint32_t cpu)
{
	if (cpu >= tl->ncpus) {
		uint32_t n = cpu + 1;

		tl->cpu = xrealloc(tl->cpu, n * sizeof(*tl->cpu));
		memset(tl->cpu + tl->ncpus, 0, (n - tl->ncpus) * sizeof(*tl->cpu));
		tl->ncpus = n;
	}
	return &tl->cpu[cpu];
}

/* "CPU 3 runnable"; with several hosts "node1 CPU 3 runnable". */
char *tl_cpu_name(const struct timeline *tl, uint32_t cpu, const char *what)
{
	const struct model *m = tl->opt.model;
	const struct model_host *host;
	uint32_t local;

	if (!m || model_get_info(m)->nhosts < 2)
		return xasprintf("CPU %u %s", cpu, what);
	host = model_host_of_cpu(m, cpu, &local);
	return xasprintf("%s CPU %u %s", host->label, local, what);
}

static void process_tell(struct timeline *tl, const struct model_process *p, int32_t order)
{
	if (tl->ops->process)
		tl->ops->process(tl->ctx, p, order);
}

void tl_own_process_tell(struct timeline *tl, uint32_t pid, const char *name, int32_t order)
{
	struct model_process p = {.pid = pid,
				  .out_pid = pid,
				  .rank = -1,
				  .job_idx = -1,
				  .job = "",
				  .name = name,
				  .cmdline = ""};

	process_tell(tl, &p, order);
}

void tl_self_tell(struct timeline *tl)
{
	if (tl->self_told)
		return;
	tl->self_told = true;
	tl_own_process_tell(tl, TIMELINE_PID, "povtrace", (int32_t)tl->nprocesses++);
}

struct track *tl_track_new(struct timeline *tl, enum track_kind kind, uint32_t pid, uint32_t order,
			   char *name)
{
	struct track *t = xcalloc(1, sizeof(*t));

	if (pid == TIMELINE_PID)
		tl_self_tell(tl);
	t->kind = kind;
	t->pid = pid;
	t->tid = TIMELINE_TRACK_TID + tl->ntracks;
	t->order = order;
	t->name = name;
	*table_append(tl->track, tl->ntracks) = t;
	map_set(&tl->track_of[kind], map_pair(pid, order), t);
	return t;
}

struct track *tl_track_find(const struct timeline *tl, enum track_kind kind, uint32_t pid,
			    uint32_t order)
{
	return map_get(&tl->track_of[kind], map_pair(pid, order));
}

void timeline_add_process(struct timeline *tl, struct model_process *p)
{
	p->user = tl;
	process_tell(tl, p, (int32_t)tl->nprocesses++);
}

static void thread_tell(struct timeline *tl, struct tl_thread *th, uint64_t ts_ns, bool late)
{
	struct sched_task task = {
		.tid = th->track.tid, .tgid = th->track.pid, .comm = th->comm, .unannounced = late};

	memcpy(th->comm, th->model->comm, sizeof(th->comm));
	th->comm[sizeof(th->comm) - 1] = 0;
	th->announced = true;
	tl->ops->thread(tl->ctx, &task, (int32_t)th->track.order, ts_ns);
}

void timeline_add_thread(struct timeline *tl, struct model_thread *t)
{
	t->user = NULL;
	if (!t->idle)
		thread_tell(tl, tl_thread_of(tl, t), t->start_ns, false);
}

/* Announces the stragglers. Only now is it certain which process they belong to. */
void tl_identities_complete(struct timeline *tl)
{
	for (uint32_t i = 0; i < tl->nthreads; i++) {
		struct tl_thread *th = tl->thread[i];
		struct model_process *p = th->has_slices ? th->proc : th->model->proc;

		if (th->announced || th->model->idle)
			continue;
		if (p && p->user != tl)
			timeline_add_process(tl, p);
		th->track.pid = p ? p->out_pid : th->track.tid;
		thread_tell(tl, th, th->model->start_ns, true);
	}
}

void timeline_add_model(struct timeline *tl, struct model *m)
{
	for (uint32_t i = 0; i < model_process_count(m); i++) {
		struct model_process *p = model_process_get(m, i);

		if (p->pid)
			timeline_add_process(tl, p);
	}
	for (uint32_t i = 0; i < model_thread_count(m); i++)
		timeline_add_thread(tl, model_thread_get(m, i));
}

void timeline_add_stragglers(struct timeline *tl, struct model *m)
{
	for (uint32_t i = 0; i < model_thread_count(m); i++) {
		struct model_thread *t = model_thread_get(m, i);

		if (!t->user && !t->idle)
			tl_thread_of(tl, t);
	}
}

void tl_thread_event(void *ctx, const struct model_thread *t, uint64_t ts_ns)
{
	struct timeline *tl = ctx;
	struct tl_thread *th = t->user;

	if (th && th->announced && strncmp(th->comm, t->comm, sizeof(th->comm) - 1))
		thread_tell(tl, th, ts_ns, false);
}
