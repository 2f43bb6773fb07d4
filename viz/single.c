/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One map fills the picture. Above it stand its benchmark, the library, transport, host and date that it is from, and in
 * words what it means.
 */
#include "single.h"

#include "gnuplot.h"
#include "heat.h"

#include "lib/log.h"

#include <math.h>
#include <stdlib.h>

#define TITLE_PX_PER_COLUMN 8.0
#define SCALE_PX 175.0 /* beside the map: the colours, their labels and their name */
#define TIC_PX 62.0    /* of a label such as 128 KiB */

void single_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	(void)p;
	*width_px = 860;
	*height_px = 640;
}

void single_lines(const struct plot *p, const char *name, const char *const *lines,
		  struct script *s)
{
	double px = TITLE_PX_PER_COLUMN * gnuplot_font_scale(p->width_px);

	script_title(s, p->title ? p->title : name, lines, (size_t)((double)p->width_px / px));
}

static void write_head(const struct plot *p, const char *name, const char *before, struct script *s)
{
	char *origin = data_origin(p->result[0]->file);
	const char *lines[3] = {origin, p->words ? p->result[0]->sentence : "", NULL};
	size_t i;

	for (i = 1; i < p->cnt; i++) {
		/* Several files: the keys and rows tell which is which. */
		if (p->result[i]->file != p->result[0]->file)
			lines[0] = "";
		/* A sentence is about one result. */
		lines[1] = "";
	}
	fputs(before, s->out);
	single_lines(p, name, lines, s);
	free(origin);
}

void single_title(const struct plot *p, const char *name, struct script *s)
{
	write_head(p, name, "set title ", s);
}

void single_head(const struct plot *p, const char *name, size_t rows, size_t columns,
		 struct script *s)
{
	char *before = xasprintf("set multiplot layout %zu,%zu title ", rows, columns);

	write_head(p, name, rows ? before : "set multiplot title ", s);
	free(before);
}

double single_map_px(const struct plot *p)
{
	return fmax((double)p->width_px - (100 + SCALE_PX) * gnuplot_font_scale(p->width_px), 50);
}

double single_map_tics(const struct plot *p)
{
	return single_map_px(p) / (TIC_PX * gnuplot_font_scale(p->width_px));
}

void single_scale(const struct plot *p, const char *name, struct script *s)
{
	double px = gnuplot_font_scale(p->width_px) / (double)p->width_px;

	script_line(s, "set tics out nomirror\nset bmargin 5");
	script_line(s, "set rmargin at screen %.5f", 1 - SCALE_PX * px);
	script_line(s, "set colorbox user origin screen %.5f,graph 0 size screen %.5f,graph 1",
		    1 - (SCALE_PX - 15) * px, 25 * px);
	/* The colour box' own label would stand where the font is guessed to end, which SVG viewers do not keep to. */
	script_line(s, "set label '%s' at screen %.5f,0.5 center rotate by 90", name, 1 - 20 * px);
}

int single_draw(const struct plot *p, const char *y_label, struct script *s)
{
	char *name = data_title(p->result[0]->benchmark);
	struct heat_style style = {
		.palette = p->palette,
		.width_px = single_map_px(p),
		.height_px = SINGLE_MAP_HEIGHT * (double)p->height_px,
		.x_tics = single_map_tics(p),
		.x_labels = true,
		.y_labels = true,
	};
	struct heat heat;
	int err = heat_init(&heat, p->result[0]);

	if (!err) {
		single_title(p, name, s);
		script_line(s, "set xlabel 'message size'\nset ylabel '%s'", y_label);
		single_scale(p, heat_scale_name(&heat), s);
		heat_write_colours(&heat, p->palette, s);
		heat_write_legend(heat_marks(&heat), s);
		heat_write(&heat, &style, s);
		heat_release(&heat);
	}
	free(name);
	return err;
}
