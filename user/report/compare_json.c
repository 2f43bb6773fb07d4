/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints the comparison of two runs as JSON, and efficiencies also as text. members.tsv describes
 * the members.
 */
#include <math.h>
#include <stdlib.h>

#include "lib/log.h"
#include "report/compare.h"
#include "report/section.h"
#include "version.h"

#define SCHEMA_VERSION 1

static void change_print(struct json_out *j, const struct compare *c, const struct figure *figures,
			 const struct compare_row *row, bool pct)
{
	json_out_key_object(j, pct ? "percent" : "change");
	for (const struct figure *f = figures; f->kind; f++) {
		const struct change v = compare_change(c, f, row);
		bool known = v.known[BEFORE] && v.known[AFTER];

		if (f->kind == FIGURE_TABLE || !f->key)
			continue;
		if (pct)
			json_out_key_double(j, f->key,
					    known && v.value[BEFORE] ?
						    100.0 * (double)v.by / (double)v.value[BEFORE] :
						    NAN); /* null */
		else if (known)
			json_out_key_int(j, f->key, v.by);
		else
			json_out_key_string(j, f->key, NULL);
	}
	json_out_object_end(j);
}

/* Writes the figures of one run as a member of the open object; null if the run has no row. */
static void side_print(struct json_out *j, const struct compare *c, const struct figure *figures,
		       const struct compare_row *row, int run)
{
	const struct model_process *p = row->process[run];

	json_out_key(j, compare_run_names[run]);
	if (!row->at[run]) {
		json_out_null(j);
		return;
	}
	json_out_object_begin(j);
	if (p)
		json_out_key_uint(j, "pid", p->host_pid);
	if (row->text[run])
		json_out_key_string(j, "text", row->text[run]);
	json_incomplete(j, row->lost[run]);
	figures_json(j, figures, row->at[run], c->run[run].facts);
	json_out_object_end(j);
}

static void row_print(struct json_out *j, const struct compare *c, const struct figure *figures,
		      const struct compare_row *row)
{
	side_print(j, c, figures, row, BEFORE);
	side_print(j, c, figures, row, AFTER);
	change_print(j, c, figures, row, false);
	change_print(j, c, figures, row, true);
}

/* name, layer: keys for the row's name and layer; NULL: no such member. */
static void rows_print(struct json_out *j, const struct compare *c, const char *key,
		       const struct compare_rows *rows, const struct figure *figures,
		       const char *name, const char *layer)
{
	json_out_key_array(j, key);
	for (uint32_t i = 0; i < rows->n; i++) {
		const struct compare_row *row = &rows->row[i];

		json_out_object_begin(j);
		if (row->process[AFTER]) {
			json_out_key_int(j, "job", row->process[AFTER]->job_idx);
			json_out_key_int(j, "rank", row->process[AFTER]->rank);
		}
		if (name)
			json_out_key_string(j, name, row->name);
		if (layer)
			json_out_key_string(j, layer, row->layer);
		row_print(j, c, figures, row);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

static void run_print(struct json_out *j, const struct compare *c, int run)
{
	const struct report *r = &c->run[run];
	const struct model_info *info = model_get_info(r->model);

	json_out_key_object(j, compare_run_names[run]);
	json_out_key_array(j, "traces");
	for (size_t i = 0; i < r->nsources; i++)
		json_out_string(j, r->source[i].path);
	json_out_array_end(j);
	json_out_key_uint(j, "wall_ns", info->end_ns - info->start_ns);
	json_out_key_uint(j, "cpus", info->nr_cpus);
	json_out_key_uint(j, "ranks", r->nranks);
	json_out_key_uint(j, "ranks_left_out", c->only[run]);
	json_out_key_bool(j, "complete", info->complete);
	json_out_key_bool(j, "distorted", distortion_matters(&r->distortion));
	json_incomplete(j, r->lost_shown);
	json_out_object_end(j);
}

/* ---- efficiency ---- */

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
		out->e[run] = &r->account.job[job].e;
		out->lost[run] = efficiency_lost(r, job);
	}
	return true;
}

/* ---- text ---- */

/* Adds the change in percentage points. Marks it as doubtful if either value is. */
static void efficiency_change_cell(struct columns *c, const struct figure *f, const struct both *b)
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
static bool efficiency_is_line(const struct figure *f, const struct both *b)
{
	bool path_known = !isnan(b->e[BEFORE]->transfer) && !isnan(b->e[AFTER]->transfer);

	return f->kind == FIGURE_RATIO &&
	       !(path_known && f->at == offsetof(struct efficiency, communication));
}

static void efficiency_job_print(const struct both *b, const char *title, FILE *out)
{
	const struct figure_table t = {.c = columns_new()};

	columns_add(t.c, title, COLUMNS_LEFT);
	columns_list(t.c, ">before", ">after", ">points");
	for (const struct figure *f = efficiency_figures; f->kind; f++) {
		if (!efficiency_is_line(f, b))
			continue;
		columns_cell(t.c, "%s", f->header);
		for (int run = BEFORE; run <= AFTER; run++)
			figure_cell(&t, f, b->e[run], 0, b->lost[run]);
		efficiency_change_cell(t.c, f, b);
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
			efficiency_job_print(&b, title, out);
		free(title);
	}
	if (n > JOBS_SHOWN)
		text_note(out, "Efficiencies of %u of %u jobs shown; --json has all.", JOBS_SHOWN,
			  n);
	if (n && c->only[BEFORE] + c->only[AFTER])
		text_note(out, "Efficiencies are those of all ranks of each run.");
}

/* ---- JSON ---- */

static void efficiency_change_print(struct json_out *j, const struct both *b)
{
	json_out_key_object(j, "change");
	for (const struct figure *f = efficiency_figures; f->kind; f++)
		if (f->kind == FIGURE_RATIO)
			json_out_key_double(j, f->key,
					    figure_real(f, b->e[AFTER]) -
						    figure_real(f, b->e[BEFORE])); /* NaN: null */
	json_out_object_end(j);
}

static void compare_efficiency_json(struct json_out *j, const struct compare *c)
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
		efficiency_change_print(j, &b);
		json_out_object_end(j);
	}
	json_out_array_end(j);
}

int compare_json(const struct compare *c, FILE *out)
{
	struct json_out *j = json_out_new(out, JSON_OUT_PRETTY);

	json_out_object_begin(j);
	json_out_key_int(j, "schema_version", SCHEMA_VERSION);
	json_out_key_string(j, "povtrace", POV_VERSION);
	run_print(j, c, BEFORE);
	run_print(j, c, AFTER);
	json_out_key_uint(j, "ranks_compared", c->ranks.n);
	compare_efficiency_json(j, c);
	json_out_key_object(j, "all");
	row_print(j, c, time_figures, c->all.row);
	json_out_object_end(j);
	json_out_key_object(j, "between_init_and_finalize");
	json_out_key_object(j, "all");
	row_print(j, c, app_figures, c->app_all.row);
	json_out_object_end(j);
	rows_print(j, c, "ranks", &c->app_ranks, app_figures, NULL, NULL);
	json_out_object_end(j);
	rows_print(j, c, "findings", &c->findings, compare_findings, "kind", NULL);
	rows_print(j, c, "ranks", &c->ranks, time_figures, NULL, NULL);
	rows_print(j, c, "functions", &c->functions, compare_functions, "name", "layer");
	rows_print(j, c, "messages", &c->messages, compare_sent, "class", NULL);
	json_out_object_end(j);
	return json_out_finish(j);
}
