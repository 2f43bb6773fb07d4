/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The eager limit: time of a blocking send to a late receiver, over message size. There is a line
 * for each way of being late. Its key has the eager limit, and a vertical line marks the first
 * size that is not eager.
 */
#include "chart.h"
#include "picture.h"

#include "lib/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const receivers[] = {"in_mpi", "computing"};

#define RECEIVER_CNT (sizeof(receivers) / sizeof(receivers[0]))

static bool is_drawable(const json_t *point)
{
	return data_param(point, "bytes") > 0 && data_time(point, "send", "median") > 0;
}

static bool protocol_takes(const struct data_result *r)
{
	return !strcmp(r->kind, "protocol") && data_has(r, is_drawable);
}

static void add_point(struct chart_line *l, const json_t *point)
{
	chart_point_add(l, data_param(point, "bytes"), data_time(point, "send", "median"),
			data_time(point, "send", "ci_low"), data_time(point, "send", "ci_high"));
	if (data_value(point, "eager") == 0)
		chart_point_mark(l);
}

/* The least size that is not eager; infinite if all sizes are. */
static double above_of(const struct chart_line *l)
{
	double above = INFINITY;

	for (size_t i = 0; i < l->cnt; i++) {
		if (l->point[i].marked)
			above = fmin(above, l->point[i].x);
	}
	return above;
}

static char *limit_text(const struct chart_line *l)
{
	double above = above_of(l), eager = 0;

	for (size_t i = 0; i < l->cnt; i++) {
		if (l->point[i].x < above)
			eager = fmax(eager, l->point[i].x);
	}
	return eager > 0 ?
		       xasprintf("eager up to %.0f B%s", eager, isinf(above) ? " at least" : "") :
		       xstrdup("never eager");
}

/* Points without a way of being late form a line, too. */
static void chart_fill(struct chart *c, const struct data_result *r)
{
	static const char *const names[] = {"late, in MPI", "late, computing", "late"};
	size_t k;

	for (size_t i = 0; i < r->point_cnt; i++) {
		const char *receiver = data_param_text(r->point[i], "receiver");

		if (!is_drawable(r->point[i]))
			continue;
		for (k = 0; k < RECEIVER_CNT; k++) {
			if (receiver && !strcmp(receiver, receivers[k]))
				break;
		}
		add_point(chart_line_get(c, xasprintf("receiver %s", names[k])), r->point[i]);
	}
	for (size_t i = 0; i < c->cnt; i++)
		c->line[i].note = limit_text(&c->line[i]);
}

static void write_axes(const struct chart *c, struct script *s)
{
	struct range x = chart_range_x(c, true), y = chart_range_y(c, true);

	x = (struct range){x.low / 1.2, x.high * 1.2};
	/* Leave room for the key. */
	y = (struct range){y.low / 1.3, y.high * 1.5 * pow(y.high / y.low, 0.15)};
	axis_bytes(s, "x", &x, 10, true);
	axis_time(s, "y", &y, true);
	script_line(s, "set xlabel 'message size'\nset ylabel 'time of a blocking send'");
	script_line(s, "set tics nomirror\nset grid\nset key top left reverse Left");
}

static void write_limits(const struct chart *c, enum palette p, struct script *s)
{
	for (size_t i = 0; i < c->cnt; i++) {
		if (isfinite(above_of(&c->line[i])))
			script_line(
				s,
				"set arrow from first %.9g,graph 0 to first %.9g,graph 1 nohead "
				"linecolor rgb '%s' dashtype 2",
				above_of(&c->line[i]), above_of(&c->line[i]), palette_line(p, i));
	}
}

static int protocol_draw(const struct plot *p, struct script *s)
{
	char *title = data_title(p->result[0]->benchmark);
	struct chart c;

	chart_init(&c);
	chart_fill(&c, p->result[0]);
	picture_title(p, title, s);
	write_axes(&c, s);
	write_limits(&c, p->palette, s);
	table_begin(s, p->result, 1, "line\tbytes\tsend_ns\tsend_low_ns\tsend_high_ns\trendezvous");
	chart_write(&c, NULL, p->palette, CHART_MARKS, s);
	chart_release(&c);
	free(title);
	return 0;
}

const struct picture plot_protocol = {
	.name = "protocol",
	.takes = protocol_takes,
	.size = picture_size,
	.draw = protocol_draw,
};
