/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Assigns ranks to rows. Up to HTML_ROWS_MAX ranks have a row each. With more ranks, neighbours on
 * a node share a row. With many nodes, a node is one row. If there are more nodes than rows,
 * neighbours share a row across nodes.
 */
#include <stdlib.h>

#include "lib/log.h"
#include "report/html.h"

static uint32_t divided_up(uint32_t n, uint32_t by)
{
	return (n + by - 1) / by;
}

static uint32_t host_of(const struct report *r, uint32_t process)
{
	return model_process_get(r->model, process)->host_idx;
}

/*
 * Lists the shown ranks of a node, or of all nodes (MOMENT_NO_ROW), in order. Returns their number.
 */
static uint32_t ranks_list(const struct report *r, uint32_t host, uint32_t *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nprocesses; i++)
		if (r->chosen[i] && model_process_get(r->model, i)->is_rank &&
		    (host == MOMENT_NO_ROW || host_of(r, i) == host))
			list[n++] = i;
	return n;
}

/* "ranks 4–7"; "ranks 4…10" if the group skips ranks in between */
static char *group_label(const struct report *r, const uint32_t *rank, uint32_t n)
{
	const struct model_process *first = model_process_get(r->model, rank[0]),
				   *last = model_process_get(r->model, rank[n - 1]);
	bool all = first->job_idx == last->job_idx && last->rank - first->rank == (int32_t)n - 1;

	if (n == 1)
		return html_rank_name(r, rank[0]);
	return xasprintf("ranks %s%s%s", RANK_LABEL(r, first), all ? "–" : "…",
			 RANK_LABEL(r, last));
}

/* Adds rows of `each` neighbours. */
static void groups_add(struct html_rows *rows, const struct report *r, const uint32_t *rank,
		       uint32_t n, uint32_t each)
{
	for (uint32_t first = 0; first < n; first += each) {
		uint32_t cnt = n - first < each ? n - first : each;

		rows->label[rows->n] = group_label(r, rank + first, cnt);
		rows->ranks[rows->n] = cnt;
		rows->host[rows->n] = host_of(r, rank[first]);
		for (uint32_t i = first; i < first + cnt; i++)
			rows->of[rank[i]] = rows->n;
		rows->n++;
	}
}

/* Adds the rows of all nodes. A node without ranks has no row. */
static void nodes_add(struct html_rows *rows, const struct report *r, uint32_t *rank)
{
	uint32_t nhosts = model_get_info(r->model)->nhosts;
	uint32_t rows_each = HTML_ROWS_MAX / nhosts;

	rows->by_node = true;
	for (uint32_t host = 0; host < nhosts; host++) {
		uint32_t n = ranks_list(r, host, rank);

		if (n)
			groups_add(rows, r, rank, n, divided_up(n, rows_each));
	}
}

void html_rows_make(struct html_rows *rows, const struct report *r)
{
	uint32_t *rank = xmalloc((r->nprocesses + 1) * sizeof(*rank));
	uint32_t n = ranks_list(r, MOMENT_NO_ROW, rank), nhosts = model_get_info(r->model)->nhosts;

	*rows = (struct html_rows){
		.of = xmalloc((r->nprocesses + 1) * sizeof(*rows->of)),
		.label = xcalloc(HTML_ROWS_MAX, sizeof(*rows->label)),
		.ranks = xcalloc(HTML_ROWS_MAX, sizeof(*rows->ranks)),
		.host = xcalloc(HTML_ROWS_MAX, sizeof(*rows->host)),
		.folded = n > HTML_ROWS_MAX,
	};
	for (uint32_t i = 0; i < r->nprocesses; i++)
		rows->of[i] = MOMENT_NO_ROW;
	if (rows->folded && nhosts > 1 && nhosts <= HTML_ROWS_MAX)
		nodes_add(rows, r, rank);
	else if (n)
		groups_add(rows, r, rank, n, divided_up(n, HTML_ROWS_MAX));
	free(rank);
}

uint32_t html_rows_of_node(const struct html_rows *rows, uint32_t first)
{
	uint32_t n = 1;

	while (first + n < rows->n && rows->host[first + n] == rows->host[first])
		n++;
	return n;
}

void html_rows_release(struct html_rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++)
		free(rows->label[i]);
	free(rows->label);
	free(rows->ranks);
	free(rows->host);
	free(rows->of);
}
