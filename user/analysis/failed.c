/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See failed.h. */
#include "analysis/failed.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/site_times.h"
#include "analysis/table.h"
#include "lib/log.h"

bool failed_alike(const struct failed_row *a, const struct failed_row *b)
{
	return a->func == b->func &&
	       (a->error || b->error ? a->error == b->error : a->code == b->code) &&
	       !site_compare(&a->site, &b->site);
}

/* Uses the error class if it is known, as MPICH's codes differ from one failure to the next. */
static uint64_t key_of(const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	uint64_t error = r->error_name ? (uintptr_t)r->error_name : (uint32_t)r->error;
	uint64_t hash = ((uint64_t)c->thread->proc->idx << 16 | c->func->id) *
			UINT64_C(0x9e3779b97f4a7c15);

	return hash ^ (c->site.offset + c->site.address + error) * UINT64_C(0xff51afd7ed558ccd);
}

/* If several rows share a hash, only the first has a row; the others are left out (NULL). */
static struct failed_row *row_of(struct failed *a, const struct model_call *c)
{
	const struct failed_row own = {
		.func = c->func,
		.error = c->view->roles.error_name,
		.code = c->view->roles.error,
		.site = c->site,
		.process = c->thread->proc,
		.first_ns = c->end_ns,
	};
	uint64_t key = key_of(c);
	uintptr_t at = (uintptr_t)map_get(&a->by_key, key);

	if (at)
		return failed_alike(&a->row[at - 1], &own) &&
				       a->row[at - 1].process == own.process ?
			       &a->row[at - 1] :
			       NULL;
	if (a->nrow == FAILED_KEPT_MAX)
		return NULL;
	(void)table_row(a->row, a->room, a->nrow);
	a->row[a->nrow] = own;
	map_set(&a->by_key, key, (void *)(uintptr_t)(a->nrow + 1));
	return &a->row[a->nrow++];
}

static void on_call(void *ctx, const struct model_call *c)
{
	struct failed *a = ctx;
	struct failed_row *r;

	if (c->nested || c->open || c->unwound || !func_is_top(c->func) || !c->view->roles.error)
		return;
	r = row_of(a, c);
	a->cnt++;
	if (r)
		r->cnt++;
	else
		a->left_out++;
}

static int row_compare(const void *va, const void *vb)
{
	const struct failed_row *a = va, *b = vb;
	int order = strcmp(a->func->name, b->func->name);

	if (!order)
		order = strcmp(a->error ? a->error : "", b->error ? b->error : "");
	if (!order && !a->error && a->code != b->code)
		order = a->code < b->code ? -1 : 1;
	if (!order)
		order = site_compare(&a->site, &b->site);
	return order ? order : (int)a->process->idx - (int)b->process->idx;
}

static int on_finish(void *ctx, const struct model *m)
{
	struct failed *a = ctx;

	(void)m;
	if (a->nrow)
		qsort(a->row, a->nrow, sizeof(*a->row), row_compare);
	return 0;
}

void failed_init(struct failed *a)
{
	*a = (struct failed){.sink = {.ctx = a, .call = on_call, .finish = on_finish}};
}

void failed_release(struct failed *a)
{
	free(a->row);
	map_release(&a->by_key);
}
