/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* See file_io.h. */
#include "analysis/file_io.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/find.h"
#include "lib/log.h"
#include "lib/table.h"

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

static void file_io_row_add(struct file_io_row *to, const struct file_io_row *from)
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
	table_row_add(&to->written, &from->written, bytes);
	table_row_add(&to->read, &from->read, bytes);
}

const struct file_io_row *file_io_of(const struct file_io *a, uint32_t idx)
{
	return table_get(a->process, a->nprocess, idx);
}

void file_io_init(struct file_io *a)
{
	*a = (struct file_io){.sink = {.ctx = a, .call = on_call}};
}

void file_io_release(struct file_io *a)
{
	free(a->process);
}

/* ---- the finding: all ranks of a trace together ---- */

#define SMALL_BYTES (1u << 20) /* calls that move fewer bytes on average are small */

/* "; wrote 320 MiB by 40 calls, at 291 MiB/s a rank while in them" */
static char *flow_words(char *text, const char *did, const struct file_flow *f)
{
	if (!f->calls && !f->unknown)
		return text;
	text = words(text, "; %s%s %s by %s", did, f->unknown ? " at least" : "",
		     phrase_bytes(f->bytes).text,
		     phrase_count(f->calls + f->unknown, "call", "calls").text);
	if (!f->rate_ns || !f->rate_bytes)
		return text;
	return words(
		text, ", at %s/s a rank while in them",
		phrase_bytes((uint64_t)((double)f->rate_bytes * 1e9 / (double)f->rate_ns)).text);
}

static char *file_io_text(const struct findings *f, const struct file_io_row *all,
			  const struct model_process *most, uint64_t most_ns)
{
	char *text = xasprintf("ranks were in MPI's file calls for %s, most %s %s (longest %s",
			       phrase_ns(all->ns).text, phrase_process(f, most).text,
			       phrase_ns(most_ns).text, all->worst_in->name);

	text = words(words_site(f, text, &all->worst_site), " %s%s)", phrase_ns(all->worst_ns).text,
		     phrase_when(f, all->worst_from_ns).text);
	text = flow_words(text, "wrote", &all->written);
	return flow_words(text, "read", &all->read);
}

static bool is_small(const struct file_flow *f)
{
	return f->rate_calls && f->rate_bytes / f->rate_calls < SMALL_BYTES;
}

static char *file_io_advice(const struct file_io_row *all)
{
	bool writes = all->written.rate_ns >= all->read.rate_ns;

	if (!is_small(writes ? &all->written : &all->read))
		return NULL;
	return xasprintf(
		"%s more at once, or by collective calls (MPI_File_%s_all), by which libraries "
		"put the pieces of all ranks together",
		writes ? "write" : "read", writes ? "write" : "read");
}

void find_file_io(struct findings *f)
{
	const struct model_process *most = NULL;
	struct file_io_row all = {0};
	uint64_t most_ns = 0;

	for (uint32_t i = 0; i < model_process_count(f->model); i++) {
		const struct model_process *p = model_process_get(f->model, i);
		const struct file_io_row *row = file_io_of(&f->file_io, i);

		if (!finding_counts(f, p) || !row->calls)
			continue;
		file_io_row_add(&all, row);
		if (!most || row->ns > most_ns) {
			most = p;
			most_ns = row->ns;
		}
	}
	if (all.ns < f->least_ns || !all.worst_in)
		return;
	finding_add(f, &(struct finding){
			       .kind = "file_io",
			       .cost_ns = all.ns,
			       .text = file_io_text(f, &all, most, most_ns),
			       .advice = file_io_advice(&all),
			       .process = FINDING_NOBODY,
			       .from_ns = all.worst_from_ns,
			       .to_ns = all.worst_to_ns,
		       });
}
