/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A fabric as `povtrace fabric --json` writes it (kmod-docs/FABRIC.md): nodes, links, and a
 * context's traffic on each half of a link. Half h of link l carries what leaves its end h.
 * Strings belong to the JSON.
 */
#ifndef POVPLOT_GRAPH_H
#define POVPLOT_GRAPH_H

#include "data.h"

#include <stdint.h>

#define GRAPH_VERSION 1	      /* of the format */
#define GRAPH_LEVEL_NONE (-1) /* no path to an adapter */

struct graph_node {
	const char *name;
	uint64_t guid;
	bool is_switch;
	int level;
	uint32_t subnet; /* of a switch */
	double x;	 /* horizontal place, 0 … 1 (layout_make) */
	int row;	 /* 0: adapters; upwards from 1, downwards from -1 (layout_make) */
};

struct graph_link {
	uint32_t node[2], port[2];
	uint32_t subnet;
	const char *speed;
	double gbit_per_s; /* 0: unknown */
	double lane; /* offset among links between the same nodes: …, -0.5, 0.5, … (layout_make) */
};

struct graph_half {
	double bytes, flows;
};

struct graph {
	struct graph_node *node; /* owned */
	struct graph_link *link; /* owned */
	uint32_t nnode, nlink, nsubnet;
	int row_low, row_high; /* layout_make */
};

bool graph_is(const json_t *root);
/*
 * Reads a fabric's nodes and links and places them. Returns 0, or -EINVAL after printing what is
 * wrong with the file. After 0 the caller releases g.
 */
int graph_read(struct graph *g, const struct data_file *f);
void graph_release(struct graph *g);
/*
 * The context's traffic on half h of link l, at [2 * l + h]; caller frees. Unknown links are
 * ignored.
 */
struct graph_half *graph_halves(const struct graph *g, const json_t *context);
/* "level 2", or "level 2a" with several subnets; "adapters" for row 0. Caller frees. */
char *graph_row_name(const struct graph *g, int row);
/* Describes what the picture leaves out; "" if nothing. Caller frees. */
char *graph_left_out(const struct data_file *f);

/* Sets x and row of the nodes, lane of the links, and the graph's range of rows. */
void layout_make(struct graph *g);

#endif
