/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows which threads had the core while threads of ranks wanted it. */
#include <stdlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "analysis/find.h"
#include "report/section.h"

/* Hides threads that waited less than this many ns, or this part of their process's life. */
#define RUNNABLE_SHOWN_NS 1000000
#define RUNNABLE_SHOWN_PART 1000

/* One holder of a thread's core: a process, or a thread of the waiter's own process. */
struct held_by {
	const struct model_thread *thread; /* NULL: nobody, the core was idle */
	uint64_t ns;
};

static bool is_same(const struct model_thread *waiter, const struct model_thread *a,
		    const struct model_thread *b)
{
	return a == b || (a && b && a->proc == b->proc && a->proc != waiter->proc && !a->kthread);
}

/* Merges equal holders in place, longest first. Returns their number. */
static uint32_t held_sum(const struct model_thread *waiter, struct held_by *by, uint32_t n)
{
	uint32_t kept = 0, k;

	for (uint32_t i = 0; i < n; i++) {
		for (k = 0; k < kept && !is_same(waiter, by[k].thread, by[i].thread);)
			k++;
		if (k < kept)
			by[k].ns += by[i].ns;
		else
			by[kept++] = by[i];
	}
	for (uint32_t i = 1; i < kept; i++) {
		struct held_by moved = by[i];

		for (k = i; k && by[k - 1].ns < moved.ns; k--)
			by[k] = by[k - 1];
		by[k] = moved;
	}
	return kept;
}

/*
 * Holders of the waiter whose n entries of r->findings.held begin at `at`. *kept: holders. Caller
 * frees.
 */
static struct held_by *held_of(const struct report *r, uint32_t at, uint32_t *n, uint32_t *kept)
{
	const struct holder *list = r->findings.held;
	const struct model_thread *waiter = model_thread_get(r->model, r->findings.held[at].waiter);
	struct held_by *by;

	*n = 0;
	while (at + *n < r->findings.nheld && list[at + *n].waiter == r->findings.held[at].waiter)
		(*n)++;
	by = xmalloc((*n + 1) * sizeof(*by)); /* one more for idle_add */
	for (uint32_t i = 0; i < *n; i++)
		by[i] = (struct held_by){model_thread_get(r->model, list[at + i].thread),
					 list[at + i].ns};
	*kept = held_sum(waiter, by, *n);
	return by;
}

/* ---- text ---- */

/* Inserts the time in which nobody had the core. The list must have room for one more. */
static uint32_t idle_add(const struct model_thread *waiter, struct held_by *by, uint32_t n,
			 uint64_t idle_ns)
{
	if (!idle_ns)
		return n;
	by[n] = (struct held_by){NULL, idle_ns};
	return held_sum(waiter, by, n + 1);
}

static char *holder_text(const struct report *r, const struct model_thread *waiter,
			 const struct held_by *by)
{
	const struct model_process *p = by->thread ? by->thread->proc : NULL;
	char ns[HUMAN_BYTES], *name, *text;
	bool own = p == waiter->proc;

	human_ns(ns, sizeof(ns), by->ns);
	if (!p)
		return xasprintf("nobody %s", ns);
	name = text_printable(own || by->thread->kthread ? by->thread->comm : p->name, 16);
	if (own)
		text = xasprintf("its thread %s (%u) %s", name, by->thread->tid, ns);
	else if (p->is_rank)
		text = xasprintf("rank %s %s", RANK_LABEL(r, p), ns);
	else if (by->thread->kthread)
		text = xasprintf("%s %s", name, ns);
	else
		text = xasprintf("%s (pid %u) %s", name, p->host_pid, ns);
	free(name);
	return text;
}

struct holders_limit {
	uint32_t most;	   /* most holders named */
	uint64_t least_ns; /* names no holder below this */
	unsigned int chars;
};

static void holders_cell(const struct report *r, struct columns *c,
			 const struct model_thread *waiter, const struct held_by *by, uint32_t n,
			 struct holders_limit limit)
{
	char *line = xstrdup(""), *one;

	for (uint32_t i = 0; i < n && i < limit.most && by[i].ns >= limit.least_ns; i++) {
		one = holder_text(r, waiter, &by[i]);
		line = words(line, "%s%s", i ? ", " : "", one);
		free(one);
	}
	columns_take(c, line, limit.chars);
}

void text_who_had_core(const struct report *r, struct columns *c, const struct model_thread *t,
		       uint64_t least_ns, unsigned int chars)
{
	const struct findings *f = &r->findings;
	struct held_by *by = xmalloc((f->ncontest + 1) * sizeof(*by));
	uint64_t left_ns = f->app.thread[t->idx].no_core_ns;
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->ncontest; i++) {
		if (f->contest[i].waiter != t)
			continue;
		by[n++] = (struct held_by){f->contest[i].holder, f->contest[i].ns};
		left_ns -= f->contest[i].ns < left_ns ? f->contest[i].ns : left_ns;
	}
	n = held_sum(t, by, n);
	if (t->idx >= f->holders.nthread || !f->holders.thread[t->idx].unknown_ns)
		n = idle_add(t, by, n, left_ns);
	holders_cell(r, c, t, by, n, (struct holders_limit){2, least_ns, chars});
	free(by);
}

static bool is_shown(const struct report *r, const struct model_thread *t)
{
	const struct holders_row *row = &r->findings.holders.thread[t->idx];
	uint64_t life_ns = t->proc->end_ns - t->proc->start_ns;

	return r->chosen[t->proc->idx] && row->runnable_ns >= RUNNABLE_SHOWN_NS &&
	       row->runnable_ns >= life_ns / RUNNABLE_SHOWN_PART;
}

void text_holders(const struct report *r, FILE *out)
{
	uint32_t n, kept, shown = 0;
	struct columns *c = columns_new();

	columns_list(c, ">rank", "<thread", ">tid", ">without");
	columns_add(c, "%", COLUMNS_TIGHT);
	columns_add(c, "meanwhile on its core", COLUMNS_LEFT);
	for (uint32_t at = 0; at < r->findings.nheld; at += n) {
		const struct model_thread *t = model_thread_get(r->model,
								r->findings.held[at].waiter);
		uint64_t life_ns = t->proc->end_ns - t->proc->start_ns;
		struct held_by *by = held_of(r, at, &n, &kept);

		if (is_shown(r, t) && ++shown) {
			uint64_t waited_ns = r->findings.holders.thread[t->idx].runnable_ns;

			kept = idle_add(t, by, kept, r->findings.holders.thread[t->idx].idle_ns);
			text_rank_cell(r, c, t->proc);
			columns_text(c, t->comm, 16);
			columns_cell(c, "%u", t->tid);
			columns_cell(c, "%s", NS_TEXT(waited_ns));
			columns_cell(c, "%.1f",
				     life_ns ? 100.0 * (double)waited_ns / (double)life_ns : 0);
			holders_cell(r, c, t, by, kept, (struct holders_limit){3, 0, 80});
		}
		free(by);
	}
	if (!shown) {
		columns_free(c);
		return;
	}
	text_section(out, "Threads that wanted a core and had none, and who had it");
	text_columns(c, out);
	text_explain(r, out,
		     "without: the thread wanted a core and had none; %% is of the process's "
		     "life. Threads with less than 1 ms or 0.1 %% are left out. The last "
		     "column names processes that held the core longest, and threads of the "
		     "same process (--json has all).");
}

/* ---- JSON ---- */

static void json_holder(struct json_out *j, const struct held_by *by)
{
	const struct model_process *p = by->thread->proc;

	json_out_object_begin(j);
	json_out_key_uint(j, "pid", p->host_pid);
	json_out_key_string(j, "process", p->name);
	json_rank(j, p);
	json_out_key_uint(j, "tid", by->thread->tid);
	json_out_key_string(j, "thread", by->thread->comm);
	json_out_key_uint(j, "held_ns", by->ns);
	json_out_object_end(j);
}

void json_holders(struct json_out *j, const struct report *r, uint32_t process)
{
	uint32_t n, kept;

	json_out_key_array(j, "without_core");
	for (uint32_t at = 0; at < r->findings.nheld; at += n) {
		const struct model_thread *t = model_thread_get(r->model,
								r->findings.held[at].waiter);
		struct held_by *by = held_of(r, at, &n, &kept);
		const struct holders_row *row = &r->findings.holders.thread[t->idx];

		if (t->proc->idx == process) {
			json_out_object_begin(j);
			json_out_key_uint(j, "tid", t->tid);
			json_out_key_string(j, "thread", t->comm);
			json_out_key_uint(j, "runnable_ns", row->runnable_ns);
			json_out_key_uint(j, "idle_ns", row->idle_ns);
			json_out_key_uint(j, "unknown_ns", row->unknown_ns);
			json_out_key_array(j, "held_by");
			for (uint32_t i = 0; i < kept; i++)
				json_holder(j, &by[i]);
			json_out_array_end(j);
			json_out_object_end(j);
		}
		free(by);
	}
	json_out_array_end(j);
}
