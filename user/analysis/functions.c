/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One row per process and function. The sums over ranks are made at the end.
 */
#include "analysis/functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"

static struct function_row *row_get(struct functions *a, const struct model_thread *t,
				    const struct func_info *f)
{
	uint32_t idx = t->proc->idx;
	uint64_t key = (uint64_t)idx << 16 | f->id;
	struct function_row *r = map_get(&a->by_key, key);

	if (r)
		return r;
	r = xcalloc(1, sizeof(*r));
	r->func = f;
	r->process_idx = idx;
	map_set(&a->by_key, key, r);
	*table_append(a->row, a->nrow) = r;
	return r;
}

static void on_operation(void *ctx, const struct model_call *c, const struct func_info *func,
			 const struct call_roles *roles)
{
	struct function_row *r = ctx;

	/* an operation counts for the call that started it */
	if (roles->sends && roles->send_bytes >= 0)
		r->send_bytes += (uint64_t)roles->send_bytes;
	else
		r->unknown_sends += roles->sends;
	if (roles->receives && roles->recv_bytes >= 0)
		r->recv_bytes += (uint64_t)roles->recv_bytes;
	else
		r->unknown_recvs += roles->receives;
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct function_row *r = row_get(ctx, c->thread, c->func);
	const struct functions *a = ctx;
	uint64_t dur_ns = c->end_ns - c->begin_ns;

	if (c->nested) {
		r->nested_calls++;
		r->nested_ns += dur_ns;
		return;
	}
	r->calls++;
	r->inner += c->depth > 0;
	r->total_ns += dur_ns;
	table_row_add(&r->split, &c->split, ns);
	if (a->interrupts)
		r->interrupted_ns +=
			interrupts_within(a->interrupts, c->thread->idx, c->begin_ns, c->end_ns).ns;
	/* the end of the call is unknown, so it has no duration */
	if (c->open || c->unwound) {
		r->open += c->open;
		r->unwound += !c->open;
		r->unfinished_ns += dur_ns;
	} else if (c->end_only) {
		r->end_only++;
	} else {
		histogram_add(&r->durations, dur_ns);
	}
	model_call_operations(c, on_operation, r);
	r->errors += !c->open && !c->unwound && c->view->roles.error;
}

static void on_spin(void *ctx, const struct model_spin *s)
{
	struct function_row *r;

	for (uint32_t i = 0; i < s->nfuncs; i++) {
		r = row_get(ctx, s->thread, s->func[i].func);
		if (s->nested) {
			r->nested_calls += s->func[i].cnt;
			r->nested_ns += s->func[i].busy_ns;
			continue;
		}
		r->calls += s->func[i].cnt;
		r->inner += s->depth ? s->func[i].cnt : 0;
		r->polls += s->func[i].cnt;
		r->total_ns += s->func[i].busy_ns;
	}
}

static void on_counted(void *ctx, const struct model_counted *c)
{
	struct function_row *r = row_get(ctx, c->thread, c->func);

	if (c->nested) {
		r->nested_calls += c->calls;
		r->nested_ns += c->busy_ns;
		return;
	}
	r->calls += c->calls;
	r->counted += c->calls;
	r->inner += c->inner ? c->calls : 0;
	r->total_ns += c->busy_ns;
	if (c->func->moves & MOVES_OUT) {
		r->send_bytes += c->bytes;
		r->unknown_sends += c->calls - c->sized;
	}
	if (c->func->moves & MOVES_IN) {
		r->recv_bytes += c->bytes;
		r->unknown_recvs += c->calls - c->sized;
	}
}

static void on_lost(void *ctx, const struct model_lost *l)
{
	struct functions *a = ctx;
	uintptr_t bits;

	if (!l->left_out)
		return;
	bits = (uintptr_t)map_get(&a->left_out, l->left_out->id);
	bits |= l->counted ? LOSS_COUNTED : LOSS_DETACHED;
	map_set(&a->left_out, l->left_out->id, (void *)bits);
}

double function_row_mean(const struct function_row *f)
{
	uint64_t finished = f->calls - f->open - f->unwound - f->end_only;

	return finished ? (double)(f->total_ns - f->unfinished_ns) / (double)finished : NAN;
}

bool function_row_mostly_counted(const struct function_row *f)
{
	return f->counted > f->calls / 100;
}

uint32_t function_row_lost(const struct function_row *f, uint32_t lost)
{
	lost &= ~LOSS_LEFT_OUT | f->left_out;
	/* func->moves is known only for the top layer */
	if (lost & LOSS_COUNTED && !func_is_top(f->func))
		lost |= LOSS_COUNTED_BYTES;
	return f->func->polls ? lost : lost & ~LOSS_SPIN;
}

TABLE_ORDER(row_compare, struct function_row *, u64_compare((*b)->total_ns, (*a)->total_ns),
	    u64_compare((*b)->calls, (*a)->calls), strcmp((*a)->func->name, (*b)->func->name))

static void on_finish(void *ctx, const struct model *m)
{
	struct functions *a = ctx;

	for (uint32_t i = 0; i < a->nrow; i++)
		a->row[i]->left_out = (uint32_t)(uintptr_t)map_get(&a->left_out,
								   a->row[i]->func->id);
	table_sort(a->row, a->nrow, row_compare);
}

struct function_row **functions_sum(const struct functions *a, const bool *wanted, uint32_t n,
				    uint32_t *nrow)
{
	struct function_row **all = xcalloc(a->nrow ? a->nrow : 1, sizeof(*all)), *sum;
	struct map by_func = {0};
	uint32_t nall = 0;

	for (uint32_t i = 0; i < a->nrow; i++) {
		const struct function_row *r = a->row[i];

		if (r->process_idx >= n || !wanted[r->process_idx])
			continue;
		sum = map_get(&by_func, r->func->id);
		if (!sum) {
			sum = all[nall++] = xcalloc(1, sizeof(*sum));
			sum->func = r->func;
			sum->left_out = r->left_out;
			map_set(&by_func, r->func->id, sum);
		}
		histogram_merge(&sum->durations, &r->durations);
		table_row_add(sum, r, calls);
	}
	map_release(&by_func);
	table_sort(all, nall, row_compare);
	*nrow = nall;
	return all;
}

void functions_init(struct functions *a, const struct interrupts *interrupts)
{
	*a = (struct functions){
		.sink = {.ctx = a,
			 .call = on_call,
			 .spin = on_spin,
			 .counted = on_counted,
			 .lost = on_lost,
			 .finish = on_finish},
		.interrupts = interrupts,
	};
}

void functions_sum_free(struct function_row **row, uint32_t nrow)
{
	for (uint32_t i = 0; i < nrow; i++) {
		histogram_release(&row[i]->durations);
		free(row[i]);
	}
	free(row);
}

void functions_release(struct functions *a)
{
	functions_sum_free(a->row, a->nrow);
	map_release(&a->by_key);
	map_release(&a->left_out);
}

/* ---- call sites ---- */

/*
 * One row per process, function and call site. One file may be several modules, on several hosts or
 * after it was loaded again. So the sums compare files by their identity, not by their module
 * objects.
 */

static struct site_row *site_row_get(struct site_times *a, const struct model_thread *t,
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
	*table_append(a->row, a->nrow) = r;
	return r;
}

static void on_call_at(void *ctx, const struct model_call *c)
{
	uint64_t dur_ns = c->end_ns - c->begin_ns;
	struct site_times *a = ctx;
	struct site_row *r;

	if (c->nested || !func_is_top(c->func))
		return;
	r = site_row_get(a, c->thread, c->func, &c->site);
	if (!r) {
		a->left_out++;
		return;
	}
	r->sums.calls++;
	r->sums.total_ns += dur_ns;
	if (!c->open && !c->unwound && dur_ns > r->sums.max_ns)
		r->sums.max_ns = dur_ns;
}

static void on_spin_at(void *ctx, const struct model_spin *s)
{
	struct site_times *a = ctx;
	struct site_row *r;

	for (uint32_t i = 0; i < s->nfuncs && !s->nested; i++) {
		if (!func_is_top(s->func[i].func))
			continue;
		r = site_row_get(a, s->thread, s->func[i].func, &s->site);
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
	if (a == b || !a || !b)
		return !a - !b;
	return strcmp(a->path, b->path) ?: strcmp(a->build_id, b->build_id);
}

int site_compare(const struct model_site *a, const struct model_site *b)
{
	int order = module_compare(a->module, b->module);

	if (order)
		return order;
	return a->module ? u64_compare(a->offset, b->offset) : u64_compare(a->address, b->address);
}

static int place_compare(const struct site_row *a, const struct site_row *b)
{
	return u64_compare(a->func->id, b->func->id) ?: site_compare(&a->site, &b->site);
}

/* Sorts rows by place, then by process. */
TABLE_ORDER(site_row_compare, struct site_row *, place_compare(*a, *b),
	    u64_compare((*a)->process_idx, (*b)->process_idx))

TABLE_ORDER(total_compare, struct site_total, u64_compare(b->sums.total_ns, a->sums.total_ns),
	    u64_compare(b->sums.calls, a->sums.calls), strcmp(a->func->name, b->func->name),
	    u64_compare(a->site.offset, b->site.offset))

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
	qsort(row, rows, sizeof(struct site_row *), site_row_compare);
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
	*a = (struct site_times){.sink = {.ctx = a, .call = on_call_at, .spin = on_spin_at}};
}

void site_times_release(struct site_times *a)
{
	for (uint32_t i = 0; i < a->nrow; i++)
		free(a->row[i]);
	free(a->row);
	map_release(&a->by_key);
}
