/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Extracts efficiencies from the report of each run. Writes them as JSON, and as text: a column for
 * each run; below the table, what is unknown and why.
 */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/find.h"
#include "lib/log.h"
#include "lib/text.h"
#include "report/section.h"
#include "version.h"

#define SCHEMA_VERSION 1

#define ROW struct scaling_run
const struct figure scaling_figures[] = {
	{FIGURE_RATIO, "computation_scaling", "computation scaling", AT(computation),
	 .wrong = LOSS_OF_ACCOUNT},
	{FIGURE_RATIO, "global_efficiency", "global efficiency", AT(global),
	 .wrong = LOSS_OF_ACCOUNT},
	{FIGURE_FACTOR, "speedup", "speedup", AT(speedup), .wrong = LOSS_OF_CALLS | LOSS_OF_LIVES},
	{0},
};
#undef ROW

/* ---- reading ---- */

static char *name_of(const struct report *r, uint32_t job)
{
	const char *name = text_base_name(r->source->path);

	return r->account.njob > 1 ? xasprintf("%s:%u", name, job) : xstrdup(name);
}

static void job_add(struct scaling *s, const struct report *r, uint32_t job)
{
	const struct account_job *j = job < r->account.njob ? &r->account.job[job] : NULL;
	const struct model_process *p = NULL;
	struct scaling_run *run = scaling_add(s);

	if (j && j->n)
		p = model_process_get(r->model, r->account.rank[j->first].process);
	run->source = r->source;
	run->nsources = r->nsources;
	run->name = name_of(r, job);
	run->program = xstrdup(p ? p->name : "");
	run->command = xstrdup(p ? p->cmdline : "");
	run->job = job;
	run->unknown = !j ? SCALING_NO_MPI : !j->n ? SCALING_NO_WINDOW : SCALING_KNOWN;
	run->sched = r->account.sched;
	run->distorted = distortion_matters(&r->distortion);
	if (run->unknown != SCALING_KNOWN)
		return;
	run->e = r->account.job[job].e;
	run->lost = efficiency_lost(r, job);
}

int scaling_read(struct scaling *s, const struct trace_source *source, size_t nsources)
{
	static const struct report_options opt;
	struct report r;
	int err = report_open(source, nsources, &opt, &r);

	if (err)
		return err;
	for (uint32_t i = 0; i < r.account.njob; i++)
		job_add(s, &r, i);
	if (!r.account.njob)
		job_add(s, &r, 0);
	report_close(&r);
	return 0;
}

/* ---- JSON ---- */

/* Reasons why a run is unknown; NULL: it is known. */
static const char *const unknown_runs[] = {
	[SCALING_NO_MPI] = "no_mpi",
	[SCALING_NO_WINDOW] = "no_window",
};

static void run_print(struct json_out *j, const struct scaling_run *run)
{
	bool known = run->unknown == SCALING_KNOWN;

	json_out_object_begin(j);
	json_out_key_string(j, "name", run->name);
	json_out_key_array(j, "traces");
	for (size_t i = 0; i < run->nsources; i++)
		json_out_string(j, run->source[i].path);
	json_out_array_end(j);
	json_out_key_uint(j, "job", run->job);
	json_out_key_string(j, "program", known ? run->program : NULL);
	json_out_key_string(j, "command", known ? run->command : NULL);
	json_out_key_string(j, "unknown", unknown_runs[run->unknown]);
	json_out_key(j, "efficiency");
	if (known) {
		json_out_object_begin(j);
		json_efficiency_members(j, &run->e, 0);
		json_out_object_end(j);
	} else {
		json_out_null(j);
	}
	figures_json(j, scaling_figures, run, 0);
	json_out_key_bool(j, "distorted", run->distorted);
	json_incomplete(j, run->lost);
	json_out_object_end(j);
}

int scaling_json(const struct scaling *s, FILE *out)
{
	struct json_out *j = json_out_new(out, JSON_OUT_PRETTY);

	json_out_object_begin(j);
	json_out_key_int(j, "schema_version", SCHEMA_VERSION);
	json_out_key_string(j, "povtrace", POV_VERSION);
	json_out_key_string(j, "scaling", s->weak ? "weak" : "strong");
	json_out_key_bool(j, "same_program", scaling_same_program(s));
	json_out_key_array(j, "runs");
	for (uint32_t i = 0; i < s->n; i++)
		run_print(j, &s->run[i]);
	json_out_array_end(j);
	json_out_object_end(j);
	return json_out_finish(j);
}

/* ---- text ---- */

#define TABLE_WIDTH 100
#define NAME_CHARS 16
#define LABEL_CHARS 24 /* width of the first column */
#define COLUMN_CHARS 9 /* smallest width of a run's column */
#define COMMAND_CHARS 60

/* ---- the table ---- */

/*
 * Lines in order of output. An indented line is a factor of the nearest less indented line above.
 */
static const struct {
	const char *key;
	const char *name;
} lines[] = {
	{"ranks", "ranks"},
	{"span_ns", "time"},
	{"speedup", "speedup"},
	{"global_efficiency", "global efficiency"},
	{"parallel_efficiency", "  parallel efficiency"},
	{"load_balance", "    load balance"},
	{"communication_efficiency", "    communication"},
	{"serialisation_efficiency", "      serialisation"},
	{"transfer_efficiency", "      transfer"},
	{"computation_scaling", "  computation scaling"},
	{"had_core", "on a core"},
};

static const struct figure *figure_named(const struct figure *f, const char *key)
{
	while (f->kind && strcmp(f->key, key) != 0)
		f++;
	return f->kind ? f : NULL;
}

static bool is_unknown(const struct figure *f, const void *row)
{
	return (f->kind == FIGURE_RATIO || f->kind == FIGURE_FACTOR) && isnan(figure_real(f, row));
}

static void run_cell(const struct scaling *s, const struct figure_table *t,
		     const struct scaling_run *run, const char *key)
{
	const struct figure *own = figure_named(efficiency_figures, key);
	const struct figure *f = own ? own : figure_named(scaling_figures, key);
	const void *row = own ? (const void *)&run->e : run;

	if (run->unknown != SCALING_KNOWN || is_unknown(f, row))
		columns_cell(t->c, "unknown");
	else
		figure_cell(t, f, row, 0, own ? run->lost : scaling_lost(s, run));
}

/* Keeps the end of a long name, because names of runs differ there. Caller frees. */
static char *name_cut(const char *name)
{
	char *clean = text_printable(name, 4096), *cut;
	unsigned int chars = text_chars(clean);
	const char *p = clean;

	if (chars <= NAME_CHARS)
		return clean;
	for (unsigned int skip = chars - NAME_CHARS + 1; skip > 0; skip--)
		do
			p++;
		while (((unsigned char)*p & 0xc0) == 0x80);
	cut = xasprintf("…%s", p);
	free(clean);
	return cut;
}

static void table_print(const struct scaling *s, uint32_t first, uint32_t n, FILE *out)
{
	const struct figure_table t = {.c = columns_new()};
	char *name;

	columns_add(t.c, "", COLUMNS_LEFT);
	for (uint32_t i = first; i < first + n; i++) {
		name = name_cut(s->run[i].name);
		columns_add(t.c, name, COLUMNS_RIGHT);
		free(name);
	}
	for (size_t l = 0; l < sizeof(lines) / sizeof(lines[0]); l++) {
		columns_cell(t.c, "%s", lines[l].name);
		for (uint32_t i = first; i < first + n; i++)
			run_cell(s, &t, &s->run[i], lines[l].key);
	}
	fputc('\n', out);
	text_columns(t.c, out);
}

/* Number of columns that fit into one table, from run first on. */
static uint32_t table_runs(const struct scaling *s, uint32_t first)
{
	unsigned int width = LABEL_CHARS, chars;
	uint32_t i = first;

	for (; i < s->n; i++, width += chars) {
		chars = text_chars(s->run[i].name);
		chars = 2 + (chars < COLUMN_CHARS ? COLUMN_CHARS :
			     chars > NAME_CHARS	  ? NAME_CHARS :
						    chars);
		if (i > first && width + chars > TABLE_WIDTH)
			break;
	}
	return i - first;
}

/* ---- scaling_notes ---- */

static bool has_unknown_core(const struct scaling_run *r)
{
	return r->unknown == SCALING_KNOWN && !r->sched;
}

static bool has_no_mpi(const struct scaling_run *r)
{
	return r->unknown == SCALING_NO_MPI;
}

static bool has_no_window(const struct scaling_run *r)
{
	return r->unknown == SCALING_NO_WINDOW;
}

static bool has_nothing_outside(const struct scaling_run *r)
{
	return r->e.unknown == EFFICIENCY_NOTHING_OUTSIDE;
}

static bool is_too_long(const struct scaling_run *r)
{
	return r->e.unknown == EFFICIENCY_TOO_LONG;
}

static bool has_lost(const struct scaling_run *r)
{
	return r->lost & LOSS_OF_ACCOUNT;
}

static bool has_partial_path(const struct scaling_run *r)
{
	return r->lost & LOSS_OF_PATH && !has_lost(r) && !isnan(r->e.transfer);
}

static bool is_distorted(const struct scaling_run *r)
{
	return r->distorted;
}

/* Runs that match: "a.pov, b.pov"; NULL: none. Caller frees. */
static char *names_of(const struct scaling *s, bool (*is)(const struct scaling_run *r))
{
	char *text = NULL, *name;

	for (uint32_t i = 0; i < s->n; i++) {
		if (!is(&s->run[i]))
			continue;
		name = text_printable(s->run[i].name, COMMAND_CHARS);
		text = text ? words(text, ", %s", name) : xstrdup(name);
		free(name);
	}
	return text;
}

static const struct {
	bool (*is)(const struct scaling_run *r);
	const char *before, *after; /* text around the names of the runs */
} scaling_notes[] = {
	{is_distorted,
	 "DISTORTED: ", ": tracing cost so much that these times are not the program's own."},
	{has_no_mpi, "", ": unknown, because no process called MPI."},
	{has_no_window, "",
	 ": unknown, because no rank was seen between MPI_Init and MPI_Finalize."},
	{has_nothing_outside, "",
	 ": no rank was ever outside MPI, so there is nothing to divide by."},
	{is_too_long, "",
	 ": serialisation and transfer are unknown, because the recording is too "
	 "long to be replayed."},
	{has_unknown_core, "",
	 ": whether ranks were on a core is unknown, because the scheduler was "
	 "not recorded."},
	{has_partial_path, "≤, ≥: not all messages and collectives are matched in ",
	 ": serialisation is at most, and transfer at least, what is printed."},
	{has_lost, "~: records are missing in ", ", so these figures may be too low or too high."},
};

static void notes_print(const struct scaling *s, FILE *out)
{
	for (size_t i = 0; i < sizeof(scaling_notes) / sizeof(scaling_notes[0]); i++) {
		char *names = names_of(s, scaling_notes[i].is);

		if (names)
			text_note(out, "%s%s%s", scaling_notes[i].before, names,
				  scaling_notes[i].after);
		free(names);
	}
}

/* Notes runs of another program, or with another command line and so maybe other work. */
static void programs_print(const struct scaling *s, FILE *out)
{
	const struct scaling_run *first = &s->run[0];
	bool other_work = false;

	for (uint32_t i = 1; i < s->nknown; i++) {
		const struct scaling_run *run = &s->run[i];
		char *name = text_printable(run->name, COMMAND_CHARS);
		char *program = text_printable(run->program, COMMAND_CHARS);
		char *wanted = text_printable(first->program, COMMAND_CHARS);

		if (strcmp(run->program, first->program) != 0)
			text_note(out,
				  "%s is a run of another program (%s, not %s): comparing it with "
				  "the others means nothing.",
				  name, program, wanted);
		else
			other_work |= strcmp(run->command, first->command) != 0;
		free(name);
		free(program);
		free(wanted);
	}
	if (!other_work || s->weak)
		return;
	text_note(out, "The command lines differ, so the work may differ, too:");
	for (uint32_t i = 0; i < s->nknown; i++) {
		char *name = text_printable(s->run[i].name, COMMAND_CHARS);

		fprintf(out, "    %s: ", name);
		text_foreign(out, "", s->run[i].command, COMMAND_CHARS);
		fputc('\n', out);
		free(name);
	}
}

void scaling_text(const struct scaling *s, FILE *out)
{
	char *program = text_printable(s->run[0].program, COMMAND_CHARS);
	char *first = text_printable(s->run[0].name, COMMAND_CHARS);
	uint32_t n;

	fprintf(out, "Scaling of %s: %u runs, relative to %s\n", program, s->n, first);
	text_note(out,
		  s->weak ? "Weak scaling: the work is assumed to grow with the number of ranks." :
			    "Strong scaling: all runs are assumed to do the same work. If the work "
			    "grows with the number of ranks, use --weak.");
	for (uint32_t i = 0; i < s->n; i += n) {
		n = table_runs(s, i);
		table_print(s, i, n, out);
	}
	programs_print(s, out);
	notes_print(s, out);
	free(program);
	free(first);
}
