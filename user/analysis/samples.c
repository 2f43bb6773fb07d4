/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See samples.h. */
#include "analysis/samples.h"

#include <stdlib.h>
#include <string.h>

#include "lib/json_out.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"
#include "lib/u64.h"
#include "site/site_names.h"

/* ---- call paths ---- */

/* places kept; samples in further places keep only their file, without callers */
#define PATHS_MAX (1u << 20)

static const struct call_path *path_below(struct call_paths *c, const struct call_path *by,
					  const struct model_site *at, bool calls)
{
	uint64_t hash = ((uintptr_t)at->module * UINT64_C(0x9e3779b97f4a7c15) ^ at->offset) *
				UINT64_C(0x9e3779b97f4a7c15) ^
			(uintptr_t)by;
	struct call_path *first = map_get(&c->path, hash), *p = first;

	while (p && (p->by != by || p->at.module != at->module || p->at.offset != at->offset ||
		     p->calls != calls))
		p = p->next;
	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	*p = (struct call_path){*at, by, ++c->cnt, calls, first};
	map_set(&c->path, hash, p);
	return p;
}

const struct call_path *call_path_of(struct call_paths *c, const struct model_sample *s)
{
	const struct call_path *by = s->cut ? &c->cut : NULL;
	struct model_site at = s->at;

	if (c->cnt >= PATHS_MAX) {
		at.offset = 0;
		return path_below(c, NULL, &at, false);
	}
	for (uint32_t i = s->ncallers; i-- > 0;) {
		struct model_site caller;

		model_sample_caller(s, i, &caller);
		by = path_below(c, by, &caller, true);
	}
	if (!at.module)
		at.offset = 0;
	return path_below(c, by, &at, false);
}

static void list_free(void *first)
{
	struct call_path *next;

	for (struct call_path *p = first; p; p = next) {
		next = p->next;
		free(p);
	}
}

void call_paths_release(struct call_paths *c)
{
	map_free(&c->path, list_free);
}

/* site_names.h names calls by the address after them. */
const struct site_name *call_path_name(struct sites *sites, const struct call_path *p)
{
	struct model_site after = p->at;

	if (!p->calls) {
		after.address++;
		after.offset++;
	}
	return p->at.module && p->at.offset ? sites_find(sites, &after) : NULL;
}

/* ---- samples ---- */

#define NAMED_MAX 2000 /* most frequent places that get a name */

/* True for code of the preloaded library: recording a call, or waiting in MPI_Finalize. */
static bool is_own(const struct model_site *at)
{
	return at->module && !strcmp(text_base_name(at->module->path), "libpovtrace-preload.so");
}

bool sample_counts(const struct model_sample *sample, const struct windows *w)
{
	return !sample->by_stack && sample->thread->proc->is_rank && !is_own(&sample->at) &&
	       windows_has(w, sample->thread->proc, sample->ts_ns);
}

void samples_add(struct samples *s, const struct model_sample *sample)
{
	const struct call_path *path = call_path_of(&s->paths, sample);
	uint32_t thread = sample->thread->idx;
	struct samples_at *a = map_make(&s->at, map_pair(thread, path->id), sizeof(*a));

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

/* Selects samples: those of some threads or, if m is set, those of the chosen processes. */
struct whose {
	const uint32_t *thread;
	uint32_t threads;
	const struct model *m;
	const bool *chosen;
};

static bool is_theirs(const struct whose *w, uint32_t thread)
{
	if (w->m)
		return w->chosen[model_thread_get(w->m, thread)->proc->idx];
	return table_any(w->threads, i, w->thread[i] == thread);
}

TABLE_ORDER(by_samples, struct samples_at, u64_compare(b->samples, a->samples),
	    u64_compare(a->path->id, b->path->id))

/*
 * Places of the selected samples, summed over threads, most frequent first. *n: their number.
 * Caller frees.
 */
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

TABLE_ORDER(by_rank, struct samples_function, u64_compare(b->samples, a->samples),
	    strcmp(a->name ? a->name->function : "", b->name ? b->name->function : ""))

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

struct samples_function samples_most(const struct samples *s, struct sites *sites,
				     const uint32_t *thread, uint32_t threads,
				     const uint32_t *other, uint32_t others)
{
	struct samples_function most = {0}, *f, *theirs;
	double excess, largest = 0;
	uint32_t n, m;

	f = functions_of(s, sites, &(struct whose){thread, threads, NULL, NULL}, &n);
	theirs = functions_of(s, sites, &(struct whose){other, others, NULL, NULL}, &m);
	for (uint32_t i = 0; i < n; i++) {
		excess = (double)f[i].samples;
		for (uint32_t k = 0; k < m; k++)
			if (is_same(&theirs[k], f[i].name, f[i].module))
				excess -= (double)theirs[k].samples / others;
		if (!f[i].name || excess <= largest)
			continue;
		most = f[i];
		largest = excess;
	}
	free(f);
	free(theirs);
	return most;
}

struct samples_function *samples_functions(const struct samples *s, const struct model *m,
					   struct sites *sites, const bool *chosen, uint32_t *n)
{
	return functions_of(s, sites, &(struct whose){.m = m, .chosen = chosen}, n);
}

static bool is_openmp(const char *file)
{
	static const char *const names[] = {"libgomp.so", "libomp.so", "libiomp5.so", NULL};

	return text_begins_any(file, names);
}

/*
 * The runtime's other threads count as sharing the main thread's work if, all together, they have
 * at least 1/OTHERS_PART of its samples.
 */
#define OTHERS_PART 10

struct samples_waiting samples_in_openmp(const struct samples *s, const struct model *m,
					 uint32_t main_thread, bool all)
{
	uint32_t process = model_thread_get(m, main_thread)->proc->idx;
	struct samples_waiting w = {0};
	const struct samples_at *a;
	uint64_t main_samples = 0, others = 0, *of = NULL;
	uint32_t nof = 0, nin = 0;
	size_t pos = 0;
	bool *in = NULL;
	const char *file;

	while ((a = samples_next(s, &pos))) {
		if (model_thread_get(m, a->thread)->proc->idx != process)
			continue;
		file = a->path->at.module ? text_base_name(a->path->at.module->path) : "";
		*table_row(of, nof, a->thread) += a->samples;
		*table_row(in, nin, a->thread) |= is_openmp(file);
		if (a->thread != main_thread && !all)
			continue;
		w.of += a->samples;
		if (!is_openmp(file))
			continue;
		w.samples += a->samples;
		w.file = file;
	}
	for (uint32_t i = 0; i < nof; i++)
		if (i == main_thread)
			main_samples = of[i];
		else if (in[i])
			others += of[i];
	free(of);
	free(in);
	if (others * OTHERS_PART < main_samples)
		w = (struct samples_waiting){0};
	return w;
}

void samples_function_json(struct json_out *j, const struct samples_function *f)
{
	json_out_key_string(j, "function", f->name ? f->name->function : NULL);
	json_out_key_string(j, "file", f->name ? f->name->file : NULL);
	json_out_known_uint(j, "line", f->name && f->name->file, f->name ? f->name->line : 0);
	json_out_key_string(j, "module", f->module ? f->module->path : NULL);
	json_out_key_uint(j, "samples", f->samples);
	json_out_key_uint(j, "called_samples", f->called);
	json_out_key_uint(j, "of_samples", f->of);
}

/* ---- sleeps ---- */

/* bits of a task's state in the kernel */
#define TASK_UNINTERRUPTIBLE 0x02
#define TASK_STOPPED 0x04
#define TASK_TRACED 0x08

/* sleeps kept since the last call; if there are more, neighbours of one kind are merged */
#define PENDING_MAX 256

const char *const sleep_names[SLEEP_KINDS] = {
	[SLEEP_DEVICE] = "device",	   [SLEEP_STOPPED] = "stopped",
	[SLEEP_OWN_THREAD] = "own_thread", [SLEEP_OTHER_PROCESS] = "other_process",
	[SLEEP_INTERRUPT] = "interrupt",   [SLEEP_POLLING] = "polling",
};

struct sleep {
	uint64_t from_ns, ns;
	enum sleep_kind kind;
};

struct sleeps_thread {
	uint64_t ns[SLEEP_KINDS];
	/* begin of the polls that found nothing since the last call; 0: none */
	uint64_t polled_ns;
	uint64_t since_ns;     /* when it fell asleep; 0: it is awake */
	uint32_t state;	       /* task state bits when it fell asleep */
	struct sleep *pending; /* owned */
	uint32_t npending, room;
};

/*
 * Counts the pending sleeps that began before until_ns, the begin of a call or the end of polls.
 * Keeps the others. polls: the call polls, so sleeps since polled_ns were between polls.
 */
static void pending_settle(struct sleeps *a, const struct model_thread *t, uint64_t until_ns,
			   bool polls)
{
	struct sleeps_thread *row = table_row(a->thread, a->nthread, t->idx);
	uint32_t left = 0;

	for (uint32_t i = 0; i < row->npending; i++) {
		struct sleep *s = &row->pending[i];

		if (s->from_ns >= until_ns) {
			row->pending[left++] = *s;
			continue;
		}
		if (polls && s->kind == SLEEP_INTERRUPT && row->polled_ns &&
		    s->from_ns >= row->polled_ns)
			s->kind = SLEEP_POLLING;
		if (windows_has(a->windows, t->proc, s->from_ns))
			row->ns[s->kind] += s->ns;
	}
	row->npending = left;
}

/* Makes room: merges each pair of neighbouring sleeps if both are of one kind. */
static void pending_merge(struct sleeps_thread *row)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < row->npending; i++) {
		row->pending[left] = row->pending[i];
		if (i + 1 < row->npending && row->pending[i + 1].kind == row->pending[i].kind)
			row->pending[left].ns += row->pending[++i].ns;
		left++;
	}
	row->npending = left;
}

static void sleep_end(struct sleeps *a, const struct model_thread *t, uint64_t ts_ns,
		      enum sleep_kind by)
{
	struct sleeps_thread *row = table_row(a->thread, a->nthread, t->idx);
	enum sleep_kind kind = row->state & (TASK_STOPPED | TASK_TRACED) ? SLEEP_STOPPED :
			       row->state & TASK_UNINTERRUPTIBLE	 ? SLEEP_DEVICE :
									   by;

	if (!row->since_ns)
		return;
	if (row->npending == PENDING_MAX)
		pending_merge(row);
	if (row->npending == PENDING_MAX)
		pending_settle(a, t, UINT64_MAX, false);
	*table_row(row->pending, row->room, row->npending) =
		(struct sleep){row->since_ns, u64_minus(ts_ns, row->since_ns), kind};
	row->npending++;
	row->since_ns = 0;
}

static void on_switch(void *ctx, const struct model_switch *s)
{
	struct sleeps *a = ctx;
	struct sleeps_thread *row;

	if (s->next->proc->is_rank)
		sleep_end(a, s->next, s->ts_ns, SLEEP_UNKNOWN);
	if (!s->prev->proc->is_rank || s->preempted)
		return;
	row = table_row(a->thread, a->nthread, s->prev->idx);
	row->since_ns = s->ts_ns;
	row->state = s->prev_state;
}

static void on_waking(void *ctx, const struct model_waking *w)
{
	if (w->target->proc->is_rank)
		sleep_end(ctx, w->target, w->ts_ns,
			  w->by_interrupt		      ? SLEEP_INTERRUPT :
			  w->waker->proc == w->target->proc   ? SLEEP_OWN_THREAD :
			  w->waker->kthread || w->waker->idle ? SLEEP_INTERRUPT :
								SLEEP_OTHER_PROCESS);
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct sleeps_thread *row;
	struct sleeps *a = ctx;

	if (c->nested || !func_is_top(c->func))
		return;
	pending_settle(a, c->thread, c->begin_ns, c->func->polls);
	row = table_row(a->thread, a->nthread, c->thread->idx);
	row->npending = 0; /* sleeps in the call do not count */
	row->polled_ns = 0;
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	struct sleeps_thread *row;
	struct sleeps *a = ctx;

	if (s->nested || !s->nfuncs || !func_is_top(s->func[0].func))
		return;
	row = table_row(a->thread, a->nthread, s->thread->idx);
	row->polled_ns = row->polled_ns ?: s->begin_ns;
	pending_settle(a, s->thread, s->end_ns, true);
}

static void on_finish(void *ctx, const struct model *m)
{
	struct sleeps *a = ctx;

	for (uint32_t i = 0; i < a->nthread && i < model_thread_count(m); i++)
		pending_settle(a, model_thread_get(m, i), UINT64_MAX, false);
}

void sleeps_init(struct sleeps *a, const struct windows *w)
{
	*a = (struct sleeps){
		.sink = {.ctx = a,
			 .on_switch = on_switch,
			 .waking = on_waking,
			 .call = on_call,
			 .spin = on_spin,
			 .finish = on_finish},
		.windows = w,
	};
}

void sleeps_release(struct sleeps *a)
{
	for (uint32_t i = 0; i < a->nthread; i++)
		free(a->thread[i].pending);
	free(a->thread);
}

enum sleep_kind sleeps_mostly(const struct sleeps *a, uint32_t thread, uint64_t all_ns,
			      uint64_t *ns)
{
	enum sleep_kind most = SLEEP_UNKNOWN;

	*ns = 0;
	for (int i = SLEEP_UNKNOWN + 1; thread < a->nthread && i < SLEEP_KINDS; i++)
		if (a->thread[thread].ns[i] > *ns) {
			*ns = a->thread[thread].ns[i];
			most = i;
		}
	*ns = u64_min(*ns, all_ns);
	return *ns >= all_ns / 2 ? most : SLEEP_UNKNOWN;
}
