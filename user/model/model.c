/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Opens and closes the model and answers questions about it. The replay itself is in replay.c. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"
#include "model/replay.h"
#include "trace/trace_read.h"

int model_open(struct trace *t, const struct model_options *opt, struct model **out)
{
	struct model *m = xcalloc(1, sizeof(*m));
	int err;

	m->trace = t;
	m->poll_cost = poll_cost_read(t);
	if (opt)
		m->opt = *opt;
	describe_info(m);
	err = identity_learn(m);
	if (err) {
		model_close(m);
		return err;
	}
	func_table_read(m);
	image_files_read(m);
	region_names_read(m);
	*out = m;
	return 0;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	call_order_reset(m);
	for (uint32_t i = 0; i < m->nthreads; i++) {
		call_release(m, m->thread[i]);
		region_stack_release(m->thread[i]);
	}
	identity_release(m);
	func_table_release(m);
	image_files_release(m);
	peer_ranks_release(m);
	describe_hosts_free(m);
	free(m->due);
	free(m);
}

const struct model_info *model_get_info(const struct model *m)
{
	return &m->info;
}

const struct model_host *model_host_get(const struct model *m, uint32_t i)
{
	return &m->host[i];
}

const struct model_host *model_host_of_cpu(const struct model *m, uint32_t cpu, uint32_t *local)
{
	uint32_t i = 0;

	while (i + 1 < m->info.nhosts && cpu >= m->host[i + 1].cpu_base)
		i++;
	*local = cpu - m->host[i].cpu_base;
	return &m->host[i];
}

const struct model_stats *model_get_stats(const struct model *m)
{
	return &m->stats;
}

struct trace *model_get_trace(const struct model *m)
{
	return m->trace;
}

bool model_lost_calls(const struct model_lost *l, const char *groups)
{
	const struct func_info *f = l->left_out;
	const char *at;

	if (!f)
		return l->class == POV_CLASS_CALL;
	if (!func_is_top(f))
		return false;
	at = *f->group ? strstr(groups, f->group) : groups;
	return at && (at == groups || at[-1] == ' ') &&
	       !isalnum((unsigned char)at[strlen(f->group)]);
}

uint32_t model_process_count(const struct model *m)
{
	return m->nprocesses;
}

struct model_process *model_process_get(const struct model *m, uint32_t i)
{
	return &m->process[i]->pub;
}

const struct model_process *model_parent(const struct model *m, const struct model_process *p)
{
	const struct mprocess *own = (const struct mprocess *)p, *by_id;

	if (own->parent)
		return &own->parent->pub;
	by_id = p->ppid ? identity_process_known(m, p->ppid, p->start_ns) : NULL;
	return by_id && by_id != own ? &by_id->pub : NULL;
}

bool model_ran_before(const struct model *m, const struct model_process *p)
{
	uint64_t exec_ns = ((const struct mprocess *)p)->exec_ns;
	uint64_t begun_ns = exec_ns > p->start_ns ? exec_ns : p->start_ns;

	return begun_ns <= m->info.start_ns || begun_ns <= m->host[p->host_idx].start_ns;
}

uint32_t model_thread_count(const struct model *m)
{
	return m->nthreads;
}

struct model_thread *model_thread_get(const struct model *m, uint32_t i)
{
	return &m->thread[i]->pub;
}

uint32_t model_func_count(const struct model *m)
{
	return m->nfuncs;
}

const struct func_info *model_func_get(const struct model *m, uint32_t i)
{
	return &m->func[i];
}

bool model_thread_records(const struct model *m, const struct model_thread *t)
{
	bool named = !strncmp(t->comm, "povtrace", strlen("povtrace"));
	const struct model_process *parent;
	uint32_t recorder;

	if (!t->proc || t->proc->is_target)
		return false;
	recorder = m->host[t->proc->host_idx].recorder_pid;
	if (!recorder || t->proc->host_pid == recorder)
		return named || recorder;
	parent = model_parent(m, t->proc);
	return named && parent && parent->host_pid == recorder;
}

/*
 * ---- one pass over all records in time order ----
 *
 * Layers learn of processes between the records. A pass starts from the identities alone, so it can
 * be repeated.
 */

/* ---- what the layers learn between records ---- */

TABLE_ORDER(due_compare, struct due_meta, u64_compare(a->at_ns, b->at_ns),
	    u64_compare(a->seq, b->seq))

/*
 * Sorts the meta objects by the time at which layers get them. A process's first object comes with
 * the process's begin, even if it was written later. Further ones, written after exec, come at
 * their own times.
 */
static void metas_prepare(struct model *m)
{
	size_t cnt = trace_meta_count(m->trace);
	struct map seen = {0};
	uint64_t at_ns;
	json_t *meta;

	m->due = xrealloc(m->due, (cnt + 1) * sizeof(*m->due));
	m->ndue = m->due_next = 0;
	m->due[m->ndue++] = (struct due_meta){.meta = m->jobs};
	for (size_t i = 0; i < cnt; i++) {
		meta = trace_meta_get(m->trace, i);
		at_ns = 0;
		if (json_is_type(meta, "process")) {
			uint64_t ts_ns = (uint64_t)json_get_int(meta, "ts_ns");
			uint32_t pid = (uint32_t)json_get_int(meta, "pid");
			struct mprocess *p = identity_process_at(m, pid, ts_ns);

			at_ns = p->pub.start_ns;
			if (map_set(&seen, (uintptr_t)p, p) && ts_ns > at_ns)
				at_ns = ts_ns;
		} else if (!json_is_type(meta, "library") && !json_is_type(meta, "hosts") &&
			   !json_is_type(meta, "adapters")) {
			continue;
		}
		m->due[m->ndue] = (struct due_meta){at_ns, meta, m->ndue};
		m->ndue++;
	}
	map_release(&seen);
	qsort(m->due, m->ndue, sizeof(*m->due), due_compare);
	m->due_ns = m->ndue ? m->due[0].at_ns : TIME_NEVER;
}

static void metas_tell(struct model *m, uint64_t ts_ns)
{
	for (; m->due_next < m->ndue && m->due[m->due_next].at_ns <= ts_ns; m->due_next++) {
		for (uint32_t i = 0; i < m->nlayers; i++)
			layer_decoder_meta(layers[i], m->decoder[i], m->due[m->due_next].meta);
	}
	m->due_ns = m->due_next < m->ndue ? m->due[m->due_next].at_ns : TIME_NEVER;
}

/* ---- the pass ---- */

static void thread_reset(struct model *m, struct mthread *t)
{
	call_release(m, t);
	region_stack_release(t);
	memcpy(t->pub.comm, t->first_comm, sizeof(t->pub.comm));
	memset(&t->pub.times, 0, sizeof(t->pub.times));
	t->pub.state = THREAD_UNKNOWN;
	t->pub.asleep_as = 0;
	t->pub.since_ns = t->pub.start_ns;
	t->pub.end_ns = t->exit_ns != TIME_NEVER ? t->exit_ns : m->info.end_ns;
	if (!t->pub.idle)
		t->pub.cpu = 0;
	t->born = t->pub.idle;
	t->exiting = false;
	t->woken_running_ns = 0;
}

static void interval_ended(struct model *m, struct mthread *t, uint64_t from_ns, uint64_t to_ns,
			   enum thread_state state)
{
	history_note(t, from_ns, to_ns, state);
}

static void thread_ended(struct model *m, struct mthread *t)
{
	call_flush(m, t);
	region_stack_end(m, t, t->pub.end_ns, REGION_OPEN);
	call_release(m, t);
}

static void replay_reset(struct model *m)
{
	struct tid_slot *slot;
	size_t at = 0;

	memset(&m->stats, 0, sizeof(m->stats));
	call_order_reset(m);
	m->interval_ended = interval_ended;
	m->thread_ended = thread_ended;
	for (uint32_t i = 0; i < m->nthreads; i++)
		thread_reset(m, m->thread[i]);
	while ((slot = map_next(&m->tids, &at, NULL)))
		slot->cur = NULL;
	for (uint32_t i = 0; i < m->nprocesses; i++) {
		image_forget(m->process[i]);
		m->process[i]->in_flight_bytes = 0;
	}
	for (uint32_t i = 0; i < MODEL_CPUS_MAX; i++) {
		struct mthread *idle = m->cpu[i].idle;

		memset(&m->cpu[i], 0, sizeof(m->cpu[i]));
		m->cpu[i].idle = idle;
	}
	m->now_ns = m->info.start_ns;
	m->sched_since_ns = TIME_NEVER;
	m->gaps_open = m->gaps_open_all = m->ndirty = 0;
	memset(m->gaps_open_ring, 0, sizeof(m->gaps_open_ring));
}

static void decoders_release(struct model *m)
{
	for (uint32_t i = 0; i < m->nlayers; i++)
		layer_decoder_free(layers[i], m->decoder[i]);
}

static void replay_prepare(struct model *m)
{
	replay_reset(m);
	for (m->nlayers = 0; layers[m->nlayers] && m->nlayers < MODEL_LAYERS_MAX; m->nlayers++)
		m->decoder[m->nlayers] = layer_decoder_new(layers[m->nlayers]);
	metas_prepare(m);
	TELL(m, start, m);
	for (uint32_t i = 0; i < m->nthreads; i++) {
		struct mthread *t = m->thread[i];

		if (t->pub.idle)
			TELL(m, thread, &t->pub, m->info.start_ns);
		else if (t->pub.start_ns == m->info.start_ns)
			replay_slot_advance(m, identity_slot(m, t->pub.tid), m->info.start_ns);
	}
}

static void replay_end(struct model *m)
{
	for (unsigned int i = 0; i < m->nthreads; i++) {
		call_flush(m, m->thread[i]);
		region_stack_end(m, m->thread[i], m->info.end_ns, REGION_OPEN);
	}
	state_finish(m);
	call_order_finish(m);
	gap_finish(m);
	for (unsigned int i = 0; i < m->nsinks; i++)
		if (m->sinks[i]->finish)
			m->sinks[i]->finish(m->sinks[i]->ctx, m);
}

static void sinks_by_callback(struct model *m)
{
	if (m->nsinks > MODEL_SINKS_MAX)
		die("model: more than %d sinks", MODEL_SINKS_MAX);
	memset(&m->to, 0, sizeof(m->to));
	for (unsigned int i = 0; i < m->nsinks; i++) {
		if (m->sinks[i]->model)
			*m->sinks[i]->model = m;
#define ADD(callback)              \
	if (m->sinks[i]->callback) \
		m->to.callback.sink[m->to.callback.cnt++] = m->sinks[i];
		MODEL_CALLBACKS(ADD)
#undef ADD
	}
}

int model_run(struct model *m, const struct model_sink *const *sinks, unsigned int nsinks)
{
	const struct trace_merge_options opt = {.losses = m->sched_mode != POV_SCHED_OFF};
	const struct pov_hdr *rec;
	struct trace_merge *merge;
	int err;

	m->sinks = sinks;
	m->nsinks = nsinks;
	sinks_by_callback(m);
	err = trace_merge_open(m->trace, &opt, &merge);
	if (err)
		return err;
	replay_prepare(m);
	while ((err = trace_merge_next(merge, &rec)) == 1) {
		m->now_ns = u64_max(m->now_ns, rec->ts_ns);
		if (m->now_ns >= m->due_ns)
			metas_tell(m, m->now_ns);
		replay_record(m, rec);
		if (identity_check(m)) {
			err = -E2BIG;
			break;
		}
		if (m->ndirty)
			state_counters_tell(m, m->now_ns);
	}
	trace_merge_close(merge);
	if (!err)
		replay_end(m);
	decoders_release(m);
	return err;
}
