/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Notes, headings and cells that the sections of the text report share. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/human.h"
#include "lib/log.h"
#include "report/section.h"

#define SCREEN_WIDTH 100
void text_section(FILE *out, const char *fmt, ...)
{
	va_list ap;

	fputc('\n', out);
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
	fputc('\n', out);
}

void text_columns(struct columns *c, FILE *out)
{
	columns_print(c, out);
	columns_free(c);
}

void text_foreign(FILE *out, const char *before, const char *text, unsigned int max)
{
	char *clean = text_printable(text, max);

	fprintf(out, "%s%s", *clean ? before : "", clean);
	free(clean);
}

static void note_print(FILE *out, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
static void note_print(FILE *out, const char *fmt, va_list ap)
{
	char *text, *to;

	if (vasprintf(&text, fmt, ap) < 0)
		die("out of memory");
	to = text;
	for (const char *from = text; *from; from++) /* drops repeated and leading blanks */
		if (*from != ' ' || (to > text && to[-1] != ' '))
			*to++ = *from;
	*to = '\0';
	text_wrapped_print(out, "  ", text, TEXT_NOTE_WIDTH - 2);
	free(text);
}

void text_note(FILE *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note_print(out, fmt, ap);
	va_end(ap);
}

void text_explain(const struct report *r, FILE *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (r->opt->explain)
		note_print(out, fmt, ap);
	va_end(ap);
}

uint32_t text_rows_shown(const struct report *r, uint32_t n, uint32_t many)
{
	return n <= many || !r->opt->top || r->opt->top >= n ? n : r->opt->top;
}

void text_shown_note(FILE *out, uint32_t shown, uint32_t n)
{
	if (shown < n)
		text_note(out, "%u of %u shown; --rank LIST chooses, --top 0 shows all.", shown, n);
}

void text_ranks_shown_note(const struct report *r, FILE *out, uint32_t shown, uint32_t n)
{
	if (shown < n)
		text_note(out, "%u of %u shown, %s; --rank LIST chooses, --top 0 shows all.", shown,
			  n,
			  r->sort == REPORT_SORT_RANK ? "those that computed least" :
							"as --sort says");
}

void text_rank_cell(const struct report *r, struct columns *c, const struct model_process *p)
{
	columns_cell(c, "%s", RANK_LABEL(r, p));
}

void text_bound_cell(const struct report *r, struct columns *c, const struct model_thread *t,
		     unsigned int ranges)
{
	const struct demand_mask *k = demand_mask_of(&r->findings.demand, t);
	char *cpus;

	if (!k || k->nr >= model_host_get(r->model, k->host_idx)->nr_cpus) {
		columns_cell(c, "%s", k ? "any" : "");
		return;
	}
	cpus = cpus_label(r->model, k->host_idx, &k->cpus, ranges);
	columns_cell(c, "%s", cpus);
	free(cpus);
}

void text_process_columns(const struct report *r, struct columns *c, bool pid)
{
	columns_add(c, "rank", COLUMNS_RIGHT);
	if (model_get_info(r->model)->nhosts > 1)
		columns_add(c, "host", COLUMNS_LEFT);
	columns_add(c, "process", COLUMNS_LEFT);
	if (pid)
		columns_add(c, "pid", COLUMNS_RIGHT);
}

void text_process_cells(const struct report *r, struct columns *c, uint32_t idx, bool pid)
{
	const struct model_process *p = model_process_get(r->model, idx);

	text_rank_cell(r, c, p);
	if (model_get_info(r->model)->nhosts > 1)
		columns_text(c, model_host_get(r->model, p->host_idx)->label, 16);
	columns_text(c, p->name, 14);
	if (pid)
		columns_cell(c, "%u", p->host_pid);
}

void text_process_sum(const struct report *r, struct columns *c, const char *name, bool pid)
{
	columns_cell(c, "%s", name);
	if (model_get_info(r->model)->nhosts > 1)
		cell_empty(c);
	cell_empty(c);
	if (pid)
		cell_empty(c);
}

void text_processes_note(const struct report *r, FILE *out, uint32_t shown)
{
	static const char *const by[] = {
		"the first by rank",  "those running most",   "those runnable most",
		"those blocked most", "those longest in MPI", "those polling most",
	};

	if (shown < r->nrows)
		text_note(
			out,
			"%u of %u shown, %s; --rank LIST chooses, --sort orders, --top 0 shows all.",
			shown, r->nrows, by[r->sort]);
}
