/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See allotted.h. */
#include "analysis/allotted.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"
#include "lib/log.h"
#include "trace/trace_read.h"

static const struct model_mask none;

static void on_affinity(void *ctx, const struct model_affinity *f)
{
	const struct model_process *p = f->thread->proc;
	struct allotted *g = ctx;
	struct model_mask *mask;

	if (!p->is_rank || f->thread->tid != p->pid)
		return;
	mask = table_row(g->process, g->nprocess, p->idx);
	if (!memcmp(mask, &none, sizeof(none)) || !windows_has(g->windows, p, f->ts_ns))
		*mask = f->cpus;
}

void allotted_init(struct allotted *g, const struct windows *windows)
{
	*g = (struct allotted){.sink = {.ctx = g, .affinity = on_affinity}, .windows = windows};
}

void allotted_release(struct allotted *g)
{
	free(g->process);
}

static const struct model_mask *mask_of(const struct allotted *g, const struct model_process *p)
{
	return p->idx < g->nprocess ? &g->process[p->idx] : &none;
}

bool allotted_apart(const struct allotted *g, const struct model_process *p,
		    const struct model_process *q)
{
	const struct model_mask *a = mask_of(g, p), *b = mask_of(g, q);
	uint64_t any_a = 0, any_b = 0, both = 0;

	for (int i = 0; i < MODEL_MASK_WORDS; i++) {
		any_a |= a->word[i];
		any_b |= b->word[i];
		both |= a->word[i] & b->word[i];
	}
	return p != q && p->host_idx == q->host_idx && any_a && any_b && !both;
}

static bool same_core(const json_t *a, const json_t *b)
{
	return json_integer_value(json_object_get(a, "core")) >= 0 &&
	       json_equal(json_object_get(a, "core"), json_object_get(b, "core")) &&
	       json_equal(json_object_get(a, "package"), json_object_get(b, "package"));
}

/*
 * Number of cores of a host. If its topology is unknown, as it is with several hosts, the number of
 * CPUs.
 */
static uint32_t cores_of(const struct model *m, uint32_t host_idx)
{
	const json_t *host = trace_meta_find(model_get_trace(m), "host");
	const json_t *list = json_object_get(host, "topology");
	uint32_t cores = 0;

	if (model_get_info(m)->nhosts > 1 || !json_array_size(list))
		return model_host_get(m, host_idx)->nr_cpus;
	for (size_t i = 0; i < json_array_size(list); i++) {
		size_t k = 0;

		while (k < i && !same_core(json_array_get(list, k), json_array_get(list, i)))
			k++;
		cores += k == i;
	}
	return cores;
}

/*
 * Ranks are in order of job, host and rank. Jobs count separately, as one may have used the cores
 * after the other.
 */
uint32_t allotted_cores_each(const struct model *m)
{
	uint32_t n = model_process_count(m), least = UINT32_MAX, end, each;

	for (uint32_t i = 0; i < n && model_process_get(m, i)->is_rank; i = end) {
		const struct model_process *first = model_process_get(m, i);

		for (end = i + 1; end < n; end++) {
			const struct model_process *p = model_process_get(m, end);

			if (!p->is_rank || p->job_idx != first->job_idx ||
			    p->host_idx != first->host_idx)
				break;
		}
		each = cores_of(m, first->host_idx) / (end - i);
		least = each < least ? each : least;
	}
	return least;
}
