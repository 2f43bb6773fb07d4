/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The two heat maps of Denis & Trahay 2016 as parts of pictures. One is the overhead ratio over
 * message size and computation time (figure 1). The other is the relative delay over message size
 * and threads, on its logarithmic scale. The picture of one map and the grid of many both use
 * them.
 */
#ifndef POVPLOT_HEAT_H
#define POVPLOT_HEAT_H

#include "script.h"
#include "data.h"

/* ---- cells (cells.c) ---- */

/*
 * The cells of a heat map. Each point of the sweep is a rectangle that extends half way (on the
 * axis' scale) to its neighbours. So the picture shows what was measured, neither interpolated nor
 * smoothed (Denis & Trahay 2016, III.C).
 */

enum cell_judged {
	CELL_KNOWN,
	CELL_UNKNOWN, /* the point shows little (core/overlap_map.h) */
	CELL_WRONG,   /* the value is impossible, beyond chance */
	CELL_DIFFERS, /* a difference beyond the intervals */
	CELL_ALIKE,   /* a difference within the intervals */
};

struct cell {
	double x, y, value, low, high; /* low and high are NaN without an interval */
	enum cell_judged judged;
	double comm_ns; /* the reference of its size; NaN: unknown or not wanted */
};

struct cells_axis {
	double *value; /* ascending, without duplicates; owned */
	size_t cnt;
	bool log;
};

struct cells {
	struct cell *cell; /* owned */
	size_t cnt;
	struct cells_axis x, y;
};

/*
 * Cells one by one. cells_begin makes room for `most` cells. cells_add drops cells without a value
 * or without a place on an axis. cells_end sorts by x, then y. It returns 0, or -errno after
 * printing if no cell is left or if two points of the result have the same cell.
 */
void cells_begin(struct cells *c, size_t most, bool y_log);
void cells_add(struct cells *c, const struct cell *one);
int cells_end(struct cells *c, const struct data_result *r, const char *y_param);
/* Does all of this for a result's points, with the value of that name ("ratio"). */
int cells_init(struct cells *c, const struct data_result *r, const char *name, const char *y_param,
	       bool y_log);
/* True if cells_init would find any. */
bool cells_are_there(const struct data_result *r, const char *name, const char *y_param,
		     bool y_log);
/* True if some places on the axes have no cell. */
bool cells_have_gaps(const struct cells *c);
void cells_release(struct cells *c);

struct range cells_axis_range(const struct cells_axis *a);

/* True if any cell is judged like that. */
bool cells_have(const struct cells *c, enum cell_judged judged);

/*
 * Writes a data block with one row per cell: x, y, value, verdict (a word), the ends of the
 * interval, T_comm, the value clamped to limits, and the cell's rectangle (x low, x high, y low,
 * y high). width_px and height_px only set how far neighbouring cells overlap.
 */
void cells_write(const struct cells *c, const struct range *limits, double width_px,
		 double height_px, struct script *s);
/*
 * Writes a plot command of that block on hatched ground: coloured rectangles, and grey ones for
 * unknown cells. Does not end the line.
 */
void cells_plot(const struct cells *c, unsigned int block, struct script *s);
/*
 * Extend the command: T_comm over x as a line, optionally with an edge; dots in cells judged like
 * that.
 */
void cells_plot_comm(unsigned int block, bool edge, struct script *s);
void cells_plot_dots(const struct cells *c, unsigned int block, enum cell_judged judged,
		     double size, const char *colour, struct script *s);

/* ---- maps (heat.c) ---- */

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
