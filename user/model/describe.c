/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Turns meta blocks into what users see: the recording's frame (times, host, scope) and each
 * process's name, command, rank, job and place in the order. A meta block with a pid describes the
 * process that had this pid at the block's time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "model/who.h"
#include "trace/trace_read.h"
#include "trace/trace_totals.h"

/* ---- the recording ---- */

static void describe_config(struct model *m, const json_t *config)
{
	const char *sched = json_get_text(config, "sched");

	m->sched_mode = !strcmp(sched, "off")	? POV_SCHED_OFF :
			!strcmp(sched, "ranks") ? POV_SCHED_RANKS :
						  POV_SCHED_ALL;
	m->rings = (uint32_t)json_get_u64(config, "rings");
	if (m->rings > MODEL_CPUS_MAX)
		m->rings = MODEL_CPUS_MAX;
	m->cpus_per_ring = (uint32_t)json_get_u64(config, "cpus_per_ring");
	if (!m->cpus_per_ring)
		m->cpus_per_ring = MODEL_CPUS_MAX;
	m->all_targets = json_is_true(json_object_get(config, "all"));
	m->info.sched_recorded = m->sched_mode != POV_SCHED_OFF;
	m->info.sched_all = m->sched_mode == POV_SCHED_ALL && json_is_object(config);
}

static void describe_clocks(struct model *m)
{
	struct trace_clocks clocks;

	if (trace_clocks(m->trace, &clocks))
		return;
	m->info.boottime_offset_ns = (int64_t)(clocks.begin.boottime_ns -
					       clocks.begin.monotonic_ns);
	m->info.realtime_offset_ns = (int64_t)(clocks.begin.realtime_ns -
					       clocks.begin.monotonic_ns);
}

static void host_describe(struct model_host *h, const json_t *meta)
{
	h->name = json_get_text(meta, "hostname");
	h->kernel = json_get_text(meta, "kernel");
	h->machine = json_get_text(meta, "machine");
	h->nr_cpus = (uint32_t)json_get_u64(meta, "cpus");
	h->cpu_base = (uint32_t)json_get_u64(meta, "cpu_base");
	h->recorder_pid = (uint32_t)json_get_u64(meta, "recorder");
	h->start_ns = json_get_u64(meta, "start_ns");
	h->offset_ns = json_get_int(meta, "offset_ns");
	h->drift_ppb = json_get_int(meta, "drift_ppb");
	h->clock_by = (enum trace_clock_by)json_get_u32(meta, "clock_by");
	h->clock_host = json_get_u32(meta, "clock_host");
	h->clock_messages = json_get_u64(meta, "clock_messages");
	h->clock_uncertainty_ns = json_get_u64(meta, "clock_uncertainty_ns");
	h->clock_violated_ns = json_get_u64(meta, "clock_violated_ns");
}

static void hosts_label(struct model *m)
{
	for (uint32_t i = 0; i < m->info.nhosts; i++) {
		uint32_t same = 0, before = 0;

		for (uint32_t k = 0; k < m->info.nhosts; k++) {
			same += !strcmp(m->host[k].name, m->host[i].name);
			before += k < i && !strcmp(m->host[k].name, m->host[i].name);
		}
		m->host[i].label = same > 1 ? xasprintf("%s#%u", m->host[i].name, before + 1) :
					      xstrdup(m->host[i].name);
	}
}

/* A joined trace has one row per recording in "hosts"; a single one has the object "host". */
static void describe_hosts(struct model *m)
{
	const json_t *rows = json_object_get(trace_meta_find(m->trace, "hosts"), "rows");
	const json_t *host = trace_meta_find(m->trace, "host");
	size_t n = json_array_size(rows);

	m->info.nhosts = n > 0 && n <= TRACE_HOSTS_MAX ? (uint32_t)n : 1;
	m->host = xcalloc(m->info.nhosts, sizeof(*m->host));
	for (uint32_t i = 0; i < m->info.nhosts; i++)
		host_describe(&m->host[i], m->info.nhosts > 1 ? json_array_get(rows, i) : host);
	for (uint32_t i = 0; i < m->info.nhosts; i++)
		if (m->host[i].clock_host >= m->info.nhosts)
			m->host[i].clock_host = i;
	hosts_label(m);
	m->info.nr_cpus = (uint32_t)json_get_u64(host, "cpus");
	if (m->info.nr_cpus > MODEL_CPUS_MAX)
		m->info.nr_cpus = MODEL_CPUS_MAX;
}

void describe_hosts_free(struct model *m)
{
	for (uint32_t i = 0; m->host && i < m->info.nhosts; i++)
		free((char *)m->host[i].label);
	free(m->host);
}

void describe_info(struct model *m)
{
	const struct trace_summary *sum = trace_get_summary(m->trace);
	const json_t *recording = trace_meta_find(m->trace, "recording");
	const json_t *end = trace_meta_find(m->trace, "end");
	struct model_info *info = &m->info;
	bool events = sum->records && sum->last_ns >= sum->first_ns;

	info->start_ns = json_get_u64(recording, "start_ns");
	if (events && (!info->start_ns || sum->first_ns < info->start_ns))
		info->start_ns = sum->first_ns;
	info->end_ns = json_get_u64(end, "ts_ns");
	if (events && sum->last_ns > info->end_ns)
		info->end_ns = sum->last_ns;
	if (info->end_ns < info->start_ns)
		info->end_ns = info->start_ns;
	describe_hosts(m);
	info->complete = sum->complete && end;
	m->damaged = sum->holes;
	describe_config(m, json_object_get(recording, "config"));
	describe_clocks(m);
}

/* ---- names ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "python3.11" is an interpreter like "python". */
static bool is_interpreter(const char *name)
{
	static const char *const known[] = {"python", "perl",  "ruby", "bash", "sh",
					    "dash",   "julia", "node", "lua",  NULL};
	size_t len;

	for (size_t i = 0; known[i]; i++) {
		len = strlen(known[i]);
		if (!strncmp(name, known[i], len) && !name[len + strspn(name + len, "0123456789.")])
			return true;
	}
	return false;
}

/* The script that an interpreter was given; NULL if its code came from elsewhere. */
static const char *script_name(const json_t *cmdline)
{
	const char *module = NULL, *arg;

	for (size_t i = 1; i < json_array_size(cmdline); i++) {
		arg = json_string_value(json_array_get(cmdline, i));
		if (!arg || !strcmp(arg, "-c"))
			return module;
		if (!strcmp(arg, "-m")) {
			module = json_string_value(json_array_get(cmdline, ++i));
			if (!module || strncmp(module, "mpi4py", 6))
				return module;
		} else if (arg[0] != '-') {
			return base_name(arg);
		}
	}
	return module;
}

/* "prog.py" for "/usr/bin/python3 prog.py"; the caller frees it. */
static char *program_name(const char *exe, const json_t *cmdline)
{
	const char *argv0 = json_string_value(json_array_get(cmdline, 0)), *name, *script;

	if (!*exe)
		exe = argv0 ? argv0 : "";
	name = base_name(exe);
	if (is_interpreter(name) || (argv0 && is_interpreter(base_name(argv0)))) {
		script = script_name(cmdline);
		if (script && *script)
			name = script;
	}
	return xstrdup(name);
}

static char *words_join(const json_t *words)
{
	size_t len = 1;
	const char *word;
	char *text, *p;

	for (size_t i = 0; i < json_array_size(words); i++) {
		word = json_string_value(json_array_get(words, i));
		len += word ? strlen(word) + 1 : 0;
	}
	p = text = xmalloc(len);
	*p = 0;
	for (size_t i = 0; i < json_array_size(words); i++) {
		word = json_string_value(json_array_get(words, i));
		if (!word)
			continue;
		if (p != text)
			*p++ = ' ';
		p = stpcpy(p, word);
	}
	return text;
}

/* ---- processes ---- */

static void process_name(struct mprocess *p, const json_t *meta)
{
	const json_t *cmdline = json_object_get(meta, "cmdline");

	free(p->name);
	free(p->cmdline);
	p->name = program_name(json_get_text(meta, "exe"), cmdline);
	p->cmdline = words_join(cmdline);
	p->pub.name = p->name;
	p->pub.cmdline = p->cmdline;
}

/*
 * Names a target. If it executed another program after it was described (env, a shell's exec), it
 * takes that program's name. The command line stays: it is the one that the user typed.
 */
static void target_name(struct mprocess *p, const json_t *meta, uint64_t ts_ns)
{
	process_name(p, meta);
	if (p->exec_ns < ts_ns || !strncmp(p->name, p->exec_comm, sizeof(p->exec_comm) - 1))
		return;
	free(p->name);
	p->name = xstrdup(p->exec_comm);
	p->pub.name = p->name;
}

static void target_since(struct mprocess *p, uint64_t ts_ns)
{
	p->pub.is_target = true;
	if (ts_ns < p->target_since_ns)
		p->target_since_ns = ts_ns;
}

/* A target without a fork record that was described at ts_ns is older than the recording. */
static void target_was_there(struct model *m, struct mprocess *p, uint64_t ts_ns)
{
	uint64_t start_ns = m->host[p->pub.host_idx].start_ns;

	if (start_ns < m->info.start_ns)
		start_ns = m->info.start_ns;
	if (!p->parent && p->pub.start_ns >= ts_ns && start_ns < p->pub.start_ns)
		p->pub.start_ns = start_ns;
}

static void process_meta(struct model *m, const json_t *meta)
{
	uint64_t ts_ns = json_get_u64(meta, "ts_ns");
	json_t *rank;
	struct mprocess *p = identity_process_at(m, (uint32_t)json_get_u64(meta, "pid"), ts_ns);

	if (!p->pub.pid)
		return;
	target_since(p, ts_ns);
	if (!p->pub.ppid)
		p->pub.ppid = (uint32_t)json_get_u64(meta, "ppid");
	if (json_is_type(meta, "target")) {
		target_was_there(m, p, ts_ns);
		if (!p->pub.is_rank)
			target_name(p, meta, ts_ns);
		return;
	}
	process_name(p, meta);
	/* no rank: it uses only another layer's library, or has not initialised MPI */
	if (json_is_false(json_object_get(meta, "mpi")) ||
	    json_is_false(json_object_get(meta, "initialised")))
		return;
	p->pub.is_rank = true;
	p->pub.meta = meta;
	rank = json_object_get(meta, "rank");
	if (json_is_integer(rank) && json_integer_value(rank) >= 0 &&
	    json_integer_value(rank) <= INT32_MAX) {
		p->pub.rank = (int32_t)json_integer_value(rank);
		p->pub.job = json_get_text(meta, "job");
	} else if (*json_get_text(meta, "job")) {
		p->pub.job = json_get_text(meta, "job");
	}
}

/* The kernel half follows forks: children of targets are targets. */
static void targets_inherit(struct model *m)
{
	struct mprocess *p;

	for (uint32_t i = 0; i < m->nprocesses; i++) {
		p = m->process[i];
		if (!p->parent || p->parent->target_since_ns > p->pub.start_ns)
			continue;
		target_since(p, p->pub.start_ns);
	}
}

/* Processes without a meta block take the name of their first thread. */
static void name_from_threads(struct model *m)
{
	struct mprocess *p;

	for (uint32_t i = 0; i < m->nthreads; i++) {
		p = mprocess_of(m->thread[i]->pub.proc);
		if (p->name || !p->pub.pid || m->thread[i]->pub.tid != p->pub.pid)
			continue;
		p->name = xstrdup(m->thread[i]->pub.comm);
		p->pub.name = p->name;
	}
}

static int job_compare(const void *va, const void *vb)
{
	const struct model_process *a = &(*(struct mprocess *const *)va)->pub;
	const struct model_process *b = &(*(struct mprocess *const *)vb)->pub;
	int order = strcmp(a->job, b->job);

	return order ? order : a->idx < b->idx ? -1 : 1;
}

/* Numbers jobs in the order in which their first processes were met. */
static void number_jobs(struct model *m)
{
	struct mprocess **rank = xcalloc(m->nprocesses + 1, sizeof(struct mprocess *)),
			*first = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->nprocesses; i++) {
		if (m->process[i]->pub.is_rank)
			rank[n++] = m->process[i];
	}
	qsort(rank, n, sizeof(struct mprocess *), job_compare);
	for (uint32_t i = 0; i < n; i++) { /* for now: the first process of the job */
		if (!first || strcmp(first->pub.job, rank[i]->pub.job))
			first = rank[i];
		rank[i]->pub.job_idx = (int32_t)first->pub.idx;
	}
	free(rank);
	for (uint32_t i = 0; i < m->nprocesses; i++) {
		struct model_process *p = &m->process[i]->pub;

		if (!p->is_rank)
			continue;
		p->job_idx = p->job_idx == (int32_t)i ? (int32_t)m->info.njobs++ :
							m->process[p->job_idx]->pub.job_idx;
	}
}

static int process_order(const struct model_process *p)
{
	return p->is_rank ? 0 : p->is_target ? 1 : p->pid ? 2 : 3;
}

static int process_compare(const void *va, const void *vb)
{
	const struct model_process *a = &(*(struct mprocess *const *)va)->pub;
	const struct model_process *b = &(*(struct mprocess *const *)vb)->pub;

	if (process_order(a) != process_order(b))
		return process_order(a) < process_order(b) ? -1 : 1;
	if (a->job_idx != b->job_idx)
		return a->job_idx < b->job_idx ? -1 : 1;
	if (a->host_idx != b->host_idx)
		return a->host_idx < b->host_idx ? -1 : 1;
	if (a->rank != b->rank) /* as unsigned: unknown ranks come last */
		return (uint32_t)a->rank < (uint32_t)b->rank ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->idx < b->idx ? -1 : 1;
}

void describe_processes(struct model *m)
{
	for (size_t i = 0; i < trace_meta_count(m->trace); i++) {
		const json_t *meta = trace_meta_get(m->trace, i);

		if (json_is_type(meta, "process") || json_is_type(meta, "target"))
			process_meta(m, meta);
	}
	targets_inherit(m);
	name_from_threads(m);
	number_jobs(m);
	qsort(m->process, m->nprocesses, sizeof(*m->process), process_compare);
	for (size_t i = 0; i < m->nprocesses; i++)
		m->process[i]->pub.idx = i;
	peer_ranks_learn(m);
}
