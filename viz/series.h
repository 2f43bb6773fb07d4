/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Lines named by what tells their points apart. Benchmarks give their points whatever parameters they have; a picture says
 * which of them is its axis, and those of the others that vary name the line, while those that do not belong into the
 * title.
 */
#ifndef POVPLOT_SERIES_H
#define POVPLOT_SERIES_H

#include "data.h"

enum series_part {
	SERIES_FIXED,	/* the same in all points */
	SERIES_VARYING, /* tells lines apart */
	SERIES_APART,	/* tells panels apart */
};

struct series {
	const json_t **point; /* owned; the points belong to the data */
	size_t cnt;
	const char *const *axes;
	char **param;		/* names of parameters that are no axis; owned */
	enum series_part *part; /* of each; owned */
	size_t param_cnt;
};

/* axes: names of parameters that do not tell lines apart; ends with NULL. */
void series_init(struct series *s, const char *const *axes);
void series_release(struct series *s);
void series_add(struct series *s, const json_t *point);
/* To be called when all points are there. */
void series_find_params(struct series *s);

/* True if the parameter varies. */
bool series_varies(const struct series *s, const char *name);
/* Panels are to be told apart by this one, if it varies. */
void series_set_apart(struct series *s, const char *name);

/* "V = 2, 64 KiB": a point's parameters of that part. Caller frees. */
char *series_name(const struct series *s, const json_t *point, enum series_part part);

/* "name: 64 KiB, 2 tasks": with what is the same in all points, of which there is one at least. Caller frees. */
char *series_title(const struct series *s, const char *name, const char *between);

/* Prints that there are too many "lines" or "panels", and which conditions would leave fewer. Returns -EINVAL. */
int series_refuse(const struct series *s, const char *benchmark, size_t cnt, const char *what);

#endif
