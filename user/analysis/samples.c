/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See samples.h. */
#include "analysis/samples.h"

#include <stdlib.h>
#include <string.h>

#include "lib/json_out.h"
#include "lib/log.h"
#include "lib/text.h"
#include "lib/u64.h"
#include "site/site_names.h"

#define NAMED_MAX 2000 /* most frequent places that get a name */

bool sample_counts(const struct model_sample *sample, const struct windows *w)
{
	return !sample->by_stack && sample->thread->proc->is_rank &&
	       windows_has(w, sample->thread->proc, sample->ts_ns);
}

void samples_add(struct samples *s, const struct model_sample *sample)
{
	const struct call_path *path = call_path_of(&s->paths, sample);
	uint32_t thread = sample->thread->idx;
	struct samples_at *a = map_make(&s->at, (uint64_t)thread << 32 | path->id, sizeof(*a));

	a->thread = thread;
	a->path = path;
	a->samples++;
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

void samples_release(struct samples *s)
{
	map_free(&s->at, free);
	call_paths_release(&s->paths);
}

const struct samples_at *samples_next(const struct samples *s, size_t *pos)
{
	return map_next(&s->at, pos, NULL);
}

/* ---- functions ---- */

/* Whose samples: those of one thread or, if there is a model, those of the processes chosen. */
struct whose {
	uint32_t thread;
	const struct model *m;
	const bool *chosen;
};

static bool is_theirs(const struct whose *w, uint32_t thread)
{
	return w->m ? w->chosen[model_thread_get(w->m, thread)->proc->idx] : thread == w->thread;
}

static int by_samples(const void *va, const void *vb)
{
	const struct samples_at *a = va, *b = vb;

	return u64_compare(b->samples, a->samples) ?: u64_compare(a->path->id, b->path->id);
}

/* Their places, most frequent first; threads are summed. *n: the number. Caller frees. */
static struct samples_at *places_of(const struct samples *s, const struct whose *w, uint32_t *n)
{
	struct samples_at *list = xcalloc(s->paths.cnt + 1, sizeof(*list));
	const struct samples_at *a;
	size_t pos = 0;

	while ((a = samples_next(s, &pos))) {
		if (!is_theirs(w, a->thread))
			continue;
		list[a->path->id].path = a->path;
		list[a->path->id].samples += a->samples;
	}
	*n = 0;
	for (uint32_t i = 0; i <= s->paths.cnt; i++)
		if (list[i].samples)
			list[(*n)++] = list[i];
	qsort(list, *n, sizeof(*list), by_samples);
	return list;
}

static bool is_library(const struct model_module *module)
{
	return strstr(text_base_name(module->path), ".so");
}

/* The innermost function of the program, if its source is known, or else where the thread was. */
static const struct call_path *place_to_name(struct sites *sites, const struct call_path *where)
{
	const struct site_name *name;

	if (!where->at.module || !is_library(where->at.module))
		return where;
	for (const struct call_path *p = where->by; p; p = p->by) {
		if (!p->at.module || is_library(p->at.module))
			continue;
		name = call_path_name(sites, p);
		if (name && name->file)
			return p;
	}
	return where;
}

static bool is_same(const struct samples_function *f, const struct site_name *name,
		    const struct model_module *module)
{
	return f->module == module && !f->name == !name &&
	       (!name || !strcmp(f->name->function, name->function));
}

static int by_rank(const void *va, const void *vb)
{
	const struct samples_function *a = va, *b = vb;

	return u64_compare(b->samples, a->samples) ?:
		       strcmp(a->name ? a->name->function : "", b->name ? b->name->function : "");
}

static struct samples_function *functions_of(const struct samples *s, struct sites *sites,
					     const struct whose *w, uint32_t *n)
{
	uint32_t places, nf = 0, k;
	struct samples_at *list = places_of(s, w, &places);
	struct samples_function *f = xcalloc(places + 1, sizeof(*f));
	uint64_t all = 0;

	for (uint32_t i = 0; i < places; i++) {
		const struct call_path *own = list[i].path,
				       *p = i < NAMED_MAX ? place_to_name(sites, own) : own;
		const struct site_name *name = i < NAMED_MAX ? call_path_name(sites, p) : NULL;

		for (k = 0; k < nf && !is_same(&f[k], name, p->at.module); k++)
			;
		if (k == nf)
			f[nf++] = (struct samples_function){.name = name, .module = p->at.module};
		f[k].samples += list[i].samples;
		f[k].called += p == own ? 0 : list[i].samples;
		all += list[i].samples;
	}
	for (k = 0; k < nf; k++)
		f[k].of = all;
	qsort(f, nf, sizeof(*f), by_rank);
	free(list);
	*n = nf;
	return f;
}

struct samples_function samples_most(const struct samples *s, struct sites *sites, uint32_t thread)
{
	struct samples_function most = {0}, *f;
	uint32_t n, i = 0;

	f = functions_of(s, sites, &(struct whose){.thread = thread}, &n);
	while (i < n && !f[i].name)
		i++;
	if (i < n)
		most = f[i];
	free(f);
	return most;
}

struct samples_function *samples_functions(const struct samples *s, const struct model *m,
					   struct sites *sites, const bool *chosen, uint32_t *n)
{
	return functions_of(s, sites, &(struct whose){.m = m, .chosen = chosen}, n);
}

void samples_function_json(struct json_out *j, const struct samples_function *f)
{
	json_out_key_string(j, "function", f->name ? f->name->function : NULL);
	json_out_key_string(j, "file", f->name ? f->name->file : NULL);
	json_out_key(j, "line");
	if (f->name && f->name->file)
		json_out_uint(j, f->name->line);
	else
		json_out_null(j);
	json_out_key_string(j, "module", f->module ? f->module->path : NULL);
	json_out_key_uint(j, "samples", f->samples);
	json_out_key_uint(j, "called_samples", f->called);
	json_out_key_uint(j, "of_samples", f->of);
}
