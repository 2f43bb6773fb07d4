/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What images asks the helper about files, and what it does with the replies. See images.c. */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "trace/trace_write.h"
#include "record/images_internal.h"
#include "record/kernel.h"
#include "target/code_file.h"
#include "target/proc.h"

#define LATE_SAID_MAX 4

/* Prints at most LATE_SAID_MAX warnings, because all ranks of a job may be late. */
static void late_warn(struct images *im, pid_t pid, const struct code_file *f, uint64_t late_ns)
{
	if (im->late_cnt++ < LATE_SAID_MAX)
		log_warn("process %d mapped %s %" PRIu64
			 " ms before probes were in it: MPI calls until then are not recorded",
			 pid, f->path, late_ns / 1000000);
	else if (im->late_cnt == LATE_SAID_MAX + 1)
		log_warn("more processes got their probes late: see the report, section Coverage");
}

void images_late_note(void *ctx, pid_t pid, const struct code_file *f, uint64_t ts_ns,
		      uint64_t late_ns)
{
	struct images *im = ctx;

	late_warn(im, pid, f, late_ns);
	trace_writer_meta(im->writer, json_pack("{s:s,s:I,s:i,s:i,s:I}", "type", "late", "ts_ns",
						(json_int_t)ts_ns, "pid", pid, "library",
						f->lib->id, "late_ns", (json_int_t)late_ns));
}

bool images_is_served(void *ctx, pid_t pid)
{
	const struct images *im = ctx;
	uint32_t key = pid, value;

	return !bpf_map_lookup_elem(im->kernel->preload_loaded_fd, &key, &value);
}

void images_loaded_note(const struct images *im, uint32_t pid, const struct code_file *f)
{
	uint32_t one = 1;

	if (f->is_preload && im->inspect.preload &&
	    bpf_map_update_elem(im->kernel->preload_loaded_fd, &pid, &one, BPF_ANY))
		log_debug("cannot note that process %u has loaded our library: %s", pid,
			  strerror(errno));
}

/* Returns true if the process began to run a library, mapped at mapped_ns, without probes. */
static bool library_is_late(struct images *im, pid_t pid, const struct code_file *f,
			    uint64_t mapped_ns)
{
	uint32_t key = pid;
	uint64_t since_ns;
	bool waits = !bpf_map_lookup_elem(im->kernel->waiting_fd, &key, &since_ns);

	if (images_is_served(im, pid) || (f->is_program && im->waits))
		return false;
	/* If all loaders have the probe, a program's code runs after its loader, which waits. */
	return im->links.each ? !waits || since_ns > mapped_ns :
				!waits && (!f->is_program || im->inspect.loader.entry_fd < 0);
}

/* Warns about a static program, which has no loader in which it could have waited. */
static void regions_late_check(struct images *im, pid_t pid, const struct code_file *f,
			       uint64_t mapped_ns)
{
	if (f->has_regions && f->is_main && !f->is_program && !f->lib &&
	    im->late_cnt++ < LATE_SAID_MAX)
		log_warn("process %d executed %s %" PRIu64
			 " ms before probes were in it: its regions until then are not recorded",
			 pid, f->path, (clock_now_ns() - mapped_ns) / 1000000);
}

void images_process_mapped(struct images *im, pid_t pid, const struct code_file *file,
			   uint64_t mapped_ns)
{
	bool late = mapped_ns && library_is_late(im, pid, file, mapped_ns);

	if (late)
		images_late_note(im, pid, file, mapped_ns, clock_now_ns() - mapped_ns);
	if (!file->is_main)
		library_users_describe(&im->users, pid);
	if (late)
		library_users_ran(&im->users, pid);
}

static void binding_add(struct images *im, const json_t *request, struct code_file *f)
{
	uint64_t start = json_get_u64(request, "start");

	bindings_map(&im->bindings, (pid_t)json_get_int(request, "pid"), f, start,
		     json_get_u64(request, "end") - start, json_get_u64(request, "off"));
}

struct loader_users {
	const struct images *im;
	uint64_t ino;
	bool others;
};

/* Compares inode numbers only, because some filesystems show two device numbers for a file. */
static int loader_user_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct loader_users *u = ctx;
	uint32_t key = (uint32_t)pid, state;
	struct proc_maps maps;

	if (proc_maps_read(pid, &maps))
		return 0;
	if (table_any(maps.cnt, i, maps.map[i].ino == u->ino))
		u->others = bpf_map_lookup_elem(u->im->kernel->targets_fd, &key, &state) ||
			    proc_is_launched(pid);
	proc_maps_release(&maps);
	return u->others; /* ends the search */
}

/*
 * Returns true if a loader belongs to a container: all processes that map it are recorded, and none
 * of them has the preload library. They start each other too fast for each to get a probe of its
 * own in time.
 */
static bool loader_is_ours(const struct images *im, struct code_file *f)
{
	struct loader_users u = {.im = im, .ino = f->id.ino};

	if (im->inspect.calls.api != LINK_MULTI) /* the probe would overwrite the library's jump */
		return false;
	if (!f->is_judged) {
		proc_for_each(loader_user_visit, &u);
		f->is_judged = true;
		f->is_shared = u.others;
		if (!f->is_shared)
			log_info("%s is a container's loader: all processes that start with it hit "
				 "a probe until the recording ends",
				 f->path);
	}
	return !f->is_shared;
}

/*
 * Handles the loader of a program that nobody has announced: a container engine has executed it
 * without the environment of the command. What the program starts waits in the same loader.
 */
static void loader_mapped(struct images *im, const json_t *request, struct code_file *f)
{
	pid_t pid = (pid_t)json_get_int(request, "pid");

	if (!im->waits || !im->links.each || f->lib || !f->sites || f->is_wide ||
	    proc_same_namespace(pid, "mnt") || !loader_is_ours(im, f))
		return;
	questions_open(&im->questions, pid, 0);
	process_links_ask(&im->links, f,
			  json_pack("{s:i,s:O,s:O,s:b,s:b,s:b,s:b}", "pid", pid, "start",
				    json_object_get(request, "start"), "end",
				    json_object_get(request, "end"), "asked", 1, "wide", 1, "soon",
				    1, "loader", 1));
}

/* Finishes a mapping whose file is known and has the probes that the process needs. */
static void map_done(struct images *im, const json_t *request, struct code_file *f)
{
	uint64_t ts = json_get_u64(request, "ts");
	pid_t pid = (pid_t)json_get_int(request, "pid");
	bool live = json_get_bool(request, "live");

	if (live)
		images_loaded_note(im, (uint32_t)pid, f);
	if (live && json_get_bool(request, "new")) {
		regions_late_check(im, pid, f, ts);
		loader_mapped(im, request, f);
	}
	if (library_users_map(&im->users, pid, f, json_get_u64(request, "start"),
			      json_get_u64(request, "off"), ts) &&
	    live)
		images_process_mapped(im, pid, f, json_get_bool(request, "new") ? ts : 0);
}

/*
 * Handles the helper's reply about a mapping. From now on its file is also found by the kernel's
 * id.
 */
static void on_map(struct images *im, const json_t *request, const json_t *reply)
{
	pid_t pid = (pid_t)json_get_int(request, "pid");
	bool live = json_get_bool(request, "live");
	struct code_id id = helper_message_id(request), said = helper_message_id(reply);
	const char *failed = json_get_text(reply, "failed");
	struct code_file *f = said.ino ? code_files_find(&im->known.files, &said) : NULL;
	int error = (int)json_get_int(reply, "error");

	if (!live)
		id.stamp = said.stamp;
	if (!f && failed[0])
		f = known_files_failed(&im->known, &id, failed);
	else if (!f && error && error != -ENOENT && error != -ESRCH)
		f = known_files_failed(&im->known, &id, strerror(-error));
	else if (!f && error)
		log_debug("process %d: a file that it mapped was gone before it was inspected",
			  pid);
	if (f) {
		known_files_name(&im->known, &id, f);
		known_files_describe(&im->known, &id, f);
		if (!live)
			map_set(&im->scanned, process_links_file_key(id.dev, id.ino), f);
		binding_add(im, request, f);
		if (json_get_bool(request, "look"))
			return;
		if (process_links_lack(&im->links, pid, f)) {
			process_links_ask(&im->links, f, json_copy((json_t *)request));
			return; /* the process waits until on_attach */
		}
		map_done(im, request, f);
	}
	if (live)
		questions_close(&im->questions, pid);
}

/*
 * Handles the reply to a request for a process's probes in a file. The process maps the file, was
 * forked, or was passed functions of it.
 */
static void on_attach(struct images *im, const json_t *request, struct code_file *f)
{
	if (f && json_object_get(request, "off"))
		map_done(im, request, f);
	if (json_get_bool(request, "live") || json_get_bool(request, "asked"))
		questions_close(&im->questions, (pid_t)json_get_int(request, "pid"));
}

static bool attach_known(struct images *im, json_t *request)
{
	struct code_id id = helper_message_id(json_object_get(request, "file"));

	if (!process_links_known(&im->links, request))
		return false;
	on_attach(im, request, code_files_find(&im->known.files, &id));
	return true;
}

bool images_request_known(void *ctx, json_t *request)
{
	struct code_id id = helper_message_id(request);
	const char *what = json_get_text(request, "do");
	struct images *im = ctx;

	if (!strcmp(what, "attach"))
		return attach_known(im, request);
	if (!json_get_bool(request, "live") || !code_files_find(&im->known.files, &id))
		return false;
	on_map(im, request, request);
	return true;
}

/*
 * Stores this path for the kernel half, so that for a moment other processes that execute it do not
 * wait. Skips a relative path, because it names another file in another folder.
 */
static void path_known(struct images *im, const json_t *request)
{
	const char *path = json_get_text(request, "path");
	_Alignas(8) char padded[POV_PATH_KEY_BYTES] = "";
	size_t bytes = strlen(path) + 1;
	uint64_t now = clock_now_ns();
	struct pov_path_key key;

	if (path[0] != '/' || bytes > sizeof(padded))
		return;
	memcpy(padded, path, bytes);
	key = (struct pov_path_key){
		.hash = pov_path_hash(padded),
		.mnt_ns = (uint32_t)json_get_int(request, "mnt_ns"),
		.bytes = (uint32_t)bytes,
	};
	if (bpf_map_update_elem(im->kernel->paths_fd, &key, &now, BPF_ANY))
		log_debug("cannot store the path of a program: %s", strerror(errno));
}

/*
 * Attaches the probe by which a process will wait in the loader of the program that it is about to
 * execute. The loader is the last of the inspected files.
 */
static void program_reply(struct images *im, const json_t *request, const json_t *reply)
{
	struct code_id id = helper_message_id(reply);
	struct code_file *f = code_files_find(&im->known.files, &id);
	pid_t pid = (pid_t)json_get_int(request, "pid");

	if (!f || !f->sites || f->lib || f->is_wide || !im->links.each)
		return;
	questions_open(&im->questions, pid, 0);
	process_links_ask(&im->links, f,
			  json_pack("{s:i,s:O,s:b,s:b}", "pid", pid, "path",
				    json_object_get(reply, "last"), "asked", 1, "wide",
				    loader_is_ours(im, f)));
}

static void on_path_reply(struct images *im, const json_t *request, const json_t *reply)
{
	if (json_get_bool(request, "program"))
		program_reply(im, request, reply);
	else if (!json_get_text(reply, "failed")[0])
		path_known(im, request);
	questions_close(&im->questions, (pid_t)json_get_int(request, "pid"));
}

void images_program(struct images *im, pid_t pid, const char *path)
{
	json_t *name = json_string(path);

	if (!name)
		return;
	questions_open(&im->questions, pid, 0);
	helper_ask(im->helper, json_pack("{s:s,s:i,s:o,s:b}", "do", "path", "pid", pid, "path",
					 name, "program", 1));
}

static json_t *place_request(const struct library_place *at)
{
	return json_pack("{s:i,s:I,s:I,s:b}", "pid", at->pid, "start", (json_int_t)at->map->start,
			 "end", (json_int_t)at->map->end, "asked", 1);
}

static void lacking_probe(void *ctx, const struct library_place *at)
{
	struct images *im = ctx;

	if (!process_links_lack(&im->links, at->pid, at->file))
		return;
	questions_open(&im->questions, at->pid, 0);
	process_links_ask(&im->links, at->file, place_request(at));
}

void images_libraries_probe(struct images *im, pid_t pid)
{
	library_places_each(&im->known.files, pid, lacking_probe, im);
}

static void on_functions_reply(struct images *im, const json_t *request, const json_t *reply)
{
	const char *failed = json_get_text(reply, "failed");
	bool asked = json_get_bool(request, "asked");
	char cnt[64];

	if (failed[0])
		log_warn("process %lld: cannot probe the functions that it was passed: %s",
			 (long long)json_get_int(request, "pid"), failed);
	else if (json_get_int(reply, "elsewhere") && !asked)
		log_info("process %lld was passed %s outside of the recorded libraries, whose "
			 "calls are not recorded",
			 (long long)json_get_int(request, "pid"),
			 human_plural(cnt, sizeof(cnt), json_get_u64(reply, "elsewhere"),
				      "function", "functions"));
	images_libraries_probe(im, (pid_t)json_get_int(request, "pid"));
	if (asked)
		questions_close(&im->questions, (pid_t)json_get_int(request, "pid"));
}

/* Warns only once about unsearched memory, because all ranks of a job may be as large. */
static void on_handed_ops_reply(struct images *im, const json_t *request, const json_t *reply)
{
	uint64_t left = json_get_u64(reply, "left_bytes");
	const char *failed = json_get_text(reply, "failed");
	json_int_t pid = json_get_int(request, "pid");
	char bytes[32];

	images_libraries_probe(im, (pid_t)pid);
	if (failed[0])
		log_warn("process %lld: cannot search its memory for functions that it was passed "
			 "before the recording: %s",
			 (long long)pid, failed);
	else if (left && !im->large_cnt++)
		log_warn("process %lld: %s of its memory were not searched for functions that it "
			 "was passed before the recording: calls of some may be missing",
			 (long long)pid, human_bytes(bytes, sizeof(bytes), left));
}

static void on_process_reply(struct images *im, const json_t *request, const json_t *reply)
{
	library_users_reply(&im->users, request, reply);
	if (json_get_bool(request, "asked"))
		questions_close(&im->questions, (pid_t)json_get_int(request, "pid"));
}

void images_reply(void *ctx, const json_t *request, const json_t *reply, struct links *links)
{
	const json_t *file = json_object_get(reply, "file");
	const char *what = json_get_text(request, "do");
	struct images *im = ctx;

	im->unwinds |= json_get_bool(file, "unwinds");
	if (file)
		known_files_reply(&im->known, file, links);
	else if (json_object_get(reply, "added"))
		known_files_more(&im->known, json_object_get(reply, "added"), links);
	else if (!strcmp(what, "map"))
		on_map(im, request, reply);
	else if (!strcmp(what, "attach"))
		on_attach(im, request, process_links_reply(&im->links, request, reply, links));
	else if (!strcmp(what, "path"))
		on_path_reply(im, request, reply);
	else if (!strcmp(what, "process"))
		on_process_reply(im, request, reply);
	else if (!strcmp(what, "functions"))
		on_functions_reply(im, request, reply);
	else if (!strcmp(what, "handed_ops"))
		on_handed_ops_reply(im, request, reply);
	else if (json_get_text(reply, "failed")[0])
		log_warn("cannot inspect the libraries that the command will load: %s",
			 json_get_text(reply, "failed"));
}

struct row_probing {
	struct images *im;
	const struct library *lib;
	const uint16_t *row;
	size_t cnt;
	size_t asked;
};

static void rows_probe(void *ctx, const struct library_place *at)
{
	struct row_probing *p = ctx;
	size_t asked;

	if (at->file->lib != p->lib)
		return;
	asked = process_links_ask_rows(&p->im->links, at->file, place_request(at), p->row, p->cnt);
	if (asked)
		questions_open(&p->im->questions, at->pid, 0);
	p->asked += asked;
}

size_t images_probe_rows(struct images *im, pid_t pid, const struct library *lib,
			 const uint16_t *row, size_t cnt)
{
	struct row_probing p = {im, lib, row, cnt, 0};

	library_places_each(&im->known.files, pid, rows_probe, &p);
	return p.asked;
}
