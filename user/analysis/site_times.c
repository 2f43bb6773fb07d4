/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One row per process, function and call site. With several hosts, or after a file was read anew,
 * one file may be several modules. So sums are made by the file's identity, not by the module
 * object.
 */
#include "analysis/site_times.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"
#include "lib/log.h"

static struct site_row *row_get(struct site_times *a, const struct model_thread *t,
				const struct func_info *f, const struct model_site *site)
{
	struct model_site place = *site;
	struct site_row *r, *first;
	uint64_t hash;

	if (place.module)
		place.address = 0;
	hash = ((uint64_t)t->proc->idx << 16 | f->id) * UINT64_C(0x9e3779b97f4a7c15);
	hash ^= (place.offset + place.address) * UINT64_C(0xff51afd7ed558ccd);
	first = map_get(&a->by_key, hash);
	for (r = first; r; r = r->next)
		if (r->func == f && r->process_idx == t->proc->idx &&
		    r->site.module == place.module && r->site.offset == place.offset &&
		    r->site.address == place.address)
			return r;
	if (a->nrow == SITE_ROWS_MAX)
		return NULL;
	r = xcalloc(1, sizeof(*r));
	r->func = f;
	r->site = place;
	r->process_idx = t->proc->idx;
	r->next = first;
	map_set(&a->by_key, hash, r);
	*table_row(a->row, a->rows_cap, a->nrow) = r;
	a->nrow++;
	return r;
}

static void on_call(void *ctx, const struct model_call *c)
{
	uint64_t dur_ns = c->end_ns - c->begin_ns;
	struct site_times *a = ctx;
	struct site_row *r;

	if (c->nested || !func_is_top(c->func))
		return;
	r = row_get(a, c->thread, c->func, &c->site);
	if (!r) {
		a->left_out++;
		return;
	}
	r->sums.calls++;
	r->sums.total_ns += dur_ns;
	if (!c->open && !c->unwound && dur_ns > r->sums.max_ns)
		r->sums.max_ns = dur_ns;
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	struct site_times *a = ctx;
	struct site_row *r;

	for (uint32_t i = 0; i < s->nfuncs && !s->nested; i++) {
		if (!func_is_top(s->func[i].func))
			continue;
		r = row_get(a, s->thread, s->func[i].func, &s->site);
		if (!r) {
			a->left_out += s->func[i].cnt;
			continue;
		}
		r->sums.calls += s->func[i].cnt;
		r->sums.polls += s->func[i].cnt;
		r->sums.total_ns += s->func[i].busy_ns;
	}
}

/* Places in no known file come last. */
static int module_compare(const struct model_module *a, const struct model_module *b)
{
	int order;

	if (a == b || !a || !b)
		return !a - !b;
	order = strcmp(a->path, b->path);
	return order ? order : strcmp(a->build_id, b->build_id);
}

static int number_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int site_compare(const struct model_site *a, const struct model_site *b)
{
	int order = module_compare(a->module, b->module);

	if (order)
		return order;
	return a->module ? number_compare(a->offset, b->offset) :
			   number_compare(a->address, b->address);
}

static int place_compare(const struct site_row *a, const struct site_row *b)
{
	int order = number_compare(a->func->id, b->func->id);

	return order ? order : site_compare(&a->site, &b->site);
}

/* Sorts rows by place, then by process. */
static int row_compare(const void *va, const void *vb)
{
	const struct site_row *a = *(const struct site_row *const *)va,
			      *b = *(const struct site_row *const *)vb;
	int order = place_compare(a, b);

	return order ? order : number_compare(a->process_idx, b->process_idx);
}

static int total_compare(const void *va, const void *vb)
{
	const struct site_total *a = va, *b = vb;
	int order = number_compare(b->sums.total_ns, a->sums.total_ns);

	if (!order)
		order = number_compare(b->sums.calls, a->sums.calls);
	if (!order)
		order = strcmp(a->func->name, b->func->name);
	return order ? order : number_compare(a->site.offset, b->site.offset);
}

static void sums_add(struct site_sums *to, const struct site_sums *from)
{
	to->calls += from->calls;
	to->polls += from->polls;
	to->total_ns += from->total_ns;
	to->max_ns = u64_max(from->max_ns, to->max_ns);
}

/* Adds the time of one process at this place. */
static void process_add(struct site_total *t, uint32_t idx, uint64_t ns)
{
	if (!t->processes || ns < t->least_ns)
		t->least_ns = ns;
	if (!t->processes || ns > t->most_ns) {
		t->most_ns = ns;
		t->most_idx = idx;
	}
	t->processes++;
}

/* Sums n rows of one place. processes: number of all wanted processes. */
static struct site_total total_of(struct site_row *const *row, uint32_t n, uint32_t processes)
{
	struct site_total t = {.func = row[0]->func, .site = row[0]->site};
	uint64_t ns = 0;

	for (uint32_t i = 0; i < n; i++) {
		sums_add(&t.sums, &row[i]->sums);
		ns += row[i]->sums.total_ns;
		if (i + 1 < n && row[i + 1]->process_idx == row[i]->process_idx)
			continue;
		process_add(&t, row[i]->process_idx, ns);
		ns = 0;
	}
	t.mean_ns = t.sums.total_ns / processes;
	if (t.processes < processes)
		t.least_ns = 0;
	return t;
}

struct site_total *site_times_sum(const struct site_times *a, const bool *wanted, uint32_t n,
				  uint32_t *ntotal)
{
	struct site_row **row = xcalloc(a->nrow + 1, sizeof(*row));
	struct site_total *total = xcalloc(a->nrow + 1, sizeof(*total));
	uint32_t rows = 0, processes = 0, end;

	for (uint32_t i = 0; i < n; i++)
		processes += wanted[i];
	for (uint32_t i = 0; i < a->nrow; i++)
		if (a->row[i]->process_idx < n && wanted[a->row[i]->process_idx])
			row[rows++] = a->row[i];
	qsort(row, rows, sizeof(struct site_row *), row_compare);
	*ntotal = 0;
	for (uint32_t i = 0; i < rows; i = end) {
		for (end = i + 1; end < rows && !place_compare(row[i], row[end]); end++)
			;
		total[(*ntotal)++] = total_of(row + i, end - i, processes);
	}
	qsort(total, *ntotal, sizeof(*total), total_compare);
	free(row);
	return total;
}

void site_times_init(struct site_times *a)
{
	*a = (struct site_times){.sink = {.ctx = a, .call = on_call, .spin = on_spin}};
}

void site_times_release(struct site_times *a)
{
	for (uint32_t i = 0; i < a->nrow; i++)
		free(a->row[i]);
	free(a->row);
	map_release(&a->by_key);
}
