/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The page of a fabric, to look into: one HTML file that needs no other one (viz/fabric/ has its sources). */
#ifndef POVPLOT_FABRIC_PAGE_H
#define POVPLOT_FABRIC_PAGE_H

#include "choose.h"

/* What is wanted is a fabric, and nothing else. */
bool fabric_page_fits(const struct data *d, const struct choice *c);
/* 0, or -errno after printing why. title: NULL: the file's name. */
int fabric_page_write(const struct data *d, const struct choice *c, const char *title,
		      const char *path);

#endif
