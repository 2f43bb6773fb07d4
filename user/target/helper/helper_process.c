/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Describes processes to the collector: rank, settings, copies of data, who spawned them, and the
 * functions of known libraries that they have only as pointers.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layers/func_table.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/map.h"
#include "lib/table.h"
#include "target/code_file.h"
#include "target/handed_ops.h"
#include "target/helper/helper_service.h"
#include "target/helper/inspect.h"
#include "target/helper/library_kind.h"
#include "target/mpi_world.h"
#include "target/proc.h"

/*
 * Computes where the program is loaded: the entry reported by the kernel minus the one in its file.
 */
static int exe_bias(pid_t pid, int exe, uint64_t *bias)
{
	uint64_t entry;
	Elf64_Ehdr h;

	if (pread(exe, &h, sizeof(h), 0) != sizeof(h) || proc_auxv_get(pid, AT_ENTRY, &entry))
		return -ENOEXEC;
	*bias = entry - h.e_entry;
	return 0;
}

/*
 * Returns [[name, address in the file]] of a program's copies of a library's objects. The same for
 * all ranks.
 */
static const json_t *copies_of(struct service *s, int exe, const json_t *copies)
{
	struct code_id id;
	struct stat st;
	uint64_t key;
	json_t *known;

	if (fstat(exe, &st))
		return NULL;
	id = code_id_of(&st);
	key = id.ino * 31 + id.stamp * 17 + id.dev + json_array_size(copies);
	known = map_get(&s->copied, key);
	if (!known) {
		known = inspect_copies(exe, copies);
		map_set(&s->copied, key, known);
	}
	return known;
}

static json_t *copied_json(struct service *s, pid_t pid, const json_t *copies)
{
	const json_t *known = NULL;
	json_t *out = json_array(), *row;
	char path[32];
	uint64_t bias = 0;
	size_t i;
	int exe;

	if (!json_array_size(copies))
		return out;
	snprintf(path, sizeof(path), "/proc/%d/exe", proc_memory_of(pid));
	exe = open(path, O_RDONLY | O_CLOEXEC);
	if (exe < 0)
		return out;
	if (!exe_bias(pid, exe, &bias))
		known = copies_of(s, exe, copies);
	json_array_foreach((json_t *)known, i, row)
	{
		uint64_t addr = strtoull(json_string_value(json_array_get(row, 1)), NULL, 16);

		json_array_append_new(out, json_pack("[O,o]", json_array_get(row, 0),
						     json_hex(addr + bias)));
	}
	close(exe);
	return out;
}

static void settings_put(json_t *process, pid_t pid)
{
	unsigned int left_out;
	json_t *settings = proc_settings_read(pid, &left_out);

	if (!settings)
		return;
	json_object_set_new(process, "settings", settings);
	if (left_out)
		json_set_int(process, "settings_left_out", left_out);
}

/* Returns true if a forked process has its parent's copy of an initialised MPI. */
static bool is_copied(struct service *s, pid_t pid, const json_t *copied)
{
	struct mpi_world parents;

	return proc_is_fork(pid) && !mpi_world_ask(&s->worlds, proc_parent(pid), copied, &parents);
}

static json_t *rank_json(const struct proc_rank *r)
{
	return json_pack("{s:s,s:i,s:i,s:s}", "launcher", r->launcher, "rank", r->rank, "size",
			 r->size, "job", r->job);
}

/*
 * Describes how a launcher started a process that is alone according to MPI. "use" is the launcher
 * of its MPI, if it is installed under Debian's name.
 */
static json_t *started_json(const struct proc_rank *r, const char *flavour)
{
	static const char *const dirs[] = {"/usr/local/bin", "/usr/bin"};
	json_t *o = rank_json(r);
	char path[128];

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(path, sizeof(path), "%s/mpirun.%s", dirs[i], flavour);
		if (!access(path, X_OK))
			json_object_set_new(o, "use", json_string(strrchr(path, '/') + 1));
	}
	return o;
}

/*
 * Describes the rank. MPI's own answer has priority. Until MPI can answer, the environment gives a
 * `hint`, which helps if the process ends before it can be asked. `started` describes how a
 * launcher started a process that is alone according to MPI.
 */
static void rank_put(struct service *s, json_t *process, pid_t pid, const json_t *request)
{
	const json_t *copied = json_object_get(process, "copied");
	struct proc_rank rank = {-1, -1, "", ""}, other = {-1, -1, "", ""};
	bool began = json_get_bool(request, "began"), known, believed;
	struct mpi_world world;
	json_t *ranks;
	int err = mpi_world_ask(&s->worlds, pid, copied, &world);

	known = !err && (began || !is_copied(s, pid, copied));
	/*
	 * For a process that was already running and that cannot be asked, the environment is all
	 * there is.
	 */
	believed = began ||
		   (err == -ENOTSUP && json_get_bool(request, "ran") && !proc_is_fork(pid));
	proc_rank_read(pid, world.flavour, &rank, &other);
	json_object_set_new(process, "hint", rank_json(&rank));
	if (!known && !believed)
		rank = (struct proc_rank){-1, -1, "", ""};
	if (known && rank.size > 1 && world.size == 1)
		other = rank;
	else if (known && world.size == 1 && *rank.job && strcmp(rank.launcher, "singleton"))
		json_object_set_new(process, "launcher_job", json_string(rank.job));
	if (known && (world.size == 1 || rank.size != world.size))
		proc_rank_of(pid, world.flavour, world.rank, world.size, &rank);
	else if (known)
		rank.rank = world.rank;
	ranks = rank_json(&rank);
	json_object_update(process, ranks);
	json_decref(ranks);
	json_object_set_new(process, "initialised", json_boolean(known || believed));
	json_object_set_new(process, "rank_by",
			    json_string(known	 ? "mpi" :
					believed ? "environment" :
						   ""));
	if (known && world.size == 1 && other.size > 1)
		json_object_set_new(process, "started", started_json(&other, world.flavour));
}

static void spawned_put(json_t *process, pid_t pid)
{
	struct proc_rank root;
	json_t *by;

	if (!proc_spawned_by(pid, &root))
		return;
	by = json_object();
	if (root.rank >= 0) {
		json_object_set_new(by, "job", json_string(root.job));
		json_object_set_new(by, "rank", json_integer(root.rank));
	}
	json_object_set_new(process, "spawned_by", by);
}

void service_process(struct service *s, const json_t *request)
{
	pid_t pid = (pid_t)json_get_int(request, "pid");
	json_t *m = proc_describe(pid);

	json_object_set_new(m, "copied", copied_json(s, pid, json_object_get(request, "copies")));
	rank_put(s, m, pid, request);
	if (json_get_bool(m, "initialised")) {
		spawned_put(m, pid);
		settings_put(m, pid);
	}
	if (proc_stdout(pid))
		json_object_set_new(m, "stdout", json_string(proc_stdout(pid)));
	service_send(s, json_pack("{s:b,s:o}", "done", 1, "process", m));
}

/*
 * ---- functions found at run time ----
 *
 * Functions of known libraries that a process has only as pointers: those that it has just
 * received, and those that it received before the recording. inspect_library.c chooses where they
 * are probed.
 */

/* Returns the places [[row, address]] that lie in a mapping, as [[row, file offset]]. */
static json_t *places_in(const struct proc_map *map, const json_t *places)
{
	json_t *in = json_array(), *place;
	size_t i;

	json_array_foreach((json_t *)places, i, place)
	{
		uint64_t addr = (uint64_t)json_integer_value(json_array_get(place, 1));

		if (addr >= map->start && addr < map->end)
			json_array_append_new(
				in, json_pack("[O,I]", json_array_get(place, 0),
					      (json_int_t)(addr - map->start + map->off)));
	}
	return in;
}

/* Reports more probes in a known library. */
static void more_report(struct service *s, struct code_file *f, struct inspected *more)
{
	if (!more->library)
		return;
	json_array_extend(f->lib->offsets, more->offsets);
	code_file_add_sites(f, more->sites);
	service_links_send(s, &more->links);
	service_send(s,
		     json_pack("{s:{s:i,s:I,s:I,s:I,s:O,s:O?,s:O}}", "added", "lib_id", f->lib->id,
			       "dev", (json_int_t)f->id.dev, "ino", (json_int_t)f->id.ino, "stamp",
			       (json_int_t)f->id.stamp, "offsets", more->offsets, "sites",
			       more->sites, "probes", more->library));
}

/*
 * Inspects more places of a file (as in inspect_more). If all processes share one set of probes, it
 * gets the new ones at once.
 */
static void more_look(struct service *s, const char *link, int fd, struct code_file *f,
		      const json_t *places)
{
	struct inspect_options opt = *s->opt;
	struct inspected more;

	opt.each = opt.each && !f->is_wide;
	if (!inspect_more(&opt, link, fd, f->lib, places, &more))
		more_report(s, f, &more);
	inspected_release(&more);
}

/* Probes the places that lie in a mapped traced library. Returns how many lie there. */
static size_t places_serve(struct service *s, json_int_t pid, const struct proc_map *map,
			   const json_t *places)
{
	char link[MAP_LINK_BYTES];
	struct code_id id = {};
	struct code_file *f;
	int fd;

	fd = service_map_look(s, pid, map->start, map->end, link, &id);
	if (fd < 0)
		return 0;
	f = code_files_find(s->files, &id);
	if (!f || !f->lib) {
		close(fd);
		return 0;
	}
	more_look(s, link, fd, f, places);
	close(fd);
	return json_array_size(places);
}

/*
 * Probes places [[row, address]] of a process in any of its libraries. Returns how many lie in no
 * traced library.
 */
static size_t places_find(struct service *s, json_int_t pid, const struct proc_maps *maps,
			  const json_t *places)
{
	size_t left = json_array_size(places);
	json_t *in;

	for (size_t i = 0; i < maps->cnt; i++) {
		in = places_in(&maps->map[i], places);
		if (json_array_size(in))
			left -= places_serve(s, pid, &maps->map[i], in);
		json_decref(in);
	}
	return left;
}

void service_functions(struct service *s, const json_t *request)
{
	const json_t *places = json_object_get(request, "places");
	json_int_t pid = json_get_int(request, "pid");
	size_t left = json_array_size(places);
	struct proc_maps maps;

	if (!proc_maps_read((pid_t)pid, &maps)) {
		left = places_find(s, pid, &maps, places);
		proc_maps_release(&maps);
	}
	service_send(s, json_pack("{s:b,s:I}", "done", 1, "elsewhere", (json_int_t)left));
}

/* ---- functions that a process received before the recording ---- */

static bool has_library(const struct service *s, const char *layer)
{
	return table_any(s->files->lib_cnt, i, library_has_layer(s->files->lib[i], layer));
}

/* Lists where a process has the code of a layer's libraries. */
static struct handed_ops_text *layer_text(struct service *s, json_int_t pid,
					  const struct proc_maps *maps, const char *layer,
					  size_t *cnt)
{
	struct handed_ops_text *text = xcalloc(maps->cnt + 1, sizeof(*text));
	char link[MAP_LINK_BYTES];

	*cnt = 0;
	for (size_t i = 0; i < maps->cnt; i++) {
		const struct proc_map *m = &maps->map[i];
		struct code_id id = {};
		struct code_file *f;
		int fd = service_map_look(s, pid, m->start, m->end, link, &id);

		if (fd < 0)
			continue;
		close(fd);
		f = code_files_find(s->files, &id);
		if (f && f->lib && library_has_layer(f->lib, layer))
			text[(*cnt)++] = (struct handed_ops_text){m->start, m->end};
	}
	return text;
}

/* Converts names to rows, for wanted functions only. */
static json_t *rows_of(const struct service *s, const json_t *named)
{
	json_t *places = json_array(), *place;
	size_t i;
	int row;

	json_array_foreach((json_t *)named, i, place)
	{
		row = func_table_find(json_string_value(json_array_get(place, 0)));
		if (row >= 0 && s->opt->wanted[row])
			json_array_append_new(places,
					      json_pack("[i,O]", row, json_array_get(place, 1)));
	}
	return places;
}

static uint64_t kind_handed_ops_serve(struct service *s, json_int_t pid,
				      const struct proc_maps *maps, const struct library_kind *kind)
{
	json_t *named = json_array(), *places;
	uint64_t left_bytes = 0;
	struct handed_ops_text *text;
	size_t cnt;
	int err;

	text = layer_text(s, pid, maps, kind->layer, &cnt);
	err = cnt ? handed_ops_find((pid_t)pid, kind, text, cnt, named, &left_bytes) : 0;
	if (err)
		log_debug("cannot search the memory of process %lld: %s", (long long)pid,
			  strerror(-err));
	places = rows_of(s, named);
	places_find(s, pid, maps, places);
	json_decref(places);
	json_decref(named);
	free(text);
	return left_bytes;
}

void service_handed_ops(struct service *s, const json_t *request)
{
	json_int_t pid = json_get_int(request, "pid");
	uint64_t left_bytes = 0;
	struct proc_maps maps;

	if (!proc_maps_read((pid_t)pid, &maps)) {
		for (size_t i = 0; library_kinds[i]; i++)
			if (library_kinds[i]->handed_ops && has_library(s, library_kinds[i]->layer))
				left_bytes += kind_handed_ops_serve(s, pid, &maps,
								    library_kinds[i]);
		proc_maps_release(&maps);
	}
	service_send(s, json_pack("{s:b,s:I}", "done", 1, "left_bytes", (json_int_t)left_bytes));
}
