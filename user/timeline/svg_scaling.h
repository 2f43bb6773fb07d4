/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * How a program scales, as a picture: efficiencies against ranks. One SVG file without scripts or
 * references.
 */
#ifndef POV_WRITER_SVG_SCALING_H
#define POV_WRITER_SVG_SCALING_H

#include <stdio.h>

#include "analysis/account.h"

/* Of at least one run that is known. 0 or -errno (not printed). */
int svg_scaling_write(const struct scaling *s, FILE *file);

#endif
