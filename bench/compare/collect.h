/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Two result files side by side: for each benchmark that both have, the points that all its launches have, with the time of
 * each launch. A point's time is the one that its benchmark is about.
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
	const json_t *json; /* of A's first launch: its parameters */
	const char *time;   /* name of the time */
	double low[SIDES],
		high[SIDES]; /* interval of the median within the first launch; NaN: unknown */
};

struct compare_result {
	const char *benchmark, *kind;
	int ranks;
	size_t launch_cnt[SIDES];
	size_t *launch[SIDES];	      /* their numbers in the file, from 1; owned */
	const json_t **result[SIDES]; /* of each launch; owned */
	struct compare_point *point;  /* owned */
	size_t point_cnt;
	size_t uneven_cnt; /* points that some launch has, and not all */
	double *time;	   /* ns, [point × all launches], those of A first; owned */
};

struct comparison {
	struct compare_file file[SIDES];
	struct compare_result *result; /* owned */
	size_t cnt;
	json_t *alone[SIDES]; /* what only one file has: "sender, 2 ranks"; owned */
};

/* 0, or -EINVAL after printing: a file cannot be read, or they have nothing in common. */
int collect(struct comparison *c, const char *a, const char *b);
void collect_release(struct comparison *c);

/* How many launches both sides have together. */
size_t collect_launches(const struct compare_result *r);
/* "64 KiB, 20 us". The caller frees. */
char *collect_point_name(const json_t *point);

#endif
