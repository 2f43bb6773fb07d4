/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Requests probes, and handles the replies. Requests are queued, so two of them may be for one set;
 * the second then finds nothing left to do.
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
 * from this many processes on, separate sets of probes cost more than a shared set that also slows
 * down unrecorded processes
 */
#define SHARED_MIN 32

uint64_t process_links_file_key(uint64_t dev, uint64_t ino)
{
	return ino * 0x9e3779b97f4a7c15u ^ dev;
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
	       set_lacks(link_set_find(pl, pid, f));
}

static struct code_file *file_of(const struct process_links *pl, const json_t *request)
{
	struct code_id id = helper_message_id(json_object_get(request, "file"));

	return code_files_find(&pl->files->files, &id);
}

/*
 * Returns true if one set of probes shall serve all processes that map the file. Separate sets do
 * not pay for many processes: at every call the kernel checks each set for the calling process, and
 * at each change of a set it checks all sets against all processes.
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
		set = link_set_make(pl, pid, f);
		json_set_int(request, "set", (int64_t)set->id);
		set->start = json_get_u64(request, "start");
		set->end = json_get_u64(request, "end");
		if (json_object_get(request, "path") && !set->path)
			set->path = xstrdup(json_get_text(request, "path"));
	}
	left = f->left_sites && !pl->is_served(pl->ctx, pid);
	json_object_set_new(request, "left", json_boolean(left));
	if (left && !f->left_printed)
		log_info("%s: process %d does not record its calls itself: it gets probes", f->path,
			 pid);
	f->left_printed |= left;
	attach_ask(pl, f, request);
}

size_t process_links_ask_rows(struct process_links *pl, struct code_file *f, json_t *request,
			      const uint16_t *row, size_t cnt)
{
	struct link_set *set = link_set_make(pl, (pid_t)json_get_int(request, "pid"), f);
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

/* True if the request replaces links that lose some of their functions (process_links_detach). */
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
	set = link_set_find(pl, (pid_t)json_get_int(request, "pid"), f);
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

/*
 * If the process has executed a program since the request, its old set is gone, but the links are
 * in force for the new program, too. So they get a new set. Closing them takes a while, in which
 * calls would pass both these and the new program's links. A forked process's set without links
 * stays until that process executes a program or ends, which reports that it had none.
 */
static void set_take(struct process_links *pl, const json_t *request, const json_t *reply,
		     struct code_file *f, struct links *links)
{
	pid_t pid = (pid_t)json_get_int(request, "pid");
	struct link_set *set = link_set_find(pl, pid, f);
	bool failed = request_failed(reply) || json_get_int(reply, "error");

	if (!set && !failed && !json_object_get(request, "rows") &&
	    !json_get_u64(request, "from") && map_get(&pl->by_pid, (uint64_t)pid))
		set = link_set_make(pl, pid, f);
	if (set && !failed) {
		links_move(&set->links, links);
		if (json_object_get(request, "rows") && set->ready_ns)
			return;
		set->covered = (size_t)json_get_u64(reply, "sites");
		set->ready_ns = clock_now_ns();
	} else if (set && !set->ready_ns && !set->forked_ns &&
		   set->id == json_get_u64(request, "set")) {
		link_set_drop(pl, set);
	}
}

static bool is_replaced(const struct perf_probe *p, const void *ctx)
{
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
 * Ends an exchange: closes the old links if all new ones have come, else the new ones. If the
 * helper has died, it may hold new links for a while, so the exchange does not count as over then.
 */
static void exchange_end(struct process_links *pl, const json_t *request, const json_t *reply,
			 const struct code_file *f, struct links *links)
{
	struct link_set *set = link_set_find(pl, (pid_t)json_get_int(request, "pid"), f);
	bool failed = request_failed(reply) || json_get_int(reply, "error") ||
		      json_object_get(reply, "refused");
	struct perf_probes closing = {};

	if (set && !failed) {
		links_move(&set->links, links);
		process_links_before_close(pl);
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

/*
 * Requests probes for one process only. The helper could not attach a set for all processes,
 * because some process has jumps in this file's code, which breakpoints would break.
 */
static void own_ask(struct process_links *pl, struct code_file *f, const json_t *request)
{
	json_t *own = json_copy((json_t *)request);

	pl->many = 0;
	json_object_del(own, "wide");
	json_object_del(own, "asked"); /* the answer to `request` ends the wait */
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
	links_end(pl, (pid_t)json_get_int(request, "pid"), links);
	return f;
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

/*
 * Marks the groups that lose members. Adds the sites that they keep to `sites` unless it is NULL.
 */
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

struct detaching {
	struct process_links *pl;
	struct perf_probes *closing;
};

static void set_detach(void *ctx, struct link_set *set)
{
	struct detaching *d = ctx;
	struct process_links *pl = d->pl;
	struct perf_probes *closing = d->closing;
	json_t *sites, *request;

	probes_take(&set->links.entry, closing, is_all_gone, pl);
	probes_take(&set->links.ret, closing, is_all_gone, pl);
	if (set->stays || pl->orphans)
		return;
	sites = json_array();
	if (groups_reduce(pl, &set->links.entry, sites) +
	    groups_reduce(pl, &set->links.ret, NULL)) {
		request = link_set_request(set);
		json_object_set(request, "sites", sites);
		exchange_count(pl->exchanges);
		attach_ask(pl, set->file, request);
	}
	json_decref(sites);
}

void process_links_detach(struct process_links *pl, struct perf_probes *closing)
{
	struct detaching d = {pl, closing};

	process_links_each(pl, set_detach, &d);
}
