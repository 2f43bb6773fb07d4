/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* All that there is of some results on one HTML page: what each means, its picture, and what it was measured with. */
#ifndef POVPLOT_PAGE_H
#define POVPLOT_PAGE_H

#include "draw.h"

/* The name ends so that a page is meant. */
bool page_is_wanted(const char *path);
/* 0, or -errno after printing why. path appears only when all went well; it needs no other file. */
int page_write(const struct data *d, const struct choice *c, const struct draw_style *style,
	       const char *path);

#endif
