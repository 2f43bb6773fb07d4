/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Places the nodes of a fabric (Brown et al. 2014, figure 3). The adapters are in the middle, the
 * first subnet's levels above them, the second's below, and further subnets beyond these in turn.
 * Within a level, nodes with the same neighbours are close together.
 */
#ifndef POVPLOT_LAYOUT_H
#define POVPLOT_LAYOUT_H

#include "graph.h"

/* Sets x and row of the nodes, lane of the links, and the graph's range of rows. */
void layout_make(struct graph *g);

#endif
