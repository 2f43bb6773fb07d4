/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Shows some results on one HTML page: what each means, its picture, and its factors. */
#ifndef POVPLOT_PAGE_H
#define POVPLOT_PAGE_H

#include "draw.h"
#include "data.h"
#include "choose.h"

/* True if the name's ending asks for a page. */
bool page_is_wanted(const char *path);
/*
 * Returns 0, or -errno after printing why. path is created only on success. It needs no other
 * file.
 */
int page_write(const struct data *d, const struct choice *c, const struct draw_style *style,
	       const char *path);

/* A line of advice on result r, or NULL if there is none. Caller frees. */
char *advice_of(const struct data *d, const struct data_result *r);

/* True if a fabric is wanted and nothing else. */
bool fabric_page_fits(const struct data *d, const struct choice *c);
/* Returns 0, or -errno after printing why. title: NULL for the file's name. */
int fabric_page_write(const struct data *d, const struct choice *c, const char *title,
		      const char *path);

#endif
