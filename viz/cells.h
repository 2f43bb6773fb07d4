/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The cells of a heat map: each point of the sweep is a rectangle up to half way (on the axis' scale) to its neighbours,
 * so that what is seen is what was measured, neither interpolated nor smoothed (Denis & Trahay 2016, III.C).
 */
#ifndef POVPLOT_CELLS_H
#define POVPLOT_CELLS_H

#include "axis.h"
#include "data.h"

enum cell_judged {
	CELL_KNOWN,
	CELL_UNKNOWN, /* it says little (core/map_judge.h) */
	CELL_WRONG,   /* the value is below what can be, beyond chance */
	CELL_DIFFERS, /* a difference beyond the intervals, and within them */
	CELL_ALIKE,
};

struct cell {
	double x, y, value, low, high; /* low and high are NaN without an interval */
	enum cell_judged judged;
	double comm_ns; /* the reference of its size; NaN: none is known, or wanted */
};

struct cells_axis {
	double *value; /* ascending, no two alike; owned */
	size_t cnt;
	bool log;
};

struct cells {
	struct cell *cell; /* owned */
	size_t cnt;
	struct cells_axis x, y;
};

/*
 * Cells one by one: begin makes room for so many, add leaves out those without a value or a place on an axis. end: 0, or
 * -errno after printing: none is left, or two points of the result claim one cell. Cells are in order of x, then y.
 */
void cells_begin(struct cells *c, size_t most, bool y_log);
void cells_add(struct cells *c, const struct cell *one);
int cells_end(struct cells *c, const struct data_result *r, const char *y_param);
/* All that at once for a result's points, with the value of that name ("ratio"). */
int cells_init(struct cells *c, const struct data_result *r, const char *name, const char *y_param,
	       bool y_log);
/* True if there would be any. */
bool cells_are_there(const struct data_result *r, const char *name, const char *y_param,
		     bool y_log);
/* True if there are places on the axes without a cell. */
bool cells_have_gaps(const struct cells *c);
void cells_release(struct cells *c);

struct range cells_axis_range(const struct cells_axis *a);

/* True if there are some that are judged so. */
bool cells_have(const struct cells *c, enum cell_judged judged);

/*
 * A data block of x, y, value, how it is judged, in a word, the interval and T_comm; then the value held within a range, and the
 * rectangle: x low, high, y low, high. The map is to be about so large.
 */
void cells_write(const struct cells *c, const struct range *held, double width_px, double height_px,
		 struct script *s);
/*
 * A plot command of that block, on hatched ground: coloured rectangles, grey ones that are unknown. It does not end the
 * line.
 */
void cells_plot(const struct cells *c, unsigned int block, struct script *s);
/* Further parts of it: T_comm over x as a line, which may have an edge; a dot in each cell that is judged so. */
void cells_plot_comm(unsigned int block, bool edge, struct script *s);
void cells_plot_dots(const struct cells *c, unsigned int block, enum cell_judged judged,
		     double size, const char *colour, struct script *s);

#endif
