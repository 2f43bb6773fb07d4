/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What is missing or refused is kept for the trace's "library" meta object, which the report's coverage is made of.
 * Whether a file is to be traced is seen from what it defines, never from its name.
 */
#include "attach/inspect.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/library_kind.h"
#include "base/log.h"
#include "elf/call_sites.h"
#include "elf/elf_file.h"
#include "elf/probe_site.h"
#include "layer/func_table.h"

#define CALLERS_MAX 64 /* of a loader's function: glibc has about a dozen */

/* Sites chosen in one library, and the rows that have none. */
struct site_list {
	struct link_site *site;
	size_t cnt;
	json_t *missing, *stepped; /* names */
	unsigned int emulated;
};

static bool site_known(const struct site_list *list, uint64_t offset)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->site[i].offset == offset)
			return true;
	return false;
}

static void sites_add(struct site_list *list, const struct library_kind *kind,
		      const struct elf_file *elf, uint16_t lib_id, size_t row)
{
	const struct elf_symbol *sym[2];
	struct probe_site site;
	unsigned int n;

	n = kind->find(elf, func_table_get(row)->name, sym);
	if (!n)
		json_array_append_new(list->missing, json_string(func_table_get(row)->name));
	for (unsigned int i = 0; i < n; i++) {
		if (probe_site_choose(elf, sym[i], 6, &site)) {
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
			.cookie = POV_COOKIE(row, lib_id),
		};
	}
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

/* All that the trace says of a library. */
static json_t *library_json(const json_t *facts, const json_t *names, const struct elf_file *elf,
			    const struct site_list *list, size_t attached, enum link_api api)
{
	json_t *m = json_object();

	json_object_set_new(m, "type", json_string("library"));
	json_object_set_new(m, "build_id", json_string(elf_file_headers(elf)->build_id));
	json_object_set(m, "layers", (json_t *)names);
	json_object_update(m, (json_t *)facts);
	json_object_set_new(m, "link",
			    json_string(api == LINK_MULTI ? "uprobe_multi" : "perf_event"));
	json_object_set_new(m, "attached", json_integer(attached));
	json_object_set_new(m, "emulated", json_integer(list->emulated));
	json_object_set_new(m, "stepped", json_integer(json_array_size(list->stepped)));
	json_object_set(m, "stepped_names", list->stepped);
	json_object_set(m, "missing", list->missing);
	json_object_set_new(m, "failed", failed_json(list));
	return m;
}

static bool layer_is_wanted(const struct inspect_options *opt, const struct layer *layer)
{
	for (size_t row = 0; row < func_table_count(); row++)
		if (opt->wanted[row] && func_table_layer(row) == layer)
			return true;
	return false;
}

/* A library of one layer or of several: what is said of it, and how its objects lie, is the top layer's if it is one of them. */
struct found {
	struct pov_lib layout;
	json_t *facts, *layers, *copies; /* layers empty: it is none */
	struct site_list sites;
};

static void layer_look(const struct inspect_options *opt, const struct elf_file *elf,
		       const struct layer *layer, uint16_t lib_id, struct found *out)
{
	const struct library_kind *kind = library_kind_of(layer);
	struct library_facts facts;

	if (!kind || !layer_is_wanted(opt, layer) || !kind->describe(elf, &facts))
		return;
	if (!json_array_size(out->layers) || layer->is_top) {
		out->layout = facts.layout;
		json_decref(out->copies);
		out->copies = json_incref(facts.copies);
		json_object_update(out->facts, facts.meta);
	}
	json_array_append_new(out->layers, json_string(layer->name));
	json_decref(facts.meta);
	json_decref(facts.copies);
	for (size_t row = 0; row < func_table_count(); row++)
		if (opt->wanted[row] && func_table_layer(row) == layer)
			sites_add(&out->sites, kind, elf, lib_id, row);
}

/* Chooses sites and attaches. 0 also if there is nothing to trace. */
static int library_attach(const struct inspect_options *opt, const char *path,
			  const struct elf_file *elf, uint16_t lib_id, struct inspected *out)
{
	struct found found = {
		.facts = json_object(),
		.layers = json_array(),
		.sites = {.site = xcalloc(2 * func_table_count(), sizeof(struct link_site)),
			  .missing = json_array(),
			  .stepped = json_array()},
	};
	uint32_t id = lib_id;
	size_t attached;
	int err = 0;

	for (size_t i = 0; layers[i]; i++)
		layer_look(opt, elf, layers[i], lib_id, &found);
	out->is_library = json_array_size(found.layers) > 0;
	if (!out->is_library)
		goto out;
	out->copies = json_incref(found.copies);
	if (lib_id >= POV_LIBS_MAX) {
		err = -ENOSPC;
		goto out;
	}
	if (bpf_map_update_elem(opt->libs_fd, &id, &found.layout, BPF_ANY)) {
		err = -errno;
		goto out;
	}
	opt->attaching(opt->ctx);
	attached = links_attach(&out->links, &opt->calls, path, found.sites.site, found.sites.cnt,
				&err);
	out->library = library_json(found.facts, found.layers, elf, &found.sites, attached,
				    opt->calls.api);
	if (err)
		json_object_set_new(out->library, "refused", json_string(strerror(err)));
	err = attached ? 0 : -ENOENT;
out:
	json_decref(found.facts);
	json_decref(found.layers);
	json_decref(found.copies);
	json_decref(found.sites.missing);
	json_decref(found.sites.stepped);
	free(found.sites.site);
	return err;
}

/* Where a probe meets those who call a function: at its own file's calls if asked for and known, else at its entry. */
static size_t function_sites(const struct elf_file *elf, const struct elf_symbol *sym,
			     bool at_calls, struct link_site *sites)
{
	uint64_t offsets[CALLERS_MAX];
	struct probe_site site;
	size_t cnt = 0;

	if (at_calls)
		cnt = call_sites_find(elf, sym, offsets, CALLERS_MAX);
	for (size_t i = 0; i < cnt; i++)
		sites[i] = (struct link_site){.offset = offsets[i]};
	if (cnt || !sym->has_offset)
		return cnt;
	sites[0] = (struct link_site){
		.offset = probe_site_choose(elf, sym, 6, &site) ? sym->offset : site.offset,
	};
	return 1;
}

/* Probes that run whenever a function is called. */
static int function_attach(const struct inspect_options *opt, const struct link_programs *p,
			   const char *path, const struct elf_file *elf, const char *name,
			   bool at_calls, struct links *links)
{
	const struct elf_symbol *sym = elf_file_find(elf, name);
	struct link_site sites[CALLERS_MAX];
	size_t cnt;
	int err = 0;

	if (p->entry_fd < 0 || !sym)
		return -ENOENT;
	cnt = function_sites(elf, sym, at_calls, sites);
	if (!cnt)
		return -ENOENT;
	opt->attaching(opt->ctx);
	return links_attach(links, p, path, sites, cnt, &err) ? 0 : -err;
}

static json_t *segments_json(const struct elf_file *elf)
{
	json_t *a = json_array();
	uint64_t offset, addr, bytes;

	for (size_t i = 0; elf_file_exec_segment(elf, i, &offset, &addr, &bytes); i++)
		json_array_append_new(a, json_pack("[I,I,I]", (json_int_t)offset, (json_int_t)addr,
						   (json_int_t)bytes));
	return a;
}

static json_t *needed_json(const struct elf_file *elf)
{
	json_t *a = json_array();
	const struct elf_headers *h = elf_file_headers(elf);

	for (size_t i = 0; i < h->needed_cnt; i++)
		json_array_append_new(a, json_string(h->needed[i]));
	return a;
}

/* "#!/bin/sh -e\n" → "/bin/sh"; "" if it is no script. */
static void shebang_read(int fd, char *buf, size_t bytes)
{
	char line[256];
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
	char *p = line + 2;
	size_t len;

	*buf = '\0';
	if (n < 4 || line[0] != '#' || line[1] != '!')
		return;
	line[n] = '\0';
	p += strspn(p, " \t");
	len = strcspn(p, " \t\r\n");
	if (p[0] == '/' && len < bytes)
		snprintf(buf, bytes, "%.*s", (int)len, p);
}

static int elf_inspect(const struct inspect_options *opt, const char *path,
		       const struct elf_file *elf, uint16_t lib_id, struct inspected *out)
{
	const struct elf_headers *h = elf_file_headers(elf);

	snprintf(out->build_id, sizeof(out->build_id), "%s", h->build_id);
	snprintf(out->interpreter, sizeof(out->interpreter), "%s", h->interpreter);
	out->is_main = out->interpreter[0] || !h->soname[0];
	out->runpath = xstrdup(h->runpath);
	out->needed = needed_json(elf);
	out->segments = segments_json(elf);
	/* Only the loader itself calls it, four times for each library. Each perf event takes 0.1 s to be removed. */
	if (elf_file_exports(elf, "_dl_debug_state"))
		out->is_loader = !function_attach(opt, &opt->loader, path, elf, "_dl_debug_state",
						  opt->loader.api == LINK_MULTI, &out->links);
	if (elf_file_exports(elf, "execve") && elf_file_exports(elf, "fexecve"))
		out->is_libc = !function_attach(opt, &opt->exec, path, elf, "execve", false,
						&out->links);
	return library_attach(opt, path, elf, lib_id, out);
}

int inspect_file(const struct inspect_options *opt, const char *path, int fd, uint16_t lib_id,
		 struct inspected *out)
{
	struct elf_file *elf;
	int err;

	memset(out, 0, sizeof(*out));
	shebang_read(fd, out->interpreter, sizeof(out->interpreter));
	out->is_script = out->interpreter[0] != '\0';
	if (out->is_script)
		return 0;
	err = elf_file_open_fd(fd, &elf);
	if (err)
		return err;
	err = elf_inspect(opt, path, elf, lib_id, out);
	elf_file_close(elf);
	return err;
}

void inspected_release(struct inspected *in)
{
	links_release(&in->links);
	free(in->runpath);
	json_decref(in->needed);
	json_decref(in->library);
	json_decref(in->segments);
	json_decref(in->copies);
	memset(in, 0, sizeof(*in));
}

json_t *inspect_copies(int exe_fd, const json_t *copies)
{
	json_t *out = json_array(), *row;
	const struct elf_symbol *copy;
	struct elf_file *exe;
	char text[24];
	size_t i;

	if (elf_file_open_fd(exe_fd, &exe))
		return out;
	if (elf_file_headers(exe)->dynamic && !elf_file_defines(exe, "MPI_Init"))
		json_array_foreach((json_t *)copies, i, row)
		{
			const char *symbol = json_string_value(json_array_get(row, 1));

			copy = symbol ? elf_file_find(exe, symbol) : NULL;
			if (!copy || !copy->is_object)
				continue;
			snprintf(text, sizeof(text), "0x%" PRIx64, copy->addr);
			json_array_append_new(out,
					      json_pack("[O,s]", json_array_get(row, 0), text));
		}
	elf_file_close(exe);
	return out;
}
