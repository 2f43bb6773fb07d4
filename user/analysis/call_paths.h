/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The stacks of samples as one tree: a place in the code, below the place that called it. A sample
 * without callers (record without --stacks) is a place of its own.
 */
#ifndef POV_ANALYSIS_CALL_PATHS_H
#define POV_ANALYSIS_CALL_PATHS_H

#include "lib/map.h"
#include "model/model.h"

struct call_path {
	/* where the thread was; of its callers: the address after the call */
	struct model_site at;
	/* NULL: none, or not recorded; `cut` of struct call_paths: it could not be found */
	const struct call_path *by;
	uint32_t id; /* from 1 on, in the order of first use; 0: cut */
	bool calls;  /* at is a caller's */
	struct call_path *next;
};

/* A zeroed struct is empty. It must not move while it is used. */
struct call_paths {
	struct map path; /* hash → list of struct call_path; owned */
	uint32_t cnt;
	struct call_path cut;
};

/* Valid until call_paths_release(). */
const struct call_path *call_path_of(struct call_paths *c, const struct model_sample *s);
void call_paths_release(struct call_paths *c);

struct sites;
/* The name of its place; NULL: unknown. */
const struct site_name *call_path_name(struct sites *sites, const struct call_path *p);

#endif
