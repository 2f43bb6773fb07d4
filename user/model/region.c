/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Regions are functions of the program. This file knows which regions each thread is in. Both begin
 * and end are reported, because a region may last as long as the program. Stacks grow downwards:
 * the stack pointer of a record shows which regions were left without returning. The kernel finds
 * this out for its return probes the same way.
 */
#include <stdlib.h>

#include "lib/table.h"
#include "model/what.h"
#include "trace/trace_read.h"

#define DEPTH_MAX 65536 /* per thread; a program that reaches this depth has no stack left */

struct region_entry {
	uint64_t sp, begin_ns;
	uint16_t region;
	struct state_times at_begin;
};

struct thread_regions {
	struct region_entry *entry; /* the innermost one last; owned */
	uint32_t n, cap;
	uint32_t inside[POV_REGIONS_MAX]; /* number of entries of each region */
};

void region_names_read(struct model *m)
{
	const json_t *recording = trace_meta_find(m->trace, "recording");

	m->regions = json_object_get(json_object_get(recording, "config"), "regions");
}

uint32_t model_region_count(const struct model *m)
{
	size_t cnt = json_array_size(m->regions);

	return cnt < POV_REGIONS_MAX ? (uint32_t)cnt : POV_REGIONS_MAX;
}

const char *model_region_name(const struct model *m, uint32_t i)
{
	return json_string_value(json_array_get(m->regions, i)) ?: "?";
}

static struct model_region region_describe(const struct model *m, struct mthread *t)
{
	const struct thread_regions *r = t->regions;
	const struct region_entry *e = &r->entry[r->n - 1];

	return (struct model_region){
		.thread = &t->pub,
		.region = e->region,
		.name = model_region_name(m, e->region),
		.begin_ns = e->begin_ns,
		.depth = r->n - 1,
		.recursive = r->inside[e->region] > 1,
	};
}

/* Begins a region inside the current innermost one. */
static void region_begin(struct model *m, struct mthread *t, const struct pov_region *rec)
{
	struct thread_regions *r = t->regions;
	struct region_entry *e;
	struct model_region region;

	if (r->n == DEPTH_MAX) {
		m->stats.bad_records++;
		return;
	}
	e = table_add(r->entry, r->n, r->cap);
	*e = (struct region_entry){.sp = rec->sp, .begin_ns = m->now_ns, .region = rec->region};
	history_at(t, m->now_ns, &e->at_begin);
	r->inside[e->region]++;
	region = region_describe(m, t);
	TELL(m, region, &region);
}

/* Ends the innermost region. */
static void region_end(struct model *m, struct mthread *t, uint64_t end_ns, enum region_end how)
{
	struct thread_regions *r = t->regions;
	const struct region_entry *e = &r->entry[r->n - 1];
	struct model_region region = region_describe(m, t);

	region.ended = how;
	region.end_ns = end_ns > e->begin_ns ? end_ns : e->begin_ns;
	history_split_from(t, &e->at_begin, e->begin_ns, region.end_ns, &region.split);
	r->inside[e->region]--;
	r->n--;
	TELL(m, region, &region);
}

static const struct region_entry *region_innermost(const struct thread_regions *r)
{
	return r->n ? &r->entry[r->n - 1] : NULL;
}

static void regions_left_end(struct model *m, struct mthread *t, uint64_t sp, bool with_equal)
{
	const struct region_entry *e;

	while ((e = region_innermost(t->regions)) && (e->sp < sp || (with_equal && e->sp == sp)))
		region_end(m, t, m->now_ns, REGION_UNWOUND);
}

/* True if the region is open with the record's stack pointer. */
static bool region_is_open(const struct thread_regions *r, const struct pov_region *rec)
{
	for (uint32_t i = r->n; i-- && r->entry[i].sp == rec->sp;)
		if (r->entry[i].region == rec->region)
			return true;
	return false;
}

void region_record(struct model *m, struct mthread *t, const struct pov_region *rec)
{
	bool ends = rec->hdr.flags & POV_REGION_END;

	if (rec->region >= model_region_count(m)) {
		m->stats.bad_records++;
		return;
	}
	if (!t->regions)
		t->regions = xcalloc(1, sizeof(*t->regions));
	regions_left_end(m, t, rec->sp, !ends && !(rec->hdr.flags & POV_REGION_CHAINED));
	if (!ends) {
		region_begin(m, t, rec);
		return;
	}
	/* Otherwise it began before the recording, or its begin was lost. */
	if (!region_is_open(t->regions, rec))
		return;
	while (region_innermost(t->regions)->region != rec->region)
		region_end(m, t, m->now_ns, REGION_UNWOUND);
	region_end(m, t, m->now_ns,
		   rec->hdr.flags & POV_REGION_UNWOUND ? REGION_UNWOUND : REGION_RETURNED);
}

void region_stack_end(struct model *m, struct mthread *t, uint64_t end_ns, enum region_end how)
{
	while (t->regions && t->regions->n)
		region_end(m, t, end_ns, how);
}

void region_stack_release(struct mthread *t)
{
	if (!t->regions)
		return;
	free(t->regions->entry);
	free(t->regions);
	t->regions = NULL;
}
