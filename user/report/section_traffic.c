/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows the traffic by MPI function and phase, by protocol step, by destination and by device, and
 * from rank to rank.
 */
#include <stdlib.h>

#include "lib/log.h"
#include "lib/table.h"
#include "report/section.h"

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
	columns_take(c, traffic_context(r, k), 30);
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
	columns_list(t.c, "<in function", "<group");
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
	columns_list(t.c, "<phase", "<by", "<step");
	figures_columns(&t);
	shown = text_rows_shown(r, kept, r->opt->top);
	for (uint32_t i = 0; i < shown; i++) {
		phase_cell(r, t.c, g[i].key.phase);
		columns_take(t.c, traffic_transport(r, &g[i].key), 12);
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
	columns_list(t.c, ">rank", "<device", "<to", "<at", "<by");
	figures_columns(&t);
	shown = text_rows_shown(r, n, r->opt->top);
	for (uint32_t i = 0; i < shown; i++) {
		const struct traffic_key *k = &g[i].key;

		text_rank_cell(r, t.c, model_process_get(r->model, k->process));
		text = traffic_text(r, k->device);
		columns_text(t.c, text ? text : "?", 16);
		columns_take(t.c, traffic_destination(r, k), 20);
		text = traffic_text(r, k->dest);
		columns_text(t.c, k->peer >= 0 && text ? text : "-", 22);
		columns_take(t.c, traffic_transport(r, k), 12);
		figures_cells(&t, &g[i].flow, 0, r->lost[k->process]);
	}
	text_columns(t.c, out);
	text_shown_note(out, shown, n);
	free(g);
}

#undef ROW

/* ---- from rank to rank ---- */

/* One unit for all cells of a matrix, so that they can be compared at a glance. */
struct bytes_unit {
	const char *name;
	double bytes;
};

static struct bytes_unit unit_for(uint64_t max)
{
	static const struct bytes_unit units[] = {
		{"bytes", 1},	 {"KiB", 0x1p10}, {"MiB", 0x1p20},
		{"GiB", 0x1p30}, {"TiB", 0x1p40}, {"PiB", 0x1p50},
	};
	size_t i = 0;

	while (i < 5 && (double)max / units[i].bytes >= 100000)
		i++;
	return units[i];
}

static void bytes_cell(struct columns *c, uint64_t bytes, bool any, const char *mark,
		       struct bytes_unit u)
{
	double v = (double)bytes / u.bytes;

	columns_mark(c, mark);
	if (!any)
		columns_cell(c, ".");
	else
		columns_cell(c, "%.*f", u.bytes == 1 || v >= 99.95 ? 0 : 1, v);
	columns_mark(c, NULL);
}

/* Returns the index of a process in r->row; r->nrows if it is not shown. */
static uint32_t place_of(const struct report *r, uint32_t process)
{
	uint32_t i;

	for (i = 0; i < r->nrows && r->row[i] != process;)
		i++;
	return i;
}

static bool same_context(const struct pair *a, const struct pair *b)
{
	return a->context == b->context && a->func == b->func;
}

/*
 * Fills nrows × nrows cells with the pairs of the same context as first. False if there are none.
 */
static bool matrix_fill(const struct report *r, const struct pair *pair, uint32_t n,
			const struct pair *first, struct pair *cell)
{
	uint32_t from, to;
	bool any = false;

	for (uint32_t i = 0; i < n; i++) {
		from = place_of(r, pair[i].from);
		to = place_of(r, pair[i].to);
		if (!same_context(&pair[i], first) || from == r->nrows || to == r->nrows)
			continue;
		cell[from * r->nrows + to] = pair[i];
		any = true;
	}
	return any;
}

struct columns *table_matrix_of(const struct report *r, const struct pair *cell, uint32_t losses,
				const char **unit)
{
	const char *mark = text_mark(r->lost_shown, losses, 0);
	struct columns *c = columns_new();
	struct bytes_unit u;
	uint64_t max = 0;

	for (uint32_t i = 0; i < r->nrows * r->nrows; i++)
		max = cell[i].bytes > max ? cell[i].bytes : max;
	u = unit_for(max);
	*unit = u.name;
	columns_add(c, "", COLUMNS_RIGHT);
	for (uint32_t i = 0; i < r->nrows; i++)
		columns_add(c, RANK_LABEL(r, model_process_get(r->model, r->row[i])),
			    COLUMNS_RIGHT);
	for (uint32_t i = 0; i < r->nrows; i++) {
		text_rank_cell(r, c, model_process_get(r->model, r->row[i]));
		for (uint32_t k = 0; k < r->nrows; k++)
			bytes_cell(c, cell[i * r->nrows + k].bytes, cell[i * r->nrows + k].messages,
				   mark, u);
	}
	return c;
}

void text_matrix_print(struct columns *c, const char *name, const char *unit, FILE *out)
{
	text_section(out, "From rank (row) to rank (column), %s: %s", name, unit);
	text_columns(c, out);
}

/* Prints one matrix for each context. */
static void matrices_print(const struct report *r, bool by_func, FILE *out)
{
	uint32_t n, shown = 0, k;
	struct pair *pair = pairs_find(&r->traffic, r->chosen, r->nprocesses, by_func, &n);
	struct pair *cell;

	for (uint32_t i = 0; i < n && (!r->opt->top || shown < r->opt->top); i++) {
		for (k = 0; k < i && !same_context(&pair[k], &pair[i]);)
			k++;
		if (k < i || (by_func && pair[i].context != TRAFFIC_IN_CALL))
			continue;
		cell = xcalloc((size_t)r->nrows * r->nrows, sizeof(*cell));
		if (matrix_fill(r, pair, n, &pair[i], cell)) {
			const char *unit;
			struct columns *c = table_matrix_of(r, cell, LOSS_OF_POSTS, &unit);

			text_matrix_print(
				c, by_func ? traffic_func(r, pair[i].func)->name : "all functions",
				unit, out);
			shown++;
		}
		free(cell);
	}
	free(pair);
}

static void pairs(const struct report *r, FILE *out)
{
	if (!r->nranks || r->nrows > MATRIX_RANKS_MAX)
		return;
	matrices_print(r, false, out);
	matrices_print(r, true, out);
}

/* ---- devices ---- */

#define ROW struct traffic_flow

static const struct figure device_figures[] = {
	{FIGURE_COUNT, NULL, "posts", AT(posts), .wrong = LOSS_OF_POSTS},
	{FIGURE_BYTES, NULL, "sent", AT(sent_bytes), OF(sent_unknown), .wrong = LOSS_OF_POSTS},
	{FIGURE_BYTES, NULL, "read", AT(read_bytes), OF(read_unknown), .wrong = LOSS_OF_POSTS},
	{0},
};

static bool any_device(const struct traffic_group *g, uint32_t n)
{
	return table_any(n, i, g[i].key.device);
}

static void devices(const struct report *r, FILE *out)
{
	struct figure_table t = {device_figures, .facts = r->facts};
	uint32_t n, shown;
	struct traffic_group *g = traffic_groups_moving(
		r, TRAFFIC_BY_PROCESS | TRAFFIC_BY_DEVICE | TRAFFIC_BY_CONTEXT, &n);
	const char *device;

	if (!any_device(g, n)) {
		free(g);
		return;
	}
	text_section(out, "Traffic by device and function");
	t.c = columns_new();
	columns_list(t.c, ">rank", "<device", "<in function");
	figures_columns(&t);
	shown = text_rows_shown(r, n, r->opt->top);
	for (uint32_t i = 0; i < shown; i++) {
		text_rank_cell(r, t.c, model_process_get(r->model, g[i].key.process));
		device = traffic_text(r, g[i].key.device);
		columns_text(t.c, device ? device : "?", 24);
		columns_take(t.c, traffic_context(r, &g[i].key), 30);
		figures_cells(&t, &g[i].flow, 0, r->lost[g[i].key.process]);
	}
	text_columns(t.c, out);
	text_shown_note(out, shown, n);
	free(g);
}

/* ---- all of it ---- */

void text_traffic(const struct report *r, FILE *out)
{
	text_posts(r, out);
	contexts(r, out);
	protocols(r, out);
	destinations(r, out);
	pairs(r, out);
	devices(r, out);
	text_transfers(r, out);
}
