/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The two heat maps of Denis & Trahay 2016 as parts of pictures. One is the overhead ratio over
 * message size and computation time (figure 1). The other is the relative delay over message size
 * and threads, on its logarithmic scale. The picture of one map and the grid of many both use
 * them.
 */
#ifndef POVPLOT_HEAT_H
#define POVPLOT_HEAT_H

#include "cells.h"
#include "script.h"

enum heat_kind { HEAT_RATIO, HEAT_DELAY };

struct heat {
	enum heat_kind kind;
	const struct data_result *result;
	struct cells cells;
	struct range x, y; /* axes: those of the cells, unless the caller widens them */
};

bool heat_takes_ratio(const struct data_result *r);
bool heat_takes_delay(const struct data_result *r);

/* Bits for the marks that a picture has to explain. */
enum heat_mark {
	HEAT_MARK_COMM = 1,  /* the line of T_comm */
	HEAT_MARK_GAPS = 2,  /* combinations that were not measured */
	HEAT_MARK_WRONG = 4, /* ratios below 0, beyond chance */
	HEAT_MARK_UNKNOWN = 8,
};

/* Returns 0, or -errno after printing why the map cannot be drawn. */
int heat_init(struct heat *h, const struct data_result *r);
void heat_release(struct heat *h);

/* Writes the colours and their scale. The caller places the scale. */
void heat_write_colours(const struct heat *h, enum palette p, struct script *s);
/* The meaning of the colours, in gnuplot's markup. */
const char *heat_scale_name(const struct heat *h);
unsigned int heat_marks(const struct heat *h);
/* Writes one line that explains the marks, in the lower left corner. */
void heat_write_legend(unsigned int marks, struct script *s);
struct heat_style {
	enum palette palette;
	double width_px, height_px; /* approximate size of the map alone */
	double x_tics;		    /* number of labels that fit */
	bool x_labels, y_labels;
};

/* Writes the axes and the map. Title, margins and axis labels belong to the caller. */
void heat_write(const struct heat *h, const struct heat_style *style, struct script *s);

#endif
