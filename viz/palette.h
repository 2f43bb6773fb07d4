/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Colours. The paper's maps go from black over purple and red to yellow (Denis & Trahay 2016,
 * III.C). The safe ones can be distinguished with any colour vision: brightness alone orders the
 * map, and lines use the set of Okabe and Ito. In either, lines also differ in dashes and marks.
 */
#ifndef POVPLOT_PALETTE_H
#define POVPLOT_PALETTE_H

#include "script.h"

enum palette { PALETTE_PAPER = 0, PALETTE_SAFE = 1 };

#define PALETTE_LINE_CNT 8

void palette_map(struct script *s, enum palette p);
/* Colour of the idx-th line, "#rrggbb"; repeats after PALETTE_LINE_CNT. */
const char *palette_line(enum palette p, size_t idx);

#endif
