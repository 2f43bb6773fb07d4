/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See places.h. */
#include "advise/places.h"

#include <stdlib.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "trace/trace_read.h"

#define CPUS_MAX 65536

static uint64_t ran_key(uint32_t process, uint32_t cpu)
{
	return (uint64_t)process << 32 | cpu;
}

static void on_state(void *ctx, const struct model_thread *t, uint64_t from_ns, uint64_t to_ns,
		     enum thread_state s, uint16_t cpu)
{
	struct places *p = ctx;
	uint64_t key = ran_key(t->proc->idx, cpu);

	if (t->proc->is_rank && s == THREAD_RUNNING)
		map_set(&p->ran, key,
			(void *)((uintptr_t)map_get(&p->ran, key) + (to_ns - from_ns) + 1));
}

static void topology_read(struct places *p)
{
	const json_t *host = trace_meta_find(model_get_trace(p->model), "host");
	const json_t *list = json_object_get(host, "topology"), *one;
	size_t i;

	p->ncpu = model_get_info(p->model)->nr_cpus;
	p->ncpu = p->ncpu < CPUS_MAX ? p->ncpu : CPUS_MAX;
	p->cpu = xcalloc(p->ncpu + 1, sizeof(*p->cpu));
	for (uint32_t cpu = 0; cpu < p->ncpu; cpu++)
		p->cpu[cpu] = (struct place_cpu){-1, -1};
	json_array_foreach(list, i, one)
	{
		json_int_t cpu = json_integer_value(json_object_get(one, "cpu"));

		if (cpu >= 0 && cpu < p->ncpu)
			p->cpu[cpu] = (struct place_cpu){
				(int)json_integer_value(json_object_get(one, "l3")),
				(int)json_integer_value(json_object_get(one, "package"))};
	}
}

void places_init(struct places *p, const struct model *m)
{
	*p = (struct places){.sink = {.ctx = p, .state = on_state}, .model = m};
	topology_read(p);
}

void places_release(struct places *p)
{
	map_release(&p->ran);
	free(p->cpu);
}

bool places_of(const struct places *p, const struct model_process *process, struct place *out)
{
	const struct model_host *h = model_host_get(p->model, process->host_idx);
	uintptr_t most = 0;

	for (uint32_t cpu = h->cpu_base; cpu < h->cpu_base + h->nr_cpus; cpu++) {
		uintptr_t ran = (uintptr_t)map_get(&p->ran, ran_key(process->idx, cpu));

		if (ran > most) {
			most = ran;
			*out = (struct place){process->host_idx, cpu};
		}
	}
	return most > 0;
}

enum place_distance places_distance(const struct places *p, struct place a, struct place b)
{
	const struct place_cpu *ca, *cb;

	if (a.host != b.host)
		return PLACE_FAR;
	if (a.cpu >= p->ncpu || b.cpu >= p->ncpu)
		return PLACE_HOST;
	ca = &p->cpu[a.cpu];
	cb = &p->cpu[b.cpu];
	if (ca->package != cb->package)
		return PLACE_HOST;
	return ca->l3 == cb->l3 ? PLACE_CACHE : PLACE_PACKAGE;
}
