/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Pictures of one heat map, which fills the picture. */
#include "heat.h"
#include "picture.h"

#include <stdlib.h>

static int heat_draw(const struct plot *p, const char *y_label, struct script *s)
{
	char *name = data_title(p->result[0]->benchmark);
	struct heat_style style = {
		.palette = p->palette,
		.width_px = picture_map_px(p),
		.height_px = PICTURE_MAP_HEIGHT * (double)p->height_px,
		.x_tics = picture_map_tics(p),
		.x_labels = true,
		.y_labels = true,
	};
	struct heat heat;
	int err = heat_init(&heat, p->result[0]);

	if (!err) {
		picture_title(p, name, s);
		script_line(s, "set xlabel 'message size'\nset ylabel '%s'", y_label);
		picture_scale(p, heat_scale_name(&heat), s);
		heat_write_colours(&heat, p->palette, s);
		heat_write_legend(heat_marks(&heat), s);
		heat_write(&heat, &style, s);
		heat_release(&heat);
	}
	free(name);
	return err;
}

/* ---- map ---- */

/*
 * The overlap map, as in figure 1 of Denis & Trahay 2016. x: message size, y: computation time,
 * colour: overhead ratio.
 */
static int map_draw(const struct plot *p, struct script *s)
{
	return heat_draw(p, "computation time", s);
}

const struct picture plot_map = {
	.name = "map",
	.takes = heat_takes_ratio,
	.size = picture_size,
	.draw = map_draw,
};

/* ---- load ---- */

/*
 * The N-threads load map of Denis & Trahay 2016 (last column of figure 2). x: message size, y:
 * computing threads, colour: how much longer a blocking round trip takes than without these
 * threads.
 */

static int load_draw(const struct plot *p, struct script *s)
{
	return heat_draw(p, "computing threads", s);
}

const struct picture plot_load = {
	.name = "load",
	.takes = heat_takes_delay,
	.size = picture_size,
	.draw = load_draw,
};
