/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows the traffic by MPI function and phase, by protocol step, and by destination. */
#include <stdlib.h>

#include "report/traffic_label.h"

#define ROW struct traffic_flow

static const struct figure context_figures[] = {
	{FIGURE_COUNT, NULL, "posts", AT(posts), .wrong = LOSS_OF_POSTS},
	{FIGURE_COUNT, NULL, "sends", AT(sent), .no_zero = true, .wrong = LOSS_OF_POSTS},
	{FIGURE_BYTES, NULL, "sent", AT(sent_bytes), OF(sent_unknown), .wrong = LOSS_OF_POSTS},
	{FIGURE_COUNT, NULL, "reads", AT(read), .no_zero = true, .wrong = LOSS_OF_POSTS},
	{FIGURE_BYTES, NULL, "read", AT(read_bytes), OF(read_unknown), .wrong = LOSS_OF_POSTS},
	{FIGURE_COUNT, NULL, NULL, AT(moved_bytes), "%bytes", FIGURE_WHOLE,
	 .share_wrong = LOSS_OF_POSTS},
	{0},
};

static const struct figure destination_figures[] = {
	{FIGURE_COUNT, NULL, "sends", AT(sent), .no_zero = true, .low = LOSS_OF_POSTS},
	{FIGURE_BYTES, NULL, "sent", AT(sent_bytes), OF(sent_unknown), .low = LOSS_OF_POSTS},
	{FIGURE_COUNT, NULL, "reads", AT(read), .no_zero = true, .low = LOSS_OF_POSTS},
	{FIGURE_BYTES, NULL, "read", AT(read_bytes), OF(read_unknown), .low = LOSS_OF_POSTS},
	{FIGURE_COUNT, NULL, "arrivals", AT(arrived), .no_zero = true, .low = LOSS_OF_POSTS},
	{FIGURE_BYTES, NULL, "arrived", AT(arrived_bytes), OF(arrived_unknown),
	 .low = LOSS_OF_POSTS},
	{0},
};

/* Adds a cell and frees text. */
static void foreign_cell(struct columns *c, char *text, unsigned int max)
{
	columns_text(c, text, max);
	free(text);
}

/* Optional columns: shown unless they would be empty. */
struct context_columns {
	bool phase, region;
};

static struct context_columns columns_find(const struct traffic_group *g, uint32_t n)
{
	struct context_columns any = {false};

	for (uint32_t i = 0; i < n; i++) {
		any.phase |= g[i].key.phase != 0;
		any.region |= g[i].key.region != 0;
	}
	return any;
}

static void phase_cell(const struct report *r, struct columns *c, uint32_t id)
{
	columns_text(c, id ? traffic_text(r, id) : "-", 24);
}

static void context_cells(const struct report *r, struct columns *c, const struct traffic_key *k)
{
	foreign_cell(c, traffic_context(r, k), 30);
	columns_text(c, k->context == TRAFFIC_IN_CALL ? traffic_func(r, k->func)->group : "-", 8);
}

static void contexts(const struct report *r, FILE *out)
{
	struct figure_table t = {context_figures, columns_new(), .facts = r->facts};
	uint32_t n, shown;
	struct traffic_group *g = traffic_groups_moving(r, TRAFFIC_BY_CONTEXT | TRAFFIC_BY_PHASE,
							&n);
	uint64_t moved = 0;
	struct context_columns any = columns_find(g, n);

	text_section(out, "Traffic by MPI function and phase");
	columns_add(t.c, "in function", COLUMNS_LEFT);
	columns_add(t.c, "group", COLUMNS_LEFT);
	if (any.phase)
		columns_add(t.c, "phase", COLUMNS_LEFT);
	if (any.region)
		columns_add(t.c, "region", COLUMNS_LEFT);
	figures_columns(&t);
	for (uint32_t i = 0; i < n; i++)
		moved += g[i].flow.moved_bytes;
	shown = text_rows_shown(r, n, r->opt->top);
	for (uint32_t i = 0; i < shown; i++) {
		context_cells(r, t.c, &g[i].key);
		if (any.phase)
			phase_cell(r, t.c, g[i].key.phase);
		if (any.region)
			phase_cell(r, t.c, g[i].key.region);
		figures_cells(&t, &g[i].flow, moved, r->lost_shown);
	}
	text_columns(t.c, out);
	text_shown_note(out, shown, n);
	text_explain(r, out,
		     "in function: the MPI call in which the thread posted; a thread outside "
		     "MPI is shown by its name. Bytes include the headers of the layers above.");
	free(g);
}

/* Shows the protocol steps of each phase. Only some layers record the step. */
static void protocols(const struct report *r, FILE *out)
{
	struct figure_table t = {context_figures, columns_new(), .facts = r->facts};
	uint32_t n, shown, kept = 0;
	struct traffic_group *g = traffic_groups_moving(
		r, TRAFFIC_BY_PHASE | TRAFFIC_BY_CARRIER | TRAFFIC_BY_STEP, &n);
	uint64_t moved = 0;

	for (uint32_t i = 0; i < n; i++) {
		moved += g[i].flow.moved_bytes;
		if (g[i].key.phase && g[i].key.step)
			g[kept++] = g[i];
	}
	columns_add(t.c, "phase", COLUMNS_LEFT);
	columns_add(t.c, "by", COLUMNS_LEFT);
	columns_add(t.c, "step", COLUMNS_LEFT);
	figures_columns(&t);
	shown = text_rows_shown(r, kept, r->opt->top);
	for (uint32_t i = 0; i < shown; i++) {
		phase_cell(r, t.c, g[i].key.phase);
		foreign_cell(t.c, traffic_transport(r, &g[i].key), 12);
		columns_text(t.c, post_step_name(g[i].key.step), 8);
		figures_cells(&t, &g[i].flow, moved, r->lost_shown);
	}
	free(g);
	if (!kept) {
		columns_free(t.c);
		return;
	}
	text_section(out, "Traffic by phase and step of the protocol");
	text_columns(t.c, out);
	text_shown_note(out, shown, kept);
	text_explain(r, out,
		     "step: eager is a message sent at once. In a rendezvous, RTS announces "
		     "it, RTR reports that the receiver is ready, data carries its data, and "
		     "FIN ends it.");
}

static void destinations(const struct report *r, FILE *out)
{
	struct figure_table t = {destination_figures, columns_new(), .facts = r->facts};
	uint32_t n, shown;
	struct traffic_group *g = traffic_groups_moving(r,
							TRAFFIC_BY_PROCESS | TRAFFIC_BY_CARRIER |
								TRAFFIC_BY_DEVICE |
								TRAFFIC_BY_DEST | TRAFFIC_BY_PEER,
							&n);
	const char *text;

	text_section(out, "Traffic by destination");
	columns_add(t.c, "rank", COLUMNS_RIGHT);
	columns_add(t.c, "device", COLUMNS_LEFT);
	columns_add(t.c, "to", COLUMNS_LEFT);
	columns_add(t.c, "at", COLUMNS_LEFT);
	columns_add(t.c, "by", COLUMNS_LEFT);
	figures_columns(&t);
	shown = text_rows_shown(r, n, r->opt->top);
	for (uint32_t i = 0; i < shown; i++) {
		const struct traffic_key *k = &g[i].key;

		text_rank_cell(r, t.c, model_process_get(r->model, k->process));
		text = traffic_text(r, k->device);
		columns_text(t.c, text ? text : "?", 16);
		foreign_cell(t.c, traffic_destination(r, k), 20);
		text = traffic_text(r, k->dest);
		columns_text(t.c, k->peer >= 0 && text ? text : "-", 22);
		foreign_cell(t.c, traffic_transport(r, k), 12);
		figures_cells(&t, &g[i].flow, 0, r->lost[k->process]);
	}
	text_columns(t.c, out);
	text_shown_note(out, shown, n);
	free(g);
}

void text_traffic(const struct report *r, FILE *out)
{
	text_posts(r, out);
	contexts(r, out);
	protocols(r, out);
	destinations(r, out);
	text_pairs(r, out);
	text_devices(r, out);
	text_transfers(r, out);
}
