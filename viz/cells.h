/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The cells of a heat map: each point of the sweep is a rectangle up to half way (on the axis' scale) to its neighbours,
 * so that what is seen is what was measured, neither interpolated nor smoothed (Denis & Trahay 2016, III.C).
 */
#ifndef POVPLOT_CELLS_H
#define POVPLOT_CELLS_H

#include "axis.h"
#include "data.h"

struct cell {
	double x, y, value;
	bool wrong;   /* the value is below what can be, beyond chance */
	bool unknown; /* its interval is so wide that it says little */
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
 * Collects a result's points, with the value of that name ("ratio"); those without it or a place on an axis are left out. 0, or -errno after
 * printing: none is left, or two points claim one cell.
 */
int cells_init(struct cells *c, const struct data_result *r, const char *name, const char *y_param,
	       bool y_log);
/* True if there would be any. */
bool cells_are_there(const struct data_result *r, const char *name, const char *y_param,
		     bool y_log);
/* True if there are places on the axes without a cell. */
bool cells_have_gaps(const struct cells *c);
void cells_release(struct cells *c);

/* Where the idx-th value's cells end. */
struct range cells_axis_edges(const struct cells_axis *a, size_t idx);
struct range cells_axis_range(const struct cells_axis *a);

/*
 * A data block of: x low high y low high value, held within a range, of the cells whose value is known, or of the others. The
 * map is to be about so large.
 */
void cells_write(const struct cells *c, bool unknown, const struct range *held, double width_px,
		 double height_px, struct script *s);

#endif
