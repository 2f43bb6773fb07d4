/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A process is known from the first traced library that it maps until it ends or executes a program
 * without one.
 */
#include "lib/clock.h"
#include "record/images_internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "abi/event.h"
#include "target/code_file.h"
#include "target/helper/helper.h"
#include "lib/json_get.h"
#include "lib/table.h"
#include "trace/trace_write.h"
#include "record/kernel.h"

#define PROCESS_LIBS_MAX 8

struct process {
	pid_t pid;
	bool described;
	bool ran_before; /* it ran, or may have run, unrecorded: it may have initialised MPI then */
	bool began;	 /* it has called a function that initialises MPI */
	bool counted;	 /* as a rank */
	json_t *meta;	 /* the helper's last answer for this program; NULL: none yet; owned */
	uint64_t renamed_ns; /* last time it got a name, which exec does before it maps anything */
	unsigned int nlibs;
	struct {
		const struct library *lib;
		uint64_t bias;
		uint64_t since_ns; /* when it was mapped */
	} libs[PROCESS_LIBS_MAX];
};

static json_t *process_libs_json(const struct process *p)
{
	json_t *libs = json_array();

	for (unsigned int i = 0; i < p->nlibs; i++)
		json_array_append_new(libs, json_pack("{s:i,s:o}", "id", p->libs[i].lib->id, "bias",
						      json_hex(p->libs[i].bias)));
	return libs;
}

static bool process_has_mpi(const struct process *p)
{
	return table_any(p->nlibs, i, p->libs[i].lib->is_mpi);
}

/*
 * Requests a "process" meta object. The list of mapped libraries is made now; the helper reads the
 * rest.
 */
static void process_describe(struct library_users *u, struct process *p, uint64_t ts_ns, bool asked)
{
	json_t *copies = NULL;

	for (unsigned int i = 0; i < p->nlibs && !copies; i++)
		if (json_array_size(p->libs[i].lib->copies))
			copies = p->libs[i].lib->copies;
	p->described = true;
	helper_ask(u->helper,
		   json_pack("{s:s,s:i,s:o,s:b,s:b,s:b,s:b,s:I,s:O?,s:O?}", "do", "process", "pid",
			     p->pid, "libs", process_libs_json(p), "mpi", process_has_mpi(p),
			     "began", p->began, "ran", p->ran_before, "asked", asked, "ts",
			     (json_int_t)ts_ns, "copies", copies, "before", p->meta));
}

/*
 * Counts a process as a rank, once. before is the previous description, which shows for an ended
 * process whether it was counted.
 */
static void rank_count(struct library_users *u, const json_t *m, const json_t *before)
{
	pid_t pid = (pid_t)json_get_int(m, "pid");
	struct process *p = map_get(&u->processes, pid);
	json_int_t rank = json_get_int(m, "rank");

	cgroup_limits_add(&u->limits, pid);
	if (rank >= 0)
		map_set(&u->rank_of, (uint64_t)pid, (void *)((uintptr_t)rank + 1));
	u->rank_cnt += p ? !p->counted : !json_get_bool(before, "initialised");
	if (p)
		p->counted = true;
}

static bool rank_is_from_mpi(const json_t *m)
{
	return !strcmp(json_get_text(m, "rank_by"), "mpi");
}

/*
 * Returns the description that has what the launcher set in the environment, read when that was
 * still possible.
 */
static const json_t *launcher_info(const json_t *before)
{
	return *json_get_text(before, "launcher") ? before : json_object_get(before, "hint");
}

static void members_keep(json_t *m, const json_t *from)
{
	static const char *const members[] = {"rank",	 "size",	 "job",	      "launcher",
					      "started", "launcher_job", "spawned_by"};

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (json_object_get(from, members[i]))
			json_object_set(m, members[i], json_object_get(from, members[i]));
}

/*
 * True if both describe the same rank, but only the earlier environment names its launcher:
 * programs overwrite it (setproctitle).
 */
static bool launcher_is_overwritten(const json_t *m, const json_t *before)
{
	return !*json_get_text(m, "launcher") && *json_get_text(before, "launcher") &&
	       json_get_int(m, "rank") == json_get_int(before, "rank") &&
	       json_get_int(m, "size") == json_get_int(before, "size");
}

/*
 * Completes a description from the previous one. A process may be gone, or ending, before the
 * helper reads it: then the previous description holds and, for a rank, the launcher's information.
 * What MPI itself has reported also holds after MPI is finalised. A job keeps the name of the
 * launcher under which it began, because the launcher may be gone, too.
 */
static void before_keep(json_t *m, const json_t *before, bool began)
{
	const json_t *said = launcher_info(before);
	bool gone = !*json_get_text(m, "exe");
	bool same = said && !strcmp(json_get_text(m, "launcher"), json_get_text(said, "launcher"));

	if (gone)
		json_object_update(m, (json_t *)before);
	if (rank_is_from_mpi(before) && !rank_is_from_mpi(m)) {
		members_keep(m, before);
		json_object_set(m, "rank_by", json_object_get(before, "rank_by"));
		json_object_set(m, "initialised", json_object_get(before, "initialised"));
	} else if (began && !rank_is_from_mpi(m) &&
		   (gone || (said && !*json_get_text(m, "launcher")))) {
		members_keep(m, said);
		json_object_set_new(m, "initialised", json_true());
		json_object_set_new(m, "rank_by", json_string("environment"));
	} else if (same || (said && launcher_is_overwritten(m, said))) {
		json_object_set(m, "launcher", json_object_get(said, "launcher"));
		json_object_set(m, "job", json_object_get(said, "job"));
	}
}

/*
 * Returns the newest previous description: the last answer, or the one at the time of the request.
 */
static const json_t *before_find(const struct process *p, const json_t *request)
{
	const json_t *before = json_object_get(request, "before");

	return p && p->meta ? p->meta : json_is_object(before) ? before : NULL;
}

void library_users_reply(struct library_users *u, const json_t *request, const json_t *reply)
{
	struct process *p = map_get(&u->processes, json_get_u64(request, "pid"));
	json_t *m = json_incref(json_object_get(reply, "process"));
	const json_t *before = before_find(p, request);

	if (!m)
		return;
	if (before)
		before_keep(m, before, json_get_bool(request, "began"));
	json_object_set_new(m, "type", json_string("process"));
	json_object_set(m, "ts_ns", json_object_get(request, "ts"));
	json_object_set(m, "libs", json_object_get(request, "libs"));
	json_object_set(m, "mpi", json_object_get(request, "mpi"));
	if (json_get_bool(m, "initialised"))
		rank_count(u, m, before);
	if (p) {
		json_decref(p->meta);
		p->meta = json_copy(m);
	}
	json_object_del(m, "hint");
	trace_writer_meta(u->writer, m);
}

static struct process *process_of(struct library_users *u, pid_t pid)
{
	struct process *p = map_make(&u->processes, pid, sizeof(*p));

	p->pid = pid;
	return p;
}

bool library_users_map(struct library_users *u, pid_t pid, const struct code_file *file,
		       uint64_t start, uint64_t off, uint64_t since_ns)
{
	struct process *p;
	uint64_t bias;

	if (!file->lib || code_file_bias(file, start, off, &bias))
		return false;
	p = process_of(u, pid);
	for (unsigned int i = 0; i < p->nlibs; i++)
		if (p->libs[i].lib == file->lib && p->libs[i].bias == bias)
			return false;
	if (p->nlibs == PROCESS_LIBS_MAX)
		return false;
	p->libs[p->nlibs].lib = file->lib;
	p->libs[p->nlibs].bias = bias;
	p->libs[p->nlibs++].since_ns = since_ns;
	return true;
}

void library_users_describe(struct library_users *u, pid_t pid)
{
	struct process *p = map_get(&u->processes, pid);

	if (p)
		process_describe(u, p, clock_now_ns(), false);
}

void library_users_ran(struct library_users *u, pid_t pid)
{
	struct process *p = map_get(&u->processes, pid);

	if (p)
		p->ran_before = true;
}

bool library_users_init(struct library_users *u, pid_t pid, uint64_t ts_ns, bool asked)
{
	struct process *p = map_get(&u->processes, pid);

	if (!p)
		return false;
	p->began = true;
	process_describe(u, p, ts_ns, asked);
	return true;
}

static void process_free(void *value)
{
	struct process *p = value;

	if (p)
		json_decref(p->meta);
	free(p);
}

static void process_forget(struct library_users *u, pid_t pid)
{
	process_free(map_remove(&u->processes, pid));
}

void library_users_fork(struct library_users *u, const struct pov_fork *r)
{
	const struct process *parent = map_get(&u->processes, r->parent_tgid);
	struct process *child;

	if (r->child_tgid == r->parent_tgid)
		return;
	process_forget(u, (pid_t)r->child_tgid); /* of an ended process with the same number */
	if (!parent)
		return;
	child = process_of(u, (pid_t)r->child_tgid);
	*child = *parent;
	child->pid = (pid_t)r->child_tgid;
	/* The child may get its probes only after it has called MPI_Init. */
	child->ran_before = !parent->began && !parent->counted;
	child->described = child->counted = child->began = false;
	child->meta = NULL;
}

void library_users_exec(struct library_users *u, pid_t pid)
{
	struct process *p = map_get(&u->processes, pid);
	unsigned int kept = 0;

	if (!p)
		return;
	for (unsigned int i = 0; i < p->nlibs; i++)
		if (p->libs[i].since_ns >= p->renamed_ns)
			p->libs[kept++] = p->libs[i];
	p->nlibs = kept;
	p->began = p->ran_before = false;
	json_decref(p->meta);
	p->meta = NULL;
	if (!kept)
		process_forget(u, pid);
	else if (!p->described)
		process_describe(u, p, clock_now_ns(), false);
}

void library_users_rename(struct library_users *u, const struct pov_task *r)
{
	struct process *p = map_get(&u->processes, r->tgid);

	if (p && r->hdr.tid == r->tgid)
		p->renamed_ns = r->hdr.ts_ns;
}

bool library_users_call(struct library_users *u, pid_t pid)
{
	struct process *p = map_get(&u->processes, pid);

	/* MPI_Init may have been running when the recording began. */
	if (p && (!p->described || (p->ran_before && !p->counted)))
		process_describe(u, p, clock_now_ns(), false);
	return p != NULL;
}

void library_users_exit(struct library_users *u, const struct pov_exit *r)
{
	if (WIFSIGNALED(r->code) && WTERMSIG(r->code) == SIGKILL)
		/* the cgroup may soon be gone */
		cgroup_limits_read_memory(&u->limits, clock_now_ns());
	process_forget(u, (pid_t)r->tgid);
}

bool library_users_have(const struct library_users *u, pid_t pid)
{
	return map_get(&u->processes, pid) != NULL;
}

bool library_users_may_begin(const struct library_users *u, pid_t pid)
{
	const struct process *p = map_get(&u->processes, pid);

	return p && p->ran_before;
}

int library_users_rank(const struct library_users *u, pid_t pid)
{
	uintptr_t v = (uintptr_t)map_get(&u->rank_of, pid);

	return v ? (int)v - 1 : -1;
}

void library_users_release(struct library_users *u)
{
	map_free(&u->processes, process_free);
	map_release(&u->rank_of);
	cgroup_limits_release(&u->limits);
}
