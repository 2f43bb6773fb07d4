/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One map fills the picture. Above it stand its benchmark, the library, transport, host and date that it is from, and in
 * words what it means.
 */
#include "single.h"

#include "heat.h"

#include "base/log.h"

#include <stdlib.h>

#define TITLE_PX_PER_COLUMN 8

void single_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	(void)p;
	*width_px = 860;
	*height_px = 640;
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
	script_title(s, p->title ? p->title : name, lines, p->width_px / TITLE_PX_PER_COLUMN);
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

int single_draw(const struct plot *p, const char *y_label, struct script *s)
{
	char *name = data_title(p->result[0]->benchmark);
	struct heat_style style = {
		.palette = p->palette,
		.width_px = 0.7 * (double)p->width_px,
		.height_px = 0.75 * (double)p->height_px,
		.x_tics = 12,
		.x_labels = true,
		.y_labels = true,
	};
	struct heat heat;
	int err = heat_init(&heat, p->result[0]);

	if (!err) {
		single_title(p, name, s);
		script_line(s, "set xlabel 'message size'\nset ylabel '%s'", y_label);
		script_line(s, "set tics out nomirror\nset rmargin at screen 0.80");
		script_line(
			s,
			"set colorbox user origin screen 0.82,graph 0 size screen 0.035,graph 1");
		heat_write_colours(&heat, p->palette, s);
		heat_write_scale_name(&heat, 0.975, 0.5, "", s);
		heat_write(&heat, &style, s);
		heat_release(&heat);
	}
	free(name);
	return err;
}
