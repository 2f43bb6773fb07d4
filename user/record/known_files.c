/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Turns a reply of the helper into a code_file with its probes, the trace's meta objects, messages
 * to the user, and the state in the kernel half.
 */
#include "record/known_files.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/config.h"
#include "lib/clock.h"
#include "target/helper/helper.h"
#include "lib/human.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "trace/trace_write.h"
#include "record/kernel.h"
#include "trace/trace_read.h"

void known_files_describe(struct known_files *k, const struct code_id *id, struct code_file *f)
{
	if (code_id_equal(&f->described, id))
		return;
	f->described = *id;
	trace_writer_meta(k->writer, json_pack("{s:s,s:I,s:I,s:I,s:s,s:s}", "type", "image", "dev",
					       (json_int_t)id->dev, "ino", (json_int_t)id->ino,
					       "stamp", (json_int_t)id->stamp, "path", f->path,
					       "build_id", f->build_id));
}

void known_files_state(struct known_files *k, const struct code_id *id, const struct code_file *f)
{
	struct pov_file_key key = {.ino = id->ino, .stamp = id->stamp, .dev = (uint32_t)id->dev};
	uint32_t state = f->is_preload		 ? POV_FILE_PRELOAD :
			 f->sites && !f->is_wide ? POV_FILE_EACH :
			 f->lib			 ? POV_FILE_TRACED :
						   POV_FILE_PLAIN;

	if (bpf_map_update_elem(k->files_fd, &key, &state, BPF_ANY))
		log_debug("cannot store that %s was inspected: %s", f->path, strerror(errno));
}

void known_files_name(struct known_files *k, const struct code_id *id, struct code_file *f)
{
	code_files_add(&k->files, id, f);
	known_files_state(k, id, f);
}

/*
 * Returns true for a library whose functions are found at run time: a provider of libibverbs. Each
 * program that uses libibverbs loads a provider for every kind of adapter there may be. Providers
 * that are really used show up by their additional probes.
 */
static bool library_is_met(const struct library *lib)
{
	return json_get_bool(lib->meta, "met");
}

/* True if this file has none of a layer's functions, and need not have any. */
static bool library_is_without(const struct library *lib, const json_t *meta)
{
	return !lib->attached && !lib->hook_cnt &&
	       !json_array_size(json_object_get(meta, "missing")) &&
	       !json_array_size(json_object_get(meta, "failed"));
}

static void library_print(const struct code_file *f, const json_t *meta)
{
	bool quiet = library_is_met(f->lib) || library_is_without(f->lib, meta);
	const char *refused = json_get_text(meta, "refused"),
		   *unsure = json_get_text(meta, "unsure");
	size_t failed = json_array_size(json_object_get(meta, "failed"));
	char probes[64], left[80] = "";

	if (f->lib->hook_cnt)
		human_plural(left, sizeof(left), json_get_u64(meta, "preloaded"),
			     "function recorded by the processes themselves, ",
			     "functions recorded by the processes themselves, ");
	if (refused[0])
		log_warn("attach: %s: %zu of %zu probes refused: %s; `povtrace report` names them",
			 f->path, failed, failed + f->lib->attached, refused);
	else if (!f->lib->attached && !f->lib->hook_cnt && !quiet)
		log_error("attach: %s: no probe could be attached; is the file stripped?", f->path);
	if (unsure[0])
		log_warn("attach: %s: %s", f->path, unsure);
	log_print(quiet ? LOG_DEBUG : LOG_INFO, "%s: %s%s%s, %s%s", f->path,
		  json_get_text(meta, "flavour"), *json_get_text(meta, "version") ? " " : "",
		  json_get_text(meta, "version"), left,
		  human_plural(probes, sizeof(probes), f->lib->attached, "probe", "probes"));
}

/*
 * Prints one line for all libraries of a flavour whose functions are found at run time. Prints
 * nothing unless `first` is the first of them.
 */
static void met_libraries_print(const struct code_files *files, size_t first)
{
	const char *flavour = json_get_text(files->lib[first]->meta, "flavour");
	size_t cnt = 0, attached = 0;
	char n[64], probes[64];

	for (size_t i = 0; i < files->lib_cnt; i++) {
		const struct library *lib = files->lib[i];

		if (!library_is_met(lib) || strcmp(json_get_text(lib->meta, "flavour"), flavour))
			continue;
		if (i < first)
			return;
		cnt++;
		attached += lib->attached;
	}
	log_info("%s: %s, %s; -v names them", flavour,
		 human_plural(n, sizeof(n), cnt, "file", "files"),
		 human_plural(probes, sizeof(probes), attached, "probe", "probes"));
}

static void hooks_read(struct library *lib)
{
	struct stat st;
	size_t bytes;

	if (lib->links.hooks_fd <= 0)
		return;
	bytes = fstat(lib->links.hooks_fd, &st) ? 0 : (size_t)st.st_size;
	lib->hooks = xcalloc(1, bytes + 1);
	if (pread(lib->links.hooks_fd, lib->hooks, bytes, 0) == (ssize_t)bytes)
		lib->hook_cnt = bytes / sizeof(*lib->hooks);
	close(lib->links.hooks_fd);
	lib->links.hooks_fd = 0;
}

static void library_new(struct known_files *k, struct code_file *f, const json_t *o,
			struct links *links)
{
	json_t *meta = json_object_get(o, "library");
	struct library *lib = xcalloc(1, sizeof(*lib));

	lib->id = (uint16_t)json_get_int(o, "lib_id");
	lib->owner = (uid_t)json_get_int(o, "owner");
	lib->meta = json_incref(meta);
	lib->is_mpi = library_has_layer(lib, "mpi");
	lib->attached = (size_t)json_get_int(meta, "attached");
	lib->copies = json_incref(json_object_get(o, "copies"));
	lib->offsets = json_incref(json_object_get(o, "offsets"));
	lib->links = *links;
	memset(links, 0, sizeof(*links));
	hooks_read(lib);
	f->lib = lib;
	code_files_add_library(&k->files, lib);
	json_set_int(meta, "id", lib->id);
	json_object_set_new(meta, "path", json_string(f->path));
	json_set_int(meta, "dev", f->id.dev);
	json_set_int(meta, "ino", f->id.ino);
	library_print(f, meta);
	trace_writer_meta(k->writer, json_incref(meta));
}

void known_files_widen(struct known_files *k, struct code_file *f, struct links *links)
{
	f->is_wide = true;
	k->loader_is_wide |= !f->lib;
	links_move(f->lib ? &f->lib->links : &k->waits, links);
	known_files_state(k, &f->id, f);
	if (!code_id_equal(&f->id, &f->described))
		known_files_state(k, &f->described, f);
}

void known_files_refused(struct known_files *k, struct code_file *f, const json_t *failed,
			 const char *why)
{
	json_t *meta;

	if (f->is_refused)
		return;
	f->is_refused = true;
	log_warn("attach: %s: %zu probes refused: %s; `povtrace report` names them", f->path,
		 json_array_size(failed), why);
	if (!f->lib)
		return;
	f->lib->attached -= json_array_size(failed);
	meta = json_pack("{s:s,s:i,s:I,s:I,s:O,s:s}", "type", "probes", "library", f->lib->id,
			 "ts_ns", (json_int_t)clock_now_ns(), "attached",
			 -(json_int_t)json_array_size(failed), "failed", failed, "refused", why);
	trace_probes_fold(f->lib->meta, meta);
	trace_writer_meta(k->writer, meta);
}

static bool names_within(const json_t *names, const json_t *of)
{
	const json_t *name;

	for (size_t i = 0; (name = json_array_get(names, i)); i++)
		if (!json_has_text(of, json_string_value(name)))
			return false;
	return true;
}

void known_files_more(struct known_files *k, const json_t *o, struct links *links)
{
	struct code_id file_id = helper_message_id(o);
	json_int_t id = json_get_int(o, "lib_id");
	json_t *meta = json_object_get(o, "probes");
	struct code_file *f;
	struct library *lib;
	char more[64];

	if (id < 0 || (size_t)id >= k->files.lib_cnt)
		return;
	lib = k->files.lib[id];
	f = code_files_find(&k->files, &file_id);
	if (f)
		code_file_add_sites(f, json_object_get(o, "sites"));
	links_move(&lib->links, links);
	lib->attached += (size_t)json_get_int(meta, "attached");
	json_array_extend(lib->offsets, json_object_get(o, "offsets"));
	if (!json_array_size(json_object_get(meta, "functions")) &&
	    names_within(json_object_get(meta, "missing"), json_object_get(lib->meta, "missing")))
		return; /* the same was printed before */
	json_set_int(meta, "library", id);
	json_set_int(meta, "ts_ns", clock_now_ns());
	trace_probes_fold(lib->meta, meta);
	log_info("%s: %s, %zu refused", json_get_text(lib->meta, "path"),
		 human_plural(more, sizeof(more), json_get_u64(meta, "attached"), "more probe",
			      "more probes"),
		 json_array_size(json_object_get(meta, "failed")) +
			 json_array_size(json_object_get(meta, "missing")));
	trace_writer_meta(k->writer, json_incref(meta));
}

static void file_error_print(const struct code_file *f)
{
	/* Most files that are not ELF for this machine are data, or programs of other machines. */
	if (f->error == -ENOEXEC || !f->error)
		return;
	if (f->error == -ENOSPC)
		log_warn("%s: too many libraries (at most %d, fewer per owner): its calls are not "
			 "recorded",
			 f->path, POV_LIBS_MAX);
	else if (f->error != -ENOENT)
		log_warn("%s: cannot be inspected (%s): any calls in it are not recorded", f->path,
			 strerror(-f->error));
}

static void regions_take(struct known_files *k, const struct code_file *f, json_t *meta)
{
	json_t *failed = json_object_get(meta, "failed");
	json_t *name;
	char cnt[64];
	size_t i;

	if (!k->regions)
		k->regions = json_array();
	json_array_extend(k->regions, json_object_get(meta, "functions"));
	json_array_extend(k->regions, failed);
	json_array_foreach(failed, i, name)
		log_warn("%s: region %s cannot be probed: %s", f->path, json_string_value(name),
			 json_get_text(json_object_get(meta, "reasons"), json_string_value(name)));
	log_info("%s: regions probed at %s", f->path,
		 human_plural(cnt, sizeof(cnt), json_get_u64(meta, "attached"), "place", "places"));
	json_object_set_new(meta, "type", json_string("regions"));
	json_object_set_new(meta, "path", json_string(f->path));
	json_object_set_new(meta, "build_id", json_string(f->build_id));
	trace_writer_meta(k->writer, json_incref(meta));
}

bool known_files_have_region(const struct known_files *k, const char *name)
{
	return json_has_text(k->regions, name);
}

void known_files_reply(struct known_files *k, const json_t *o, struct links *links)
{
	struct code_file *f = xcalloc(1, sizeof(*f));

	f->id = helper_message_id(o);
	f->path = xstrdup(json_get_text(o, "path"));
	f->build_id = xstrdup(json_get_text(o, "build_id"));
	f->error = (int)json_get_int(o, "error");
	f->is_main = json_get_bool(o, "main");
	f->is_program = json_get_bool(o, "program");
	f->is_preload = json_get_bool(o, "preload");
	if (json_object_get(o, "interpreter"))
		f->interpreter = xstrdup(json_get_text(o, "interpreter"));
	f->has_regions = json_object_get(o, "regions") != NULL;
	f->segments = json_incref(json_object_get(o, "segments"));
	f->binding = json_incref(json_object_get(o, "binding"));
	code_file_add_sites(f, json_object_get(o, "sites"));
	if (json_object_get(o, "library"))
		library_new(k, f, o, links);
	else /* probes that make processes wait, and probes of regions: kept until the end */
		links_move(&k->waits, links);
	if (json_object_get(o, "regions"))
		regions_take(k, f, json_object_get(o, "regions"));
	file_error_print(f);
	known_files_name(k, &f->id, f);
}

struct code_file *known_files_failed(struct known_files *k, const struct code_id *id,
				     const char *why)
{
	struct code_file *f = xcalloc(1, sizeof(*f));

	f->id = *id;
	f->path = xasprintf("(file %" PRIu64 " on device %" PRIu64 ":%" PRIu64 ")", id->ino,
			    id->dev >> 20, id->dev & 0xfffff);
	f->build_id = xstrdup("");
	f->error = -EIO;
	log_warn("%s: cannot be inspected (%s): any calls in it are not recorded", f->path, why);
	known_files_name(k, id, f);
	return f;
}

void known_files_leave(struct known_files *k, struct leftover_probes *leftover)
{
	size_t cnt = k->files.lib_cnt;
	struct links **all = xcalloc(cnt + 1, sizeof(struct links *));

	for (size_t i = 0; i < cnt; i++) {
		all[i] = &k->files.lib[i]->links;
		if (!k->left && library_is_met(k->files.lib[i]))
			met_libraries_print(&k->files, i);
	}
	k->left = true;
	all[cnt] = &k->waits;
	links_leave(all, cnt + 1, leftover);
	free(all);
}

uint64_t known_files_probes(const struct known_files *k)
{
	uint64_t n = 0;

	for (size_t i = 0; i < k->files.lib_cnt; i++)
		n += k->files.lib[i]->attached;
	return n;
}

void known_files_release(struct known_files *k)
{
	code_files_release(&k->files);
	json_decref(k->regions);
}
