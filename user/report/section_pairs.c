/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows the traffic from rank to rank, in total and for each MPI function; and by device. */
#include <stdlib.h>

#include "lib/log.h"
#include "report/traffic_label.h"

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
	char label[RANK_LABEL_BYTES];
	struct bytes_unit u;
	uint64_t max = 0;

	for (uint32_t i = 0; i < r->nrows * r->nrows; i++)
		max = cell[i].bytes > max ? cell[i].bytes : max;
	u = unit_for(max);
	*unit = u.name;
	columns_add(c, "", COLUMNS_RIGHT);
	for (uint32_t i = 0; i < r->nrows; i++)
		columns_add(c, rank_label(r->model, model_process_get(r->model, r->row[i]), label),
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

void text_pairs(const struct report *r, FILE *out)
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
	for (uint32_t i = 0; i < n; i++)
		if (g[i].key.device)
			return true;
	return false;
}

void text_devices(const struct report *r, FILE *out)
{
	struct figure_table t = {device_figures, .facts = r->facts};
	uint32_t n, shown;
	struct traffic_group *g = traffic_groups_moving(
		r, TRAFFIC_BY_PROCESS | TRAFFIC_BY_DEVICE | TRAFFIC_BY_CONTEXT, &n);
	const char *device;
	char *context;

	if (!any_device(g, n)) {
		free(g);
		return;
	}
	text_section(out, "Traffic by device and function");
	t.c = columns_new();
	columns_add(t.c, "rank", COLUMNS_RIGHT);
	columns_add(t.c, "device", COLUMNS_LEFT);
	columns_add(t.c, "in function", COLUMNS_LEFT);
	figures_columns(&t);
	shown = text_rows_shown(r, n, r->opt->top);
	for (uint32_t i = 0; i < shown; i++) {
		text_rank_cell(r, t.c, model_process_get(r->model, g[i].key.process));
		device = traffic_text(r, g[i].key.device);
		columns_text(t.c, device ? device : "?", 24);
		context = traffic_context(r, &g[i].key);
		columns_text(t.c, context, 30);
		free(context);
		figures_cells(&t, &g[i].flow, 0, r->lost[g[i].key.process]);
	}
	text_columns(t.c, out);
	text_shown_note(out, shown, n);
	free(g);
}
