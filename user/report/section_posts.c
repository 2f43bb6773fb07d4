/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows how much each rank handed to the network, one line per rank. */
#include <stdlib.h>

#include "analysis/table.h"
#include "lib/human.h"
#include "lib/log.h"
#include "report/traffic_label.h"

#define ROW struct traffic_flow
#define SUMS .low = LOSS_OF_POSTS

static const struct figure post_figures[] = {
	{FIGURE_COUNT, NULL, "posts", AT(posts), SUMS},
	{FIGURE_BYTES, NULL, "sent", AT(sent_bytes), OF(sent_unknown), SUMS},
	{FIGURE_BYTES, NULL, "read", AT(read_bytes), OF(read_unknown), SUMS},
	{FIGURE_COUNT, NULL, NULL, AT(call_bytes), "%MPI", OF(moved_bytes),
	 .share_wrong = LOSS_OF_POSTS},
	{FIGURE_COUNT, NULL, NULL, AT(background_bytes), "%other", OF(moved_bytes),
	 .share_wrong = LOSS_OF_POSTS},
	{0},
};

/* Lists transports: "tcp 1.2 MiB (os), cma 3 MiB (os)". Adds the groups to flow. Caller frees. */
static char *ways_of(const struct report *r, const struct traffic_group *g, uint32_t n,
		     struct traffic_flow *flow)
{
	char *text = xstrdup(""), *way, *longer, bytes[HUMAN_BYTES];

	for (uint32_t i = 0; i < n; i++) {
		table_row_add(flow, &g[i].flow, posts);
		if (!g[i].flow.posts)
			continue;
		way = traffic_transport(r, &g[i].key);
		longer = xasprintf("%s%s%s %s (%s)", text, *text ? ", " : "", way,
				   human_bytes(bytes, sizeof(bytes), g[i].flow.moved_bytes),
				   traffic_text(r, g[i].key.layer));
		free(way);
		free(text);
		text = longer;
	}
	return text;
}

/* Finds the groups of a process. Relies on groups being sorted by process. */
static uint32_t groups_of(const struct traffic_group *g, uint32_t n, uint32_t process,
			  uint32_t *first)
{
	uint32_t i;

	for (*first = 0; *first < n && g[*first].key.process != process;)
		++*first;
	for (i = *first; i < n && g[i].key.process == process;)
		i++;
	return i - *first;
}

static void received_cell(struct columns *c, uint64_t bytes, uint32_t lost)
{
	columns_mark(c, text_mark(lost, LOSS_OF_POSTS, 0));
	cell_bytes(c, bytes);
}

static void posts_note(const struct report *r, const struct traffic_flow *all, FILE *out)
{
	uint64_t unknown = all->sent_unknown + all->read_unknown;
	char text[80];

	text_explain(r, out,
		     "For each carrier, only the layer nearest to the wire counts (in "
		     "parentheses). %%MPI, %%other: share of the bytes sent and read that was "
		     "posted inside and outside MPI calls. received: bytes read, seen to "
		     "arrive, or sent or written by other recorded processes.%s",
		     r->opt->traffic ? "" : " --traffic shows destinations, functions and phases.");
	if (unknown)
		text_note(out, "%s of unknown size count in posts, not in bytes (marked > or ?).",
			  human_plural(text, sizeof(text), unknown, "post", "posts"));
	if (all->failed)
		text_note(out, "%s. Posts that were refused are not in the figures above.",
			  human_plural(text, sizeof(text), all->failed, "post failed",
				       "posts failed"));
}

static void posts_rows(const struct report *r, struct figure_table *t, struct traffic_flow *all,
		       uint64_t *received)
{
	uint32_t shown = text_rows_shown(r, r->nrows, PROCESSES_MANY), n, first, cnt, idx;
	struct traffic_group *g =
		traffic_groups(r, TRAFFIC_BY_PROCESS | TRAFFIC_BY_CARRIER | TRAFFIC_BY_LAYER, &n);
	struct traffic_flow flow;
	char *ways;

	for (uint32_t i = 0; i < r->nrows; i++) {
		idx = r->row[i];
		flow = (struct traffic_flow){0};
		cnt = groups_of(g, n, idx, &first);
		ways = ways_of(r, g + first, cnt, &flow);
		table_row_add(all, &flow, posts);
		*received += r->traffic.received[idx].total_bytes;
		if (i < shown) {
			text_process_cells(r, t->c, idx, false);
			figures_cells(t, &flow, 0, r->lost[idx]);
			received_cell(t->c, r->traffic.received[idx].total_bytes, r->lost[idx]);
			columns_text(t->c, ways, 44);
		}
		free(ways);
	}
	free(g);
}

void text_posts(const struct report *r, FILE *out)
{
	struct figure_table t = {post_figures, .facts = r->facts};
	struct traffic_flow all = {0};
	uint64_t received = 0;

	if (!r->traffic.posts || !r->nrows)
		return;
	text_section(out,
		     "Posts: data handed to the network, or to what replaces it within a node");
	t.c = columns_new();
	text_process_columns(r, t.c, false);
	figures_columns(&t);
	columns_add(t.c, "received", COLUMNS_RIGHT);
	columns_add(t.c, "by", COLUMNS_LEFT);
	posts_rows(r, &t, &all, &received);
	if (r->nrows > 1) {
		columns_rule(t.c);
		text_process_sum(r, t.c, "all", false);
		figures_cells(&t, &all, 0, r->lost_shown);
		received_cell(t.c, received, r->lost_shown);
		cell_empty(t.c);
	}
	text_columns(t.c, out);
	text_processes_note(r, out, text_rows_shown(r, r->nrows, PROCESSES_MANY));
	posts_note(r, &all, out);
}
