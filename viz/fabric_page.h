/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The interactive page of a fabric: one HTML file that needs no other (sources: viz/fabric/). */
#ifndef POVPLOT_FABRIC_PAGE_H
#define POVPLOT_FABRIC_PAGE_H

#include "choose.h"

/* True if a fabric is wanted and nothing else. */
bool fabric_page_fits(const struct data *d, const struct choice *c);
/* Returns 0, or -errno after printing why. title: NULL for the file's name. */
int fabric_page_write(const struct data *d, const struct choice *c, const char *title,
		      const char *path);

#endif
