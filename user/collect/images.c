/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Three things meet here: events of the kernel half (who maps what), replies of the helper (what that is), and the
 * processes that wait. A process may have asked several times; it is answered when none of its questions is open.
 */
#include "collect/images.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/config.h"
#include "attach/code_file.h"
#include "attach/helper.h"
#include "attach/launch.h"
#include "attach/launch_env.h"
#include "attach/proc.h"
#include "base/log.h"
#include "base/map.h"
#include "collect/kernel.h"
#include "trace/trace_write.h"

#define PROCESS_LIBS_MAX 8

/* A process that maps MPI libraries. */
struct process {
	pid_t pid;
	bool described;
	uint64_t renamed_ns; /* when it last got a name: exec does that before it maps anything */
	unsigned int nlibs;
	struct {
		const struct library *lib;
		uint64_t bias, since_ns;
	} libs[PROCESS_LIBS_MAX];
};

/* A process with open questions. */
struct asker {
	unsigned int open;
	uint64_t last_ns; /* of its questions that have been heard of */
};

struct images {
	struct kernel *kernel;
	struct trace_writer *writer;
	struct inspect_options inspect;
	struct helper *helper;
	struct links waits; /* probes in loaders and C libraries */
	struct code_files files;
	struct map scanned; /* hash of device and number → file, for processes that ran before */
	struct map processes; /* pid → struct process */
	struct map askers;    /* pid → struct asker */
	struct map rank_of;   /* pid → world rank + 1 */
	uint32_t rank_cnt;    /* ever */
};

static helper_reply_fn on_reply;
static helper_known_fn map_known;

static struct link_programs entry_only(int prog_fd, enum link_api api)
{
	return (struct link_programs){.entry_fd = prog_fd, .ret_fd = -1, .api = api};
}

int images_new(struct kernel *k, const bool *wanted, struct trace_writer *w, struct images **out)
{
	struct images *im = xcalloc(1, sizeof(*im));
	int err;

	im->kernel = k;
	im->writer = w;
	im->inspect = (struct inspect_options){
		.calls = k->programs,
		.loader = entry_only(k->loader_fd, k->programs.api),
		.exec = entry_only(k->exec_fd, k->programs.api),
		.wanted = wanted,
		.libs_fd = k->libs_fd,
	};
	err = helper_start(&im->inspect, &im->files, on_reply, map_known, im, &im->helper);
	if (err)
		free(im);
	else
		*out = im;
	return err;
}

static void values_free(struct map *m)
{
	void *v;

	for (size_t at = 0; (v = map_next(m, &at, NULL));)
		free(v);
	map_release(m);
}

void images_free(struct images *im)
{
	if (!im)
		return;
	helper_stop(im->helper);
	images_detach(im);
	code_files_release(&im->files);
	values_free(&im->processes);
	values_free(&im->askers);
	map_release(&im->scanned);
	map_release(&im->rank_of);
	free(im);
}

int images_rank_of(const struct images *im, pid_t pid)
{
	uintptr_t v = (uintptr_t)map_get(&im->rank_of, pid);

	return v ? (int)v - 1 : -1;
}

uint32_t images_rank_count(const struct images *im)
{
	return im->rank_cnt;
}

uint32_t images_library_count(const struct images *im)
{
	return (uint32_t)im->files.lib_cnt;
}

const json_t *images_library_meta(const struct images *im, uint32_t i)
{
	return im->files.lib[i]->meta;
}

uint64_t images_probe_count(const struct images *im)
{
	uint64_t n = 0;

	for (size_t i = 0; i < im->files.lib_cnt; i++)
		n += im->files.lib[i]->attached;
	return n;
}

void images_detach(struct images *im)
{
	size_t cnt = im->files.lib_cnt;
	struct links **all = xcalloc(cnt + 1, sizeof(struct links *));

	for (size_t i = 0; i < cnt; i++)
		all[i] = &im->files.lib[i]->links;
	all[cnt] = &im->waits;
	links_leave(all, cnt + 1, &im->kernel->spent);
	free(all);
}

/* Writes and releases a meta object. */
static void meta_write(struct images *im, json_t *meta)
{
	char *text = json_dumps(meta, JSON_COMPACT);

	json_decref(meta);
	if (!text)
		return;
	trace_writer_meta(im->writer, text);
	free(text);
}

/* ---- processes that use MPI ---- */

static json_t *process_libs_json(const struct process *p)
{
	json_t *libs = json_array();
	char bias[24];

	for (unsigned int i = 0; i < p->nlibs; i++) {
		snprintf(bias, sizeof(bias), "0x%" PRIx64, p->libs[i].bias);
		json_array_append_new(libs, json_pack("{s:i,s:s}", "id", p->libs[i].lib->id, "bias",
						      bias));
	}
	return libs;
}

/* Has a "process" meta object written. What it maps is said here and now, the rest when the helper has read it. */
static void process_describe(struct images *im, struct process *p)
{
	json_t *copies = NULL;

	for (unsigned int i = 0; i < p->nlibs && !copies; i++)
		if (json_array_size(p->libs[i].lib->copies))
			copies = p->libs[i].lib->copies;
	if (!p->described)
		im->rank_cnt++;
	p->described = true;
	helper_ask(im->helper, json_pack("{s:s,s:i,s:o,s:O?}", "do", "process", "pid", p->pid,
					 "libs", process_libs_json(p), "copies", copies));
}

static void on_process(struct images *im, const json_t *request, const json_t *reply)
{
	json_t *m = json_object_get(reply, "process");
	json_int_t rank;

	if (!m)
		return;
	json_object_set_new(m, "type", json_string("process"));
	json_object_set_new(m, "ts_ns", json_integer(kernel_now_ns()));
	json_object_set(m, "libs", json_object_get(request, "libs"));
	rank = json_integer_value(json_object_get(m, "rank"));
	if (rank >= 0)
		map_set(&im->rank_of, (uint64_t)json_integer_value(json_object_get(m, "pid")),
			(void *)((uintptr_t)rank + 1));
	meta_write(im, json_incref(m));
}

static struct process *process_of(struct images *im, pid_t pid)
{
	struct process *p = map_get(&im->processes, pid);

	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	map_set(&im->processes, pid, p);
	return p;
}

/* Notes that a process maps a file; true if it is a traced one that was not known of it. */
static bool process_add_file(struct images *im, pid_t pid, const struct code_file *file,
			     uint64_t start, uint64_t off, uint64_t since_ns)
{
	struct process *p;
	uint64_t bias;

	if (!file->lib || code_file_bias(file, start, off, &bias))
		return false;
	p = process_of(im, pid);
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

/* While a program is being executed, its process has no environment yet: it is described after that (on_exec). */
static void process_mapped(struct images *im, pid_t pid, const struct code_file *file)
{
	if (!file->is_main)
		process_describe(im, map_get(&im->processes, pid));
}

static void process_forget(struct images *im, pid_t pid)
{
	free(map_remove(&im->processes, pid));
}

/* ---- files ---- */

/* "image": which file a key of the kernel half stands for. */
static void image_describe(struct images *im, const struct code_id *id, struct code_file *f)
{
	if (code_id_equal(&f->described, id))
		return;
	f->described = *id;
	meta_write(im,
		   json_pack("{s:s,s:I,s:I,s:s,s:s}", "type", "image", "dev", (json_int_t)id->dev,
			     "ino", (json_int_t)id->ino, "path", f->path, "build_id", f->build_id));
}

/* Tells the kernel half that a file has been looked at. */
static void file_state_set(struct images *im, const struct code_id *id, const struct code_file *f)
{
	struct pov_file_key key = {.ino = id->ino, .stamp = id->stamp, .dev = (uint32_t)id->dev};
	uint32_t state = f->lib ? POV_FILE_TRACED : POV_FILE_PLAIN;

	if (bpf_map_update_elem(im->kernel->files_fd, &key, &state, BPF_ANY))
		log_debug("files: %s", strerror(errno));
}

static void file_name(struct images *im, const struct code_id *id, struct code_file *f)
{
	code_files_add(&im->files, id, f);
	file_state_set(im, id, f);
}

static struct code_id id_of(const json_t *o)
{
	return (struct code_id){
		.dev = (uint64_t)json_integer_value(json_object_get(o, "dev")),
		.ino = (uint64_t)json_integer_value(json_object_get(o, "ino")),
		.stamp = (uint64_t)json_integer_value(json_object_get(o, "stamp")),
	};
}

static const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s ? s : "";
}

static void library_say(const struct code_file *f, const json_t *meta)
{
	const char *refused = text_of(meta, "refused"), *unsure = text_of(meta, "unsure");
	size_t failed = json_array_size(json_object_get(meta, "failed"));

	if (refused[0])
		log_warn("attach: %s: %zu of %zu probes refused: %s; `povtrace report` names them",
			 f->path, failed, failed + f->lib->attached, refused);
	if (!f->lib->attached)
		log_error("attach: %s: no probe could be attached; is it stripped?", f->path);
	if (unsure[0])
		log_warn("attach: %s: %s", f->path, unsure);
	log_info("%s: %s %s, %zu probes", f->path, text_of(meta, "flavour"),
		 text_of(meta, "version"), f->lib->attached);
}

static void library_new(struct images *im, struct code_file *f, const json_t *o,
			struct links *links)
{
	json_t *meta = json_object_get(o, "library");
	struct library *lib = xcalloc(1, sizeof(*lib));

	lib->id = (uint16_t)json_integer_value(json_object_get(o, "lib_id"));
	lib->owner = (uid_t)json_integer_value(json_object_get(o, "owner"));
	lib->attached = (size_t)json_integer_value(json_object_get(meta, "attached"));
	lib->copies = json_incref(json_object_get(o, "copies"));
	lib->links = *links;
	memset(links, 0, sizeof(*links));
	f->lib = lib;
	code_files_add_library(&im->files, lib);
	json_object_set_new(meta, "id", json_integer(lib->id));
	json_object_set_new(meta, "path", json_string(f->path));
	json_object_set_new(meta, "dev", json_integer((json_int_t)f->id.dev));
	json_object_set_new(meta, "ino", json_integer((json_int_t)f->id.ino));
	library_say(f, meta);
	lib->meta = json_incref(meta);
	meta_write(im, json_incref(meta));
}

/* Probes by which processes wait: kept until the end. */
static void wait_links_take(struct images *im, struct links *links)
{
	for (size_t i = 0; i < links->entry_cnt; i++)
		links_add(&im->waits, false, &links->entry[i]);
	links->entry_cnt = 0;
}

static void file_error_say(const struct code_file *f)
{
	/* Most of what is not ELF for this machine is data, or programs of other machines. */
	if (f->error == -ENOEXEC || !f->error)
		return;
	if (f->error == -ENOSPC)
		log_warn(
			"%s: an MPI library too many (%d in all, fewer of one owner): its calls are not recorded",
			f->path, POV_LIBS_MAX);
	else if (f->error != -ENOENT)
		log_warn("%s: cannot be looked at (%s); MPI calls in it would not be seen", f->path,
			 strerror(-f->error));
}

static void on_file(struct images *im, const json_t *o, struct links *links)
{
	struct code_file *f = xcalloc(1, sizeof(*f));

	f->id = id_of(o);
	f->path = xstrdup(text_of(o, "path"));
	f->build_id = xstrdup(text_of(o, "build_id"));
	f->error = (int)json_integer_value(json_object_get(o, "error"));
	f->is_loader = json_is_true(json_object_get(o, "loader"));
	f->is_main = json_is_true(json_object_get(o, "main"));
	f->is_program = json_is_true(json_object_get(o, "program"));
	f->segments = json_incref(json_object_get(o, "segments"));
	if (json_object_get(o, "library"))
		library_new(im, f, o, links);
	else
		wait_links_take(im, links);
	file_error_say(f);
	file_name(im, &f->id, f);
}

/* ---- questions ---- */

static void question_open(struct images *im, pid_t pid, uint64_t ts_ns)
{
	struct asker *a = map_get(&im->askers, pid);

	if (!a) {
		a = xcalloc(1, sizeof(*a));
		map_set(&im->askers, pid, a);
	}
	a->open++;
	if (ts_ns > a->last_ns)
		a->last_ns = ts_ns;
}

static void question_close(struct images *im, pid_t pid)
{
	struct asker *a = map_get(&im->askers, pid);
	uint32_t key = pid;

	if (!a || --a->open)
		return;
	if (bpf_map_update_elem(im->kernel->answered_fd, &key, &a->last_ns, BPF_ANY))
		log_debug("answer to %d: %s", pid, strerror(errno));
	free(map_remove(&im->askers, pid));
}

/* It had begun to run what was mapped before probes were in it. */
static void late_check(struct images *im, pid_t pid, const struct code_file *f, uint64_t mapped_ns)
{
	uint64_t late_ns = kernel_now_ns() - mapped_ns;
	uint32_t key = pid, value;

	/* A program's own code runs after its loader, which waits. */
	if ((f->is_program && im->kernel->features.wait) ||
	    !bpf_map_lookup_elem(im->kernel->waiting_fd, &key, &value))
		return;
	log_warn("process %d mapped %s %" PRIu64
		 " ms before probes were in it: MPI calls that it made until then are not recorded",
		 pid, f->path, late_ns / 1000000);
	meta_write(im, json_pack("{s:s,s:I,s:i,s:i,s:I}", "type", "late", "ts_ns",
				 (json_int_t)mapped_ns, "pid", pid, "library", f->lib->id,
				 "late_ns", (json_int_t)late_ns));
}

/* A file that the helper could not tell anything about, under the name that the kernel has for it. */
static struct code_file *file_unknown(struct images *im, const struct code_id *id, const char *why)
{
	struct code_file *f = xcalloc(1, sizeof(*f));

	f->id = *id;
	f->path = xasprintf("(file %" PRIu64 " on device %" PRIu64 ":%" PRIu64 ")", id->ino,
			    id->dev >> 20, id->dev & 0xfffff);
	f->build_id = xstrdup("");
	f->error = -EIO;
	log_warn("%s: cannot be looked at (%s); MPI calls in it would not be seen", f->path, why);
	file_name(im, id, f);
	return f;
}

static uint64_t scan_key(uint64_t dev, uint64_t ino)
{
	return ino * 0x9e3779b97f4a7c15u ^ dev;
}

/* What became of a mapping: its file is known now by the kernel's id, too. */
static void on_map(struct images *im, const json_t *request, const json_t *reply)
{
	pid_t pid = (pid_t)json_integer_value(json_object_get(request, "pid"));
	uint64_t ts = (uint64_t)json_integer_value(json_object_get(request, "ts"));
	uint64_t start = (uint64_t)json_integer_value(json_object_get(request, "start"));
	uint64_t off = (uint64_t)json_integer_value(json_object_get(request, "off"));
	bool live = json_is_true(json_object_get(request, "live"));
	struct code_id id = id_of(request), said = id_of(reply);
	const char *failed = text_of(reply, "failed");
	struct code_file *f = said.ino ? code_files_find(&im->files, &said) : NULL;
	int error = (int)json_integer_value(json_object_get(reply, "error"));

	if (!live)
		id.stamp = said.stamp;
	if (!f && failed[0])
		f = file_unknown(im, &id, failed);
	else if (!f && error && error != -ENOENT && error != -ESRCH)
		f = file_unknown(im, &id, strerror(-error));
	if (f) {
		file_name(im, &id, f);
		image_describe(im, &id, f);
		if (!live)
			map_set(&im->scanned, scan_key(id.dev, id.ino), f);
		if (process_add_file(im, pid, f, start, off, ts) && live) {
			if (json_is_true(json_object_get(request, "new")))
				late_check(im, pid, f, ts);
			process_mapped(im, pid, f);
		}
	}
	if (live)
		question_close(im, pid);
}

/* Another process has asked about the same file, and been answered. */
static bool map_known(void *ctx, const json_t *request)
{
	struct code_id id = id_of(request);
	struct images *im = ctx;

	if (!json_is_true(json_object_get(request, "live")) || !code_files_find(&im->files, &id))
		return false;
	on_map(im, request, request);
	return true;
}

/* The next one that executes this name need not wait. A relative name is another file elsewhere. */
static void path_known(struct images *im, const json_t *request)
{
	const char *path = text_of(request, "path");
	struct pov_path key = {};
	uint32_t one = 1;

	if (path[0] != '/' || strlen(path) >= POV_PATH_KEY_BYTES - sizeof(key.mnt_ns))
		return;
	key.mnt_ns = (uint32_t)json_integer_value(json_object_get(request, "mnt_ns"));
	memcpy(key.path, path, strlen(path));
	if (bpf_map_update_elem(im->kernel->paths_fd, &key.mnt_ns, &one, BPF_ANY))
		log_debug("paths: %s", strerror(errno));
}

static void on_path_reply(struct images *im, const json_t *request, const json_t *reply)
{
	if (!text_of(reply, "failed")[0])
		path_known(im, request);
	question_close(im, (pid_t)json_integer_value(json_object_get(request, "pid")));
}

static void on_reply(void *ctx, const json_t *request, const json_t *reply, struct links *links)
{
	const json_t *file = json_object_get(reply, "file");
	const char *what = text_of(request, "do");
	struct images *im = ctx;

	if (file)
		on_file(im, file, links);
	else if (!strcmp(what, "map"))
		on_map(im, request, reply);
	else if (!strcmp(what, "path"))
		on_path_reply(im, request, reply);
	else if (!strcmp(what, "process"))
		on_process(im, request, reply);
	else if (text_of(reply, "failed")[0])
		log_warn("what the command will load could not be looked at beforehand: %s",
			 text_of(reply, "failed"));
}

/* ---- events ---- */

/* The mapping tells all that is needed where its file is known. */
static void on_image(struct images *im, const struct pov_image *r)
{
	struct code_id id = {.dev = r->dev, .ino = r->ino, .stamp = r->stamp};
	struct code_file *f = code_files_find(&im->files, &id);

	if (!f) {
		question_open(im, r->tgid, r->hdr.ts_ns);
		helper_ask(im->helper,
			   json_pack("{s:s,s:i,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:b}", "do", "map",
				     "pid", r->tgid, "start", (json_int_t)r->start, "end",
				     (json_int_t)(r->start + r->len), "off", (json_int_t)r->off,
				     "dev", (json_int_t)r->dev, "ino", (json_int_t)r->ino, "stamp",
				     (json_int_t)r->stamp, "ts", (json_int_t)r->hdr.ts_ns, "live",
				     1, "new", (r->hdr.flags & POV_IMAGE_NEW) != 0));
		return;
	}
	image_describe(im, &id, f);
	if (process_add_file(im, r->tgid, f, r->start, r->off, r->hdr.ts_ns))
		process_mapped(im, r->tgid, f);
	if (r->hdr.flags & POV_IMAGE_NEW) { /* known since, to us */
		file_state_set(im, &id, f);
		question_open(im, r->tgid, r->hdr.ts_ns);
		question_close(im, r->tgid);
	}
}

static void on_path(struct images *im, const struct pov_path *r)
{
	json_t *path = json_stringn(r->path, strnlen(r->path, sizeof(r->path)));

	question_open(im, r->tgid, r->hdr.ts_ns);
	if (path)
		helper_ask(im->helper,
			   json_pack("{s:s,s:i,s:I,s:o}", "do", "path", "pid", r->tgid, "mnt_ns",
				     (json_int_t)r->mnt_ns, "path", path));
	else
		question_close(im, r->tgid);
}

/* A fork maps what its parent does; it is described if it ever calls MPI. */
static void on_fork(struct images *im, const struct pov_fork *r)
{
	const struct process *parent = map_get(&im->processes, r->parent_tgid);
	struct process *child;

	if (r->child_tgid == r->parent_tgid)
		return;
	process_forget(im, (pid_t)r->child_tgid); /* of the one that had this number before */
	if (!parent)
		return;
	child = process_of(im, (pid_t)r->child_tgid);
	*child = *parent;
	child->pid = (pid_t)r->child_tgid;
	child->described = false;
}

/* Another program now: what it mapped before is gone. */
static void on_exec(struct images *im, pid_t pid)
{
	struct process *p = map_get(&im->processes, pid);
	unsigned int kept = 0;

	if (!p)
		return;
	for (unsigned int i = 0; i < p->nlibs; i++)
		if (p->libs[i].since_ns >= p->renamed_ns)
			p->libs[kept++] = p->libs[i];
	p->nlibs = kept;
	if (!kept)
		process_forget(im, pid);
	else if (!p->described)
		process_describe(im, p);
}

static void on_rename(struct images *im, const struct pov_task *r)
{
	struct process *p = map_get(&im->processes, r->tgid);

	if (p && r->hdr.tid == r->tgid)
		p->renamed_ns = r->hdr.ts_ns;
}

/* A thread makes its first traced call. */
static void on_caller(struct images *im, pid_t pid)
{
	struct process *p = map_get(&im->processes, pid);

	if (!p)
		images_scan(im, pid);
	else if (!p->described)
		process_describe(im, p);
}

static void on_exit_of(struct images *im, const struct pov_exit *r)
{
	if (r->hdr.tid == r->tgid)
		process_forget(im, r->tgid);
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
	case POV_KIND_FORK:
		on_fork(im, (const struct pov_fork *)rec);
		break;
	case POV_KIND_EXEC:
		on_exec(im, ((const struct pov_task *)rec)->tgid);
		break;
	case POV_KIND_RENAME:
		on_rename(im, (const struct pov_task *)rec);
		break;
	case POV_KIND_EXIT:
		on_exit_of(im, (const struct pov_exit *)rec);
		break;
	case POV_KIND_CALLER:
		on_caller(im, ((const struct pov_caller *)rec)->tgid);
		break;
	}
}

void images_poll(struct images *im)
{
	helper_poll(im->helper, kernel_now_ns());
}

int images_fd(const struct images *im)
{
	return helper_fd(im->helper);
}

uint64_t images_helper_cpu_ns(const struct images *im)
{
	return helper_cpu_ns(im->helper);
}

bool images_settled(const struct images *im)
{
	return helper_is_idle(im->helper);
}

/* ---- before anything happens ---- */

static void settle(struct images *im)
{
	struct pollfd p = {.events = POLLIN};

	while (!helper_is_idle(im->helper)) {
		kernel_say_alive(im->kernel, true);
		p.fd = helper_fd(im->helper);
		poll(&p, 1, 100);
		images_poll(im);
	}
}

void images_foresee(struct images *im, const struct launch_plan *plan)
{
	static const char *const names[] = {"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD"};
	json_t *words = json_array(), *env = json_object();
	char *cwd = getcwd(NULL, 0);

	/* Our own loader and C library are mostly those of the programs to come. */
	json_array_append_new(words, json_string("/proc/self/exe"));
	if (plan) {
		json_array_append_new(words, json_string(plan->program));
		for (char *const *arg = plan->argv + 1; *arg; arg++)
			json_array_append_new(words, json_string(*arg));
	}
	for (size_t i = 0; plan && i < sizeof(names) / sizeof(*names); i++)
		json_object_set_new(env, names[i],
				    json_string(launch_env_get(plan->envp, names[i]) ?: ""));
	helper_ask(im->helper, json_pack("{s:s,s:o,s:o,s:s}", "do", "command", "argv", words, "env",
					 env, "cwd", cwd ? cwd : "/"));
	free(cwd);
}

static void image_record_write(struct images *im, pid_t pid, const struct proc_map *map)
{
	struct pov_image r = {
		.hdr = {.size = sizeof(r),
			.kind = POV_KIND_IMAGE,
			.tid = pid,
			.ts_ns = kernel_now_ns()},
		.tgid = pid,
		.dev = map->dev,
		.ino = map->ino,
		.start = map->start,
		.len = map->end - map->start,
		.off = map->off,
	};

	trace_writer_add(im->writer, TRACE_STREAM_TASKS, &r.hdr);
}

static void map_scan(struct images *im, pid_t pid, const struct proc_map *map)
{
	struct code_file *f = map_get(&im->scanned, scan_key(map->dev, map->ino));

	if (f && f->described.dev == map->dev && f->described.ino == map->ino) {
		process_add_file(im, pid, f, map->start, map->off, kernel_now_ns());
		return;
	}
	helper_ask(im->helper, json_pack("{s:s,s:i,s:I,s:I,s:I,s:I,s:I}", "do", "map", "pid", pid,
					 "start", (json_int_t)map->start, "end",
					 (json_int_t)map->end, "off", (json_int_t)map->off, "dev",
					 (json_int_t)map->dev, "ino", (json_int_t)map->ino));
	settle(im);
}

int images_scan(struct images *im, pid_t pid)
{
	struct proc_maps maps;
	struct process *p;
	int err;

	err = proc_maps_read(pid, &maps);
	if (err)
		return err;
	for (size_t i = 0; i < maps.cnt; i++)
		map_scan(im, pid, &maps.map[i]);
	p = map_get(&im->processes, pid);
	if (p) {
		for (size_t i = 0; i < maps.cnt; i++)
			image_record_write(im, pid, &maps.map[i]);
		process_describe(im, p);
		settle(im);
	}
	proc_maps_release(&maps);
	return p != NULL;
}
