/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Which process is meant by a rank of a job. */
#include "model/who.h"

static uint64_t rank_key(int32_t job_idx, int32_t rank)
{
	return (uint64_t)(uint32_t)job_idx << 32 | (uint32_t)rank;
}

void peer_ranks_learn(struct model *m)
{
	json_t *names = json_array();

	for (uint32_t i = 0; i < m->nprocesses; i++) { /* ranks come first, by job */
		struct mprocess *p = m->process[i];
		uint64_t key = rank_key(p->pub.job_idx, p->pub.rank);

		if (!p->pub.is_rank)
			break;
		if ((size_t)p->pub.job_idx == json_array_size(names))
			json_array_append_new(names, json_string(p->pub.job));
		if (p->pub.rank >= 0 && !map_get(&m->ranks, key))
			map_set(&m->ranks, key, p);
	}
	m->jobs = json_pack("{s:s, s:o}", "type", "jobs", "names", names);
}

void peer_ranks_release(struct model *m)
{
	map_release(&m->ranks);
	json_decref(m->jobs);
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

const struct model_process *model_peer(const struct model *m, const struct model_process *self,
				       int32_t job, int32_t world_rank)
{
	const struct model_process *peer = map_get(&m->ranks, rank_key(job, world_rank));

	if (world_rank < 0)
		return NULL;
	/* that no launcher named is a job of its own */
	return peer || job < (int32_t)m->info.njobs || self->rank != world_rank ? peer : self;
}
