/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Where the nodes of a fabric are drawn (Brown et al. 2014, figure 3): the adapters in the middle, the first subnet's levels above them, the
 * second's below; further ones beyond these in turn. Within a level, nodes that are linked to the same ones lie together.
 */
#ifndef POVPLOT_LAYOUT_H
#define POVPLOT_LAYOUT_H

#include "graph.h"

/* Sets x and row of nodes, lane of links, and the graph's rows. */
void layout_make(struct graph *g);

#endif
