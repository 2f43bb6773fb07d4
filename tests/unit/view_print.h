/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Prints a decoded call as lines of text:
 *
 *   values count=10 dtype=MPI_INT …     named values in their order; texts with spaces in quotes,
 *                                       lists in brackets
 *   roles send=40 peer=2@2 …            the roles that are set; RANK@WORLD_RANK, or
 *                                       @JOB.WORLD_RANK, or @? and the reason
 *   request start 0xa000 bytes=40 …     one line each
 *   window lock target=2 …
 *   post send eager socket am_short …   one line each: kind, step, carrier, operation
 */
#ifndef POV_TESTS_VIEW_PRINT_H
#define POV_TESTS_VIEW_PRINT_H

#include <stdio.h>

#include "layers/layer.h"

void view_print(const struct layer *layer, const struct call_view *v, FILE *out);

#endif
