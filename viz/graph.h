/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A fabric as `povtrace fabric --json` tells it (kmod-docs/FABRIC.md): nodes, links, and what a context puts on each half of a link. Half h
 * of link l is what leaves its end h. Strings belong to the JSON.
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
	uint32_t subnet; /* a switch's */
	/* layout.h */
	double x; /* 0 … 1 */
	int row;  /* 0: adapters; upwards from 1, downwards from -1 */
};

struct graph_link {
	uint32_t node[2], port[2];
	uint32_t subnet;
	const char *speed;
	double gbit_per_s; /* 0: not known */
	double lane; /* layout.h: links between the same nodes lie beside each other: …, -0.5, 0.5, … */
};

struct graph_half {
	double bytes, flows;
};

struct graph {
	struct graph_node *node; /* owned */
	struct graph_link *link; /* owned */
	uint32_t nnode, nlink, nsubnet;
	int row_low, row_high; /* layout.h */
};

bool graph_is(const json_t *root);
/* The nodes and links of a fabric's file, with their places. 0, or -EINVAL after printing what is wrong with it. Release it if 0. */
int graph_read(struct graph *g, const struct data_file *f);
void graph_release(struct graph *g);
/* What the context puts on half h of link l, at [2 * l + h]; caller frees. Halves of links that are not there are not looked at. */
struct graph_half *graph_halves(const struct graph *g, const json_t *context);
/* "level 2", with several subnets "level 2a"; of row 0 "adapters". Caller frees. */
char *graph_row_name(const struct graph *g, int row);
/* What is not in the picture, in words: "" if nothing. Caller frees. */
char *graph_left_out(const struct data_file *f);

#endif
