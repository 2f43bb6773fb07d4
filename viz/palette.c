/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The paper's map is gnuplot's traditional palette: red is the root of the grey value, green its
 * third power, blue one period of a sine. The brightness of the safe map rises evenly, from dark
 * purple over green to yellow: samples of Viridis (van der Walt and Smith, Matplotlib 1.5).
 */
#include "palette.h"

void palette_map(struct script *s, enum palette p)
{
	if (p == PALETTE_PAPER)
		script_line(s, "set palette rgbformulae 7,5,15");
	else
		script_line(s, "set palette defined (0 '#440154', 1 '#472d7b', 2 '#3b528b', 3 "
			       "'#2c728e', 4 '#21918c', 5 '#28ae80', 6 '#5ec962', 7 '#addc30', 8 "
			       "'#fde725')");
}

const char *palette_line(enum palette p, size_t idx)
{
	static const char *const lines[2][PALETTE_LINE_CNT] = {
		[PALETTE_PAPER] = {"#d01010", "#1040d0", "#109030", "#a020b0", "#e07000", "#00a0b0",
				   "#000000", "#806040"},
		[PALETTE_SAFE] = {"#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
				  "#000000", "#f0e442"},
	};

	return lines[p][idx % PALETTE_LINE_CNT];
}
