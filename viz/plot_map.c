/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The overlap map, as in figure 1 of Denis & Trahay 2016. x: message size, y: computation time,
 * colour: overhead ratio.
 */

#include "heat.h"
#include "picture.h"
#include "single.h"

static int map_draw(const struct plot *p, struct script *s)
{
	return single_draw(p, "computation time", s);
}

const struct picture plot_map = {
	.name = "map",
	.takes = heat_takes_ratio,
	.size = single_size,
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
	return single_draw(p, "computing threads", s);
}

const struct picture plot_load = {
	.name = "load",
	.takes = heat_takes_delay,
	.size = single_size,
	.draw = load_draw,
};
