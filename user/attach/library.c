/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Recognises MPI in code files, chooses the probe sites of the wanted functions and attaches them. What is
 * missing or refused is kept for the trace's "library" meta object, which the report's coverage is made of.
 */
#include "attach/library.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/proc.h"
#include "base/log.h"
#include "elf/elf_file.h"
#include "elf/probe_site.h"
#include "layer/func_table.h"

/* One file looked at, traced or not. */
struct looked {
	uint64_t dev, ino;
	int result; /* 1 traced, 0 nothing in it, -errno */
	struct library *lib;
	char build_id[64];
};

struct library_set {
	struct library_options opt;
	struct looked *looked;
	size_t looked_cnt, looked_cap;
	struct library *lib[POV_LIBS_MAX];
	size_t lib_cnt;
};

/* Sites chosen in one library, and the rows that have none. */
struct site_list {
	struct link_site *site;
	size_t cnt;
	json_t *missing, *stepped; /* names */
	unsigned int emulated;
};

struct library_set *library_set_new(const struct library_options *opt)
{
	struct library_set *set = xcalloc(1, sizeof(*set));

	set->opt = *opt;
	return set;
}

static bool site_known(const struct site_list *list, uint64_t offset)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->site[i].offset == offset)
			return true;
	return false;
}

static void sites_add(struct site_list *list, const struct library *lib, size_t row)
{
	const struct elf_symbol *sym[2];
	struct probe_site site;
	unsigned int n;

	n = elf_file_find_mpi(lib->elf, func_table_get(row)->name, sym);
	if (!n)
		json_array_append_new(list->missing, json_string(func_table_get(row)->name));
	for (unsigned int i = 0; i < n; i++) {
		if (probe_site_choose(lib->elf, sym[i], 6, &site)) {
			json_array_append_new(list->missing, json_string(sym[i]->name));
			continue;
		}
		if (site_known(list, site.offset))
			continue;
		if (site.cost == SITE_EMULATED)
			list->emulated++;
		else
			json_array_append_new(list->stepped,
					      json_string(func_table_get(row)->name));
		list->site[list->cnt++] = (struct link_site){
			.offset = site.offset,
			.cookie = POV_COOKIE(row, lib->id),
		};
	}
}

static json_t *named_json(const struct mpi_library *mpi)
{
	json_t *a = json_array(), *row;
	char value[24];

	for (uint32_t i = 0; i < mpi->named_cnt; i++) {
		snprintf(value, sizeof(value), "0x%" PRIx64, mpi->named[i].value);
		row = json_pack("[s,s,I]", mpi->named[i].name, value,
				(json_int_t)mpi->named[i].size);
		json_array_append_new(a, row);
	}
	return a;
}

static json_t *layout_json(const struct pov_lib *l)
{
	return json_pack("{s:i,s:i,s:b,s:b,s:i,s:i,s:i}", "handle_bytes",
			 l->elem_bytes[POV_ELEM_HANDLE], "status_bytes",
			 l->elem_bytes[POV_ELEM_STATUS], "handle_is_pointer",
			 (l->flags & POV_LIB_HANDLE_PTR) != 0, "type_in_handle",
			 (l->flags & POV_LIB_TYPE_IN_HANDLE) != 0, "type_size_off",
			 l->type_size_off, "undefined", l->undefined, "root", l->root);
}

static json_t *failed_json(const struct site_list *list)
{
	json_t *a = json_array();

	for (size_t i = 0; i < list->cnt; i++)
		if (list->site[i].failed)
			json_array_append_new(
				a, json_string(func_table_get(POV_COOKIE_FUNC(list->site[i].cookie))
						       ->name));
	return a;
}

static void library_describe(struct library *lib, const struct site_list *list, size_t attached,
			     enum link_api api)
{
	json_t *m = json_object();

	json_object_set_new(m, "type", json_string("library"));
	json_object_set_new(m, "id", json_integer(lib->id));
	json_object_set_new(m, "path", json_string(lib->path));
	json_object_set_new(m, "build_id", json_string(elf_file_build_id(lib->elf)));
	json_object_set_new(m, "dev", json_integer(lib->dev));
	json_object_set_new(m, "ino", json_integer(lib->ino));
	json_object_set_new(m, "flavour", json_string(mpi_flavour_name(lib->mpi.flavour)));
	json_object_set_new(m, "version", json_string(lib->mpi.version));
	json_object_set_new(m, "unsure", json_string(lib->mpi.unsure));
	json_object_set_new(m, "layout", layout_json(&lib->mpi.layout));
	json_object_set_new(m, "named", named_json(&lib->mpi));
	json_object_set_new(m, "link",
			    json_string(api == LINK_MULTI ? "uprobe_multi" : "perf_event"));
	json_object_set_new(m, "attached", json_integer(attached));
	json_object_set_new(m, "emulated", json_integer(list->emulated));
	json_object_set_new(m, "stepped", json_integer(json_array_size(list->stepped)));
	json_object_set(m, "stepped_names", list->stepped);
	json_object_set(m, "missing", list->missing);
	json_object_set_new(m, "failed", failed_json(list));
	lib->meta = m;
}

/* Chooses sites and attaches; path is good for the duration of the call. */
static int library_attach(struct library_set *set, struct library *lib, const char *path)
{
	struct site_list list = {
		.site = xcalloc(2 * func_table_count(), sizeof(*list.site)),
		.missing = json_array(),
		.stepped = json_array(),
	};
	uint32_t id = lib->id;
	size_t attached;
	int err = 0;

	for (size_t row = 0; row < func_table_count(); row++)
		if (set->opt.wanted[row])
			sites_add(&list, lib, row);
	if (bpf_map_update_elem(set->opt.libs_fd, &id, &lib->mpi.layout, BPF_ANY)) {
		err = -errno;
		log_error("attach: %s: cannot tell its layout to the kernel half: %s", lib->path,
			  strerror(-err));
		goto out;
	}
	attached = links_attach(&lib->links, set->opt.programs, path, list.site, list.cnt, &err);
	lib->attached = attached;
	library_describe(lib, &list, attached, set->opt.programs->api);
	if (err)
		log_warn("attach: %s: %zu of %zu probes refused: %s; `povtrace report` names them",
			 lib->path, list.cnt - attached, list.cnt, strerror(err));
	err = 0;
	if (!attached) {
		log_error("attach: %s: no probe could be attached; is it stripped?", lib->path);
		err = -ENOENT;
	}
	if (lib->mpi.unsure[0])
		log_warn("attach: %s: %s", lib->path, lib->mpi.unsure);
	log_info("%s: %s %s, %zu probes", lib->path, mpi_flavour_name(lib->mpi.flavour),
		 lib->mpi.version, attached);
out:
	json_decref(list.missing);
	json_decref(list.stepped);
	free(list.site);
	return err;
}

static int library_new(struct library_set *set, struct elf_file *elf, const char *path,
		       const struct proc_map *map, const struct stat *st, struct library **out)
{
	struct library *lib;
	struct mpi_library mpi;
	int err;

	err = mpi_library_probe(elf, &mpi);
	if (err <= 0)
		return err;
	if (set->lib_cnt == POV_LIBS_MAX) {
		log_error("attach: %s: more than %d MPI libraries in one recording", map->path,
			  POV_LIBS_MAX);
		mpi_library_release(&mpi);
		return -ENOSPC;
	}
	lib = xcalloc(1, sizeof(*lib));
	lib->id = set->lib_cnt;
	lib->path = xstrdup(map->path);
	lib->dev = st->st_dev;
	lib->ino = st->st_ino;
	lib->elf = elf;
	lib->mpi = mpi;
	set->lib[set->lib_cnt++] = lib;
	err = library_attach(set, lib, path);
	*out = lib;
	return err ? err : 1;
}

/* First look at a file. Takes over elf only if it becomes a library. */
static int look(struct library_set *set, pid_t pid, const struct proc_map *map, int fd,
		const struct stat *st, struct looked *l)
{
	struct elf_file *elf;
	char path[96];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, map->start,
		 map->end);
	err = elf_file_open_fd(fd, &elf);
	if (err) {
		log_debug("attach: %s: not a readable ELF file: %s", map->path, strerror(-err));
		return err;
	}
	snprintf(l->build_id, sizeof(l->build_id), "%s", elf_file_build_id(elf));
	err = library_new(set, elf, path, map, st, &l->lib);
	if (!l->lib)
		elf_file_close(elf);
	return err;
}

static struct looked *looked_find(struct library_set *set, const struct stat *st)
{
	for (size_t i = 0; i < set->looked_cnt; i++)
		if (set->looked[i].dev == st->st_dev && set->looked[i].ino == st->st_ino)
			return &set->looked[i];
	return NULL;
}

static struct looked *looked_add(struct library_set *set, const struct stat *st)
{
	struct looked *l;

	if (set->looked_cnt == set->looked_cap) {
		set->looked_cap = set->looked_cap ? 2 * set->looked_cap : 64;
		set->looked = xrealloc(set->looked, set->looked_cap * sizeof(*set->looked));
	}
	l = &set->looked[set->looked_cnt++];
	memset(l, 0, sizeof(*l));
	l->dev = st->st_dev;
	l->ino = st->st_ino;
	return l;
}

int library_set_look(struct library_set *set, pid_t pid, const struct proc_map *map,
		     struct library **out, bool *is_new)
{
	struct looked *l;
	struct stat st;
	int fd, err = 0;

	*is_new = false;
	fd = proc_map_open(pid, map);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		err = -errno;
		goto out;
	}
	l = looked_find(set, &st);
	if (!l) {
		*is_new = true;
		l = looked_add(set, &st);
		l->result = look(set, pid, map, fd, &st, l);
	}
	err = l->result;
	if (err == 1)
		*out = l->lib;
out:
	close(fd);
	return err;
}

const char *library_set_build_id(struct library_set *set, pid_t pid, const struct proc_map *map)
{
	int fd = proc_map_open(pid, map);
	struct looked *l = NULL;
	struct stat st;

	if (fd < 0)
		return "";
	if (!fstat(fd, &st))
		l = looked_find(set, &st);
	close(fd);
	return l ? l->build_id : "";
}

struct library *library_set_get(struct library_set *set, size_t i)
{
	return i < set->lib_cnt ? set->lib[i] : NULL;
}

size_t library_set_count(const struct library_set *set)
{
	return set->lib_cnt;
}

size_t library_set_probe_count(const struct library_set *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->lib_cnt; i++)
		n += set->lib[i]->attached;
	return n;
}

void library_set_detach(struct library_set *set)
{
	for (size_t i = 0; i < set->lib_cnt; i++)
		links_leave(&set->lib[i]->links, set->opt.spent);
}

void library_set_free(struct library_set *set)
{
	if (!set)
		return;
	library_set_detach(set);
	for (size_t i = 0; i < set->lib_cnt; i++) {
		mpi_library_release(&set->lib[i]->mpi);
		elf_file_close(set->lib[i]->elf);
		json_decref(set->lib[i]->meta);
		free(set->lib[i]->path);
		free(set->lib[i]);
	}
	free(set->looked);
	free(set);
}

int library_bias(const struct library *lib, const struct proc_map *map, uint64_t *bias)
{
	uint64_t addr;
	int err;

	err = elf_file_offset_to_addr(lib->elf, map->off, &addr);
	if (!err)
		*bias = map->start - addr;
	return err;
}

static void copied_add(json_t *out, const struct library *lib, const struct mpi_named *named,
		       const struct elf_file *exe, uint64_t bias)
{
	const struct elf_symbol *own = elf_file_symbol_from(lib->elf, named->value), *copy;
	char text[24];

	if (!own || own->addr != named->value)
		return;
	copy = elf_file_find(exe, own->name);
	if (!copy || !copy->is_object)
		return;
	snprintf(text, sizeof(text), "0x%" PRIx64, copy->addr + bias);
	json_array_append_new(out, json_pack("[s,s]", named->name, text));
}

json_t *library_copied(const struct library *lib, pid_t pid, const struct proc_map *exe_map)
{
	json_t *out = json_array();
	struct elf_file *exe;
	uint64_t addr;
	int fd;

	if (!(lib->mpi.layout.flags & POV_LIB_HANDLE_PTR))
		return out;
	fd = proc_map_open(pid, exe_map);
	if (fd < 0)
		return out;
	if (!elf_file_open_fd(fd, &exe)) {
		if (elf_file_is_dynamic(exe) && !elf_file_defines(exe, "MPI_Init") &&
		    !elf_file_offset_to_addr(exe, exe_map->off, &addr))
			for (uint32_t i = 0; i < lib->mpi.named_cnt; i++)
				copied_add(out, lib, &lib->mpi.named[i], exe,
					   exe_map->start - addr);
		elf_file_close(exe);
	}
	close(fd);
	return out;
}
