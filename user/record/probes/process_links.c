/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A set is made when its probes are requested, because the process may fork before they are
 * attached. Requests wait for each other, so two may be about one set; the second then finds
 * nothing left to do.
 */
#include "record/probes/process_links.h"

#include <stdlib.h>
#include <string.h>

#include "layers/func_table.h"
#include "lib/clock.h"
#include "target/code_file.h"
#include "target/helper/helper.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/u64.h"
#include "record/kernel.h"
#include "record/known_files.h"

/*
 * from this many processes on, separate probes cost more than probes shared with unrecorded
 * processes
 */
#define SHARED_MIN 32

/*
 * After this time, a child that was expected to execute another program gets probes all the same.
 * It has some 800 in an MPI library, and each change of one delays all forks of the machine
 * (dup_mmap_sem in kernel/events/uprobes.c).
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
};

uint64_t process_links_file_key(uint64_t dev, uint64_t ino)
{
	return ino * 0x9e3779b97f4a7c15u ^ dev;
}

/* ---- sets ---- */

/* Finds a process's set for a file, borrowed until the next change. NULL: none. */
static struct link_set *process_links_find(const struct process_links *pl, pid_t pid,
					   const struct code_file *f)
{
	struct process_sets *s = map_get(&pl->by_pid, (uint64_t)pid);

	for (size_t i = 0; s && i < s->cnt; i++)
		if (s->v[i].file == f)
			return &s->v[i];
	return NULL;
}

static struct link_set *set_make(struct process_links *pl, pid_t pid, struct code_file *f)
{
	struct link_set *set = process_links_find(pl, pid, f);
	struct process_sets *s;

	if (set)
		return set;
	s = map_make(&pl->by_pid, (uint64_t)pid, sizeof(*s));
	s->v = xrealloc(s->v, (s->cnt + 1) * sizeof(*s->v));
	s->v[s->cnt] = (struct link_set){.file = f};
	return &s->v[s->cnt++];
}

static void set_release(struct link_set *set)
{
	free(set->path);
	map_release(&set->rows);
}

/* Drops a set that has no probes and will not get any. */
static void set_drop(struct process_links *pl, pid_t pid, struct link_set *set)
{
	struct process_sets *s = map_get(&pl->by_pid, (uint64_t)pid);

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
static void forked_late(struct process_links *pl, pid_t pid, struct link_set *set, uint64_t now_ns)
{
	if (!set->forked_ns)
		return;
	pl->late(pl->ctx, pid, set->file, set->forked_ns,
		 u64_min(set->ready_ns ?: now_ns, now_ns) - set->forked_ns);
	set->forked_ns = 0;
}

static void sets_late(struct process_links *pl, pid_t pid, struct process_sets *s, uint64_t now_ns)
{
	for (size_t i = 0; s && i < s->cnt; i++)
		forked_late(pl, pid, &s->v[i], now_ns);
}

void process_links_leave(struct process_links *pl)
{
	struct leaving l = {};
	struct process_sets *s;
	uint64_t pid;

	for (size_t at = 0; (s = map_next(&pl->by_pid, &at, &pid));)
		sets_late(pl, (pid_t)pid, s, clock_now_ns());
	process_links_each(pl, set_leave, &l);
	links_leave(l.v, l.cnt, pl->leftover);
	free(l.v);
}

void process_links_release(struct process_links *pl)
{
	struct process_sets *s;

	for (size_t at = 0; (s = map_next(&pl->by_pid, &at, NULL));)
		sets_free(pl, s);
	map_release(&pl->by_pid);
	for (size_t i = 0; i < pl->delayed_cnt; i++)
		json_decref(pl->delayed[i].request);
	free(pl->delayed);
	map_release(&pl->others);
}

/* ---- requests ---- */

static bool set_lacks(const struct link_set *set)
{
	return !set || !set->ready_ns || set->covered < json_array_size(set->file->sites);
}

bool process_links_lack(const struct process_links *pl, pid_t pid, const struct code_file *f)
{
	return pl->each && f->sites && !f->is_wide &&
	       (f->own_sites || (f->left_sites && !pl->is_served(pl->ctx, pid))) &&
	       set_lacks(process_links_find(pl, pid, f));
}

static struct code_file *file_of(const struct process_links *pl, const json_t *request)
{
	struct code_id id = helper_message_id(json_object_get(request, "file"));

	return code_files_find(&pl->files->files, &id);
}

/*
 * Returns true if one set shall serve all processes that map the file. At every call the kernel
 * checks each set for the calling process, and each change of a set checks all sets against all
 * processes. So separate sets do not pay for many processes.
 */
static bool is_for_all(const struct process_links *pl, const json_t *request,
		       const struct code_file *f)
{
	uint64_t dev = json_get_u64(request, "dev"), ino = json_get_u64(request, "ino");
	bool shared;

	if (!pl->many || pl->many < pl->many_min || !ino)
		return false;
	shared = map_get(&pl->others, process_links_file_key(dev, ino));
	if (shared && pl->many < SHARED_MIN)
		return false;
	if (shared)
		log_warn("%s: its probes also slow down processes that are not recorded: %zu "
			 "recorded processes are too many for each to have its own",
			 f->path, pl->many);
	return true;
}

static void attach_ask(struct process_links *pl, const struct code_file *f, json_t *request)
{
	json_object_set_new(request, "do", json_string("attach"));
	json_object_set_new(request, "file",
			    json_pack("{s:I,s:I,s:I}", "dev", (json_int_t)f->id.dev, "ino",
				      (json_int_t)f->id.ino, "stamp", (json_int_t)f->id.stamp));
	helper_ask(pl->helper, request);
}

static json_t *rows_gone(const struct process_links *pl)
{
	json_t *rows = json_array();

	for (size_t i = 0; pl->gone && i < func_table_count(); i++)
		if (pl->gone[i])
			json_array_append_new(rows, json_integer((json_int_t)i));
	return rows;
}

void process_links_ask(struct process_links *pl, struct code_file *f, json_t *request)
{
	pid_t pid = (pid_t)json_get_int(request, "pid");
	struct link_set *set;
	bool left;

	json_object_set_new(request, "without", rows_gone(pl));
	if (f->lib && is_for_all(pl, request, f)) {
		json_object_set_new(request, "wide", json_true());
	} else if (!json_get_bool(request, "wide")) {
		set = set_make(pl, pid, f);
		set->start = json_get_u64(request, "start");
		set->end = json_get_u64(request, "end");
		if (json_object_get(request, "path") && !set->path)
			set->path = xstrdup(json_get_text(request, "path"));
	}
	left = f->left_sites && !pl->is_served(pl->ctx, pid);
	json_object_set_new(request, "left", json_boolean(left));
	if (left && !f->left_said)
		log_info("%s: process %d does not record its calls itself: it gets probes", f->path,
			 pid);
	f->left_said |= left;
	attach_ask(pl, f, request);
}

size_t process_links_ask_rows(struct process_links *pl, struct code_file *f, json_t *request,
			      const uint16_t *row, size_t cnt)
{
	struct link_set *set = set_make(pl, (pid_t)json_get_int(request, "pid"), f);
	json_t *rows = json_array();
	size_t asked;

	for (size_t i = 0; i < cnt; i++) {
		if (map_get(&set->rows, row[i] + 1u))
			continue;
		map_set(&set->rows, row[i] + 1u, f);
		json_array_append_new(rows, json_integer(row[i]));
	}
	asked = json_array_size(rows);
	json_object_set_new(request, "rows", rows);
	if (asked)
		process_links_ask(pl, f, request);
	else
		json_decref(request);
	return asked;
}

/* True if the request is for what is left of groups (process_links_detach). */
static bool is_exchange(const json_t *request)
{
	return json_object_get(request, "sites");
}

bool process_links_known(struct process_links *pl, json_t *request)
{
	struct code_file *f = file_of(pl, request);
	const struct link_set *set;

	if (is_exchange(request))
		return false;
	if (!f || f->is_wide)
		return true;
	if (json_get_bool(request, "wide"))
		return false;
	set = process_links_find(pl, (pid_t)json_get_int(request, "pid"), f);
	if (!set) /* the process has ended */
		return true;
	if (json_object_get(request, "rows") || (set->path && set->links.entry.cnt == 0))
		return false;
	if (!set_lacks(set))
		return true;
	json_set_int(request, "from", (int64_t)set->covered);
	return false;
}

/* Returns true if the helper gave no answer. */
static bool request_failed(const json_t *reply)
{
	return json_is_string(json_object_get(reply, "failed"));
}

static void set_take(struct process_links *pl, const json_t *request, const json_t *reply,
		     struct code_file *f, struct links *links)
{
	pid_t pid = (pid_t)json_get_int(request, "pid");
	struct link_set *set = process_links_find(pl, pid, f);
	bool failed = request_failed(reply) || json_get_int(reply, "error");

	if (set && !failed) {
		links_move(&set->links, links);
		if (json_object_get(request, "rows") && set->ready_ns)
			return;
		set->covered = (size_t)json_get_u64(reply, "sites");
		set->ready_ns = clock_now_ns();
	} else if (set && !set->ready_ns) {
		set_drop(pl, pid, set);
	}
}

static bool is_replaced(const struct perf_probe *p, const void *ctx)
{
	(void)ctx;
	return p->replaced;
}

static void replaced_forget(struct perf_probes *probes)
{
	for (size_t i = 0; i < probes->cnt; i++)
		probes->v[i].replaced = false;
}

static bool is_any(const struct perf_probe *p, const void *ctx)
{
	(void)p, (void)ctx;
	return true;
}

/*
 * If all links for what is left have come, the old ones go; else the new ones. A helper that has
 * died may hold new ones for a while, so the exchange does not count as over then.
 */
static void exchange_end(struct process_links *pl, const json_t *request, const json_t *reply,
			 const struct code_file *f, struct links *links)
{
	struct link_set *set = process_links_find(pl, (pid_t)json_get_int(request, "pid"), f);
	bool failed = request_failed(reply) || json_get_int(reply, "error") ||
		      json_object_get(reply, "refused");
	struct perf_probes closing = {};

	if (set && !failed) {
		links_move(&set->links, links);
		probes_take(&set->links.entry, &closing, is_replaced, NULL);
		probes_take(&set->links.ret, &closing, is_replaced, NULL);
	} else if (set) {
		replaced_forget(&set->links.entry);
		replaced_forget(&set->links.ret);
		set->stays = true;
	}
	probes_take(&links->entry, &closing, is_any, NULL);
	probes_take(&links->ret, &closing, is_any, NULL);
	probes_close_behind(&closing, json_get_bool(reply, "died") ? NULL : pl->exchanges);
}

/* A process with jumps in the file has come meanwhile, so each process gets its own probes. */
static void own_ask(struct process_links *pl, struct code_file *f, const json_t *request)
{
	json_t *own = json_copy((json_t *)request);

	pl->many = 0;
	json_object_del(own, "wide");
	process_links_ask(pl, f, own);
}

struct code_file *process_links_reply(struct process_links *pl, const json_t *request,
				      const json_t *reply, struct links *links)
{
	struct code_file *f = file_of(pl, request);

	if (f && is_exchange(request)) {
		exchange_end(pl, request, reply, f, links);
		links_release_behind(links, pl->leftover);
		return NULL;
	}
	if (f && request_failed(reply) && json_get_bool(request, "wide")) {
		own_ask(pl, f, request);
	} else if (f && request_failed(reply)) {
		pl->unprobed += f->lib && (f->own_sites || json_get_bool(request, "left") ||
					   json_object_get(request, "rows"));
		log_warn("process %lld: %s: probes could not be attached: %s",
			 (long long)json_get_int(request, "pid"), f->path,
			 json_get_text(reply, "failed"));
	}
	if (f && json_object_get(reply, "refused"))
		known_files_refused(pl->files, f, json_object_get(reply, "failed"),
				    json_get_text(reply, "refused"));
	if (f && !json_get_bool(request, "wide"))
		set_take(pl, request, reply, f, links);
	else if (f && !request_failed(reply) && !json_get_int(reply, "error"))
		known_files_widen(pl->files, f, links);
	links_release_behind(links, pl->leftover);
	return f;
}

static json_t *set_request(const struct link_set *set, pid_t pid)
{
	return json_pack("{s:i,s:I,s:I,s:s*}", "pid", pid, "start", (json_int_t)set->start, "end",
			 (json_int_t)set->end, "path", set->path);
}

/* ---- detaching functions ---- */

static bool is_gone(const struct process_links *pl, const struct link_member *m)
{
	return pl->gone[m->func];
}

static size_t gone_count(const struct perf_probe *p, const struct process_links *pl)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->cnt; i++)
		cnt += is_gone(pl, &p->member[i]);
	return cnt;
}

static bool is_all_gone(const struct perf_probe *p, const void *pl)
{
	return p->cnt && !p->replaced && gone_count(p, pl) == p->cnt;
}

/* Marks the groups that lose members. Adds what is left of them to sites unless it is NULL. */
static size_t groups_reduce(const struct process_links *pl, struct perf_probes *probes,
			    json_t *sites)
{
	size_t cnt = 0;

	for (size_t i = 0; i < probes->cnt; i++) {
		struct perf_probe *p = &probes->v[i];

		if (p->replaced || !gone_count(p, pl))
			continue;
		p->replaced = true;
		cnt++;
		for (size_t k = 0; sites && k < p->cnt; k++)
			if (!is_gone(pl, &p->member[k]))
				json_array_append_new(sites, json_integer(p->member[k].site));
	}
	return cnt;
}

/* Adds one to the lower half of `exchanges`, and to the upper half if there was none. */
static void exchange_count(uint64_t *exchanges)
{
	uint64_t was = __atomic_load_n(exchanges, __ATOMIC_RELAXED), is;

	do
		is = was + ((uint32_t)was ? 1 : (1ull << 32) + 1);
	while (!__atomic_compare_exchange_n(exchanges, &was, is, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
}

static void set_detach(struct process_links *pl, pid_t pid, struct link_set *set,
		       struct perf_probes *closing)
{
	json_t *sites, *request;

	probes_take(&set->links.entry, closing, is_all_gone, pl);
	probes_take(&set->links.ret, closing, is_all_gone, pl);
	if (set->stays)
		return;
	sites = json_array();
	if (groups_reduce(pl, &set->links.entry, sites) +
	    groups_reduce(pl, &set->links.ret, NULL)) {
		request = set_request(set, pid);
		json_object_set(request, "sites", sites);
		exchange_count(pl->exchanges);
		attach_ask(pl, set->file, request);
	}
	json_decref(sites);
}

void process_links_detach(struct process_links *pl, struct perf_probes *closing)
{
	struct process_sets *s;
	uint64_t pid;

	for (size_t at = 0; (s = map_next(&pl->by_pid, &at, &pid));)
		for (size_t i = 0; i < s->cnt; i++)
			set_detach(pl, (pid_t)pid, &s->v[i], closing);
}

/* ---- events of processes ---- */

void process_links_move(struct process_links *pl, pid_t pid, const struct code_file *f,
			uint64_t start, uint64_t end)
{
	struct link_set *set = process_links_find(pl, pid, f);

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

		if (process_links_find(pl, (pid_t)json_get_int(d->request, "pid"), d->file))
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
			.file = from->v[i].file,
			.start = from->v[i].start,
			.end = from->v[i].end,
			.path = from->v[i].path ? xstrdup(from->v[i].path) : NULL,
			.forked_ns = from->v[i].file->lib ? ts_ns : 0,
		};
	for (size_t i = 0; i < to->cnt; i++) {
		request = set_request(&to->v[i], child);
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
	sets_late(pl, pid, map_get(&pl->by_pid, (uint64_t)pid), clock_now_ns());
}

void process_links_waits(struct process_links *pl, pid_t pid)
{
	struct process_sets *s = map_get(&pl->by_pid, (uint64_t)pid);

	for (size_t i = 0; s && i < s->cnt; i++)
		s->v[i].forked_ns = 0;
}

void process_links_orphan(struct process_links *pl, pid_t pid)
{
	struct process_sets *s = map_get(&pl->by_pid, (uint64_t)pid);

	if (s)
		s->orphan = true;
}

void process_links_exec(struct process_links *pl, pid_t pid)
{
	struct process_sets *s = map_get(&pl->by_pid, (uint64_t)pid);

	if (!s)
		return;
	/*
	 * The kernel keeps the links at the former main thread, but another thread executed the
	 * program.
	 */
	if (s->orphan) {
		sets_free(pl, map_remove(&pl->by_pid, (uint64_t)pid));
		return;
	}
	for (size_t i = s->cnt; i-- > 0;) { /* it cannot call files that it no longer maps */
		if (s->v[i].forked_ns && !s->v[i].ready_ns)
			set_drop(pl, pid, &s->v[i]);
		else
			s->v[i].forked_ns = 0;
	}
}

void process_links_exit(struct process_links *pl, pid_t pid, uint64_t end_ns)
{
	struct process_sets *s = map_remove(&pl->by_pid, (uint64_t)pid);

	sets_late(pl, pid, s, end_ns);
	if (s)
		sets_free(pl, s);
}
