/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The traffic on the links of a fabric (Brown et al. 2014, figure 3). Each half of a link has the
 * colour of what leaves the node at its end, on a logarithmic scale. The most loaded halves are on
 * top, and those without traffic are grey. The picture shows one context, or the sum of all if
 * none is chosen (--where context=NAME).
 */
#include "script.h"
#include "graph.h"
#include "picture.h"

#include "lib/human.h"
#include "lib/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_MAX 40	  /* in a row */
#define LABEL_CHAR_PX 8.0 /* approximate width in the small font, including gaps between labels */
#define LANE_PX 3.0
#define SIDES_PX 280.0 /* left and right margins together */

struct fabric {
	struct graph g;
	struct graph_half *half; /* owned */
	double width_px;	 /* approximate width of the drawing itself */
};

static bool fabric_takes(const struct data_result *r)
{
	return !strcmp(r->kind, "fabric");
}

static void fabric_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	*width_px = 1100;
	*height_px = 700;
}

/*
 * From light to dark, or blue to red in the paper's colours, so that high loads stand out on
 * white.
 */
static void colours_write(const struct fabric *f, enum palette palette, struct script *s)
{
	struct range r = range_empty();

	for (uint32_t i = 0; i < 2 * f->g.nlink; i++)
		range_widen_log(&r, f->half[i].bytes);
	r = axis_range_of_powers(&r);
	if (palette == PALETTE_PAPER)
		script_line(s, "set palette defined (0 '#2b5ccf', 1 '#26a7c9', 2 '#3fb24f', "
			       "3 '#e6c229', 4 '#ee7d1b', 5 '#d7101c')");
	else
		script_line(s, "set palette defined (0 '#fdc527', 1 '#f89540', 2 '#e66c5c', "
			       "3 '#cc4778', 4 '#a62098', 5 '#7201a8', 6 '#2c0594')");
	axis_bytes(s, "cb", &r, 10, true);
}

/* ---- halves ---- */

static int by_bytes(const void *a, const void *b, void *ctx)
{
	const struct graph_half *half = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (half[i].bytes < half[k].bytes || half[i].bytes > half[k].bytes)
		return half[i].bytes < half[k].bytes ? -1 : 1;
	return i < k ? -1 : i > k;
}

static double end_x(const struct fabric *f, uint32_t link, uint32_t end)
{
	const struct graph_link *l = &f->g.link[link];

	return f->g.node[l->node[end]].x + l->lane * LANE_PX / f->width_px;
}

static void half_write(const struct fabric *f, uint32_t i, struct script *s)
{
	const struct graph_link *l = &f->g.link[i / 2];
	uint32_t end = i & 1;
	const struct graph_node *from = &f->g.node[l->node[end]], *to = &f->g.node[l->node[!end]];
	double x = end_x(f, i / 2, end);

	script_row(s, "%u\t0x%016llx\t%u\t0x%016llx\t%u\t%u\t%.0f\t%.0f\t%.5g\t%.5g\t%.5g\t%.5g",
		   i / 2, (unsigned long long)from->guid, l->port[end],
		   (unsigned long long)to->guid, l->port[!end], l->subnet, f->half[i].bytes,
		   f->half[i].flows, x, (double)from->row, (end_x(f, i / 2, !end) - x) / 2,
		   (to->row - from->row) / 2.0);
}

/*
 * Writes two blocks: halves without traffic, and halves with it. Returns the number of the latter.
 */
static uint32_t halves_write(const struct fabric *f, struct script *s)
{
	uint32_t n = 2 * f->g.nlink, used = 0;
	uint32_t *order = xcalloc((size_t)n + 1, sizeof(*order));

	for (uint32_t i = 0; i < n; i++) {
		order[i] = i;
		used += f->half[i].bytes > 0;
	}
	qsort_r(order, n, sizeof(*order), by_bytes, f->half);
	for (uint32_t part = 0; part < 2; part++) {
		script_block_begin(s, NULL);
		for (uint32_t i = part ? n - used : 0; i < (part ? n : n - used); i++)
			half_write(f, order[i], s);
		script_block_end(s);
	}
	free(order);
	return used;
}

/* ---- nodes ---- */

/* True if the names fit: depends on the number of nodes in the row and the longest name. */
static bool row_has_room(const struct fabric *f, int row)
{
	size_t n = 0, longest = 0;

	for (uint32_t i = 0; i < f->g.nnode; i++) {
		size_t len = strlen(f->g.node[i].name);

		if (f->g.node[i].row != row)
			continue;
		n++;
		longest = len > longest ? len : longest;
	}
	return n <= LABELS_MAX && (double)n * (double)(longest + 1) * LABEL_CHAR_PX < f->width_px;
}

static void names_write(const struct fabric *f, const bool *room, struct script *s)
{
	script_line(
		s,
		"set style textbox opaque margins 0.7,0.5 fillcolor rgb 'white' border linecolor "
		"rgb '#606060'");
	for (uint32_t i = 0; i < f->g.nnode; i++) {
		const struct graph_node *n = &f->g.node[i];

		if (!room[n->row - f->g.row_low])
			continue;
		fputs("set label ", s->out);
		script_quoted(s, n->name);
		script_line(s, " at first %.5g,%d center front boxed font small", n->x, n->row);
	}
}

/* Writes the nodes whose names are not shown. Returns their number. */
static uint32_t nodes_write(const struct fabric *f, const bool *room, struct script *s)
{
	uint32_t cnt = 0;

	script_line(s, "$nodes << EOD");
	for (uint32_t i = 0; i < f->g.nnode; i++) {
		const struct graph_node *n = &f->g.node[i];

		if (room[n->row - f->g.row_low])
			continue;
		script_line(s, "%.5g\t%d\t%d", n->x, n->row, n->is_switch);
		cnt++;
	}
	script_line(s, "EOD");
	return cnt;
}

static void rows_write(const struct fabric *f, struct script *s)
{
	const char *between = "";

	script_line(s, "unset border\nunset xtics\nset ytics scale 0");
	script_line(s, "set xrange [-0.03:1.03]\nset yrange [%.2f:%.2f]", f->g.row_low - 0.3,
		    f->g.row_high + 0.3);
	fputs("set ytics (", s->out);
	for (int r = f->g.row_low; r <= f->g.row_high; r++) {
		char *name = graph_row_name(&f->g, r);

		fprintf(s->out, "%s'%s' %d", between, name, r);
		between = ", ";
		free(name);
	}
	script_line(s, ")");
}

static void picture_write(const struct fabric *f, struct script *s)
{
	bool *room = xcalloc((size_t)(f->g.row_high - f->g.row_low) + 1, sizeof(*room));
	double width = f->g.nlink > 2000 ? 0.4 : f->g.nlink > 300 ? 0.8 : 1.8;
	uint32_t used, points;

	for (int r = f->g.row_low; r <= f->g.row_high; r++)
		room[r - f->g.row_low] = row_has_room(f, r);
	rows_write(f, s);
	names_write(f, room, s);
	used = halves_write(f, s);
	points = nodes_write(f, room, s);
	fputs("plot ", s->out);
	if (used < 2 * f->g.nlink)
		fprintf(s->out,
			"$d%u using 9:10:11:12 with vectors nohead linewidth %.2g linecolor rgb "
			"'#dcdcdc' notitle, ",
			s->block_cnt - 1, width);
	if (used)
		fprintf(s->out,
			"$d%u using 9:10:11:12:7 with vectors nohead linewidth %.2g linecolor "
			"palette notitle, ",
			s->block_cnt, width);
	/* gnuplot needs at least one plot, even without traffic and with names on all nodes. */
	fprintf(s->out,
		"%s with points pointtype 7 pointsize %.2g linecolor rgb '#404040' notitle\n",
		points ? "$nodes using 1:2" : "NaN", f->g.nnode > 500 ? 0.25 : 0.6);
	free(room);
}

/* ---- head ---- */

static void title_write(const struct plot *p, const json_t *context, struct script *s)
{
	const char *name = data_param_text(context, "context");
	char *left_out = graph_left_out(p->result[0]->file), bytes[HUMAN_BYTES];
	double sum = data_param(context, "bytes"), flows = data_param(context, "flows");
	char *title = !name || !strcmp(name, "all") ?
			      xstrdup("traffic on the links of the fabric") :
			      xasprintf("traffic on the links of the fabric: %s", name);
	char *summary =
		isfinite(sum) && sum >= 0 && sum < 1e18 && isfinite(flows) ?
			xasprintf("%s in %.0f flows; the half of a link beside a node shows what "
				  "leaves that node",
				  human_bytes(bytes, sizeof(bytes), (uint64_t)sum), flows) :
			xstrdup("");
	const char *lines[] = {p->words ? summary : "", left_out, NULL};

	fputs("set title ", s->out);
	picture_lines(p, title, lines, s);
	free(summary);
	free(title);
	free(left_out);
}

static int fabric_draw(const struct plot *p, struct script *s)
{
	const struct data_result *r = p->result[0];
	struct fabric f = {.width_px = fmax((double)p->width_px - SIDES_PX, 100)};

	if (!r->point_cnt)
		return data_refuse_empty(r);
	if (graph_read(&f.g, r->file))
		return -EINVAL;
	f.half = graph_halves(&f.g, r->point[0]);
	title_write(p, r->point[0], s);
	picture_scale(p, "bytes", s);
	colours_write(&f, p->palette, s);
	table_begin(s, p->result, 1,
		    "link\tfrom_guid\tfrom_port\tto_guid\tto_port\tsubnet\tbytes\tflows");
	picture_write(&f, s);
	free(f.half);
	graph_release(&f.g);
	return 0;
}

const struct picture plot_fabric = {
	.name = "fabric",
	.takes = fabric_takes,
	.size = fabric_size,
	.draw = fabric_draw,
};
