/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The sets of each process, from its first probes to its end. A set is made when its probes are
 * requested, because the process may fork before they are attached. Sets follow what processes do:
 * fork, exec and exit.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/u64.h"
#include "record/probes/process_links.h"
#include "target/code_file.h"
#include "target/proc.h"

/*
 * A child that was expected to execute another program, but has not done so after this time, gets
 * probes. It needs some 800 in an MPI library, and each change of a probe delays all forks on the
 * machine (dup_mmap_sem in kernel/events/uprobes.c).
 */
#define BRIEF_NS 50000000u

struct delayed_request {
	uint64_t due_ns;
	struct code_file *file;
	json_t *request;
};

/* A process has only a few: for its loader and the libraries of the traced layers. */
struct process_sets {
	struct link_set *v;
	size_t cnt;
	bool orphan;
	bool delays; /* an orphan that has probes in a library */
	bool lost;   /* it has lost breakpoints, which is reported */
};

struct link_set *link_set_find(const struct process_links *pl, pid_t pid, const struct code_file *f)
{
	struct process_sets *s = map_get(&pl->by_pid, (uint64_t)pid);

	for (size_t i = 0; s && i < s->cnt; i++)
		if (s->v[i].file == f)
			return &s->v[i];
	return NULL;
}

struct link_set *link_set_make(struct process_links *pl, pid_t pid, struct code_file *f)
{
	struct link_set *set = link_set_find(pl, pid, f);
	struct process_sets *s;

	if (set)
		return set;
	s = map_make(&pl->by_pid, (uint64_t)pid, sizeof(*s));
	s->v = xrealloc(s->v, (s->cnt + 1) * sizeof(*s->v));
	s->v[s->cnt] = (struct link_set){.pid = pid, .file = f, .id = ++pl->last_id};
	return &s->v[s->cnt++];
}

static void set_release(struct link_set *set)
{
	free(set->path);
	map_release(&set->rows);
}

void link_set_drop(struct process_links *pl, struct link_set *set)
{
	struct process_sets *s = map_get(&pl->by_pid, (uint64_t)set->pid);

	set_release(set);
	*set = s->v[--s->cnt];
}

static void sets_free(struct process_links *pl, struct process_sets *s)
{
	for (size_t i = 0; i < s->cnt; i++) {
		links_release_behind(&s->v[i].links, pl->leftover);
		set_release(&s->v[i]);
	}
	free(s->v);
	free(s);
}

static void ended_free(struct process_links *pl)
{
	for (size_t i = 0; i < pl->ended_cnt; i++)
		sets_free(pl, pl->ended[i]);
	free(pl->ended);
	pl->ended = NULL;
	pl->ended_cnt = 0;
	links_release_behind(&pl->ended_links, pl->leftover);
}

static void orphan_mark(struct process_links *pl, struct process_sets *s)
{
	if (s->orphan)
		return;
	s->orphan = true;
	s->delays = table_any(s->cnt, i, s->v[i].file->lib);
	pl->orphans += s->delays;
}

static void orphan_lose(struct process_links *pl, struct process_sets *s, pid_t pid)
{
	if (s->lost)
		return;
	s->lost = true;
	pl->unprobed++;
	log_warn(
		"process %d goes on without its first thread, and has lost probes because those of "
		"another process were removed: calls of it may be missing",
		pid);
}

/*
 * Returns true if there are orphans with probes in libraries, also ones whose event has not come
 * yet. One that has executed another program has a first thread again. lose: their probes will go.
 */
static bool orphans_find(struct process_links *pl, bool lose)
{
	struct process_sets *s;
	bool any = false;
	uint64_t pid;

	for (size_t at = 0; (s = map_next(&pl->by_pid, &at, &pid));) {
		if (proc_memory_of((pid_t)pid) == (pid_t)pid)
			continue;
		orphan_mark(pl, s);
		any |= s->delays;
		if (lose && s->delays)
			orphan_lose(pl, s, (pid_t)pid);
	}
	return any;
}

void process_links_before_close(struct process_links *pl)
{
	orphans_find(pl, true);
	pl->closing_ns = clock_now_ns();
}

/*
 * The first thread of a process may end while links are being closed, which takes a while and
 * cannot be stopped. So links are closed rarely: those of this many ended processes at once, or all
 * if no process remains. Until then, each makes other processes' calls slower by some 0.3 %.
 */
#define ENDED_MIN 8
#define ENDED_MAX 500 /* with an orphan; each keeps descriptors open */

/* Takes over the sets of an ended process, and releases them when that does little harm. */
static void sets_end(struct process_links *pl, struct process_sets *s)
{
	pl->orphans -= s->delays;
	*table_append(pl->ended, pl->ended_cnt) = s;
	if (pl->by_pid.cnt && pl->ended_cnt < ENDED_MIN)
		return;
	if (orphans_find(pl, false) && pl->ended_cnt < ENDED_MAX)
		return;
	process_links_before_close(pl);
	ended_free(pl);
}

void links_end(struct process_links *pl, pid_t pid, struct links *links)
{
	bool any = links->entry.cnt || links->ret.cnt;

	if (any && (pl->orphans || !map_get(&pl->by_pid, (uint64_t)pid)))
		links_move(&pl->ended_links, links);
	else if (any)
		process_links_before_close(pl);
	links_release_behind(links, pl->leftover);
}

void process_links_each(const struct process_links *pl, void (*fn)(void *ctx, struct link_set *set),
			void *ctx)
{
	struct process_sets *s;

	for (size_t at = 0; (s = map_next(&pl->by_pid, &at, NULL));)
		for (size_t i = 0; i < s->cnt; i++)
			fn(ctx, &s->v[i]);
}

struct leaving {
	struct links **v;
	size_t cnt;
};

static void set_leave(void *ctx, struct link_set *set)
{
	struct leaving *l = ctx;

	l->v = xrealloc(l->v, (l->cnt + 1) * sizeof(struct links *));
	l->v[l->cnt++] = &set->links;
}

/*
 * Reports for how long a forked process had no probes. It may have called MPI in that time, even if
 * it has not called it since.
 */
static void forked_late(struct process_links *pl, struct link_set *set, uint64_t now_ns)
{
	if (!set->forked_ns)
		return;
	pl->late(pl->ctx, set->pid, set->file, set->forked_ns,
		 u64_min(set->ready_ns ?: now_ns, now_ns) - set->forked_ns);
	set->forked_ns = 0;
}

static void sets_late(struct process_links *pl, struct process_sets *s, uint64_t now_ns)
{
	for (size_t i = 0; s && i < s->cnt; i++)
		forked_late(pl, &s->v[i], now_ns);
}

void process_links_leave(struct process_links *pl)
{
	struct leaving l = {};
	struct process_sets *s;

	for (size_t at = 0; (s = map_next(&pl->by_pid, &at, NULL));)
		sets_late(pl, s, clock_now_ns());
	process_links_each(pl, set_leave, &l);
	links_leave(l.v, l.cnt, pl->leftover);
	free(l.v);
}

void process_links_release(struct process_links *pl)
{
	struct process_sets *s;

	for (size_t at = 0; (s = map_next(&pl->by_pid, &at, NULL));)
		sets_free(pl, s);
	ended_free(pl);
	map_release(&pl->by_pid);
	for (size_t i = 0; i < pl->delayed_cnt; i++)
		json_decref(pl->delayed[i].request);
	free(pl->delayed);
	map_release(&pl->others);
}

json_t *link_set_request(const struct link_set *set)
{
	return json_pack("{s:i,s:I,s:I,s:s*}", "pid", set->pid, "start", (json_int_t)set->start,
			 "end", (json_int_t)set->end, "path", set->path);
}

/* ---- what processes do ---- */

void process_links_move(struct process_links *pl, pid_t pid, const struct code_file *f,
			uint64_t start, uint64_t end)
{
	struct link_set *set = link_set_find(pl, pid, f);

	if (set) {
		set->start = start;
		set->end = end;
	}
}

/* Copies a set's rows to that of a forked process, and returns them. */
static json_t *rows_inherit(const struct map *from, struct map *to)
{
	json_t *rows = json_array();
	uint64_t key;
	void *value;

	for (size_t at = 0; (value = map_next(from, &at, &key));) {
		map_set(to, key, value);
		json_array_append_new(rows, json_integer((json_int_t)key - 1));
	}
	return rows;
}

static void request_delay(struct process_links *pl, struct code_file *f, json_t *request,
			  uint64_t due_ns)
{
	pl->delayed = xrealloc(pl->delayed, (pl->delayed_cnt + 1) * sizeof(*pl->delayed));
	pl->delayed[pl->delayed_cnt++] = (struct delayed_request){due_ns, f, request};
}

void process_links_poll(struct process_links *pl, uint64_t now_ns)
{
	size_t cnt = 0;

	for (; cnt < pl->delayed_cnt && pl->delayed[cnt].due_ns <= now_ns; cnt++) {
		struct delayed_request *d = &pl->delayed[cnt];

		if (link_set_find(pl, (pid_t)json_get_int(d->request, "pid"), d->file))
			process_links_ask(pl, d->file, d->request);
		else
			json_decref(d->request);
	}
	if (!cnt)
		return;
	pl->delayed_cnt -= cnt;
	memmove(pl->delayed, pl->delayed + cnt, pl->delayed_cnt * sizeof(*pl->delayed));
}

void process_links_fork(struct process_links *pl, pid_t parent, pid_t child, bool brief,
			uint64_t ts_ns)
{
	struct process_sets *from, *to;
	json_t *request;

	process_links_exit(pl, child, ts_ns); /* an ended process that had the same number */
	from = map_get(&pl->by_pid, (uint64_t)parent);
	if (!from)
		return;
	to = map_make(&pl->by_pid, (uint64_t)child, sizeof(*to));
	to->v = xcalloc(from->cnt + 1, sizeof(*to->v));
	for (size_t i = 0; i < from->cnt; i++)
		to->v[to->cnt++] = (struct link_set){
			.pid = child,
			.file = from->v[i].file,
			.id = ++pl->last_id,
			.start = from->v[i].start,
			.end = from->v[i].end,
			.path = from->v[i].path ? xstrdup(from->v[i].path) : NULL,
			.forked_ns = from->v[i].file->lib ? ts_ns : 0,
		};
	for (size_t i = 0; i < to->cnt; i++) {
		request = link_set_request(&to->v[i]);
		if (from->v[i].rows.cnt)
			json_object_set_new(request, "rows_too",
					    rows_inherit(&from->v[i].rows, &to->v[i].rows));
		/* A loader's probes are useful after execve, too. */
		if (!to->v[i].file->lib)
			json_set_int(request, "parent", parent);
		if (brief && to->v[i].file->lib)
			request_delay(pl, to->v[i].file, request, ts_ns + BRIEF_NS);
		else
			process_links_ask(pl, to->v[i].file, request);
	}
}

void process_links_call(struct process_links *pl, pid_t pid)
{
	sets_late(pl, map_get(&pl->by_pid, (uint64_t)pid), clock_now_ns());
}

void process_links_waits(struct process_links *pl, pid_t pid)
{
	struct process_sets *s = map_get(&pl->by_pid, (uint64_t)pid);

	for (size_t i = 0; s && i < s->cnt; i++)
		s->v[i].forked_ns = 0;
}

void process_links_orphan(struct process_links *pl, pid_t pid, uint64_t ts_ns)
{
	struct process_sets *s = map_get(&pl->by_pid, (uint64_t)pid);

	if (!s)
		return;
	orphan_mark(pl, s);
	if (s->delays && pl->closing_ns && ts_ns >= pl->closing_ns && ts_ns <= links_closed_ns())
		orphan_lose(pl, s, pid);
}

void process_links_exec(struct process_links *pl, pid_t pid)
{
	struct process_sets *s = map_get(&pl->by_pid, (uint64_t)pid);

	if (!s)
		return;
	/*
	 * The kernel keeps the links with the former main thread, but another thread executed the
	 * program. They still take calls at the sites of the program's new links, so they go first.
	 */
	if (s->orphan) {
		map_remove(&pl->by_pid, (uint64_t)pid);
		pl->orphans -= s->delays;
		process_links_before_close(pl);
		sets_free(pl, s);
		links_wait();
		return;
	}
	for (size_t i = s->cnt; i-- > 0;) { /* it cannot call files that it no longer maps */
		if (s->v[i].forked_ns && !s->v[i].ready_ns)
			link_set_drop(pl, &s->v[i]);
		else
			s->v[i].forked_ns = 0;
	}
}

void process_links_exit(struct process_links *pl, pid_t pid, uint64_t end_ns)
{
	struct process_sets *s = map_remove(&pl->by_pid, (uint64_t)pid);

	sets_late(pl, s, end_ns);
	if (s)
		sets_end(pl, s);
}
