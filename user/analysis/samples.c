/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See samples.h. */
#include "analysis/samples.h"

#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/u64.h"
#include "site/site_names.h"

#define ADDRESSES_MAX (1u << 20) /* stored; more samples only get the name of their file */
#define NAMED_MAX 500		 /* most frequent addresses of a thread that get a name */

static uint64_t address_hash(uint32_t thread, const struct model_site *at)
{
	return ((uintptr_t)at->module * UINT64_C(0x9e3779b97f4a7c15) ^ at->offset) *
		       UINT64_C(0x9e3779b97f4a7c15) ^
	       thread;
}

static struct samples_at *address_of(struct samples *s, uint32_t thread,
				     const struct model_site *at)
{
	uint64_t hash = address_hash(thread, at);
	struct samples_at *first = map_get(&s->at, hash), *a = first;

	while (a &&
	       (a->thread != thread || a->at.module != at->module || a->at.offset != at->offset))
		a = a->next;
	if (a)
		return a;
	a = xcalloc(1, sizeof(*a));
	*a = (struct samples_at){.thread = thread, .at = *at, .next = first};
	map_set(&s->at, hash, a);
	s->nat++;
	return a;
}

bool sample_counts(const struct model_sample *sample, const struct windows *w)
{
	return !sample->by_stack && sample->thread->proc->is_rank &&
	       windows_has(w, sample->thread->proc, sample->ts_ns);
}

void samples_add(struct samples *s, const struct model_sample *sample)
{
	struct model_site at = sample->at;

	if (!at.module || s->nat >= ADDRESSES_MAX)
		at.offset = 0;
	address_of(s, sample->thread->idx, &at)->samples++;
}

static void on_sample(void *ctx, const struct model_sample *sample)
{
	struct samples *s = ctx;

	if (sample_counts(sample, s->windows))
		samples_add(s, sample);
}

void samples_init(struct samples *s, const struct windows *w)
{
	*s = (struct samples){.sink = {.ctx = s, .sample = on_sample}, .windows = w};
}

static void addresses_free(void *first)
{
	struct samples_at *next;

	for (struct samples_at *a = first; a; a = next) {
		next = a->next;
		free(a);
	}
}

void samples_release(struct samples *s)
{
	map_free(&s->at, addresses_free);
}

const struct samples_at *samples_next(const struct samples *s, size_t *pos,
				      const struct samples_at *last)
{
	return last && last->next ? last->next : map_next(&s->at, pos, NULL);
}

const struct site_name *samples_name(struct sites *sites, const struct model_site *at)
{
	const struct model_site after = {at->address + 1, at->module, at->offset + 1};

	return at->module && at->offset ? sites_find(sites, &after) : NULL;
}

/* ---- the function with most samples ---- */

static int by_samples(const void *va, const void *vb)
{
	const struct samples_at *a = *(const struct samples_at *const *)va,
				*b = *(const struct samples_at *const *)vb;

	return u64_compare(b->samples, a->samples) ?: u64_compare(a->at.offset, b->at.offset);
}

/* The thread's addresses, most frequent first. Returns their number. The caller frees *out. */
static uint32_t addresses_of(const struct samples *s, uint32_t thread,
			     const struct samples_at ***out)
{
	const struct samples_at **list = xcalloc(s->nat + 1, sizeof(*list)), *a = NULL;
	uint32_t n = 0;
	size_t pos = 0;

	while ((a = samples_next(s, &pos, a)))
		if (a->thread == thread)
			list[n++] = a;
	qsort(list, n, sizeof(*list), by_samples);
	*out = list;
	return n;
}

static bool is_same(const struct samples_function *f, const struct site_name *name,
		    const struct model_module *module)
{
	return f->module == module && !strcmp(f->name->function, name->function);
}

struct samples_function samples_most(const struct samples *s, struct sites *sites, uint32_t thread)
{
	struct samples_function *f, most = {0};
	const struct samples_at **list;
	uint32_t n = addresses_of(s, thread, &list), nf = 0, k;
	uint64_t all = 0;

	f = xcalloc(n < NAMED_MAX ? n + 1 : NAMED_MAX, sizeof(*f));
	for (uint32_t i = 0; i < n; i++) {
		const struct site_name *name = i < NAMED_MAX ? samples_name(sites, &list[i]->at) :
							       NULL;

		all += list[i]->samples;
		if (!name)
			continue;
		for (k = 0; k < nf && !is_same(&f[k], name, list[i]->at.module); k++)
			;
		if (k == nf)
			f[nf++] = (struct samples_function){name, list[i]->at.module, 0, 0};
		f[k].samples += list[i]->samples;
		if (f[k].samples > most.samples)
			most = f[k];
	}
	most.of = all;
	free(f);
	free(list);
	return most;
}
