/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Compares the efficiencies of each job in both runs. They always cover all ranks of a job. */
#include <math.h>
#include <stdlib.h>

#include "lib/log.h"
#include "report/compare.h"
#include "report/section.h"

#define JOBS_SHOWN 4

/* One job in both runs. */
struct both {
	const struct efficiency *e[2];
	uint32_t lost[2];
};

static uint32_t jobs_in_both(const struct compare *c)
{
	uint32_t before = c->run[BEFORE].account.njob, after = c->run[AFTER].account.njob;

	return before < after ? before : after;
}

/* False if one of the runs has no rank of the job between MPI_Init and MPI_Finalize. */
static bool both_get(const struct compare *c, uint32_t job, struct both *out)
{
	for (int run = BEFORE; run <= AFTER; run++) {
		const struct report *r = &c->run[run];

		if (!r->account.job[job].n)
			return false;
		out->e[run] = &r->efficiency[job];
		out->lost[run] = efficiency_lost(r, job);
	}
	return true;
}

/* ---- text ---- */

/* Adds the change in percentage points. Marks it as doubtful if either value is. */
static void change_cell(struct columns *c, const struct figure *f, const struct both *b)
{
	double by = 100 * (figure_real(f, b->e[AFTER]) - figure_real(f, b->e[BEFORE]));
	bool doubt = figure_mark(f, b->lost[BEFORE]) || figure_mark(f, b->lost[AFTER]);

	columns_mark(c, doubt ? "~" : NULL);
	if (isnan(by))
		columns_cell(c, "-");
	else if (fabs(by) < 0.05)
		columns_cell(c, ".");
	else
		columns_cell(c, "%+.1f", by);
	columns_mark(c, NULL);
}

/* Hides communication if its factors, serialisation and transfer, are known. */
static bool is_shown(const struct figure *f, const struct both *b)
{
	bool path_known = !isnan(b->e[BEFORE]->transfer) && !isnan(b->e[AFTER]->transfer);

	return f->kind == FIGURE_RATIO &&
	       !(path_known && f->at == offsetof(struct efficiency, communication));
}

static void job_print(const struct both *b, const char *title, FILE *out)
{
	const struct figure_table t = {.c = columns_new()};

	columns_add(t.c, title, COLUMNS_LEFT);
	columns_add(t.c, "before", COLUMNS_RIGHT);
	columns_add(t.c, "after", COLUMNS_RIGHT);
	columns_add(t.c, "points", COLUMNS_RIGHT);
	for (const struct figure *f = efficiency_figures; f->kind; f++) {
		if (!is_shown(f, b))
			continue;
		columns_cell(t.c, "%s", f->header);
		for (int run = BEFORE; run <= AFTER; run++)
			figure_cell(&t, f, b->e[run], 0, b->lost[run]);
		change_cell(t.c, f, b);
	}
	fputc('\n', out);
	text_columns(t.c, out);
}

void compare_efficiency_text(const struct compare *c, FILE *out)
{
	uint32_t n = jobs_in_both(c);
	struct both b;

	for (uint32_t i = 0; i < n && i < JOBS_SHOWN; i++) {
		char *title = n > 1 ? xasprintf("efficiency, job %u", i) : xstrdup("efficiency");

		if (both_get(c, i, &b))
			job_print(&b, title, out);
		free(title);
	}
	if (n > JOBS_SHOWN)
		text_note(out, "Efficiencies of %u of %u jobs shown; --json has all.", JOBS_SHOWN,
			  n);
	if (n && c->only[BEFORE] + c->only[AFTER])
		text_note(out, "Efficiencies are those of all ranks of each run.");
}

/* ---- JSON ---- */

static void change_print(struct json_out *j, const struct both *b)
{
	json_out_key_object(j, "change");
	for (const struct figure *f = efficiency_figures; f->kind; f++)
		if (f->kind == FIGURE_RATIO)
			json_out_key_double(j, f->key,
					    figure_real(f, b->e[AFTER]) -
						    figure_real(f, b->e[BEFORE])); /* NaN: null */
	json_out_object_end(j);
}

void compare_efficiency_json(struct json_out *j, const struct compare *c)
{
	struct both b;

	json_out_key_array(j, "efficiency");
	for (uint32_t i = 0; i < jobs_in_both(c); i++) {
		if (!both_get(c, i, &b))
			continue;
		json_out_object_begin(j);
		json_out_key_uint(j, "job", i);
		for (int run = BEFORE; run <= AFTER; run++) {
			json_out_key_object(j, compare_run_names[run]);
			json_incomplete(j, b.lost[run]);
			json_efficiency_members(j, b.e[run], c->run[run].facts);
			json_out_object_end(j);
		}
		change_print(j, &b);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}
