/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Most files have none of them: that is seen from their tables of names, before a symbol is loaded. */
#include "attach/inspect_region.h"

#include <stdlib.h>
#include <string.h>

#include "abi/config.h"
#include "attach/site_list.h"
#include "base/json_get.h"
#include "base/log.h"
#include "elf/elf_file.h"
#include "elf/probe_site.h"

/* What was found in a file. */
struct region_sites {
	struct link_site *site;
	size_t cnt, room;
	json_t *names;	/* of regions that have a site */
	json_t *failed; /* of those that have one that cannot be probed */
};

bool region_is(const char *symbol, const char *name)
{
	static const char *const copies[] = {".constprop.", ".isra.", ".lto_priv."};
	size_t bytes = strlen(name);
	const char *rest = symbol + bytes;

	if (strncmp(symbol, name, bytes))
		return false;
	if (!*rest)
		return true;
	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		if (!strncmp(rest, copies[i], strlen(copies[i])))
			return !strstr(rest, ".cold") && !strstr(rest, ".part.");
	return false;
}

static void name_note(json_t *names, const char *name)
{
	if (!json_has_text(names, name))
		json_array_append_new(names, json_string(name));
}

/* A function may have several symbols; a place has one probe. */
static bool site_known(const struct region_sites *s, uint64_t offset)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->site[i].offset == offset)
			return true;
	return false;
}

static void site_add(struct region_sites *s, const struct elf_file *elf,
		     const struct elf_symbol *sym, size_t region, const char *name)
{
	struct probe_site place;

	if (probe_site_choose(elf, sym, 6, &place)) {
		name_note(s->failed, name);
		return;
	}
	name_note(s->names, name);
	if (site_known(s, place.offset))
		return;
	if (s->cnt == s->room) {
		s->room = s->room ? 2 * s->room : 8;
		s->site = xrealloc(s->site, s->room * sizeof(*s->site));
	}
	s->site[s->cnt++] = (struct link_site){
		.offset = place.offset,
		.cookie = POV_COOKIE(region, 0),
	};
}

static void sites_find(const struct inspect_options *opt, const struct elf_file *elf,
		       struct region_sites *s)
{
	const struct elf_symbol *sym;
	size_t cnt;

	for (size_t i = 0; i < opt->region_cnt; i++) {
		if (!elf_file_mentions(elf, opt->region[i]))
			continue;
		cnt = elf_file_symbols(elf, &sym);
		for (; cnt; cnt--, sym++)
			if (sym->is_func && region_is(sym->name, opt->region[i]))
				site_add(s, elf, sym, i, opt->region[i]);
	}
}

void inspect_regions(const struct inspect_options *opt, const char *path,
		     const struct elf_file *elf, struct inspected *out)
{
	struct region_sites s = {.names = json_array(), .failed = json_array()};
	size_t attached;
	int err = 0;

	sites_find(opt, elf, &s);
	if (s.cnt) {
		opt->attaching(opt->ctx);
		attached = site_list_put(opt, SITE_REGION, path, s.site, s.cnt, out, &err);
		for (size_t i = 0; i < s.cnt; i++)
			if (s.site[i].failed)
				name_note(s.failed, opt->region[POV_COOKIE_FUNC(s.site[i].cookie)]);
		out->regions = json_pack("{s:O,s:I}", "functions", s.names, "attached",
					 (json_int_t)attached);
	} else if (json_array_size(s.failed)) {
		out->regions = json_pack("{s:O,s:i}", "functions", s.names, "attached", 0);
	}
	if (out->regions)
		json_object_set(out->regions, "failed", s.failed);
	if (err)
		json_object_set_new(out->regions, "refused", json_string(strerror(err)));
	json_decref(s.names);
	json_decref(s.failed);
	free(s.site);
}
