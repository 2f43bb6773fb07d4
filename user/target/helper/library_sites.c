/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "target/helper/library_sites.h"

#include <stdlib.h>
#include <string.h>

#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "layers/func_table.h"
#include "target/elf/elf_file.h"
#include "target/elf/probe_site.h"
#include "target/elf/return_sites.h"
#include "target/helper/library_kind.h"
#include "target/probes/site_list.h"

struct library_sites library_sites_new(const struct inspect_options *opt)
{
	return (struct library_sites){
		.removable = opt->removable,
		.unwinds = *opt->unwinds,
		.missing = json_array(),
		.stepped = json_array(),
	};
}

void library_sites_release(struct library_sites *list)
{
	free(list->site);
	free(list->ret);
	free(list->hook);
	json_decref(list->missing);
	json_decref(list->stepped);
}

static bool site_known(const struct library_sites *list, uint64_t offset)
{
	return table_any(list->cnt, i, list->site[i].offset == offset) ||
	       table_any(json_array_size(list->tried), i,
			 (uint64_t)json_integer_value(json_array_get(list->tried, i)) == offset);
}

/* Adds a function's return instructions. False if they are not all known. */
static bool returns_add(struct library_sites *list, const struct elf_file *elf,
			const struct elf_symbol *sym, const struct probe_site *begin,
			uint64_t cookie)
{
	struct return_sites returns;
	bool fine = !return_sites_follow(elf, sym, &returns);

	for (size_t i = 0; i < returns.cnt; i++)
		fine &= returns.v[i].offset != begin->offset;
	for (size_t i = 0; i < returns.cnt && fine; i++)
		*table_add(list->ret, list->ret_cnt, list->ret_room) = (struct link_site){
			.offset = returns.v[i].offset,
			.cookie = cookie | POV_COOKIE_PLACE(POV_PLACE_ENDS, returns.v[i].condition),
		};
	return_sites_release(&returns);
	return fine;
}

void library_sites_add_function(struct library_sites *list, const struct elf_file *elf,
				const struct elf_symbol *sym, uint16_t lib_id, size_t row,
				bool by_returns)
{
	const char *name = func_table_get(row)->name;
	struct probe_site site;

	if (probe_site_choose(elf, sym, 6, &site)) {
		json_array_append_new(list->missing, json_string(*sym->name ? sym->name : name));
		return;
	}
	if (site_known(list, site.offset))
		return;
	by_returns = by_returns && returns_add(list, elf, sym, &site, POV_COOKIE(row, lib_id));
	if (site.cost == SITE_EMULATED && !(by_returns && list->unwinds))
		list->emulated++;
	else
		json_array_append_new(list->stepped, json_string(name));
	*table_add(list->site, list->cnt, list->room) = (struct link_site){
		.offset = site.offset,
		.cookie = POV_COOKIE(row, lib_id),
		.removable = list->removable && list->removable[row],
		.has_returns = by_returns,
	};
}

size_t library_sites_add_inner(struct library_sites *list, const struct inner_function *inner,
			       size_t cnt, const struct elf_file *elf, uint16_t lib_id, size_t row)
{
	struct elf_symbol sym;
	size_t found = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (strcmp(inner[i].name, func_table_get(row)->name) ||
		    !elf_file_function_at(elf, inner[i].addr, &sym))
			continue;
		library_sites_add_function(list, elf, &sym, lib_id, row, true);
		found++;
	}
	return found;
}

/* Counts the arguments of a row: the words of its signature. */
static pov_u8 arg_cnt(const struct func_row *row)
{
	pov_u8 cnt = *row->sig != '\0';

	for (const char *c = row->sig; *c; c++)
		cnt += *c == ' ';
	return cnt;
}

static bool hook_known(const struct library_sites *list, const struct pov_hook *h)
{
	return table_any(list->hook_cnt, i, list->hook[i].address == h->address);
}

/*
 * Adds a hook, so that processes record the function's calls. False if its code does not allow
 * that.
 */
static bool hook_add(struct library_sites *list, const struct elf_file *elf,
		     const struct elf_symbol *sym, size_t row)
{
	const struct func_row *f = func_table_get(row);
	struct pov_hook h = {
		.row = (pov_u16)row,
		.nargs = arg_cnt(f),
		.flags = !strcmp(f->name, "MPI_Pcontrol") ? POV_HOOK_ANY_ARGS : 0,
	};
	char why[96];

	if (hook_site_make(elf, sym, &h, why, sizeof(why))) {
		log_debug("%s: processes cannot record its calls themselves: %s", sym->name, why);
		return false;
	}
	if (hook_known(list, &h))
		return true;
	*table_add(list->hook, list->hook_cnt, list->hook_room) = h;
	return true;
}

void library_sites_add_row(struct library_sites *list, const struct library_kind *kind,
			   bool has_inner, const struct elf_file *elf, uint16_t lib_id, size_t row)
{
	const struct elf_symbol *sym[2];
	unsigned int n = kind->find(elf, func_table_get(row)->name, sym);

	if (n == FUNCTION_ELSEWHERE)
		return;
	if (!n && !has_inner)
		json_array_append_new(list->missing, json_string(func_table_get(row)->name));
	for (unsigned int i = 0; i < n; i++)
		library_sites_add_function(list->left && func_table_layer(row)->is_top &&
							   hook_add(list, elf, sym[i], row) ?
						   list->left :
						   list,
					   elf, sym[i], lib_id, row, n == 1);
}

json_t *library_sites_names(const struct library_sites *list, bool failed_only)
{
	json_t *a = json_array();
	const char *name;

	for (size_t i = 0; i < list->cnt; i++) {
		name = func_table_get(POV_COOKIE_FUNC(list->site[i].cookie))->name;
		if (!failed_only || list->site[i].failed)
			json_array_append_new(a, json_string(name));
	}
	return a;
}

static json_t *offsets_json(const struct library_sites *list)
{
	json_t *a = json_array();

	for (size_t i = 0; i < list->cnt; i++)
		json_array_append_new(a, json_integer((json_int_t)list->site[i].offset));
	return a;
}

/* Attaches the sites, or only lists them (opt->each). Returns the number. */
static size_t sites_put(const struct inspect_options *opt, const char *path,
			struct library_sites *list, struct inspected *out, int *err)
{
	size_t attached;

	site_list_put(opt, SITE_CALL, path, list->ret, list->ret_cnt, out, err);
	attached = site_list_put(opt, SITE_CALL, path, list->site, list->cnt, out, err);
	if (list->left) {
		site_list_put(opt, SITE_LEFT, path, list->left->ret, list->left->ret_cnt, out, err);
		site_list_put(opt, SITE_LEFT, path, list->left->site, list->left->cnt, out, err);
	}
	return attached;
}

size_t library_sites_attach(const struct inspect_options *opt, const char *path,
			    const char *refused, struct library_sites *list, struct inspected *out)
{
	json_t *m = out->library;
	size_t attached = 0;
	int err = 0;

	opt->attaching(opt->ctx);
	if (!*refused)
		attached = sites_put(opt, path, list, out, &err);
	for (size_t i = 0; *refused && i < list->cnt; i++)
		list->site[i].failed = true;
	out->offsets = offsets_json(list);
	json_set_int(m, "attached", attached);
	json_set_int(m, "emulated", list->emulated);
	json_set_int(m, "stepped", json_array_size(list->stepped));
	json_object_set(m, "stepped_names", list->stepped);
	json_object_set(m, "missing", list->missing);
	json_object_set_new(m, "failed", library_sites_names(list, true));
	if (err || *refused)
		json_object_set_new(m, "refused", json_string(err ? strerror(err) : refused));
	return attached;
}
