/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A line for each efficiency, with its name and last value at its end. Lines differ in pattern,
 * width and mark, so that they can be told apart without colours. Ranks are on a logarithmic scale.
 */
#include "analysis/account.h"
#include "lib/table.h"
#include "timeline/export.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/loss.h"
#include "lib/human.h"
#include "timeline/svg.h"

#define WIDTH 820
#define HEIGHT 470
#define PLOT_X 64
#define PLOT_Y 66
#define PLOT_WIDTH 520
#define PLOT_HEIGHT 310
#define PLOT_INSET 34 /* from the plot's edges to the first and the last run */
#define LABEL_X (PLOT_X + PLOT_WIDTH + 34)
#define LABEL_PX 18 /* between labels */
#define RUN_PX 62   /* width of a run's figures below the axis */
#define NAME_CHARS 60

static const struct series {
	const char *name;
	size_t at;	/* offset of a double in struct scaling_run */
	bool high, low; /* a limit, if the path is not whole */
	double width;
	const char *dash, *colour;
	const char *mark; /* a path around 0,0 */
} series[] = {
#define AT(member) offsetof(struct scaling_run, member)
	{"global efficiency", AT(global), false, false, 3.2, "none", "#222", "M-5 -5h10v10h-10z"},
	{"parallel efficiency", AT(e.parallel), false, false, 1.8, "none", "#005a9c",
	 "M0 -5a5 5 0 1 0 .01 0z"},
	{"load balance", AT(e.load_balance), false, false, 1.8, "9 4", "#a24b00", "M0 -6L6 5H-6z"},
	{"serialisation", AT(e.serialisation), true, false, 1.8, "2 3", "#4a2c82",
	 "M0 -6L6 0L0 6L-6 0z"},
	{"transfer", AT(e.transfer), false, true, 1.8, "12 3 2 3", "#1f6b3a",
	 "M-5 -5L0 0L5 -5L5 5L0 0L-5 5z"},
	{"computation scaling", AT(computation), false, false, 1.8, "5 5", "#7a1f3d",
	 "M0 6L6 -5H-6z"},
	{"on a core", AT(e.had_core), false, false, 1.2, "1 5", "#555", "M-6 -2h12v4h-12z"},
#undef AT
};
#define SERIES (sizeof(series) / sizeof(series[0]))

struct plot {
	struct svg svg;
	const struct scaling *s;
	double most; /* of the vertical axis */
	bool any_open;
};

static double value_of(const struct plot *p, const struct series *e, uint32_t run)
{
	const void *at = (const char *)&p->s->run[run] + e->at;

	return *(const double *)at;
}

/* True for a white mark: the value is only a limit, or in doubt. */
static bool is_open(const struct plot *p, const struct series *e, uint32_t run)
{
	uint32_t lost = p->s->run[run].lost;

	if (e->at == offsetof(struct scaling_run, computation) ||
	    e->at == offsetof(struct scaling_run, global))
		lost = scaling_lost(p->s, &p->s->run[run]);
	return lost & (LOSS_OF_CALLS | LOSS_OF_STATES | LOSS_OF_LIVES) ||
	       (lost & LOSS_OF_PATH && (e->high || e->low));
}

static double x_of(const struct plot *p, uint32_t run)
{
	const struct scaling_run *r = p->s->run;
	double first = log((double)r[0].e.ranks), last = log((double)r[p->s->nknown - 1].e.ranks);
	double at = last > first ? (log((double)r[run].e.ranks) - first) / (last - first) : 0.5;

	return PLOT_X + PLOT_INSET + at * (PLOT_WIDTH - 2 * PLOT_INSET);
}

static double y_of(const struct plot *p, double value)
{
	return PLOT_Y + PLOT_HEIGHT * (1 - value / p->most);
}

/* ---- axes ---- */

static void most_find(struct plot *p)
{
	double most = 1;

	for (size_t i = 0; i < SERIES; i++)
		for (uint32_t k = 0; k < p->s->nknown; k++)
			most = fmax(most, value_of(p, &series[i], k)); /* fmax() ignores NAN */
	p->most = most > 1 ? ceil(most * 5) / 5 : 1;
}

static void grid(struct plot *p)
{
	double step = 0.2;

	while (p->most / step > 10)
		step *= 2;
	for (int i = 0; i * step <= p->most + step / 100; i++) {
		double y = y_of(p, i * step);

		svg_put(&p->svg, "<path class='g' d='M%d %.1fh%d'/>", PLOT_X, y, PLOT_WIDTH);
		svg_put(&p->svg, "<text class='e' x='%d' y='%.1f'>%.0f %%</text>\n", PLOT_X - 8,
			y + 4, 100 * i * step);
	}
	svg_put(&p->svg, "<path class='x' d='M%d %dv%dh%d'/>\n", PLOT_X, PLOT_Y, PLOT_HEIGHT,
		PLOT_WIDTH);
}

/* Writes ranks, time and speedup below the axis. Leaves out runs that are too close to another. */
static void runs(struct plot *p)
{
	const int y = PLOT_Y + PLOT_HEIGHT;
	double last = -RUN_PX;

	for (uint32_t i = 0; i < p->s->nknown; i++) {
		const struct scaling_run *r = &p->s->run[i];
		double x = x_of(p, i);

		svg_put(&p->svg, "<path class='x' d='M%.1f %dv5'/>", x, y);
		if (x - last < RUN_PX)
			continue;
		last = x;
		svg_put(&p->svg, "<text class='o' x='%.1f' y='%d'>%llu</text>", x, y + 20,
			(unsigned long long)r->e.ranks);
		svg_put(&p->svg, "<text class='o n' x='%.1f' y='%d'>%s</text>", x, y + 38,
			ROUND_NS_TEXT(r->e.span_ns));
		if (!isnan(r->speedup))
			svg_put(&p->svg, "<text class='o n' x='%.1f' y='%d'>%.2f</text>", x, y + 54,
				r->speedup);
		svg_put(&p->svg, "\n");
	}
	for (int i = 0; i < 3; i++)
		svg_put(&p->svg, "<text class='e%s' x='%d' y='%d'>%s</text>", i ? " n" : "",
			PLOT_X - 8, y + 20 + (i ? 2 : 0) + 16 * i,
			(const char *[]){"ranks", "time", "speedup"}[i]);
	svg_put(&p->svg, "\n");
}

/* ---- lines ---- */

static void line_put(struct plot *p, const struct series *e)
{
	bool before = false;

	svg_put(&p->svg, "<path style='stroke:%s;stroke-width:%.1f;stroke-dasharray:%s' d='",
		e->colour, e->width, e->dash);
	for (uint32_t i = 0; i < p->s->nknown; i++) {
		double v = value_of(p, e, i);

		if (!isnan(v))
			svg_put(&p->svg, "%c%.1f %.1f", before ? 'L' : 'M', x_of(p, i), y_of(p, v));
		before = !isnan(v);
	}
	svg_put(&p->svg, "'/>\n");
}

static void marks_put(struct plot *p, const struct series *e)
{
	for (uint32_t i = 0; i < p->s->nknown; i++) {
		const struct scaling_run *r = &p->s->run[i];
		double v = value_of(p, e, i);
		bool open = is_open(p, e, i);

		if (isnan(v))
			continue;
		p->any_open |= open;
		svg_put(&p->svg,
			"<path style='stroke:%s;fill:%s;stroke-width:1.4' "
			"transform='translate(%.1f %.1f)' d='%s'><title>%s, ",
			e->colour, open ? "#fff" : e->colour, x_of(p, i), y_of(p, v), e->mark,
			e->name);
		svg_put_text(&p->svg, r->name, NAME_CHARS);
		svg_put(&p->svg, ": %.1f %%</title></path>\n", 100 * v);
	}
}

struct label {
	const struct series *series;
	double value, x, y; /* where the line ends */
	double at;	    /* of the text */
};

TABLE_ORDER(label_compare, struct label, table_compare(a->y, b->y),
	    table_compare(a->series, b->series))

/* Separates overlapping labels: moves them down, then those that left the plot up again. */
static void labels_spread(struct label *label, size_t n)
{
	double bottom = PLOT_Y + PLOT_HEIGHT;

	qsort(label, n, sizeof(*label), label_compare);
	for (size_t i = 0; i < n; i++)
		label[i].at = i && label[i].y < label[i - 1].at + LABEL_PX ?
				      label[i - 1].at + LABEL_PX :
				      label[i].y;
	for (size_t i = n; i-- > 0; bottom = label[i].at - LABEL_PX)
		label[i].at = label[i].at > bottom ? bottom : label[i].at;
}

static void label_put(struct plot *p, const struct label *l)
{
	svg_put(&p->svg, "<path class='l' d='M%.1f %.1fL%d %.1f'/>", l->x + 8, l->y, LABEL_X - 34,
		l->at);
	svg_put(&p->svg,
		"<path style='stroke:%s;stroke-width:%.1f;stroke-dasharray:%s' d='M%d %.1fh26'/>",
		l->series->colour, l->series->width, l->series->dash, LABEL_X - 32, l->at);
	svg_put(&p->svg, "<text x='%d' y='%.1f'>%s %.0f %%</text>\n", LABEL_X, l->at + 4,
		l->series->name, 100 * l->value);
}

static void labels(struct plot *p)
{
	struct label label[SERIES];
	size_t n = 0;

	for (size_t i = 0; i < SERIES; i++) {
		uint32_t k = p->s->nknown;

		while (k > 0 && isnan(value_of(p, &series[i], k - 1)))
			k--;
		if (!k)
			continue;
		label[n] = (struct label){.series = &series[i],
					  .value = value_of(p, &series[i], k - 1),
					  .x = x_of(p, k - 1)};
		label[n].y = y_of(p, label[n].value);
		n++;
	}
	labels_spread(label, n);
	for (size_t i = 0; i < n; i++)
		label_put(p, &label[i]);
}

/* ---- the whole ---- */

static void head(struct plot *p)
{
	const struct scaling_run *first = &p->s->run[0];

	svg_put(&p->svg,
		"<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
		"viewBox='0 0 %d %d' role='graphics-document' aria-labelledby='title desc'>\n"
		"<title id='title'>Scaling of ",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	svg_put_text(&p->svg, first->program, NAME_CHARS);
	svg_put(&p->svg,
		"</title>\n<desc id='desc'>Efficiencies against the number of ranks; the lines' "
		"ends have their names and last values.</desc>\n<style>\n"
		"text{font-family:'Liberation Sans',Arial,Helvetica,sans-serif;font-size:12px;"
		"fill:#222}\n"
		".h{font-size:15px;font-weight:bold}.n{font-size:11px;fill:#444}.e{text-anchor:end}"
		".o{text-anchor:middle}\n"
		"path{fill:none}.g{stroke:#ddd}.x{stroke:#222}.l{stroke:#999;stroke-width:.7px}\n"
		"</style>\n");
	svg_put(&p->svg, "<rect width='%d' height='%d' style='fill:#fff'/>\n", WIDTH, HEIGHT);
	svg_put(&p->svg, "<text class='h' x='12' y='24'>Scaling of ");
	svg_put_text(&p->svg, first->program, NAME_CHARS);
	svg_put(&p->svg, "</text>\n<text x='12' y='44'>%s scaling, %u runs, relative to ",
		p->s->weak ? "weak" : "strong", p->s->nknown);
	svg_put_text(&p->svg, first->name, NAME_CHARS);
	svg_put(&p->svg, "</text>\n");
}

static void foot(struct plot *p)
{
	if (p->any_open)
		svg_put(&p->svg,
			"<text class='n' x='12' y='%d'>White marks: limits, or in doubt; "
			"povtrace report --scaling says why.</text>\n",
			HEIGHT - 12);
	svg_put(&p->svg, "</svg>\n");
}

int svg_scaling_write(const struct scaling *s, FILE *file)
{
	struct plot p = {.svg = {.out = out_new(file, false)}, .s = s};
	uint64_t bytes;

	most_find(&p);
	head(&p);
	grid(&p);
	runs(&p);
	for (size_t i = 0; i < SERIES; i++)
		line_put(&p, &series[i]);
	for (size_t i = 0; i < SERIES; i++)
		marks_put(&p, &series[i]);
	labels(&p);
	foot(&p);
	return out_finish(p.svg.out, &bytes);
}
