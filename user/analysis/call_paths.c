/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See call_paths.h. */
#include "analysis/call_paths.h"

#include <stdlib.h>

#include "lib/log.h"
#include "site/site_names.h"

#define PATHS_MAX (1u << 20) /* more samples only get their file, without callers */

static const struct call_path *path_below(struct call_paths *c, const struct call_path *by,
					  const struct model_site *at, bool calls)
{
	uint64_t hash = ((uintptr_t)at->module * UINT64_C(0x9e3779b97f4a7c15) ^ at->offset) *
				UINT64_C(0x9e3779b97f4a7c15) ^
			(uintptr_t)by;
	struct call_path *first = map_get(&c->path, hash), *p = first;

	while (p && (p->by != by || p->at.module != at->module || p->at.offset != at->offset ||
		     p->calls != calls))
		p = p->next;
	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	*p = (struct call_path){*at, by, ++c->cnt, calls, first};
	map_set(&c->path, hash, p);
	return p;
}

const struct call_path *call_path_of(struct call_paths *c, const struct model_sample *s)
{
	const struct call_path *by = s->cut ? &c->cut : NULL;
	struct model_site at = s->at;

	if (c->cnt >= PATHS_MAX) {
		at.offset = 0;
		return path_below(c, NULL, &at, false);
	}
	for (uint32_t i = s->ncallers; i-- > 0;) {
		struct model_site caller;

		model_sample_caller(s, i, &caller);
		by = path_below(c, by, &caller, true);
	}
	if (!at.module)
		at.offset = 0;
	return path_below(c, by, &at, false);
}

static void list_free(void *first)
{
	struct call_path *next;

	for (struct call_path *p = first; p; p = next) {
		next = p->next;
		free(p);
	}
}

void call_paths_release(struct call_paths *c)
{
	map_free(&c->path, list_free);
}

/* site_names.h names calls by the address after them. */
const struct site_name *call_path_name(struct sites *sites, const struct call_path *p)
{
	struct model_site after = p->at;

	if (!p->calls) {
		after.address++;
		after.offset++;
	}
	return p->at.module && p->at.offset ? sites_find(sites, &after) : NULL;
}
