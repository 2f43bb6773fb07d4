/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Missing and refused functions are noted for the trace's meta objects "library" and "probes", from
 * which the report makes its coverage. What a file defines decides whether it is traced, never its
 * name.
 */
#include "target/helper/inspect.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/code_file.h"
#include "target/helper/library_kind.h"
#include "target/helper/library_sites.h"
#include "target/proc.h"
#include "target/probes/code_turn.h"
#include "target/probes/site_list.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "target/elf/elf_file.h"
#include "target/elf/probe_site.h"
#include "layers/func_table.h"

/* prefix of what user/preload/ exports besides MPI functions */
#define PRELOAD_MARK "povtrace_preload"

/*
 * Returns true for a program. The dynamic linker prefers a program's functions to preloaded ones,
 * so they keep their probes.
 */
static bool is_program(const struct elf_file *elf)
{
	const struct elf_headers *h = elf_file_headers(elf);

	return !*h->soname && (!h->dynamic || h->is_pie || *h->interpreter);
}

/* Makes the meta object of a library, without its probes. */
static json_t *library_json(const json_t *facts, const json_t *names, const struct elf_file *elf,
			    enum link_api api)
{
	json_t *m = json_object();

	json_object_set_new(m, "type", json_string("library"));
	json_object_set_new(m, "build_id", json_string(elf_file_headers(elf)->build_id));
	json_object_set(m, "layers", (json_t *)names);
	json_object_update(m, (json_t *)facts);
	json_object_set_new(m, "link",
			    json_string(api == LINK_MULTI ? "uprobe_multi" : "perf_event"));
	return m;
}

static bool layer_is_wanted(const struct inspect_options *opt, const struct layer *layer)
{
	return table_any(func_table_count(), row,
			 opt->wanted[row] && func_table_layer(row) == layer);
}

/*
 * A library of one or several layers. If it serves several, the top layer gives its name and object
 * layout.
 */
struct found {
	struct pov_lib layout;
	json_t *facts, *layers, *copies; /* layers is empty if the file is no such library */
	struct library_sites sites;
};

static void layer_sites(const struct inspect_options *opt, const struct elf_file *elf,
			const struct layer *layer, uint16_t lib_id, struct library_sites *list)
{
	const struct library_kind *kind = library_kind_of(layer);
	struct inner_function inner[INNER_FUNCTIONS_MAX];
	size_t inner_cnt = kind->inner ? kind->inner(elf, inner) : 0;

	for (size_t row = 0; row < func_table_count(); row++)
		if (opt->wanted[row] && func_table_layer(row) == layer)
			library_sites_add_row(list, kind,
					      library_sites_add_inner(list, inner, inner_cnt, elf,
								      lib_id, row) > 0,
					      elf, lib_id, row);
}

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
	} else {
		json_object_update_missing(out->facts, facts.meta);
		if (facts.layout.message_off != POV_OFF_NONE) {
			out->layout.message_off = facts.layout.message_off;
			out->layout.message_arg = facts.layout.message_arg;
		}
	}
	json_array_append_new(out->layers, json_string(layer->name));
	json_decref(facts.meta);
	json_decref(facts.copies);
	layer_sites(opt, elf, layer, lib_id, &out->sites);
}

/*
 * Makes the kernel half's description of a function that receives other functions; false if none of
 * them is wanted.
 */
static bool handover_recipe(const struct inspect_options *opt, const struct handover *h,
			    struct pov_handover *out)
{
	*out = (struct pov_handover){.arg = h->arg};
	for (size_t i = 0; i < h->cnt; i++) {
		int row = func_table_find(h->member[i].name);

		if (row < 0 || !opt->wanted[row])
			continue;
		out->member[out->cnt].offset = h->member[i].offset;
		out->member[out->cnt++].row = (pov_u16)row;
	}
	return out->cnt;
}

static int handover_attach(const struct inspect_options *opt, const char *path,
			   const struct elf_file *elf, const struct handover *h, uint64_t cookie,
			   struct inspected *out)
{
	const struct elf_symbol *sym = elf_file_find(elf, h->function);
	struct link_site site = {.cookie = cookie};
	struct pov_handover recipe;
	struct probe_site at;
	int err = 0;

	if (!handover_recipe(opt, h, &recipe))
		return 0;
	if (!sym || probe_site_choose(elf, sym, 6, &at))
		return ENOENT;
	if (bpf_map_update_elem(opt->handovers_fd, &cookie, &recipe, BPF_ANY))
		return errno;
	site.offset = at.offset;
	site_list_put(opt, SITE_HANDOVER, path, &site, 1, out, &err);
	return err;
}

/* Makes threads wait in functions that receive other functions, until the latter have probes. */
static void handovers_attach(const struct inspect_options *opt, const char *path,
			     const struct elf_file *elf, const struct library_kind *kind,
			     uint16_t lib_id, struct inspected *out)
{
	struct handover all[HANDOVERS_MAX];
	size_t cnt = kind->handovers ? kind->handovers(elf, all) : 0;
	int err;

	for (size_t i = 0; i < cnt && opt->handover.entry_fd >= 0; i++) {
		err = handover_attach(opt, path, elf, &all[i], POV_HANDOVER_COOKIE(i, lib_id), out);
		if (err)
			log_warn("attach: %s: no probe, so functions passed to it are not "
				 "recorded: %s",
				 all[i].function, strerror(err));
	}
}

static bool has_site(const struct library_sites *list, size_t row)
{
	return table_any(list->cnt, i,
			 POV_COOKIE_FUNC(list->site[i].cookie) == row && !list->site[i].failed);
}

/* Context of function_is_seen. */
struct sight {
	const struct inspect_options *opt;
	const struct library_sites *sites;
	bool met; /* functions are found at run time */
};

/* Returns true if a function has its own probes, now or later. */
static bool function_is_seen(const void *ctx, const char *function)
{
	const struct sight *s = ctx;
	int row = func_table_find(function);

	return row >= 0 && s->opt->wanted[row] && (s->met || has_site(s->sites, (size_t)row));
}

/*
 * Uses static probes for functions that cannot be probed themselves. Returns their number, and adds
 * members to out->library.
 */
static size_t layers_notes(const struct inspect_options *opt, const char *path,
			   const struct elf_file *elf, const struct found *found, uint16_t lib_id,
			   struct inspected *out)
{
	const struct sight sight = {opt, &found->sites,
				    json_get_bool(found->facts, "met") &&
					    opt->handover.entry_fd >= 0};
	json_t *names = json_array();
	size_t cnt = 0;

	for (size_t i = 0; layers[i]; i++)
		if (json_has_text(found->layers, layers[i]->name))
			cnt += inspect_notes(opt, path, elf, library_kind_of(layers[i]), lib_id,
					     function_is_seen, &sight, out, names);
	if (cnt) {
		json_set_int(out->library, "attached",
			     json_get_int(out->library, "attached") + (json_int_t)cnt);
		json_set_int(out->library, "emulated",
			     json_get_int(out->library, "emulated") + (json_int_t)cnt);
		json_object_set(out->library, "usdt", names);
	}
	json_decref(names);
	return cnt;
}

static void layers_handovers(const struct inspect_options *opt, const char *path,
			     const struct elf_file *elf, const json_t *names, uint16_t lib_id,
			     struct inspected *out)
{
	for (size_t i = 0; layers[i]; i++)
		if (json_has_text(names, layers[i]->name))
			handovers_attach(opt, path, elf, library_kind_of(layers[i]), lib_id, out);
}

/*
 * Makes processes wait at the end of MPI until the helper has read their rank. Processes that
 * record their own calls wait there without a probe, which would break the jump at the function's
 * start.
 */
static void final_waits_attach(const struct inspect_options *opt, const char *path,
			       const struct elf_file *elf, const struct found *found,
			       struct inspected *out)
{
	static const char *const names[] = {"MPI_Finalize", "MPI_Session_finalize"};
	const struct elf_symbol *sym[2];
	struct link_site site = {};
	struct probe_site at;
	int err = 0;

	if (found->sites.left || opt->loader.entry_fd < 0 || !json_has_text(found->layers, "mpi"))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!elf_file_find_mpi(elf, names[i], sym) ||
		    probe_site_choose(elf, sym[0], 6, &at))
			continue;
		site.offset = at.offset;
		if (site_list_put(opt, SITE_LOADER, path, &site, 1, out, &err) < 1)
			log_debug("%s: no probe, so processes do not wait there: %s", names[i],
				  strerror(err));
	}
}

/*
 * Attaches the waiting probes in the preload library. Only recorded processes load it, so one set
 * of probes serves them all.
 */
static void wait_attach(const struct inspect_options *opt, const char *path,
			const struct elf_file *elf, struct links *links)
{
	static const struct {
		const char *name;
		uint64_t cookie;
	} waits[] = {{PRELOAD_MARK, POV_WAIT_UNREACHED},
		     {PRELOAD_MARK "_begin", 0},
		     {PRELOAD_MARK "_fork", POV_WAIT_FORKED}};
	struct link_site site[sizeof(waits) / sizeof(*waits)] = {};
	struct probe_site at;
	size_t cnt = 0;
	int err = 0;

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		if (!probe_site_choose(elf, elf_file_find(elf, waits[i].name), 6, &at))
			site[cnt++] = (struct link_site){.offset = at.offset,
							 .cookie = waits[i].cookie};
	if (opt->loader.entry_fd >= 0 &&
	    links_attach(links, &opt->loader, path, site, cnt, &err) < cnt)
		log_warn("attach: %s: processes in containers may run before their probes are "
			 "attached: %s",
			 path, strerror(err));
}

/*
 * Returns true if probes go into all processes, as for a launched command on kernels without
 * uprobe_multi. A process that waits for perf events of its own would wait forever: it delays the
 * end of other processes (RCU) and, through a lock, also the helper that must attach the events.
 */
static bool is_for_all(const struct inspect_options *opt)
{
	return opt->waits && !opt->preload && opt->calls.api != LINK_MULTI;
}

/*
 * Begins a turn for breakpoints in an MPI library's file, that is, in all processes that map it.
 * Returns like code_turn_breakpoints; -1 also if no turn is needed.
 */
static int turn_begin(const struct inspect_options *opt, const char *path,
		      const struct elf_file *elf, const struct found *found, char *why,
		      size_t bytes)
{
	struct stat st;

	if (opt->each || is_program(elf) || !json_has_text(found->layers, "mpi") || stat(path, &st))
		return -1;
	return code_turn_breakpoints(0, st.st_ino, proc_is_hooked, why, bytes);
}

int inspect_library(const struct inspect_options *opt, const char *path, const struct elf_file *elf,
		    uint16_t lib_id, struct inspected *out)
{
	struct inspect_options all = *opt;
	struct library_sites left = library_sites_new(opt);
	struct found found = {
		.facts = json_object(),
		.layers = json_array(),
		.sites = library_sites_new(opt),
	};
	uint32_t id = lib_id;
	size_t attached;
	char refused[160] = "";
	int err = 0, turn = -1;

	out->is_preload = elf_file_find(elf, PRELOAD_MARK) != NULL;
	if (out->is_preload) {
		wait_attach(opt, path, elf, &out->links);
		goto out;
	}
	if (opt->preload && !is_program(elf))
		found.sites.left = &left;
	if (is_for_all(opt)) {
		all.each = false;
		opt = &all;
	}
	for (size_t i = 0; layers[i]; i++)
		layer_look(opt, elf, layers[i], lib_id, &found);
	if (!json_array_size(found.layers))
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
	out->library = library_json(found.facts, found.layers, elf, opt->calls.api);
	turn = turn_begin(opt, path, elf, &found, refused, sizeof(refused));
	attached = library_sites_attach(opt, path, refused, &found.sites, out);
	attached += layers_notes(opt, path, elf, &found, lib_id, out);
	json_set_int(out->library, "preloaded", (json_int_t)found.sites.hook_cnt);
	out->hook_cnt = found.sites.hook_cnt;
	out->hooks = found.sites.hook;
	found.sites.hook = NULL;
	err = attached || out->hook_cnt || *refused ? 0 : -ENOENT;
	layers_handovers(opt, path, elf, found.layers, lib_id, out);
	if (!*refused)
		final_waits_attach(opt, path, elf, &found, out);
	code_turn_end(turn);
out:
	json_decref(found.facts);
	json_decref(found.layers);
	json_decref(found.copies);
	library_sites_release(&found.sites);
	library_sites_release(&left);
	return err;
}

/* ---- more of a known library ---- */

/* Returns the row of a place that must be probed in this library, else func_table_count(). */
static size_t row_of(const struct inspect_options *opt, const struct library *lib,
		     const json_t *place)
{
	uint64_t row = (uint64_t)json_integer_value(json_array_get(place, 0));

	if (row < func_table_count() && opt->wanted[row] &&
	    library_has_layer(lib, func_table_layer(row)->name))
		return row;
	return func_table_count();
}

static void place_add(const struct inspect_options *opt, const struct elf_file *elf,
		      const struct library *lib, const json_t *place, struct library_sites *list)
{
	uint64_t offset = (uint64_t)json_integer_value(json_array_get(place, 1)), addr;
	size_t row = row_of(opt, lib, place);
	struct elf_symbol sym;

	if (row == func_table_count())
		return;
	if (elf_file_offset_to_addr(elf, offset, &addr) || !elf_file_function_at(elf, addr, &sym)) {
		json_array_append_new(list->missing, json_string(func_table_get(row)->name));
		return;
	}
	library_sites_add_function(list, elf, &sym, lib->id, row, true);
}

int inspect_more(const struct inspect_options *opt, const char *path, int fd,
		 const struct library *lib, const json_t *places, struct inspected *out)
{
	struct library_sites list;
	struct elf_file *elf;
	json_t *place;
	size_t i;
	int err;

	memset(out, 0, sizeof(*out));
	err = elf_file_open_fd(fd, &elf);
	if (err)
		return err;
	list = library_sites_new(opt);
	list.tried = lib->offsets;
	json_array_foreach((json_t *)places, i, place) place_add(opt, elf, lib, place, &list);
	if (list.cnt || json_array_size(list.missing)) {
		out->library = json_pack("{s:s,s:o}", "type", "probes", "functions",
					 library_sites_names(&list, false));
		library_sites_attach(opt, path, "", &list, out);
	}
	library_sites_release(&list);
	elf_file_close(elf);
	return 0;
}
