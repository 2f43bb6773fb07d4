/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Names lines by what distinguishes their points. Points have any parameters that their benchmark
 * gives them. A picture states which of them is its axis. Of the others, those that vary name the
 * line, and those that do not go into the title.
 */
#ifndef POVPLOT_SERIES_H
#define POVPLOT_SERIES_H

#include "data.h"

enum series_part {
	SERIES_FIXED,	/* equal in all points */
	SERIES_VARYING, /* distinguishes lines */
	SERIES_APART,	/* distinguishes panels */
};

struct series {
	const json_t **point; /* owned; the points belong to the data */
	size_t cnt;
	const char *const *axes;
	char **param;		/* names of parameters that are no axis; owned */
	enum series_part *part; /* of each parameter; owned */
	size_t param_cnt;
};

/* axes: names of parameters that do not distinguish lines; ends with NULL. */
void series_init(struct series *s, const char *const *axes);
void series_release(struct series *s);
void series_add(struct series *s, const json_t *point);
/* Call it after all points have been added. */
void series_find_params(struct series *s);
/* Does all of this with those points of a result that can be drawn. */
void series_init_from(struct series *s, const char *const *axes, const struct data_result *r,
		      bool (*is_drawable)(const json_t *point));

/* True if the parameter varies. */
bool series_varies(const struct series *s, const char *name);
/* Makes this parameter distinguish panels, if it varies. */
void series_set_apart(struct series *s, const char *name);

/* Writes "V = 2, 64 KiB": a point's parameters of that part. Caller frees. */
char *series_name(const struct series *s, const json_t *point, enum series_part part);

/*
 * Writes "name: 64 KiB, 2 tasks", with what all points share. Needs at least one point. Caller
 * frees.
 */
char *series_title(const struct series *s, const char *name, const char *between);

/*
 * Prints that there are too many "lines" or "panels", and conditions that reduce them. Returns
 * -EINVAL.
 */
int series_refuse(const struct series *s, const char *benchmark, size_t cnt, const char *what);

#endif
