/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One map fills the picture. Above it stand its benchmark, the library, transport, host and date that it is from, and in
 * words what it means.
 */
#include "single.h"

#include "heat.h"

#include <stdlib.h>

#define TITLE_PX_PER_COLUMN 8

void single_size(const struct plot *p, uint64_t *width_px, uint64_t *height_px)
{
	(void)p;
	*width_px = 860;
	*height_px = 640;
}

void single_title(const struct plot *p, const char *name, struct script *s)
{
	char *origin = data_origin(p->result[0]->file);
	const char *lines[3] = {origin, p->words ? p->result[0]->sentence : "", NULL};

	script_title(s, p->title ? p->title : name, lines, p->width_px / TITLE_PX_PER_COLUMN);
	free(origin);
}

int single_draw(const struct plot *p, const char *y_label, struct script *s)
{
	char *name = data_title(p->result[0]->benchmark);
	struct heat heat;
	int err = heat_init(&heat, p->result[0]);

	if (!err) {
		single_title(p, name, s);
		script_line(s, "set xlabel 'message size'\nset ylabel '%s'", y_label);
		script_line(s, "set tics out nomirror");
		heat_write_colours(&heat, p->palette, s);
		heat_write(&heat, p->palette, 12, true, true, s);
		heat_release(&heat);
	}
	free(name);
	return err;
}
