/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Opens and closes the model and answers questions about it. The replay itself is in replay.c. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "model/replay.h"

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
