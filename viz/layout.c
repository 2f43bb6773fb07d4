/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Rows are ordered by the means of their neighbours' places (the barycentre method of Sugiyama et
 * al. 1981). The initial order is that of names, which also decides between equals. Adapters are
 * ordered by their switches, the first switches by those above them, and all further ones by the
 * nodes below. Adapters are then placed evenly, with gaps where the switch changes. A switch is
 * placed above the middle of the nodes below it, as near as its neighbours allow. The positions
 * are the least squares under a least distance, found by pooling neighbours that are too close
 * (isotonic regression).
 */
#include "graph.h"
#include "lib/table.h"

#include "lib/log.h"

#include <stdlib.h>
#include <string.h>

#define SWEEPS 4
#define GAP 1.2	    /* between adapters of different switches, in units of the adapters' distance */
#define SPREAD 0.85 /* least distance of switches, as a share of the distance that fills the row */

struct layout {
	struct graph *g;
	uint32_t *order;       /* nodes, sorted by row and place in it */
	uint32_t *first;       /* index in order of each row from row_low on, and the end */
	uint32_t *place;       /* place of each node in its row */
	uint32_t *begin, *far; /* neighbours of node n: far[begin[n] … begin[n + 1] - 1] */
	int rows;
};

/* ---- rows ---- */

/* Number of rows on one side before this subnet. Subnets alternate between the sides. */
static int rows_before(const int *highest, uint32_t subnet)
{
	int rows = 0;

	for (uint32_t s = subnet & 1; s < subnet; s += 2)
		rows += highest[s];
	return rows;
}

static void rows_set(struct graph *g)
{
	int *highest = xcalloc(g->nsubnet, sizeof(*highest));
	bool *apart = xcalloc(g->nsubnet, sizeof(*apart));

	for (uint32_t i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[i];

		if (!n->is_switch)
			continue;
		if (n->level > highest[n->subnet])
			highest[n->subnet] = n->level;
		apart[n->subnet] |= n->level < 1;
	}
	/* Nodes without a path to an adapter are placed beyond all levels. */
	for (uint32_t s = 0; s < g->nsubnet; s++)
		highest[s] += apart[s];
	g->row_low = g->row_high = 0;
	for (uint32_t i = 0; i < g->nnode; i++) {
		struct graph_node *n = &g->node[i];
		int level = n->level < 1 ? highest[n->subnet] : n->level;

		n->row = n->is_switch ? (rows_before(highest, n->subnet) + level) *
						(n->subnet & 1 ? -1 : 1) :
					0;
		g->row_low = n->row < g->row_low ? n->row : g->row_low;
		g->row_high = n->row > g->row_high ? n->row : g->row_high;
	}
	free(highest);
	free(apart);
}

static int by_row_and_name(const void *a, const void *b, void *ctx)
{
	const struct graph *g = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct graph_node *x = &g->node[i], *y = &g->node[k];
	int c = x->row != y->row ? x->row - y->row : strverscmp(x->name, y->name);

	return c ? c : i < k ? -1 : i > k;
}

static void neighbours_find(struct layout *l)
{
	const struct graph *g = l->g;

	for (uint32_t i = 0; i < g->nlink; i++) {
		l->begin[g->link[i].node[0] + 1]++;
		l->begin[g->link[i].node[1] + 1]++;
	}
	for (uint32_t i = 0; i < g->nnode; i++)
		l->begin[i + 1] += l->begin[i];
	for (uint32_t i = 2 * g->nlink; i--;) {
		const struct graph_link *k = &g->link[i / 2];

		/* begin[n + 1] counts down to the start of n, and becomes begin[n] at the end. */
		l->far[--l->begin[k->node[i & 1] + 1]] = k->node[!(i & 1)];
	}
	memmove(l->begin, l->begin + 1, g->nnode * sizeof(*l->begin));
	l->begin[g->nnode] = 2 * g->nlink;
}

static void places_count(struct layout *l, uint32_t begin, uint32_t end)
{
	for (uint32_t i = begin; i < end; i++)
		l->place[l->order[i]] = i - begin;
}

static void layout_begin(struct layout *l, struct graph *g)
{
	uint32_t at = 0;

	*l = (struct layout){.g = g, .rows = g->row_high - g->row_low + 1};
	l->order = xcalloc((size_t)g->nnode + 1, sizeof(*l->order));
	l->place = xcalloc((size_t)g->nnode + 1, sizeof(*l->place));
	l->begin = xcalloc((size_t)g->nnode + 2, sizeof(*l->begin));
	l->far = xcalloc(2 * (size_t)g->nlink + 1, sizeof(*l->far));
	l->first = xcalloc((size_t)l->rows + 1, sizeof(*l->first));
	for (uint32_t i = 0; i < g->nnode; i++)
		l->order[i] = i;
	qsort_r(l->order, g->nnode, sizeof(*l->order), by_row_and_name, g);
	for (int r = 0; r < l->rows; r++) {
		l->first[r] = at;
		while (at < g->nnode && g->node[l->order[at]].row == g->row_low + r)
			at++;
		places_count(l, l->first[r], at);
	}
	l->first[l->rows] = at;
	neighbours_find(l);
}

static void layout_end(struct layout *l)
{
	free(l->order);
	free(l->place);
	free(l->begin);
	free(l->far);
	free(l->first);
}

/* ---- order ---- */

struct wish {
	double mean;
	uint32_t node, place;
};

TABLE_ORDER(by_mean, struct wish, table_compare(a->mean, b->mean),
	    table_compare(a->place, b->place))

/* A node's place in its row, from 0 to 1. */
static double place_of(const struct layout *l, uint32_t node)
{
	int r = l->g->node[node].row - l->g->row_low;

	return (l->place[node] + 0.5) / (l->first[r + 1] - l->first[r]);
}

/*
 * Mean of the neighbours nearer to the adapters (inner), or farther; without any, the node's
 * place.
 */
static double mean_of(const struct layout *l, uint32_t node, bool inner)
{
	int row = abs(l->g->node[node].row);
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = l->begin[node]; i < l->begin[node + 1]; i++) {
		int far = abs(l->g->node[l->far[i]].row);

		if (inner ? far >= row : far <= row)
			continue;
		sum += place_of(l, l->far[i]);
		n++;
	}
	return n ? sum / n : place_of(l, node);
}

static void row_sort(struct layout *l, int row, bool inner)
{
	uint32_t begin = l->first[row - l->g->row_low], end = l->first[row - l->g->row_low + 1];
	struct wish *w = xcalloc((size_t)(end - begin) + 1, sizeof(*w));

	for (uint32_t i = begin; i < end; i++) {
		uint32_t node = l->order[i];

		w[i - begin] = (struct wish){mean_of(l, node, inner), node, i - begin};
	}
	qsort(w, end - begin, sizeof(*w), by_mean);
	for (uint32_t i = begin; i < end; i++)
		l->order[i] = w[i - begin].node;
	places_count(l, begin, end);
	free(w);
}

static void sides_sort(struct layout *l, int row, bool inner)
{
	if (row <= l->g->row_high)
		row_sort(l, row, inner);
	if (-row >= l->g->row_low)
		row_sort(l, -row, inner);
}

static void rows_sort(struct layout *l)
{
	int low = l->g->row_low, high = l->g->row_high;

	row_sort(l, 0, false);
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		/*
		 * The top level must not order the levels below. All paths meet there, so it would
		 * separate nodes that belong together.
		 */
		sides_sort(l, 1, sweep == 0);
		row_sort(l, 0, false);
		for (int r = 2; r <= high || r <= -low; r++)
			sides_sort(l, r, true);
	}
}

/* ---- places ---- */

static double adapters_place(struct layout *l)
{
	uint32_t begin = l->first[-l->g->row_low], end = l->first[-l->g->row_low + 1];
	uint32_t before = UINT32_MAX;
	double x = 0;

	for (uint32_t i = begin; i < end; i++) {
		uint32_t node = l->order[i], far = UINT32_MAX;

		if (l->begin[node] < l->begin[node + 1])
			far = l->far[l->begin[node]];
		if (i > begin)
			x += far == before ? 1 : 1 + GAP;
		before = far;
		l->g->node[node].x = x;
	}
	return x;
}

/* Neighbours that touch each other: mean of n positions, without the distances between them. */
struct pool {
	double y;
	uint32_t n;
};

static double x_wanted(const struct layout *l, uint32_t node, double otherwise)
{
	const struct graph *g = l->g;
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = l->begin[node]; i < l->begin[node + 1]; i++) {
		const struct graph_node *far = &g->node[l->far[i]];

		if (abs(far->row) >= abs(g->node[node].row))
			continue;
		sum += far->x;
		n++;
	}
	return n ? sum / n : otherwise;
}

static void row_place(struct layout *l, int row, double width)
{
	uint32_t begin = l->first[row - l->g->row_low], end = l->first[row - l->g->row_low + 1];
	uint32_t n = end - begin, pools = 0, at = 0;
	struct pool *p = xcalloc((size_t)n + 1, sizeof(*p));
	double least = n ? SPREAD * width / n : 0, room = width - least * (n ? n - 1 : 0);

	for (uint32_t i = 0; i < n; i++) {
		p[pools++] = (struct pool){
			x_wanted(l, l->order[begin + i], width * (i + 0.5) / n) - least * i, 1};
		for (; pools > 1 && p[pools - 2].y >= p[pools - 1].y; pools--) {
			struct pool *a = &p[pools - 2], *b = a + 1;

			a->y = (a->y * a->n + b->y * b->n) / (a->n + b->n);
			a->n += b->n;
		}
	}
	for (uint32_t k = 0; k < pools; k++) {
		double y = p[k].y < 0 ? 0 : p[k].y > room ? room : p[k].y;

		for (uint32_t i = 0; i < p[k].n; i++, at++)
			l->g->node[l->order[begin + at]].x = y + least * at;
	}
	free(p);
}

static void places_set(struct layout *l)
{
	struct graph *g = l->g;
	double width = adapters_place(l);

	/* With at most one adapter, use the width of the widest row. */
	for (int r = 0; r < l->rows && width < 1; r++) {
		if (l->first[r + 1] - l->first[r] > width)
			width = l->first[r + 1] - l->first[r];
	}
	for (int r = 1; r <= g->row_high; r++)
		row_place(l, r, width);
	for (int r = 1; r <= -g->row_low; r++)
		row_place(l, -r, width);
	for (uint32_t i = 0; i < g->nnode; i++)
		g->node[i].x = width > 0 ? g->node[i].x / width : 0.5;
}

/* ---- lanes ---- */

static int by_nodes(const void *a, const void *b, void *ctx)
{
	const struct graph *g = ctx;
	const struct graph_link *x = &g->link[*(const uint32_t *)a],
				*y = &g->link[*(const uint32_t *)b];

	for (int end = 0; end < 2; end++) {
		if (x->node[end] != y->node[end])
			return x->node[end] < y->node[end] ? -1 : 1;
	}
	return x->port[0] < y->port[0] ? -1 : x->port[0] > y->port[0];
}

static void lanes_set(struct graph *g)
{
	uint32_t *link = xcalloc((size_t)g->nlink + 1, sizeof(*link)), n;

	for (uint32_t i = 0; i < g->nlink; i++)
		link[i] = i;
	qsort_r(link, g->nlink, sizeof(*link), by_nodes, g);
	for (uint32_t i = 0; i < g->nlink; i += n) {
		const struct graph_link *k = &g->link[link[i]], *next;

		for (n = 1; i + n < g->nlink; n++) {
			next = &g->link[link[i + n]];
			if (next->node[0] != k->node[0] || next->node[1] != k->node[1])
				break;
		}
		for (uint32_t at = 0; at < n; at++)
			g->link[link[i + at]].lane = at - (n - 1) / 2.0;
	}
	free(link);
}

void layout_make(struct graph *g)
{
	struct layout l;

	rows_set(g);
	layout_begin(&l, g);
	rows_sort(&l);
	places_set(&l);
	layout_end(&l);
	lanes_set(g);
}
