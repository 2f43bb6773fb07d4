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
	.brief = "Overhead ratio over message size and computation time.",
	.takes = heat_takes_ratio,
	.size = single_size,
	.draw = map_draw,
};
