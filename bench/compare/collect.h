/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two result files side by side: for each benchmark that both have, the points that all launches
 * have, with the time of each launch. A point's time is the main time of its benchmark.
 */
#ifndef POVBENCH_COMPARE_COLLECT_H
#define POVBENCH_COMPARE_COLLECT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

enum { A, B, SIDES };

struct compare_file {
	const char *path;
	json_t *root; /* owned */
};

struct compare_point {
	const json_t *json; /* the point in A's first launch, for its parameters */
	const char *time;   /* name of the time */
	/* Interval of the median within the first launch; NaN: unknown. */
	double low[SIDES], high[SIDES];
};

struct compare_result {
	const char *benchmark, *kind;
	int ranks;
	size_t launch_cnt[SIDES];
	size_t *launch[SIDES];	      /* numbers of the launches in the file, from 1; owned */
	const json_t **result[SIDES]; /* of each launch; owned */
	struct compare_point *point;  /* owned */
	size_t point_cnt;
	size_t uneven_cnt; /* points that some launches lack */
	double *time;	   /* ns, [point × all launches], those of A first; owned */
};

struct comparison {
	struct compare_file file[SIDES];
	struct compare_result *result; /* owned */
	size_t cnt;
	json_t *alone[SIDES]; /* results that only this file has: "sender, 2 ranks"; owned */
};

/* Returns 0, or -EINVAL after printing if a file cannot be read or they have nothing in common. */
int collect(struct comparison *c, const char *a, const char *b);
void collect_release(struct comparison *c);

/* Total number of launches of both sides. */
size_t collect_launches(const struct compare_result *r);
/* Names a point by its parameters: "64 KiB, 20 us". The caller frees the text. */
char *collect_point_name(const json_t *point);

/* Fills points and times from the result's launches. */
void points_gather(struct compare_result *r);

#endif
