/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Connects three parties: events of the kernel half (which process maps which file), replies of the
 * helper (what the file is), and processes that wait. A process may have asked several questions;
 * it is released when none of them is open.
 */
#include "record/images.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/config.h"
#include "target/code_file.h"
#include "target/helper/helper.h"
#include "record/launch/launch.h"
#include "record/launch/launch_env.h"
#include "target/proc.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/map.h"
#include "record/probes/bindings.h"
#include "record/kernel.h"
#include "record/known_files.h"
#include "record/meta.h"
#include "target/library_place.h"
#include "record/library_users.h"
#include "record/probes/process_links.h"
#include "record/questions.h"
#include "trace/trace_write.h"

#define LATE_SAID_MAX 4
/*
 * From this many targets on, a file that no other process maps gets one set of probes for all. With
 * a set for each process, every call of every process would pass through all sets.
 */
#define MANY_MULTI 8
#define MANY_PERF 2 /* the kernel takes 0.1 s to remove one */

struct images {
	bool unwinds; /* for inspect_options of helpers that are started later */
	struct kernel *kernel;
	struct trace_writer *writer;
	void (*record)(void *ctx, const struct pov_hdr *rec);
	void *record_ctx;
	struct inspect_options inspect;
	struct helper *helper;
	struct known_files known;
	struct library_users users;
	/* hash of device and inode number → file, for processes that ran before */
	struct map scanned;
	struct questions questions;
	struct process_links links;
	struct bindings bindings;
	bool waits;	    /* as in images_wanted */
	uint32_t late_cnt;  /* processes whose probes were late */
	uint32_t large_cnt; /* processes whose memory was not searched completely */
};

static helper_reply_fn on_reply;
static bool is_served(void *ctx, pid_t pid);
static helper_known_fn request_known;
static void late_note(void *ctx, pid_t pid, const struct code_file *f, uint64_t ts_ns,
		      uint64_t late_ns);

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
		.alone = wanted->alone,
		.preload = wanted->preload,
		.each = !wanted->machine_wide,
		.libs_fd = k->libs_fd,
		.handovers_fd = k->handovers_fd,
		.notes_fd = k->notes_fd,
	};
	im->known = (struct known_files){.writer = w, .files_fd = k->files_fd};
	err = helper_start(&im->inspect, &im->known.files, on_reply, request_known, im,
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
					   .late = late_note,
					   .is_served = is_served,
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
	questions_release(&im->questions);
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

struct library *images_library(struct images *im, uint32_t i)
{
	return im->known.files.lib[i];
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

struct placing {
	images_library_fn *fn;
	void *ctx;
};

static void on_place(void *ctx, pid_t pid, const struct proc_map *map, struct code_file *file,
		     uint64_t bias)
{
	const struct placing *p = ctx;

	(void)pid, (void)map;
	p->fn(p->ctx, file->lib, bias);
}

void images_libraries(const struct images *im, pid_t pid, images_library_fn *fn, void *ctx)
{
	struct placing p = {fn, ctx};

	library_place_each(&im->known.files, pid, on_place, &p);
}

void images_bindings(const struct images *im, pid_t pid, struct pov_bindings *out,
		     struct pov_step *step)
{
	bindings_get(&im->bindings, pid, out, step);
}

struct file_placing {
	images_file_fn *fn;
	void *ctx;
};

static void on_file_place(void *ctx, pid_t pid, const struct proc_map *map, struct code_file *file,
			  uint64_t bias)
{
	const struct file_placing *p = ctx;

	(void)pid, (void)map;
	p->fn(p->ctx, file, bias);
}

void images_library_files(const struct images *im, pid_t pid, images_file_fn *fn, void *ctx)
{
	struct file_placing p = {fn, ctx};

	library_place_each(&im->known.files, pid, on_file_place, &p);
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

static void set_visit(void *ctx, pid_t pid, struct link_set *set)
{
	const struct links_visit *v = ctx;

	if (set->file->lib)
		v->fn(v->ctx, set->file->lib, pid, &set->links);
}

void images_links_each(struct images *im, images_links_fn *fn, void *ctx)
{
	struct links_visit v = {fn, ctx};

	for (size_t i = 0; i < im->known.files.lib_cnt; i++)
		fn(ctx, im->known.files.lib[i], 0, &im->known.files.lib[i]->links);
	process_links_each(&im->links, set_visit, &v);
}

/* ---- questions ---- */

/* Prints at most LATE_SAID_MAX warnings, because all ranks of a job may be late. */
static void late_warn(struct images *im, pid_t pid, const struct code_file *f, uint64_t late_ns)
{
	if (im->late_cnt++ < LATE_SAID_MAX)
		log_warn("process %d mapped %s %" PRIu64
			 " ms before probes were in it: its MPI calls until then are not recorded",
			 pid, f->path, late_ns / 1000000);
	else if (im->late_cnt == LATE_SAID_MAX + 1)
		log_warn("more processes got their probes late: see the report, section Coverage");
}

static void late_note(void *ctx, pid_t pid, const struct code_file *f, uint64_t ts_ns,
		      uint64_t late_ns)
{
	struct images *im = ctx;

	late_warn(im, pid, f, late_ns);
	meta_write(im->writer,
		   json_pack("{s:s,s:I,s:i,s:i,s:I}", "type", "late", "ts_ns", (json_int_t)ts_ns,
			     "pid", pid, "library", f->lib->id, "late_ns", (json_int_t)late_ns));
}

/*
 * Returns true if the process has loaded the library that records its calls or makes it wait, and
 * has not reported that it cannot reach us.
 */
static bool is_served(void *ctx, pid_t pid)
{
	const struct images *im = ctx;
	uint32_t key = pid, value;

	return !bpf_map_lookup_elem(im->kernel->preload_loaded_fd, &key, &value);
}

/*
 * Notes that a process has loaded the preload library. The kernel half does this itself for a file
 * that it knows. For an unknown file, a process that should wait at the probe in it may have
 * continued without waiting; a process that records its calls asks us.
 */
static void loaded_note(const struct images *im, uint32_t pid, const struct code_file *f)
{
	uint32_t one = 1;

	if (f->is_preload && im->inspect.preload &&
	    bpf_map_update_elem(im->kernel->preload_loaded_fd, &pid, &one, BPF_ANY))
		log_debug("process %u: %s", pid, strerror(errno));
}

/* Reports that a process began to run a mapped library before its probes were attached. */
static void late_check(struct images *im, pid_t pid, const struct code_file *f, uint64_t mapped_ns)
{
	uint32_t key = pid;
	uint64_t since_ns;
	bool waits = !bpf_map_lookup_elem(im->kernel->waiting_fd, &key, &since_ns);

	if (is_served(im, pid) || (f->is_program && im->waits))
		return;
	/* If all loaders have the probe, a program's code runs after its loader, which waits. */
	if (im->links.each ? waits && since_ns <= mapped_ns :
			     waits || (f->is_program && im->inspect.loader.entry_fd >= 0))
		return;
	late_note(im, pid, f, mapped_ns, kernel_now_ns() - mapped_ns);
}

/* Warns about a static program, which has no loader in which it could have waited. */
static void regions_late_check(struct images *im, pid_t pid, const struct code_file *f,
			       uint64_t mapped_ns)
{
	if (f->has_regions && f->is_main && !f->is_program && !f->lib &&
	    im->late_cnt++ < LATE_SAID_MAX)
		log_warn("process %d executed %s %" PRIu64
			 " ms before probes were in it: its regions until then are not recorded",
			 pid, f->path, (kernel_now_ns() - mapped_ns) / 1000000);
}

/*
 * Describes the process, unless the file is its main program: during execve a process has no
 * environment yet, and library_users_exec describes it later.
 */
static void process_mapped(struct images *im, pid_t pid, const struct code_file *file)
{
	if (!file->is_main)
		library_users_describe(&im->users, pid);
}

static void binding_add(struct images *im, const json_t *request, struct code_file *f)
{
	uint64_t start = json_get_u64(request, "start");

	bindings_map(&im->bindings, (pid_t)json_get_int(request, "pid"), f, start,
		     json_get_u64(request, "end") - start, json_get_u64(request, "off"));
}

/* Finishes a mapping whose file is known and has the probes that the process needs. */
static void map_done(struct images *im, const json_t *request, struct code_file *f)
{
	uint64_t ts = json_get_u64(request, "ts");
	pid_t pid = (pid_t)json_get_int(request, "pid");
	bool live = json_get_bool(request, "live");

	if (live)
		loaded_note(im, (uint32_t)pid, f);
	if (live && json_get_bool(request, "new"))
		regions_late_check(im, pid, f, ts);
	if (library_users_map(&im->users, pid, f, json_get_u64(request, "start"),
			      json_get_u64(request, "off"), ts) &&
	    live) {
		if (json_get_bool(request, "new"))
			late_check(im, pid, f, ts);
		process_mapped(im, pid, f);
	}
}

/*
 * Handles the helper's reply about a mapping. From now on its file is also known by the kernel's
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
		log_debug("process %d: a file that it mapped was gone before it could be looked at",
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
 * A process has got its probes in a file, because it maps the file, was forked, or was passed
 * functions of it.
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

/*
 * Answers a request without the helper if another process has already got an answer about this
 * file.
 */
static bool request_known(void *ctx, json_t *request)
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
 * For a moment other processes that execute this path need not wait. A relative path is skipped:
 * elsewhere it names another file.
 */
static void path_known(struct images *im, const json_t *request)
{
	const char *path = json_get_text(request, "path");
	_Alignas(8) char padded[POV_PATH_KEY_BYTES] = "";
	size_t bytes = strlen(path) + 1;
	uint64_t now = kernel_now_ns();
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
		log_debug("paths: %s", strerror(errno));
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

	if (!f || !f->sites || f->lib || !im->links.each)
		return;
	questions_open(&im->questions, pid, 0);
	process_links_ask(&im->links, f,
			  json_pack("{s:i,s:O,s:b}", "pid", pid, "path",
				    json_object_get(reply, "last"), "asked", 1));
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

static void lacking_probe(void *ctx, pid_t pid, const struct proc_map *map, struct code_file *file,
			  uint64_t bias)
{
	struct images *im = ctx;

	(void)bias;
	if (!process_links_lack(&im->links, pid, file))
		return;
	questions_open(&im->questions, pid, 0);
	process_links_ask(&im->links, file,
			  json_pack("{s:i,s:I,s:I,s:b}", "pid", pid, "start",
				    (json_int_t)map->start, "end", (json_int_t)map->end, "asked",
				    1));
}

/*
 * Attaches the probes that a process lacks in its mapped files. Its waiting threads wait for these
 * probes, too.
 */
static void libraries_probe(struct images *im, pid_t pid)
{
	library_place_each(&im->known.files, pid, lacking_probe, im);
}

static void on_functions_reply(struct images *im, const json_t *request, const json_t *reply)
{
	const char *failed = json_get_text(reply, "failed");
	bool asked = json_get_bool(request, "asked");
	char cnt[64];

	if (failed[0])
		log_warn("process %lld: cannot read the functions behind its function pointers: %s",
			 (long long)json_get_int(request, "pid"), failed);
	else if (json_get_int(reply, "elsewhere") && !asked)
		log_info("process %lld: %s outside the libraries that are recorded",
			 (long long)json_get_int(request, "pid"),
			 human_plural(cnt, sizeof(cnt), json_get_u64(reply, "elsewhere"),
				      "function lies", "functions lie"));
	libraries_probe(im, (pid_t)json_get_int(request, "pid"));
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

	libraries_probe(im, (pid_t)pid);
	if (failed[0])
		log_warn("process %lld: cannot search its memory for functions that it was given "
			 "before: %s",
			 (long long)pid, failed);
	else if (left && !im->large_cnt++)
		log_warn("process %lld: %s of its memory were not searched for functions that it "
			 "was given before: calls of some may be missing",
			 (long long)pid, human_bytes(bytes, sizeof(bytes), left));
}

static void on_process_reply(struct images *im, const json_t *request, const json_t *reply)
{
	library_users_reply(&im->users, request, reply);
	if (json_get_bool(request, "asked"))
		questions_close(&im->questions, (pid_t)json_get_int(request, "pid"));
}

static void on_reply(void *ctx, const json_t *request, const json_t *reply, struct links *links)
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

static void functions_ask(struct images *im, pid_t pid, json_t *places, uint64_t ts_ns)
{
	questions_open(&im->questions, pid, ts_ns);
	helper_ask(im->helper, json_pack("{s:s,s:i,s:o,s:b}", "do", "functions", "pid", pid,
					 "places", places, "asked", 1));
}

struct row_probing {
	struct images *im;
	const struct library *lib;
	const uint16_t *row;
	size_t cnt;
};

static void rows_probe(void *ctx, pid_t pid, const struct proc_map *map, struct code_file *file,
		       uint64_t bias)
{
	const struct row_probing *p = ctx;
	json_t *rows;

	(void)bias;
	if (file->lib != p->lib)
		return;
	rows = json_array();
	for (size_t i = 0; i < p->cnt; i++)
		json_array_append_new(rows, json_integer(p->row[i]));
	questions_open(&p->im->questions, pid, 0);
	process_links_ask_rows(&p->im->links, file,
			       json_pack("{s:i,s:I,s:I,s:b}", "pid", pid, "start",
					 (json_int_t)map->start, "end", (json_int_t)map->end,
					 "asked", 1),
			       rows);
}

void images_probe_rows(struct images *im, pid_t pid, const struct library *lib, const uint16_t *row,
		       size_t cnt)
{
	struct row_probing p = {im, lib, row, cnt};

	library_place_each(&im->known.files, pid, rows_probe, &p);
}

/* ---- events ---- */

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
	if (library_users_map(&im->users, r->tgid, f, r->start, r->off, r->hdr.ts_ns)) {
		if (r->hdr.flags & POV_IMAGE_NEW)
			late_check(im, r->tgid, f, r->hdr.ts_ns);
		process_mapped(im, r->tgid, f);
	}
	if (r->hdr.flags & POV_IMAGE_NEW) { /* the file became known only after the event */
		process_links_move(&im->links, (pid_t)r->tgid, f, r->start, r->start + r->len);
		known_files_state(&im->known, &id, f);
		questions_open(&im->questions, r->tgid, r->hdr.ts_ns);
		loaded_note(im, r->tgid, f);
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
 * Handles a table of functions that was passed to a library. Many of its members are empty or no
 * pointers at all.
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
 * Gives a process its own probes in all files that it has mapped. It failed to record its calls
 * itself, or its parent, which has probes, forked it. A child with a copy of an initialised MPI can
 * do little with it, so such a process does not wait.
 */
static void on_unreached(struct images *im, const struct pov_caller *r)
{
	pid_t pid = (pid_t)r->tgid;
	bool forked = r->hdr.flags == POV_WAIT_FORKED;

	questions_open(&im->questions, pid, r->hdr.ts_ns);
	if (!forked || library_users_may_begin(&im->users, pid)) {
		if (forked)
			process_links_waits(&im->links, pid);
		libraries_probe(im, pid);
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
	library_users_fork(&im->users, r);
	if (r->child_tgid == r->parent_tgid)
		return;
	bindings_fork(&im->bindings, (pid_t)r->parent_tgid, (pid_t)r->child_tgid);
	if (!im->links.each)
		return;
	/* The child's loader does not have its waiting probe yet. */
	bpf_map_delete_elem(im->kernel->waiting_fd, &r->child_tgid);
	process_links_fork(&im->links, (pid_t)r->parent_tgid, (pid_t)r->child_tgid, r->hdr.ts_ns);
}

static void on_exit_record(struct images *im, const struct pov_exit *r)
{
	uint32_t state;

	if (bpf_map_lookup_elem(im->kernel->targets_fd, &r->tgid, &state) ||
	    state == POV_TARGET_ENDING) {
		process_links_exit(&im->links, (pid_t)r->tgid);
		bindings_gone(&im->bindings, (pid_t)r->tgid);
	} else if (r->hdr.tid == r->tgid) {
		process_links_orphan(&im->links, (pid_t)r->tgid);
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
		library_users_exit(&im->users, (const struct pov_exit *)rec);
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
	helper_poll(im->helper, kernel_now_ns());
}

void images_limits_read(struct images *im, uint64_t age_ns)
{
	cpu_limits_read(&im->users.limits, kernel_now_ns(), age_ns);
	if (!age_ns)
		memory_limits_read(&im->users.memory, kernel_now_ns());
}

void images_limits_write(const struct images *im)
{
	cpu_limits_write(&im->users.limits, im->writer);
	memory_limits_write(&im->users.memory, im->writer);
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

/* Waits until the helper has answered every request. */
static void helper_settle(struct images *im)
{
	struct pollfd p = {.events = POLLIN};

	while (!helper_is_idle(im->helper)) {
		kernel_say_alive(im->kernel, true);
		p.fd = helper_fd(im->helper);
		poll(&p, 1, 100);
		images_poll(im);
	}
}

void images_predict(struct images *im, const struct launch_plan *plan)
{
	static const char *const names[] = {"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD"};
	json_t *words = json_array(), *env = json_object(), *libraries = NULL;
	char *cwd = getcwd(NULL, 0);

	if (plan) {
		/* The programs to come mostly use the same loader and C library as we do. */
		json_array_append_new(words, json_string("/proc/self/exe"));
		json_array_append_new(words, json_string(plan->program));
		for (char *const *arg = plan->argv + 1; *arg; arg++)
			json_array_append_new(words, json_string(*arg));
	}
	for (size_t i = 0; plan && i < sizeof(names) / sizeof(*names); i++)
		if (launch_env_get(plan->envp, names[i]))
			json_object_set_new(env, names[i],
					    json_string(launch_env_get(plan->envp, names[i])));
	if (!plan) /* no process will wait for their inspection */
		libraries = json_pack("[s,s,s]", "libmpi.so.40", "libmpi.so.12", "libmpich.so.12");
	helper_ask(im->helper,
		   json_pack("{s:s,s:o,s:o,s:s,s:o*}", "do", "command", "argv", words, "env", env,
			     "cwd", cwd ? cwd : "/", "libraries", libraries));
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

	im->record(im->record_ctx, &r.hdr);
}

static struct code_file *scanned_file(const struct images *im, const struct proc_map *map)
{
	struct code_file *f = map_get(&im->scanned, process_links_file_key(map->dev, map->ino));

	return f && f->described.dev == map->dev && f->described.ino == map->ino ? f : NULL;
}

static json_t *map_request(pid_t pid, const struct proc_map *map)
{
	return json_pack("{s:s,s:i,s:I,s:I,s:I,s:I,s:I,s:I}", "do", "map", "pid", pid, "start",
			 (json_int_t)map->start, "end", (json_int_t)map->end, "off",
			 (json_int_t)map->off, "dev", (json_int_t)map->dev, "ino",
			 (json_int_t)map->ino, "ts", (json_int_t)kernel_now_ns());
}

/*
 * Inspects a mapping without attaching probes, so that the process's bindings are known before its
 * first call is recorded.
 */
static void map_look(struct images *im, pid_t pid, const struct proc_map *map)
{
	struct code_file *f = scanned_file(im, map);
	json_t *request;

	if (f) {
		bindings_map(&im->bindings, pid, f, map->start, map->end - map->start, map->off);
		return;
	}
	request = map_request(pid, map);
	json_object_set_new(request, "look", json_true());
	helper_ask(im->helper, request);
	helper_settle(im);
}

static void map_scan(struct images *im, pid_t pid, const struct proc_map *map)
{
	struct code_file *f = scanned_file(im, map);

	if (f && !process_links_lack(&im->links, pid, f)) {
		library_users_map(&im->users, pid, f, map->start, map->off, kernel_now_ns());
		return;
	}
	if (f)
		process_links_ask(&im->links, f, map_request(pid, map));
	else
		helper_ask(im->helper, map_request(pid, map));
	helper_settle(im);
}

/* Collects the files that processes map which are not recorded. */
static int others_visit(void *ctx, pid_t pid, pid_t parent)
{
	struct images *im = ctx;
	uint32_t key = (uint32_t)pid, state;
	struct proc_maps maps;

	(void)parent;
	if (proc_is_hooked(pid)) /* its code must not get breakpoints */
		im->links.many = 0;
	if (!bpf_map_lookup_elem(im->kernel->targets_fd, &key, &state) ||
	    proc_maps_read(pid, &maps))
		return 0;
	for (size_t i = 0; i < maps.cnt; i++)
		map_set(&im->links.others, process_links_file_key(maps.map[i].dev, maps.map[i].ino),
			im);
	proc_maps_release(&maps);
	return 0;
}

void images_scan_begin(struct images *im, size_t targets)
{
	im->links.many = im->links.each ? targets : 0;
	im->links.many_min = im->inspect.calls.api == LINK_MULTI ? MANY_MULTI : MANY_PERF;
	if (im->links.many >= im->links.many_min)
		proc_for_each(others_visit, im);
}

void images_scan_end(struct images *im)
{
	im->links.many = 0;
	map_release(&im->links.others);
}

int images_scan(struct images *im, pid_t pid)
{
	struct proc_maps maps;
	bool uses_mpi;
	int err;

	err = proc_maps_read(pid, &maps);
	if (err)
		return err;
	for (size_t i = 0; i < maps.cnt; i++)
		map_look(im, pid, &maps.map[i]);
	for (size_t i = 0; i < maps.cnt; i++)
		map_scan(im, pid, &maps.map[i]);
	uses_mpi = library_users_have(&im->users, pid);
	if (uses_mpi) {
		for (size_t i = 0; i < maps.cnt; i++)
			image_record_write(im, pid, &maps.map[i]);
		helper_ask(im->helper, json_pack("{s:s,s:i}", "do", "handed_ops", "pid", pid));
		library_users_ran(&im->users, pid);
		library_users_describe(&im->users, pid);
		helper_settle(im);
	}
	proc_maps_release(&maps);
	return uses_mpi;
}
