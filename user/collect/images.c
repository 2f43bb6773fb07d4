/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Keeps, for each process that maps a traced library, which ones and where, and writes its "process" meta
 * object whenever that changes. Files are remembered by the key the kernel half uses.
 */
#include "collect/images.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/config.h"
#include "attach/guard.h"
#include "attach/library.h"
#include "attach/proc.h"
#include "base/log.h"
#include "base/map.h"
#include "collect/kernel.h"
#include "trace/trace_write.h"

#define PROCESS_LIBS_MAX 8

struct process {
	pid_t pid;
	unsigned int nlibs;
	struct {
		const struct library *lib;
		uint64_t bias, start;
	} libs[PROCESS_LIBS_MAX];
};

struct images {
	struct kernel *kernel;
	struct library_set *libs;
	struct trace_writer *writer;
	struct map processes; /* pid → struct process */
	struct map described; /* key hash → marker: its "image" meta is written */
	struct map ranks;     /* pid → marker: described as using MPI */
	struct map rank_of;   /* pid → world rank + 1 */
	uint32_t rank_cnt;    /* ever */
};

struct images *images_new(struct kernel *k, struct library_set *libs, struct trace_writer *w)
{
	struct images *im = xcalloc(1, sizeof(*im));

	im->kernel = k;
	im->libs = libs;
	im->writer = w;
	return im;
}

void images_free(struct images *im)
{
	struct process *p;

	if (!im)
		return;
	for (size_t at = 0; (p = map_next(&im->processes, &at, NULL));)
		free(p);
	map_release(&im->processes);
	map_release(&im->described);
	map_release(&im->ranks);
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

/* "image": which file a key of the kernel half stands for; once each. */
static void image_describe(struct images *im, uint32_t dev, uint64_t ino, const char *path,
			   const char *build_id)
{
	uint64_t key = ino ^ (uint64_t)dev << 40;

	if (map_set(&im->described, key, im))
		return;
	meta_write(im, json_pack("{s:s,s:I,s:I,s:s,s:s}", "type", "image", "dev", (json_int_t)dev,
				 "ino", (json_int_t)ino, "path", path, "build_id", build_id));
}

static void process_describe(struct images *im, struct process *p, const struct proc_maps *maps)
{
	json_t *m = proc_describe(p->pid), *libs = json_array(), *copied = json_array();
	const struct proc_map *exe = maps && maps->cnt ? &maps->map[0] : NULL;
	const char *exe_path = json_string_value(json_object_get(m, "exe"));
	struct proc_rank rank = {-1, -1, "", ""};
	char bias[24];

	proc_rank_read(p->pid, &rank);
	for (size_t i = 0; maps && i < maps->cnt; i++)
		if (!strcmp(maps->map[i].path, exe_path)) {
			exe = &maps->map[i];
			break;
		}
	for (unsigned int i = 0; i < p->nlibs; i++) {
		snprintf(bias, sizeof(bias), "0x%" PRIx64, p->libs[i].bias);
		json_array_append_new(libs, json_pack("{s:i,s:s}", "id", p->libs[i].lib->id, "bias",
						      bias));
		if (exe) {
			json_t *c = library_copied(p->libs[i].lib, p->pid, exe);

			json_array_extend(copied, c);
			json_decref(c);
		}
	}
	json_object_set_new(m, "type", json_string("process"));
	json_object_set_new(m, "ts_ns", json_integer(kernel_now_ns()));
	json_object_set_new(m, "rank", json_integer(rank.rank));
	json_object_set_new(m, "size", json_integer(rank.size));
	json_object_set_new(m, "job", json_string(rank.job));
	json_object_set_new(m, "launcher", json_string(rank.launcher));
	json_object_set_new(m, "libs", libs);
	json_object_set_new(m, "copied", copied);
	meta_write(im, m);
	if (rank.rank >= 0)
		map_set(&im->rank_of, p->pid, (void *)((uintptr_t)rank.rank + 1));
	if (!map_set(&im->ranks, p->pid, im))
		im->rank_cnt++;
}

/* Notes that a process maps a traced library. true if that is news. */
static bool process_add_lib(struct images *im, pid_t pid, const struct library *lib,
			    const struct proc_map *map)
{
	struct process *p = map_get(&im->processes, pid);
	uint64_t bias;

	if (library_bias(lib, map, &bias))
		return false;
	if (!p) {
		p = xcalloc(1, sizeof(*p));
		p->pid = pid;
		map_set(&im->processes, pid, p);
	}
	for (unsigned int i = 0; i < p->nlibs; i++)
		if (p->libs[i].lib == lib && p->libs[i].bias == bias)
			return false;
	if (p->nlibs == PROCESS_LIBS_MAX)
		return false;
	p->libs[p->nlibs].lib = lib;
	p->libs[p->nlibs].bias = bias;
	p->libs[p->nlibs++].start = map->start;
	return true;
}

static void file_state_set(struct images *im, uint32_t dev, uint64_t ino, uint32_t state)
{
	struct pov_file_key key = {.ino = ino, .dev = dev};

	if (bpf_map_update_elem(im->kernel->files_fd, &key, &state, BPF_ANY))
		log_debug("files: %s", strerror(errno));
}

/*
 * Looks at one mapping, known to the kernel half as (dev, ino). true if its process has to be described
 * again.
 */
static bool map_look(struct images *im, pid_t pid, const struct proc_map *map, uint32_t dev,
		     uint64_t ino)
{
	struct library *lib = NULL;
	bool is_new, news = false;
	int found;

	found = library_set_look(im->libs, pid, map, &lib, &is_new);
	if (is_new && lib && lib->meta) {
		char *text = json_dumps(lib->meta, JSON_COMPACT);

		trace_writer_meta(im->writer, text);
		free(text);
	}
	if (found < 0 && found != -ESRCH && found != -ENOENT && is_new)
		log_warn("%s: cannot be looked at (%s); MPI calls in it would not be seen",
			 map->path, strerror(-found));
	file_state_set(im, dev, ino, found == 1 ? POV_FILE_TRACED : POV_FILE_PLAIN);
	image_describe(im, dev, ino, map->path, library_set_build_id(im->libs, pid, map));
	if (found == 1)
		news = process_add_lib(im, pid, lib, map);
	return news;
}

/*
 * Lets a process go on, unless it has been stopped again since: then a later event of the control ring is
 * that stop's, and letting it go now would be before its file has been looked at.
 */
static void hold_end(struct images *im, const struct pov_image *r)
{
	uint64_t since;

	if (!bpf_map_lookup_elem(im->kernel->held_fd, &r->tgid, &since) && since != r->hdr.ts_ns)
		return;
	guard_release(im->kernel->held_fd, r->tgid);
}

void images_release_old(struct images *im, uint64_t before_ns)
{
	uint32_t key, next;
	uint64_t since;
	void *from = NULL;

	while (!bpf_map_get_next_key(im->kernel->held_fd, from, &next)) {
		key = next;
		from = &key;
		if (bpf_map_lookup_elem(im->kernel->held_fd, &key, &since) || since >= before_ns)
			continue;
		log_debug("process %u was stopped and forgotten; it goes on", key);
		guard_release(im->kernel->held_fd, key);
		from = NULL;
	}
}

/* A mapping was made. Files the kernel half knows as plain come without a stop. */
static void on_image(struct images *im, const struct pov_image *r)
{
	const struct proc_map *map;
	struct proc_maps maps;
	bool news = false;

	if (!proc_maps_read(r->tgid, &maps)) {
		map = proc_maps_at(&maps, r->start);
		if (map)
			news = map_look(im, r->tgid, map, r->ino ? r->dev : map->dev,
					r->ino ? r->ino : map->ino);
		if (news)
			process_describe(im, map_get(&im->processes, r->tgid), &maps);
		proc_maps_release(&maps);
	}
	if (r->hdr.flags & POV_IMAGE_HELD)
		hold_end(im, r);
}

/* Processes are stopped for files that are new or traced, unless they would notice: look then, too. */
static bool image_wanted(const struct images *im, const struct pov_image *r)
{
	uint64_t key = r->ino ^ (uint64_t)r->dev << 40;

	return (r->hdr.flags & POV_IMAGE_HELD) || !map_get(&im->described, key);
}

/* Another program now: what it mapped before is gone. */
static void on_exec(struct images *im, pid_t pid)
{
	struct process *p = map_get(&im->processes, pid);
	struct proc_maps maps;
	unsigned int kept = 0;

	if (!p || proc_maps_read(pid, &maps))
		return;
	for (unsigned int i = 0; i < p->nlibs; i++) {
		const struct proc_map *m = proc_maps_at(&maps, p->libs[i].start);

		if (m && !strcmp(m->path, p->libs[i].lib->path))
			p->libs[kept++] = p->libs[i];
	}
	p->nlibs = kept;
	proc_maps_release(&maps);
	if (!kept) {
		map_remove(&im->processes, pid);
		free(p);
	}
}

/* A thread makes its first traced call; its process may be a fork that has mapped nothing itself. */
static void on_caller(struct images *im, pid_t pid)
{
	if (!map_get(&im->ranks, pid))
		images_scan(im, pid);
}

static void process_exit(struct images *im, const struct pov_exit *r)
{
	if (r->hdr.tid != r->tgid)
		return;
	free(map_remove(&im->processes, r->tgid));
	map_remove(&im->ranks, r->tgid);
}

void images_control(struct images *im, const struct pov_hdr *rec)
{
	switch (rec->kind) {
	case POV_KIND_IMAGE:
		if (image_wanted(im, (const struct pov_image *)rec))
			on_image(im, (const struct pov_image *)rec);
		break;
	case POV_KIND_EXEC:
		on_exec(im, ((const struct pov_task *)rec)->tgid);
		break;
	case POV_KIND_EXIT:
		process_exit(im, (const struct pov_exit *)rec);
		break;
	case POV_KIND_CALLER:
		on_caller(im, ((const struct pov_caller *)rec)->tgid);
		break;
	}
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

int images_scan(struct images *im, pid_t pid)
{
	struct proc_maps maps;
	struct process *p;
	int err;

	err = proc_maps_read(pid, &maps);
	if (err)
		return err;
	for (size_t i = 0; i < maps.cnt; i++)
		map_look(im, pid, &maps.map[i], maps.map[i].dev, maps.map[i].ino);
	p = map_get(&im->processes, pid);
	if (p) {
		for (size_t i = 0; i < maps.cnt; i++)
			image_record_write(im, pid, &maps.map[i]);
		process_describe(im, p, &maps);
	}
	proc_maps_release(&maps);
	return p != NULL;
}
