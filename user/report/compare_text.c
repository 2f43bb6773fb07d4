/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Prints the comparison of two runs on one screen. Long tables show only the largest changes. */
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "report/compare.h"
#include "report/section.h"
#include "trace/trace_read.h"

#define TEXTS_SHOWN 3 /* sentences of findings */

/* A table with the values of figures before and after. brief: only after, and the change. */
struct table {
	const struct compare *c;
	const struct figure *figures;
	struct columns *cols;
	struct text_unit unit;
	bool brief;
};

/* ---- cells ---- */

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static char *value_text(const struct table *t, const struct figure *f, uint64_t v)
{
	if (f->kind == FIGURE_TIME)
		return xasprintf("%.*f", t->unit.digits, (double)v / t->unit.ns);
	if (f->kind == FIGURE_BYTES)
		return xstrdup(BYTES_TEXT(v));
	return xstrdup(COUNT_TEXT(v));
}

/* Mark of a figure for the losses of one run. */
static const char *mark_of(const struct figure *f, const struct compare_row *row, int run)
{
	return text_mark(row->lost[run], f->low, f->wrong);
}

static void value_cell(const struct table *t, const struct figure *f, const struct compare_row *row,
		       const struct change *v, int run)
{
	char *text;

	if (!v->known[run] || !row->at[run]) {
		columns_cell(t->cols, "-");
		return;
	}
	text = value_text(t, f, v->value[run]);
	columns_mark(t->cols, mark_of(f, row, run));
	columns_cell(t->cols, "%s", text);
	free(text);
}

/* Marks a change as doubtful if either of its values is. */
static void change_mark(const struct table *t, const struct figure *f,
			const struct compare_row *row)
{
	columns_mark(t->cols, mark_of(f, row, BEFORE) || mark_of(f, row, AFTER) ? "~" : NULL);
}

static void change_cell(const struct table *t, const struct figure *f,
			const struct compare_row *row, const struct change *v)
{
	char *text;

	if (!v->known[BEFORE] || !v->known[AFTER] || !v->by) {
		columns_cell(t->cols, v->known[BEFORE] && v->known[AFTER] ? "." : "-");
		return;
	}
	text = value_text(t, f, magnitude(v->by));
	change_mark(t, f, row);
	columns_cell(t->cols, "%s%s", v->by < 0 ? "-" : "+", text);
	free(text);
}

static void pct_cell(const struct table *t, const struct figure *f, const struct compare_row *row,
		     const struct change *v)
{
	double pct;

	if (!v->known[BEFORE] || !v->known[AFTER] || !v->by) {
		columns_cell(t->cols, "%s", "");
	} else if (!v->value[BEFORE] || !v->value[AFTER]) {
		columns_cell(t->cols, v->by > 0 ? "new" : "gone");
	} else {
		pct = 100.0 * (double)v->by / (double)v->value[BEFORE];
		change_mark(t, f, row);
		columns_cell(t->cols, "%+.*f%%", pct >= 100 ? 0 : 1, pct);
	}
}

/* name: prefix of the first header, or NULL. */
static void figure_columns(const struct table *t, const char *name)
{
	char *before = xasprintf("%s%sbefore", name ? name : "", name ? " " : "");

	columns_add(t->cols, t->brief ? name : before, COLUMNS_RIGHT);
	if (!t->brief)
		columns_add(t->cols, "after", COLUMNS_RIGHT);
	columns_add(t->cols, "change", t->brief ? COLUMNS_TIGHT : COLUMNS_RIGHT);
	if (!t->brief)
		columns_add(t->cols, "%", COLUMNS_TIGHT);
	free(before);
}

static void figure_cells(const struct table *t, const struct figure *f,
			 const struct compare_row *row)
{
	const struct change v = compare_change(t->c, f, row);

	if (!t->brief)
		value_cell(t, f, row, &v, BEFORE);
	value_cell(t, f, row, &v, AFTER);
	change_cell(t, f, row, &v);
	if (!t->brief)
		pct_cell(t, f, row, &v);
}

static bool is_shown(const struct compare *c, const struct figure *f)
{
	return !(f->shown & ~(c->run[BEFORE].facts | c->run[AFTER].facts));
}

/* Returns the column's name; NULL: JSON only. */
static const char *name_of(const struct figure *f)
{
	return f->header ? f->header : f->share;
}

static bool is_column(const struct table *t, const struct figure *f)
{
	return name_of(f) && is_shown(t->c, f);
}

/* ---- tables ---- */

static uint64_t longest(const struct compare *c, const struct figure *figures,
			const struct compare_rows *rows)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < rows->n; i++)
		for (const struct figure *f = figures; f->kind; f++)
			for (int run = BEFORE; run <= AFTER && f->kind == FIGURE_TIME; run++) {
				uint64_t v = compare_change(c, f, &rows->row[i]).value[run];

				most = v > most ? v : most;
			}
	return most;
}

static struct table table_begin(const struct compare *c, const struct figure *figures,
				const struct compare_rows *rows, bool brief)
{
	return (struct table){
		.c = c,
		.figures = figures,
		.cols = columns_new(),
		.unit = text_unit_for(longest(c, figures, rows)),
		.brief = brief,
	};
}

static void table_columns(const struct table *t)
{
	for (const struct figure *f = t->figures; f->kind; f++)
		if (is_column(t, f))
			figure_columns(t, name_of(f));
}

static void table_cells(const struct table *t, const struct compare_row *row)
{
	for (const struct figure *f = t->figures; f->kind; f++)
		if (is_column(t, f))
			figure_cells(t, f, row);
}

static bool row_changed(const struct table *t, const struct compare_row *row)
{
	for (const struct figure *f = t->figures; f->kind; f++)
		if (f->kind != FIGURE_TABLE && compare_change(t->c, f, row).by)
			return true;
	return false;
}

/* Number of rows to show. Relies on unchanged rows being last. top 0: all. */
static uint32_t rows_shown(const struct table *t, const struct compare_rows *rows, uint32_t top)
{
	uint32_t n = 0;

	while (n < rows->n && (!top || (n < top && row_changed(t, &rows->row[n]))))
		n++;
	return n;
}

static void rows_note(FILE *out, const struct table *t, const struct compare_rows *rows,
		      uint32_t shown)
{
	if (!shown)
		text_note(out, "nothing changed");
	else if (shown < rows->n && !row_changed(t, &rows->row[shown]))
		text_note(out, "%u of %u shown; nothing changed in the others.", shown, rows->n);
	else if (shown < rows->n)
		text_note(out, "%u of %u shown, those that changed most; --top 0 shows all.", shown,
			  rows->n);
}

/* ---- head ---- */

static void print_run(const struct compare *c, int run, FILE *out)
{
	const struct report *r = &c->run[run];
	const struct model_info *info = model_get_info(r->model);
	uint64_t run_ns = r->reasons.run_ns;

	fprintf(out, "  %-7s ", compare_run_names[run]);
	for (size_t i = 0; i < r->nsources; i++)
		text_foreign(out, i ? " " : "", r->source[i].path, 60);
	fprintf(out, ": recorded for %s, ", NS_TEXT(info->end_ns - info->start_ns));
	if (run_ns)
		fprintf(out, "%s from MPI_Init to MPI_Finalize, ", NS_TEXT(run_ns));
	fprintf(out, "%s, %s\n", PLURAL_TEXT(r->nranks, "rank", "ranks"),
		PLURAL_TEXT(info->nr_cpus, "CPU", "CPUs"));
}

/* Notes reasons to doubt a run. */
static void print_doubts(const struct compare *c, int run, FILE *out)
{
	const struct report *r = &c->run[run];
	const char *name = compare_run_names[run];
	char *text;

	if (distortion_matters(&r->distortion)) {
		text = distortion_text(&r->distortion);
		text_note(out, "DISTORTED (%s): %s.", name, text);
		free(text);
	}
	if (!model_get_info(r->model)->complete)
		text_note(out, "INCOMPLETE (%s): the file is cut off.", name);
	if (trace_get_summary(r->trace)->bad_blocks)
		text_note(out, "DAMAGED (%s): blocks of the file are left out.", name);
	if (r->lost_shown & LOSS_OF_ANY)
		text_note(
			out,
			"LOST (%s): records are missing: figures marked ≥ are lower bounds, those "
			"marked ~ may be too low or too high.",
			name);
}

static const char *config_text(const struct report *r, const char *key)
{
	const json_t *config = json_object_get(trace_meta_find(r->trace, "recording"), "config");
	const char *text = json_string_value(json_object_get(config, key));

	return text ? text : "";
}

/* Notes different recording options: data that only one run recorded is no change. */
static void print_recorded(const struct compare *c, FILE *out)
{
	static const char *const keys[][2] = {
		{"groups", "--mpi"}, {"layers", "--layers"}, {"sched", "--sched"}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *before = config_text(&c->run[BEFORE], keys[i][0]);
		const char *after = config_text(&c->run[AFTER], keys[i][0]);

		if (strcmp(before, after))
			text_note(out,
				  "Recorded differently: %s was \"%.60s\" before and \"%.60s\" "
				  "after. What only one run recorded is not comparable.",
				  keys[i][1], before, after);
	}
}

static void print_ranks_note(const struct compare *c, FILE *out)
{
	if (c->only[BEFORE] + c->only[AFTER])
		text_note(out,
			  "Compared are the %u ranks in both runs; left out: %s before, %s after.",
			  c->ranks.n, PLURAL_TEXT(c->only[BEFORE], "rank", "ranks"),
			  PLURAL_TEXT(c->only[AFTER], "rank", "ranks"));
	else if (!c->ranks.n)
		text_note(
			out,
			"Neither run has an MPI process, so all recorded processes are compared.");
}

/* ---- sections ---- */

/* Name of a figure in print_lines(), which has more room than a column. */
static const char *line_name(const struct figure *f)
{
	static const char *const names[][2] = {{"wall_ns", "wall, longest"},
					       {"thread_ns", "threads' lives"},
					       {"unknown_ns", "unknown"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && f->key; i++)
		if (!strcmp(f->key, names[i][0]))
			return names[i][1];
	return name_of(f);
}

/* Prints the only row as a table with one line per figure. */
static void print_lines(const struct compare *c, const struct compare_rows *rows,
			const struct figure *figures, const char *what, FILE *out)
{
	struct table t = table_begin(c, figures, rows, false);
	char *title = xasprintf("%s (%s)", what, t.unit.name);

	columns_add(t.cols, title, COLUMNS_LEFT);
	figure_columns(&t, NULL);
	free(title);
	for (const struct figure *f = figures; f->kind; f++) {
		if (f->kind == FIGURE_TABLE || !is_column(&t, f))
			continue;
		columns_cell(t.cols, "%s", line_name(f));
		figure_cells(&t, f, rows->row);
	}
	fputc('\n', out);
	text_columns(t.cols, out);
}

/* Figures of main threads. Unless both runs recorded the scheduler, only those from MPI calls. */
static const struct figure *app_figures_for(const struct compare *c)
{
	return c->run[BEFORE].facts & c->run[AFTER].facts & FACT_SCHED ? app_figures :
									 app_mpi_figures;
}

static void print_all(const struct compare *c, FILE *out)
{
	print_lines(c, &c->all, time_figures, c->ranks.n ? "all ranks" : "all processes", out);
	if (c->ranks.n)
		print_lines(c, &c->app_all, app_figures_for(c), "main threads, Init to Finalize",
			    out);
}

static void print_ranks(const struct compare *c, uint32_t top, FILE *out)
{
	struct table t = table_begin(c, app_figures_for(c), &c->app_ranks, true);
	uint32_t shown = rows_shown(&t, &c->app_ranks, top);

	columns_add(t.cols, "rank", COLUMNS_RIGHT);
	table_columns(&t);
	for (uint32_t i = 0; i < shown; i++) {
		const struct compare_row *row = &c->app_ranks.row[i];

		text_rank_cell(&c->run[AFTER], t.cols, row->process[AFTER]);
		table_cells(&t, row);
	}
	text_section(out,
		     "Ranks: main threads between MPI_Init and MPI_Finalize (%s after, and change)",
		     t.unit.name);
	if (shown)
		columns_print(t.cols, out);
	rows_note(out, &t, &c->app_ranks, shown);
	columns_free(t.cols);
}

/* Adds columns and cells: the name of each row, then its figures. */
static void named_cells(const struct table *t, const struct compare_rows *rows, const char *what,
			uint32_t shown)
{
	columns_add(t->cols, what, COLUMNS_LEFT);
	table_columns(t);
	for (uint32_t i = 0; i < shown; i++) {
		columns_text(t->cols, rows->row[i].name, 28);
		table_cells(t, &rows->row[i]);
	}
}

static void print_findings(const struct compare *c, uint32_t top, FILE *out)
{
	struct table t = table_begin(c, compare_findings, &c->findings, false);
	uint32_t shown = top && top < c->findings.n ? top : c->findings.n;

	text_section(out, "Findings: what ranks lost by waiting (%s)", t.unit.name);
	named_cells(&t, &c->findings, "kind", shown);
	if (shown) {
		columns_print(t.cols, out);
		rows_note(out, &t, &c->findings, shown);
	} else {
		text_note(out, "No finding in either run.");
	}
	columns_free(t.cols);
	for (uint32_t i = 0; i < shown && i < TEXTS_SHOWN; i++) {
		const char *after = c->findings.row[i].text[AFTER];

		text_note(out, "%s %s",
			  after ? "!" : "gone:", after ? after : c->findings.row[i].text[BEFORE]);
	}
}

static void print_functions(const struct compare *c, uint32_t top, FILE *out)
{
	struct table t = table_begin(c, compare_functions, &c->functions, false);
	uint32_t shown = rows_shown(&t, &c->functions, top);

	named_cells(&t, &c->functions, "function", shown);
	if (c->functions.n) {
		text_section(out, "Functions (%s)", t.unit.name);
		if (shown)
			columns_print(t.cols, out);
		rows_note(out, &t, &c->functions, shown);
	}
	columns_free(t.cols);
}

static void print_messages(const struct compare *c, FILE *out)
{
	struct table t = table_begin(c, compare_sent, &c->messages, false);

	named_cells(&t, &c->messages, "class", c->messages.n);
	if (c->messages.n) {
		text_section(out, "Messages sent");
		columns_print(t.cols, out);
	}
	columns_free(t.cols);
}

void compare_text(const struct compare *c, uint32_t top, FILE *out)
{
	print_run(c, BEFORE, out);
	print_run(c, AFTER, out);
	print_doubts(c, BEFORE, out);
	print_doubts(c, AFTER, out);
	print_recorded(c, out);
	print_ranks_note(c, out);
	compare_efficiency_text(c, out);
	print_all(c, out);
	if (c->ranks.n) {
		print_findings(c, top, out);
		print_ranks(c, top, out);
	}
	print_functions(c, top, out);
	print_messages(c, out);
}
