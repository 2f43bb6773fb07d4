/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Most files have no region. A file's name table shows that before any symbol is loaded. */
#include "lib/table.h"
#include "lib/text.h"
#include "target/helper/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "abi/config.h"
#include "target/probes/site_list.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "target/elf/elf_file.h"
#include "target/elf/probe_site.h"
#include "target/elf/return_sites.h"

/* The sites found in a file. */
struct region_sites {
	struct link_site *site;
	uint32_t cnt, room;
	json_t *names;	 /* names of regions that have a site */
	json_t *failed;	 /* names of regions with a site that cannot be probed */
	json_t *reasons; /* the reasons: {name: text} */
};

bool region_is(const char *symbol, const char *name)
{
	static const char *const copies[] = {".constprop.", ".isra.", ".lto_priv.", NULL};
	const char *rest = symbol + strlen(name);

	if (!text_begins(symbol, name))
		return false;
	return !*rest ||
	       (text_begins_any(rest, copies) && !strstr(rest, ".cold") && !strstr(rest, ".part."));
}

static void name_note(json_t *names, const char *name)
{
	if (!json_has_text(names, name))
		json_array_append_new(names, json_string(name));
}

static void failure_note(struct region_sites *s, const char *name, const char *reason)
{
	name_note(s->failed, name);
	json_object_set_new(s->reasons, name, json_string(reason));
}

/* ---- sites ---- */

static struct link_site *site_find(const struct region_sites *s, uint64_t offset, size_t region)
{
	return table_where(s->site, s->cnt, i,
			   s->site[i].offset == offset &&
				   POV_COOKIE_FUNC(s->site[i].cookie) == region);
}

static void site_add(struct region_sites *s, uint64_t offset, size_t region, uint64_t place)
{
	struct link_site *known = site_find(s, offset, region);

	if (known) { /* the function begins and ends there */
		known->cookie |= place;
		return;
	}
	*table_add(s->site, s->cnt, s->room) = (struct link_site){
		.offset = offset,
		.cookie = POV_COOKIE(region, 0) | place,
	};
}

/*
 * Returns true if a region's begin is already known, because a function may have several symbols.
 */
static bool begin_known(const struct region_sites *s, uint64_t offset)
{
	return table_any(s->cnt, i,
			 s->site[i].offset == offset &&
				 POV_PLACE(s->site[i].cookie) & POV_PLACE_BEGINS);
}

static void function_add(struct region_sites *s, const struct elf_file *elf,
			 const struct elf_symbol *sym, size_t region, const char *name)
{
	struct return_sites returns;
	struct probe_site begin;

	if (probe_site_choose(elf, sym, 6, &begin)) {
		failure_note(s, name, "the kernel refuses its first instruction");
		return;
	}
	if (begin_known(s, begin.offset)) {
		name_note(s->names, name);
		return;
	}
	if (return_sites_find(elf, sym, &returns)) {
		failure_note(s, name, returns.why);
		return;
	}
	name_note(s->names, name);
	site_add(s, begin.offset, region, POV_COOKIE_PLACE(POV_PLACE_BEGINS, 0));
	for (size_t i = 0; i < returns.cnt; i++)
		site_add(s, returns.v[i].offset, region,
			 POV_COOKIE_PLACE(POV_PLACE_ENDS, returns.v[i].condition));
	return_sites_release(&returns);
}

/* Detects Go programs: Go moves stacks, and functions from thread to thread. */
static bool is_go(const struct elf_file *elf)
{
	static const char *const marks[] = {".go.buildinfo", ".gopclntab", ".note.go.buildid"};
	uint64_t offset, bytes;

	return table_any(sizeof(marks) / sizeof(*marks), i,
			 elf_file_section(elf, marks[i], &offset, &bytes));
}

static void symbol_take(struct region_sites *s, const struct elf_file *elf,
			const struct elf_symbol *sym, size_t region, const char *name)
{
	if (is_go(elf))
		failure_note(s, name, "it is a Go program, which moves its stacks");
	else
		function_add(s, elf, sym, region, name);
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
				symbol_take(s, elf, sym, i, opt->region[i]);
	}
}

/* ---- probes ---- */

void inspect_regions(const struct inspect_options *opt, const char *path,
		     const struct elf_file *elf, struct inspected *out)
{
	struct region_sites s = {
		.names = json_array(), .failed = json_array(), .reasons = json_object()};
	size_t attached = 0;
	int err = 0;

	sites_find(opt, elf, &s);
	if (s.cnt) {
		opt->attaching(opt->ctx);
		attached = site_list_put(opt, SITE_REGION, path, s.site, s.cnt, out, &err);
	}
	for (size_t i = 0; i < s.cnt; i++)
		if (s.site[i].failed)
			failure_note(&s, opt->region[POV_COOKIE_FUNC(s.site[i].cookie)],
				     strerror(err));
	if (json_array_size(s.names) || json_array_size(s.failed))
		out->regions = json_pack("{s:O,s:I,s:O,s:O}", "functions", s.names, "attached",
					 (json_int_t)attached, "failed", s.failed, "reasons",
					 s.reasons);
	json_decref(s.names);
	json_decref(s.failed);
	json_decref(s.reasons);
	free(s.site);
}
