/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See file_io.h. */
#include "analysis/file_io.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"

/* True if the call returns when its data have been moved, as far as the caller is concerned. */
static bool moves_at_once(const struct model_call *c)
{
	size_t len = strlen(c->func->name);

	return !c->view->roles.nrequests &&
	       (len < 6 || strcmp(c->func->name + len - 6, "_begin") != 0) &&
	       (len < 8 || strcmp(c->func->name + len - 8, "_begin_c") != 0);
}

static void flow_add(struct file_flow *f, const struct model_call *c, int64_t bytes, uint64_t ns)
{
	if (bytes == BYTES_UNKNOWN) {
		f->unknown++;
		return;
	}
	f->bytes += (uint64_t)bytes;
	f->calls++;
	if (!moves_at_once(c))
		return;
	f->rate_bytes += (uint64_t)bytes;
	f->rate_ns += ns;
	f->rate_calls++;
}

static void on_call(void *ctx, const struct model_call *c)
{
	const struct call_roles *r = &c->view->roles;
	struct file_io *a = ctx;
	struct file_io_row *row;
	uint64_t ns;

	if (!c->func->file_io || c->nested || !func_is_top(c->func))
		return;
	row = table_row(a->process, a->nprocess, c->thread->proc->idx);
	ns = c->end_ns - c->begin_ns - c->split.ns[THREAD_RUNNABLE];
	row->ns += ns;
	row->calls++;
	if (ns > row->worst_ns) {
		row->worst_ns = ns;
		row->worst_from_ns = c->begin_ns;
		row->worst_to_ns = c->end_ns;
		row->worst_in = c->func;
		row->worst_site = c->site;
	}
	if (c->open || c->unwound || r->error)
		return;
	if (r->sends)
		flow_add(&row->written, c, r->send_bytes, ns);
	if (r->receives)
		flow_add(&row->read, c, r->recv_bytes, ns);
}

static void flow_sum(struct file_flow *to, const struct file_flow *from)
{
	to->bytes += from->bytes;
	to->calls += from->calls;
	to->unknown += from->unknown;
	to->rate_bytes += from->rate_bytes;
	to->rate_ns += from->rate_ns;
	to->rate_calls += from->rate_calls;
}

void file_io_row_add(struct file_io_row *to, const struct file_io_row *from)
{
	to->ns += from->ns;
	to->calls += from->calls;
	if (from->worst_ns > to->worst_ns) {
		to->worst_ns = from->worst_ns;
		to->worst_from_ns = from->worst_from_ns;
		to->worst_to_ns = from->worst_to_ns;
		to->worst_in = from->worst_in;
		to->worst_site = from->worst_site;
	}
	flow_sum(&to->written, &from->written);
	flow_sum(&to->read, &from->read);
}

const struct file_io_row *file_io_of(const struct file_io *a, uint32_t idx)
{
	static const struct file_io_row none;

	return idx < a->nprocess ? &a->process[idx] : &none;
}

void file_io_init(struct file_io *a)
{
	*a = (struct file_io){.sink = {.ctx = a, .call = on_call}};
}

void file_io_release(struct file_io *a)
{
	free(a->process);
}
