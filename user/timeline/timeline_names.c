/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Identities on the timeline: processes, threads and the tracks that belong to no thread, and when
 * they are announced to the format. Most are known before the replay. Stragglers, whose identity
 * records were lost, are known only after it.
 */
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"
#include "timeline/timeline_priv.h"

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
	*table_add(tl->thread, tl->nthreads, tl->thread_room) = th;
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
	*table_add(tl->track, tl->ntracks, tl->track_room) = t;
	map_set(&tl->track_of[kind], (uint64_t)pid << 32 | order, t);
	return t;
}

struct track *tl_track_find(const struct timeline *tl, enum track_kind kind, uint32_t pid,
			    uint32_t order)
{
	return map_get(&tl->track_of[kind], (uint64_t)pid << 32 | order);
}

void timeline_add_process(struct timeline *tl, struct model_process *p)
{
	p->user = tl;
	process_tell(tl, p, (int32_t)tl->nprocesses++);
}

static void thread_tell(struct timeline *tl, struct tl_thread *th, uint64_t ts_ns, bool late)
{
	struct sched_task task = {
		.tid = th->track.tid, .tgid = th->track.pid, .comm = th->comm, .untold = late};

	memcpy(th->comm, th->model->comm, sizeof(th->comm));
	th->comm[sizeof(th->comm) - 1] = 0;
	th->told = true;
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

		if (th->told || th->model->idle)
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

	if (th && th->told && strncmp(th->comm, t->comm, sizeof(th->comm) - 1))
		thread_tell(tl, th, ts_ns, false);
}
