/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Finds the process that has a given rank in a job. */
#include <string.h>

#include "lib/json_get.h"
#include "model/who.h"
#include "trace/trace_join.h"

uint64_t model_clocks_apart_ns(const struct model *m)
{
	uint64_t most_ns = 0;

	for (uint32_t i = 1; i < m->info.nhosts; i++) {
		if (m->host[i].clock_by == TRACE_CLOCK_TIME_OF_DAY)
			return UINT64_MAX;
		if (m->host[i].clock_uncertainty_ns > most_ns)
			most_ns = m->host[i].clock_uncertainty_ns;
	}
	return 2 * most_ns;
}

/*
 * The period in which the processes of a job began. first: its first process. False if the begin of
 * one of them is unknown.
 */
static bool job_began(const struct model *m, uint32_t first, uint64_t *from_ns, uint64_t *to_ns)
{
	uint64_t apart_ns = model_clocks_apart_ns(m);
	const struct mprocess *p = m->process[first];

	*from_ns = UINT64_MAX;
	*to_ns = 0;
	for (uint32_t i = first; i < m->nprocesses; i++) {
		const struct mprocess *q = m->process[i];

		if (!q->pub.is_rank || q->pub.job_idx != p->pub.job_idx)
			break;
		if (!q->parent || q->pub.start_ns < apart_ns)
			return false;
		if (q->pub.start_ns - apart_ns < *from_ns)
			*from_ns = q->pub.start_ns - apart_ns;
		if (q->pub.start_ns + apart_ns > *to_ns)
			*to_ns = q->pub.start_ns + apart_ns;
	}
	return true;
}

#define ANCESTORS_MAX 64

static const struct mprocess *parent_of(const struct model *m, const struct mprocess *p)
{
	const struct mprocess *up = p->parent ?: map_get(&m->pids, p->pub.ppid);

	while (up && !p->parent && up->next_inc && up->next_inc->pub.start_ns <= p->pub.start_ns)
		up = up->next_inc;
	return p->pub.ppid ? up : NULL;
}

const struct model_process *model_rank_above(const struct model *m, const struct model_process *p)
{
	const struct mprocess *up = parent_of(m, m->process[p->idx]);

	for (int i = 0; up && !up->pub.is_rank && i < ANCESTORS_MAX; i++)
		up = parent_of(m, up);
	return up && up->pub.is_rank ? &up->pub : NULL;
}

/*
 * Finds the rank that started all processes of a job, if it had no launcher; then the name of that
 * rank's own job is unknown. first: the job's first process. Returns the number of the rank's job;
 * -1: no such rank.
 */
static int32_t job_above(const struct model *m, uint32_t first)
{
	const struct model_process *root = NULL, *up;

	for (uint32_t i = first; i < m->nprocesses && m->process[i]->pub.is_rank &&
				 m->process[i]->pub.job_idx == m->process[first]->pub.job_idx;
	     i++) {
		up = model_rank_above(m, &m->process[i]->pub);
		if (!up || (root && up != root) ||
		    strcmp(json_get_text(up->meta, "launcher"), "singleton"))
			return -1;
		root = up;
	}
	return root ? root->job_idx : -1;
}

/*
 * Describes a job to the layers, given its first process. NULL if it was not spawned, or if its
 * parents or its begin are not in the trace.
 */
static json_t *spawned_json(const struct model *m, uint32_t first, const json_t *numbers)
{
	const json_t *meta = m->process[first]->pub.meta;
	const json_t *by = json_object_get(meta, "spawned_by");
	const char *name = json_get_text(by, "job");
	const json_t *number = json_object_get(numbers, name);
	int32_t root_job = -1;
	uint64_t from_ns, to_ns;
	json_t *row;

	if (*name)
		root_job = number ? (int32_t)json_integer_value(number) : job_above(m, first);
	if (!json_is_object(by) || (*name && root_job < 0) ||
	    !job_began(m, first, &from_ns, &to_ns))
		return NULL;
	row = json_pack("{s:I, s:I, s:I}", "size", json_get_int(meta, "size"), "from_ns",
			(json_int_t)from_ns, "to_ns", (json_int_t)to_ns);
	if (*name) {
		json_object_set_new(row, "root_job", json_integer(root_job));
		json_object_set_new(row, "root_rank", json_integer(json_get_int(by, "rank")));
	}
	return row;
}

/*
 * Adds the name that a launcher gave to the job of a single rank. If several such ranks inherited
 * one name, it stands for no job (-1).
 */
static void launcher_job_add(json_t *numbers, const struct model_process *p)
{
	const char *name = json_get_text(p->meta, "launcher_job");

	if (*name)
		json_object_set_new(numbers, name,
				    json_integer(json_object_get(numbers, name) ? -1 : p->job_idx));
}

static bool is_first_of_job(const struct model *m, uint32_t i)
{
	return !i || m->process[i]->pub.job_idx != m->process[i - 1]->pub.job_idx;
}

static json_t *jobs_json(const struct model *m, uint32_t nranks)
{
	json_t *names = json_array(), *spawned = json_array(), *numbers = json_object();

	for (uint32_t i = 0; i < nranks; i++) {
		const struct model_process *p = &m->process[i]->pub;

		if (!is_first_of_job(m, i))
			continue;
		json_array_append_new(names, json_string(p->job));
		json_object_set_new(numbers, p->job, json_integer(p->job_idx));
	}
	for (uint32_t i = 0; i < nranks; i++)
		launcher_job_add(numbers, &m->process[i]->pub);
	for (uint32_t i = 0; i < nranks; i++)
		if (is_first_of_job(m, i))
			json_array_append_new(spawned, spawned_json(m, i, numbers) ?: json_null());
	json_decref(numbers);
	return json_pack("{s:s, s:o, s:o}", "type", "jobs", "names", names, "spawned", spawned);
}

void peer_ranks_learn(struct model *m)
{
	uint32_t i;

	for (i = 0; i < m->nprocesses; i++) { /* ranks come first, by job */
		struct mprocess *p = m->process[i];
		uint64_t key = map_pair(p->pub.job_idx, p->pub.rank);

		if (!p->pub.is_rank)
			break;
		if (p->pub.rank >= 0 && !map_get(&m->ranks, key))
			map_set(&m->ranks, key, p);
	}
	m->jobs = jobs_json(m, i);
}

void peer_ranks_release(struct model *m)
{
	map_release(&m->ranks);
	json_decref(m->jobs);
}

const struct model_process *model_peer(const struct model *m, const struct model_process *self,
				       int32_t job, int32_t world_rank)
{
	const struct model_process *peer = map_get(&m->ranks, map_pair(job, world_rank));

	if (world_rank < 0)
		return NULL;
	/* without the launcher's name, a process is alone in its job and can only mean itself */
	return peer || job < (int32_t)m->info.njobs || self->rank != world_rank ? peer : self;
}
