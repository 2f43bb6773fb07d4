/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The paper's map is gnuplot's own traditional palette: red is the root of the grey value, green its third power, blue one
 * period of a sine. The safe map rises evenly in brightness from dark blue to yellow, like Cividis (Nuñez, Anderton,
 * Renslow 2018).
 */
#include "palette.h"

void palette_map(struct script *s, enum palette p)
{
	if (p == PALETTE_PAPER)
		script_line(s, "set palette rgbformulae 7,5,15");
	else
		script_line(s, "set palette defined (0 '#00224e', 1 '#123570', 2 '#3b496c', "
			       "3 '#575d6d', 4 '#707173', 5 '#8a8678', 6 '#a59c74', 7 '#c3b369', "
			       "8 '#fee838')");
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
