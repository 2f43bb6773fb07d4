/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Merged polls: the time from the first to the last of each run, which the timeline shows as one slice, and what
 * it is made of.
 */
#include "report/text_priv.h"

#define POLLS_MANY 32

static void share_cells(struct columns *c, uint64_t part, uint64_t whole, const char *mark,
			struct text_unit u)
{
	columns_mark(c, mark);
	cell_time(c, part, u);
	columns_mark(c, mark ? "~" : NULL);
	cell_pct(c, part, whole);
}

static void poll_cells(const struct report *r, struct columns *c, const struct time_row *t,
		       uint32_t lost, struct text_unit u)
{
	const char *mark = text_mark(lost, LOSS_OF_CALLS, 0);

	columns_mark(c, mark);
	cell_count(c, t->poll.polls);
	columns_mark(c, mark);
	cell_count(c, t->poll.runs);
	columns_mark(c, mark);
	cell_time(c, t->poll.span_ns, u);
	columns_mark(c, text_mark(lost, LOSS_OF_CALLS, LOSS_OF_LIVES));
	cell_pct(c, t->poll.span_ns, t->walls_ns);
	share_cells(c, t->poll.inside_ns, t->poll.span_ns, mark, u);
	if (r->time.poll_ns > 0)
		share_cells(c, t->poll.probes_ns, t->poll.span_ns, mark, u);
	share_cells(c, t->poll.between_ns, t->poll.span_ns, mark, u);
}

static void poll_columns(const struct report *r, struct columns *c)
{
	columns_add(c, "rank", COLUMNS_RIGHT);
	columns_add(c, "process", COLUMNS_LEFT);
	columns_add(c, "polls", COLUMNS_RIGHT);
	columns_add(c, "runs", COLUMNS_RIGHT);
	columns_add(c, "span", COLUMNS_RIGHT);
	columns_add(c, "%wall", COLUMNS_TIGHT);
	columns_add(c, "inside", COLUMNS_RIGHT);
	columns_add(c, "%", COLUMNS_TIGHT);
	if (r->time.poll_ns > 0) {
		columns_add(c, "probes", COLUMNS_RIGHT);
		columns_add(c, "%", COLUMNS_TIGHT);
	}
	columns_add(c, "between", COLUMNS_RIGHT);
	columns_add(c, "%", COLUMNS_TIGHT);
}

static void poll_rows(const struct report *r, struct columns *c, struct text_unit u)
{
	uint32_t shown = text_rows_shown(r, r->nrows, POLLS_MANY), i, done = 0;
	char label[REPORT_LABEL_BYTES];
	struct time_row sum = {0};

	for (i = 0; i < r->nrows; i++) {
		const struct model_process *p = model_process_get(r->model, r->row[i]);
		const struct time_row *t = &r->time.process[r->row[i]];

		time_row_add(&sum, t);
		if (!t->poll.runs || done == shown)
			continue;
		done++;
		columns_cell(c, "%s", report_label(r, p, label));
		columns_text(c, p->name, 14);
		poll_cells(r, c, t, r->lost[r->row[i]], u);
	}
	if (r->nrows < 2)
		return;
	columns_rule(c);
	columns_cell(c, "all");
	cell_empty(c);
	poll_cells(r, c, &sum, r->lost_shown, u);
}

void text_polls(const struct report *r, FILE *out)
{
	uint64_t max_ns = 0;
	struct text_unit u;
	struct columns *c;
	uint32_t i;

	for (i = 0; i < r->nrows; i++) {
		const struct poll_times *t = &r->time.process[r->row[i]].poll;

		max_ns = t->span_ns > max_ns ? t->span_ns : max_ns;
	}
	if (!max_ns)
		return;
	u = text_unit_for(max_ns);
	text_section(out, "Polls that found nothing: from the first to the last of each run (%s)",
		     u.name);
	c = columns_new();
	poll_columns(r, c);
	poll_rows(r, c, u);
	columns_print(c, out, "  ");
	columns_free(c);
	text_note(
		out,
		"span: what the timeline shows as one slice (MPI_Test ×N). inside: the polls' own durations, "
		"which MPI and polling above count. %sbetween: the program's own code, and time off the CPU%s.",
		r->time.poll_ns > 0 ?
			"probes: polls x calibrated cost, as far as it lies between the polls: without "
			"tracing it would not be. " :
			"",
		r->time.poll_ns > 0 ? "" : "; the probes too, for their cost was not calibrated");
}
