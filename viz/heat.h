/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The two heat maps of Denis & Trahay 2016 as parts of pictures: the overhead ratio over message size and computation time
 * (figure 1), and the relative delay over message size and threads, on its logarithmic scale. A picture of one map
 * and the grid of many draw with this.
 */
#ifndef POVPLOT_HEAT_H
#define POVPLOT_HEAT_H

#include "cells.h"
#include "palette.h"

enum heat_kind { HEAT_RATIO, HEAT_DELAY };

struct heat {
	enum heat_kind kind;
	const struct data_result *result;
	struct cells cells;
	struct range x, y; /* the axes; of the cells, unless the caller widens them */
};

bool heat_takes_ratio(const struct data_result *r);
bool heat_takes_delay(const struct data_result *r);

/* What a picture has to tell of its maps; bits. */
enum heat_mark {
	HEAT_MARK_COMM = 1,  /* the line of T_comm */
	HEAT_MARK_GAPS = 2,  /* places that were not measured */
	HEAT_MARK_WRONG = 4, /* ratios below 0, beyond chance */
	HEAT_MARK_UNKNOWN = 8,
};

/* 0, or -errno after printing why it cannot be drawn. */
int heat_init(struct heat *h, const struct data_result *r);
void heat_release(struct heat *h);

/* Colours and their scale; the box's place is the caller's. */
void heat_write_colours(const struct heat *h, enum palette p, struct script *s);
/* What the colours mean, in gnuplot's markup. */
const char *heat_scale_name(const struct heat *h);
unsigned int heat_marks(const struct heat *h);
/* One line of what the marks mean, in the lower left corner. */
void heat_write_legend(unsigned int marks, struct script *s);
struct heat_style {
	enum palette palette;
	double width_px, height_px; /* of the map alone, about */
	double x_tics;		    /* labels for which there is room */
	bool x_labels, y_labels;
};

/* Axes, and the map itself; title, margins and axis labels are the caller's. */
void heat_write(const struct heat *h, const struct heat_style *style, struct script *s);

#endif
