/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Groups ranks by state, and shows where they were when the recording ended. hang_sentences.c
 * writes the sentences about them, hang_phrases.c what these consist of.
 */
#include "report/hang_text.h"

#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "report/columns.h"
#include "report/section.h"

/* An open call matters from this length on, and from this part of the recording on. */
#define MATTERS_NS 100000000
#define MATTERS_SHARE 4

/* ---- groups ---- */

static const char *in_text(struct hang_text *x, const struct hang_thread *t)
{
	if (!t->func)
		return hang_outside(x->r);
	return t->polls ? PHRASE(x, "polls of %s", t->func->name) : t->func->name;
}

static const char *what_text(struct hang_text *x, const struct hang_thread *t)
{
	const char *text;

	if (!t->func)
		return t->last ? PHRASE(x, "last call: %s", t->last->name) : "–";
	if (!t->nwant)
		return t->began_before ? "unknown: it called before the recording" : "";
	text = hang_want_text(x, t, t->want);
	return t->nwant == 1 ? text : PHRASE(x, "%s, and %u more", text, t->nwant - 1);
}

static struct hang_group group_new(struct hang_text *x, uint32_t idx)
{
	const struct hang_thread *t = &x->r->hang.thread[idx];
	const struct model_site *site = t->func ? &t->site : t->at.address ? &t->at : &t->last_site;
	struct hang_group g = {
		.in = in_text(x, t),
		.place = hang_place_text(x, site),
		.what = what_text(x, t),
		.activity = hang_activity(t),
	};

	g.least_ns = g.most_ns = hang_since_ns(x->r, t);
	g.at_least = t->began_before;
	return g;
}

static bool groups_equal(const struct hang_group *a, const struct hang_group *b)
{
	return !strcmp(a->in, b->in) && !strcmp(a->place, b->place) && !strcmp(a->what, b->what) &&
	       !strcmp(a->activity, b->activity);
}

static void group_add(struct hang_text *out, const struct hang_group *g, uint32_t idx)
{
	struct hang_group *to = NULL;

	for (uint32_t i = 0; i < out->ngroups && !to; i++)
		if (groups_equal(&out->group[i], g))
			to = &out->group[i];
	if (to) {
		to->least_ns = g->least_ns < to->least_ns ? g->least_ns : to->least_ns;
		to->most_ns = g->most_ns > to->most_ns ? g->most_ns : to->most_ns;
		to->at_least |= g->at_least;
	} else {
		out->group = xrealloc(out->group, (out->ngroups + 1) * sizeof(*out->group));
		to = &out->group[out->ngroups++];
		*to = *g;
	}
	to->thread = xrealloc(to->thread, (to->nthreads + 1) * sizeof(*to->thread));
	to->thread[to->nthreads++] = idx;
}

static int thread_compare(const void *va, const void *vb, void *ctx)
{
	const struct hang *h = ctx;
	const struct model_thread *a = h->thread[*(const uint32_t *)va].thread;
	const struct model_thread *b = h->thread[*(const uint32_t *)vb].thread;

	if (a->proc->idx != b->proc->idx)
		return a->proc->idx < b->proc->idx ? -1 : 1;
	return a->idx < b->idx ? -1 : a->idx > b->idx;
}

/* Skips threads outside MPI if another thread of the process is in a call: that one tells more. */
static bool thread_counts(const struct report *r, const struct hang_thread *t)
{
	const struct model_process *p = t->thread->proc;
	const struct hang_process *own = &r->hang.process[p->idx];

	return p->is_rank && r->chosen[p->idx] && !own->finalized && (t->func || !own->in_calls);
}

void hang_text_make(const struct report *r, struct hang_text *out)
{
	struct hang *h = (struct hang *)&r->hang;
	uint32_t *order = xcalloc(h->nthread + 1, sizeof(*order)), n = 0;

	*out = (struct hang_text){.r = r};
	for (uint32_t i = 0; i < h->nthread; i++) {
		const struct hang_thread *t = &h->thread[i];

		if (t->thread && thread_counts(r, t))
			order[n++] = i;
	}
	qsort_r(order, n, sizeof(*order), thread_compare, h);
	for (uint32_t i = 0; i < n; i++) {
		const struct hang_group g = group_new(out, order[i]);

		group_add(out, &g, order[i]);
	}
	free(order);
	hang_sentences_make(out);
}

void hang_text_release(struct hang_text *x)
{
	for (uint32_t i = 0; i < x->ngroups; i++)
		free(x->group[i].thread);
	free(x->group);
	free(x->sentence);
	text_pool_release(&x->pool);
}

bool hang_text_matters(const struct report *r)
{
	const struct model_info *info = model_get_info(r->model);
	const struct hang *h = &r->hang;

	for (uint32_t i = 0; i < h->nprocess; i++)
		if (h->process[i].stuck)
			return true;
	return h->open && h->longest_ns >= MATTERS_NS &&
	       h->longest_ns >= (info->end_ns - info->start_ns) / MATTERS_SHARE;
}

/* ---- text and JSON ---- */

#define GROUPS_SHOWN 20

static void ranks_cell(struct hang_text *x, struct columns *c, const struct hang_group *g)
{
	const struct model_process **p = xcalloc(g->nthreads, sizeof(*p));

	for (uint32_t i = 0; i < g->nthreads; i++)
		p[i] = x->r->hang.thread[g->thread[i]].thread->proc;
	columns_text(c, hang_ranks_text(x, p, g->nthreads), 40);
	free(p);
}

static void group_row(struct hang_text *x, struct columns *c, const struct hang_group *g)
{
	char least[HUMAN_BYTES], most[HUMAN_BYTES];
	const char *more = g->at_least ? "≥" : "";

	ranks_cell(x, c, g);
	columns_text(c, g->in, 28);
	columns_text(c, g->place, 40);
	columns_text(c, g->what, 70);
	human_ns(least, sizeof(least), g->least_ns);
	human_ns(most, sizeof(most), g->most_ns);
	if (strcmp(least, most))
		columns_cell(c, "%s%s-%s", more, least, most);
	else
		columns_cell(c, "%s%s", more, least);
	columns_cell(c, "%s", g->activity);
}

struct columns *table_hang(struct hang_text *x, uint32_t *shown)
{
	struct columns *c = columns_new();

	*shown = text_rows_shown(x->r, x->ngroups, GROUPS_SHOWN);
	columns_list(c, "<ranks", "<in", "<called at", "<waits for", ">since", "<");
	for (uint32_t i = 0; i < *shown; i++)
		group_row(x, c, &x->group[i]);
	return c;
}

static void groups_print(struct hang_text *x, FILE *out)
{
	uint32_t shown;

	text_columns(table_hang(x, &shown), out);
	text_shown_note(out, shown, x->ngroups);
}

void text_hang(const struct report *r, FILE *out)
{
	struct hang_text t;

	if ((r->opt->details & DETAIL_ALL) == DETAIL_ALL && !r->hang.open)
		return;
	hang_text_make(r, &t);
	text_section(out, "Where ranks were when the recording ended");
	if (t.ngroups)
		groups_print(&t, out);
	else
		text_note(
			out,
			r->hang.cut ?
				"Unknown: the file is cut off, and lacks calls that had not returned." :
				"No rank that had called MPI was left.");
	for (uint32_t i = 0; i < t.nsentences; i++)
		text_note(out, "%s %s.", t.sentence[i].certain ? "!" : "-", t.sentence[i].text);
	text_explain(r, out,
		     "For each thread that called MPI: the call that it was in, or its last "
		     "one; what it waits for; since when; and what it did for most of that "
		     "time. Sentences with \"!\" are certain; the others follow from what was "
		     "recorded.");
	hang_text_release(&t);
}

static void group_json(struct json_out *j, const struct report *r, const struct hang_group *g)
{
	const struct hang_thread *first = &r->hang.thread[g->thread[0]];

	json_out_object_begin(j);
	json_out_key_array(j, "ranks");
	for (uint32_t i = 0; i < g->nthreads; i++)
		json_out_int(j, r->hang.thread[g->thread[i]].thread->proc->rank);
	json_out_array_end(j);
	json_out_key_string(j, "in",
			    first->func && !first->polls ? "call" :
			    first->polls		 ? "polls" :
							   "outside");
	json_out_key_string(j, "function", first->func ? first->func->name : NULL);
	json_out_key_string(j, "last_function", first->last ? first->last->name : NULL);
	json_out_key_string(j, "site", *g->place ? g->place : NULL);
	json_out_key_string(j, "waits_for", first->func && *g->what ? g->what : NULL);
	json_out_key_uint(j, "least_ns", g->least_ns);
	json_out_key_uint(j, "most_ns", g->most_ns);
	json_out_key_bool(j, "at_least", g->at_least);
	json_out_key_string(j, "activity", *g->activity ? g->activity : NULL);
	json_out_object_end(j);
}

void json_hang(struct json_out *j, const struct report *r)
{
	struct hang_text t;

	hang_text_make(r, &t);
	json_out_key_object(j, "at_end");
	json_out_key_bool(j, "matters", hang_text_matters(r));
	json_out_key_array(j, "groups");
	for (uint32_t i = 0; i < t.ngroups; i++)
		group_json(j, r, &t.group[i]);
	json_out_array_end(j);
	json_out_key_array(j, "sentences");
	for (uint32_t i = 0; i < t.nsentences; i++) {
		json_out_object_begin(j);
		json_out_key_string(j, "kind", t.sentence[i].kind);
		json_out_key_bool(j, "certain", t.sentence[i].certain);
		json_out_key_string(j, "text", t.sentence[i].text);
		json_out_object_end(j);
	}
	json_out_array_end(j);
	json_out_object_end(j);
	hang_text_release(&t);
}
