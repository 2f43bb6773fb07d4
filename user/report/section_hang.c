/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows where ranks were when the recording ended (report/hang_text.h). */
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "report/columns.h"
#include "report/hang_text.h"
#include "report/section.h"

#define GROUPS_SHOWN 20

static void ranks_cell(const struct report *r, struct columns *c, const struct hang_group *g)
{
	const struct model_process **p = xcalloc(g->nthreads, sizeof(*p));
	char *text;

	for (uint32_t i = 0; i < g->nthreads; i++)
		p[i] = r->hang.thread[g->thread[i]].thread->proc;
	text = hang_ranks_text(r, p, g->nthreads);
	columns_text(c, text, 40);
	free(text);
	free(p);
}

static void group_row(const struct report *r, struct columns *c, const struct hang_group *g)
{
	char least[HUMAN_BYTES], most[HUMAN_BYTES];
	const char *more = g->at_least ? "≥" : "";

	ranks_cell(r, c, g);
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

struct columns *table_hang(const struct report *r, const struct hang_text *t, uint32_t *shown)
{
	struct columns *c = columns_new();

	*shown = text_rows_shown(r, t->ngroups, GROUPS_SHOWN);
	columns_add(c, "ranks", COLUMNS_LEFT);
	columns_add(c, "in", COLUMNS_LEFT);
	columns_add(c, "called at", COLUMNS_LEFT);
	columns_add(c, "waits for", COLUMNS_LEFT);
	columns_add(c, "since", COLUMNS_RIGHT);
	columns_add(c, "", COLUMNS_LEFT);
	for (uint32_t i = 0; i < *shown; i++)
		group_row(r, c, &t->group[i]);
	return c;
}

static void groups_print(const struct report *r, const struct hang_text *t, FILE *out)
{
	uint32_t shown;

	text_columns(table_hang(r, t, &shown), out);
	text_shown_note(out, shown, t->ngroups);
}

void text_hang(const struct report *r, FILE *out)
{
	struct hang_text t;

	if ((r->opt->details & DETAIL_ALL) == DETAIL_ALL && !r->hang.open)
		return;
	hang_text_make(r, &t);
	text_section(out, "Where ranks were when the recording ended");
	if (t.ngroups)
		groups_print(r, &t, out);
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
