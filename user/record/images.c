/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Connects three parties: events of the kernel half (which process maps which file), replies of the
 * helper (what the file is), and processes that wait. A process may have asked several questions;
 * it is released when none of them is open. This file has the events. images_replies.c has the
 * helper's replies, images_scan.c what happens before any event.
 */
#include "lib/clock.h"
#include "record/images_internal.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "record/kernel.h"
#include "target/code_file.h"

/* ---- open questions ---- */

struct asker {
	unsigned int open;
	uint64_t last_ns; /* time of its latest known question */
};

void questions_open(struct questions *q, pid_t pid, uint64_t ts_ns)
{
	struct asker *a = map_make(&q->askers, pid, sizeof(*a));

	a->open++;
	if (ts_ns > a->last_ns)
		a->last_ns = ts_ns;
}

void questions_close(struct questions *q, pid_t pid)
{
	struct asker *a = map_get(&q->askers, pid);
	uint32_t key = pid;

	if (!a || --a->open)
		return;
	/* if the kernel half asked none of these questions, its last answer remains valid */
	if (a->last_ns && bpf_map_update_elem(q->answered_fd, &key, &a->last_ns, BPF_ANY))
		log_debug("cannot answer process %d: %s", pid, strerror(errno));
	free(map_remove(&q->askers, pid));
}

/* ---- the parties ---- */

static struct link_programs entry_only(int prog_fd, enum link_api api)
{
	return (struct link_programs){.entry_fd = prog_fd, .ret_fd = -1, .api = api};
}

int images_new(struct kernel *k, const struct images_wanted *wanted, struct trace_writer *w,
	       struct images **out)
{
	struct images *im = xcalloc(1, sizeof(*im));
	int err;

	im->kernel = k;
	im->writer = w;
	im->record = wanted->record;
	im->record_ctx = wanted->ctx;
	im->waits = wanted->waits;
	im->inspect = (struct inspect_options){
		.calls = k->programs,
		.returns = k->returns,
		.unwinds = &im->unwinds,
		.loader = entry_only(wanted->machine_wide && !wanted->waits_wide ? -1 :
										   k->loader_fd,
				     k->programs.api),
		.waits = wanted->waits,
		.exec = entry_only(wanted->waits_wide ? k->exec_fd : -1, k->programs.api),
		.handover = entry_only(k->handover_fd, k->programs.api),
		.note = entry_only(k->note_fd, k->programs.api),
		.regions = k->regions,
		.region = wanted->region,
		.region_cnt = wanted->region_cnt,
		.wanted = wanted->function,
		.removable = wanted->removable,
		.preload = wanted->preload,
		.each = !wanted->machine_wide,
		.libs_fd = k->libs_fd,
		.handovers_fd = k->handovers_fd,
		.notes_fd = k->notes_fd,
	};
	im->known = (struct known_files){.writer = w, .files_fd = k->files_fd};
	err = helper_start(&im->inspect, &im->known.files, images_reply, images_request_known, im,
			   &im->helper);
	if (err) {
		free(im);
		return err;
	}
	im->users = (struct library_users){.writer = w, .helper = im->helper};
	im->bindings = (struct bindings){.kernel = k};
	im->questions = (struct questions){.answered_fd = k->answered_fd};
	im->links = (struct process_links){.each = im->inspect.each,
					   .helper = im->helper,
					   .files = &im->known,
					   .leftover = &k->leftover,
					   .late = images_late_note,
					   .is_served = images_is_served,
					   .exchanges = kernel_exchanges(k),
					   .ctx = im};
	*out = im;
	return 0;
}

void images_free(struct images *im)
{
	if (!im)
		return;
	helper_stop(im->helper);
	images_detach(im);
	process_links_release(&im->links);
	links_wait();
	known_files_release(&im->known);
	library_users_release(&im->users);
	map_free(&im->questions.askers, free);
	bindings_release(&im->bindings);
	map_release(&im->scanned);
	free(im);
}

int images_rank_of(const struct images *im, pid_t pid)
{
	return library_users_rank(&im->users, pid);
}

uint32_t images_rank_count(const struct images *im)
{
	return im->users.rank_cnt;
}

uint32_t images_library_count(const struct images *im)
{
	return (uint32_t)im->known.files.lib_cnt;
}

const json_t *images_library_meta(const struct images *im, uint32_t i)
{
	return im->known.files.lib[i]->meta;
}

bool images_have_region(const struct images *im, const char *name)
{
	return known_files_have_region(&im->known, name);
}

uint64_t images_probe_count(const struct images *im)
{
	return known_files_probes(&im->known);
}

bool images_answered(const struct images *im, pid_t pid)
{
	return !map_get(&im->questions.askers, (uint64_t)pid);
}

void images_libraries(const struct images *im, pid_t pid, library_place_fn *fn, void *ctx)
{
	library_places_each(&im->known.files, pid, fn, ctx);
}

void images_bindings(const struct images *im, pid_t pid, struct pov_bindings *out,
		     struct pov_step *step)
{
	bindings_get(&im->bindings, pid, out, step);
}

void images_detach(struct images *im)
{
	known_files_leave(&im->known, &im->kernel->leftover);
	process_links_leave(&im->links);
}

struct links_visit {
	images_links_fn *fn;
	void *ctx;
};

static void set_visit(void *ctx, struct link_set *set)
{
	const struct links_visit *v = ctx;

	if (set->file->lib)
		v->fn(v->ctx, &set->links);
}

void images_links_each(struct images *im, images_links_fn *fn, void *ctx)
{
	struct links_visit v = {fn, ctx};

	for (size_t i = 0; i < im->known.files.lib_cnt; i++)
		fn(ctx, &im->known.files.lib[i]->links);
	process_links_each(&im->links, set_visit, &v);
}

static bool is_of_gone(const struct perf_probe *p, const void *gone)
{
	return p->cnt == 1 && ((const bool *)gone)[p->member->func];
}

/*
 * Closes entry and return probes at the same time, because each removal takes the kernel long
 * (seconds under load). A call whose return is missed in between is only counted (frame_emit).
 */
void images_detach_functions(struct images *im, const bool *gone)
{
	struct perf_probes closing = {};

	for (size_t i = 0; i < im->known.files.lib_cnt; i++) {
		struct links *links = &im->known.files.lib[i]->links;

		probes_take(&links->entry, &closing, is_of_gone, gone);
		probes_take(&links->ret, &closing, is_of_gone, gone);
	}
	im->links.gone = gone;
	process_links_detach(&im->links, &closing);
	if (closing.cnt)
		probes_close_behind(&closing, NULL);
}

/* ---- events ---- */

static void functions_ask(struct images *im, pid_t pid, json_t *places, uint64_t ts_ns)
{
	questions_open(&im->questions, pid, ts_ns);
	helper_ask(im->helper, json_pack("{s:s,s:i,s:o,s:b}", "do", "functions", "pid", pid,
					 "places", places, "asked", 1));
}

/*
 * Handles a new mapping: asks the helper unless the file is known and has all probes that the
 * process needs.
 */
static void on_image(struct images *im, const struct pov_image *r)
{
	struct code_id id = {.dev = r->dev, .ino = r->ino, .stamp = r->stamp};
	struct code_file *f = code_files_find(&im->known.files, &id);

	if (!f || process_links_lack(&im->links, (pid_t)r->tgid, f)) {
		questions_open(&im->questions, r->tgid, r->hdr.ts_ns);
		helper_ask(im->helper,
			   json_pack("{s:s,s:i,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:b}", "do", "map",
				     "pid", r->tgid, "start", (json_int_t)r->start, "end",
				     (json_int_t)(r->start + r->len), "off", (json_int_t)r->off,
				     "dev", (json_int_t)r->dev, "ino", (json_int_t)r->ino, "stamp",
				     (json_int_t)r->stamp, "ts", (json_int_t)r->hdr.ts_ns, "live",
				     1, "new", (r->hdr.flags & POV_IMAGE_NEW) != 0));
		return;
	}
	known_files_describe(&im->known, &id, f);
	bindings_map(&im->bindings, (pid_t)r->tgid, f, r->start, r->len, r->off);
	if (library_users_map(&im->users, r->tgid, f, r->start, r->off, r->hdr.ts_ns))
		images_process_mapped(im, r->tgid, f,
				      r->hdr.flags & POV_IMAGE_NEW ? r->hdr.ts_ns : 0);
	if (r->hdr.flags & POV_IMAGE_NEW) { /* the file became known only after the event */
		process_links_move(&im->links, (pid_t)r->tgid, f, r->start, r->start + r->len);
		known_files_state(&im->known, &id, f);
		questions_open(&im->questions, r->tgid, r->hdr.ts_ns);
		images_loaded_note(im, r->tgid, f);
		questions_close(&im->questions, r->tgid);
	}
}

static void on_path(struct images *im, const struct pov_path *r)
{
	json_t *path = json_stringn(r->path, strnlen(r->path, sizeof(r->path)));

	questions_open(&im->questions, r->tgid, r->hdr.ts_ns);
	if (path)
		helper_ask(im->helper, json_pack("{s:s,s:i,s:I,s:o}", "do", "path", "pid", r->tgid,
						 "mnt_ns", (json_int_t)r->mnt_ns, "path", path));
	else
		questions_close(&im->questions, r->tgid);
}

/*
 * Handles a table of functions that was passed to a library. Many of its members are empty, or are
 * not pointers.
 */
static void on_handed(struct images *im, const struct pov_handed *r)
{
	json_t *places = json_array();

	for (uint32_t i = 0; i < r->cnt && i < POV_HANDED_MAX; i++)
		if (r->function[i].addr)
			json_array_append_new(places,
					      json_pack("[I,I]", (json_int_t)r->function[i].row,
							(json_int_t)r->function[i].addr));
	functions_ask(im, (pid_t)r->tgid, places, r->hdr.ts_ns);
}

/*
 * Gives a process its own probes in all files that it has mapped. Either it failed to record its
 * own calls, or its parent, which has probes, forked it. It does not wait if it is a child with a
 * copy of an initialised MPI: such a child can hardly use MPI.
 */
static void on_unreached(struct images *im, const struct pov_caller *r)
{
	pid_t pid = (pid_t)r->tgid;
	bool forked = r->hdr.flags == POV_WAIT_FORKED;

	questions_open(&im->questions, pid, r->hdr.ts_ns);
	if (!forked || library_users_may_begin(&im->users, pid)) {
		if (forked)
			process_links_waits(&im->links, pid);
		images_libraries_probe(im, pid);
	}
	questions_close(&im->questions, pid);
}

/*
 * Describes a process that initialises MPI. The MPI library can be asked only after the call has
 * succeeded and until MPI is finalised, so the process waits for the answer.
 */
static void on_init(struct images *im, pid_t pid, uint64_t ts_ns, bool done)
{
	if (done)
		questions_open(&im->questions, pid, ts_ns);
	if (!library_users_init(&im->users, pid, ts_ns, done) && done)
		questions_close(&im->questions, pid);
}

static void on_fork(struct images *im, const struct pov_fork *r)
{
	bool brief;

	library_users_fork(&im->users, r);
	if (r->child_tgid == r->parent_tgid)
		return;
	bindings_fork(&im->bindings, (pid_t)r->parent_tgid, (pid_t)r->child_tgid);
	if (!im->links.each)
		return;
	/* The child's loader does not have its waiting probe yet, unless all processes have it. */
	if (!im->known.loader_is_wide)
		bpf_map_delete_elem(im->kernel->waiting_fd, &r->child_tgid);
	/* A child can hardly use a copy of an initialised MPI. */
	brief = library_users_have(&im->users, (pid_t)r->child_tgid) &&
		!library_users_may_begin(&im->users, (pid_t)r->child_tgid);
	process_links_fork(&im->links, (pid_t)r->parent_tgid, (pid_t)r->child_tgid, brief,
			   r->hdr.ts_ns);
}

static void on_exit_record(struct images *im, const struct pov_exit *r)
{
	bool lives = kernel_target_lives(im->kernel, r->tgid);

	if (!lives && r->hdr.tid == r->tgid)
		library_users_exit(&im->users, r);
	if (!lives) {
		process_links_exit(&im->links, (pid_t)r->tgid, r->hdr.ts_ns);
		bindings_gone(&im->bindings, (pid_t)r->tgid);
	} else if (r->hdr.tid == r->tgid) {
		process_links_orphan(&im->links, (pid_t)r->tgid, r->hdr.ts_ns);
	}
}

void images_control(struct images *im, const struct pov_hdr *rec)
{
	switch (rec->kind) {
	case POV_KIND_IMAGE:
		on_image(im, (const struct pov_image *)rec);
		break;
	case POV_KIND_PATH:
		on_path(im, (const struct pov_path *)rec);
		break;
	case POV_KIND_UNREACHED:
		on_unreached(im, (const struct pov_caller *)rec);
		break;
	case POV_KIND_INIT:
		on_init(im, (pid_t)((const struct pov_caller *)rec)->tgid, rec->ts_ns,
			rec->flags & POV_INIT_DONE);
		break;
	case POV_KIND_HANDED:
		on_handed(im, (const struct pov_handed *)rec);
		break;
	case POV_KIND_FORK:
		on_fork(im, (const struct pov_fork *)rec);
		break;
	case POV_KIND_EXEC:
		library_users_exec(&im->users, ((const struct pov_task *)rec)->tgid);
		bindings_gone(&im->bindings, (pid_t)((const struct pov_task *)rec)->tgid);
		process_links_exec(&im->links, (pid_t)((const struct pov_task *)rec)->tgid);
		break;
	case POV_KIND_RENAME:
		library_users_rename(&im->users, (const struct pov_task *)rec);
		break;
	case POV_KIND_EXIT:
		on_exit_record(im, (const struct pov_exit *)rec);
		break;
	case POV_KIND_CALLER:
		process_links_call(&im->links, (pid_t)((const struct pov_caller *)rec)->tgid);
		if (!library_users_call(&im->users, ((const struct pov_caller *)rec)->tgid))
			images_scan(im, ((const struct pov_caller *)rec)->tgid);
		break;
	}
}

void images_poll(struct images *im)
{
	uint64_t now_ns = clock_now_ns();

	process_links_poll(&im->links, now_ns);
	helper_poll(im->helper, now_ns);
}

void images_limits_read(struct images *im, uint64_t age_ns)
{
	cgroup_limits_read_cpu(&im->users.limits, clock_now_ns(), age_ns);
	if (!age_ns)
		cgroup_limits_read_memory(&im->users.limits, clock_now_ns());
}

void images_limits_write(const struct images *im)
{
	cgroup_limits_write(&im->users.limits, im->writer);
}

int images_fd(const struct images *im)
{
	return helper_fd(im->helper);
}

uint64_t images_helper_cpu_ns(const struct images *im)
{
	return helper_cpu_ns(im->helper);
}

void images_taken(struct images *im, pid_t pid)
{
	if (!im->taken_cnt++)
		log_warn("process %d is recorded by another povtrace: its MPI calls are missing "
			 "here, and perhaps those of other processes",
			 pid);
	im->links.unprobed++;
}

uint64_t images_unprobed(const struct images *im)
{
	return im->links.unprobed;
}

void images_unprobed_note(struct images *im)
{
	im->links.unprobed++;
}

bool images_settled(const struct images *im)
{
	return helper_is_idle(im->helper);
}
