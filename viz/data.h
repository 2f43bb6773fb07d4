/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Read access to povbench's results (kmod-docs/BENCH_FORMAT.md) and to the traffic of a povtrace
 * report (REPORT.md). Files come from anywhere. A member of the wrong type counts as missing. Only
 * what makes the whole file unusable is an error. Strings and points belong to the data and live
 * as long as it does.
 */
#ifndef POVPLOT_DATA_H
#define POVPLOT_DATA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct data_file {
	char *path;
	json_t *root;
	const json_t *factors; /* of the launch that is shown, or of the first one; NULL: none */
	json_t *medians; /* results combined from several launches (launches_medians); owned */
	const char *row; /* what the user calls it in a grid of files; NULL: not named */
};

struct data_result {
	const struct data_file *file;
	const char *benchmark, *group, *kind;
	const char *sentence; /* the meaning in words; "" if the file has none */
	unsigned int ranks;
	bool disturbed;	   /* the numbers are doubtful, and the sentence states why */
	size_t launch_cnt; /* number of launches of which this is the median; 1: a single launch */
	const json_t **point; /* the wanted points; owned */
	size_t point_cnt;
};

struct data {
	struct data_file **file;
	size_t file_cnt;
	struct data_result *result; /* of all files, in their order */
	size_t result_cnt;
};

/*
 * Adds a file's results: those of one launch (from 1), or with 0 the medians over all launches.
 * Returns 0, or -errno after printing what is wrong with the file.
 */
int data_read(struct data *d, const char *path, size_t launch);
void data_release(struct data *d);

/* Keeps only points that meet a condition on a parameter: "bytes=64K", "algorithm=binomial". */
void data_keep(struct data *d, const char *condition);
/* Returns 0, or -EINVAL after printing that the text is no condition. */
int data_check_condition(const char *condition);

/* True if the function is true for one of the points. */
bool data_has(const struct data_result *r, bool (*is_such)(const json_t *point));
/* Prints that there is no point to draw. Returns -ENODATA. */
int data_refuse_empty(const struct data_result *r);

/* Return NaN or NULL if the parameter is missing. */
double data_param(const json_t *point, const char *name);
const char *data_param_text(const json_t *point, const char *name);
double data_time(const json_t *point, const char *name,
		 const char *figure); /* "median", "ci_low" … */
/* A time's list "samples" or "quantiles", or NULL if it is missing or empty. */
const json_t *data_list(const json_t *point, const char *name, const char *list);
double data_value(const json_t *point, const char *name);

/* Origin of the results: "Open MPI v4.1.4, vader, node7, 2026-11-21". Caller frees. */
char *data_origin(const struct data_file *f);
/* The library and how it communicates. Caller frees. */
char *data_library(const struct data_file *f);
/* The name of a row of a grid: the library with the user's name, else the origin. Caller frees. */
char *data_row_name(const struct data_file *f);
/* A benchmark's name in the papers: "sender-side overlap" for "sender". Caller frees. */
char *data_title(const char *benchmark);

/*
 * Returns an array of results, one for each benchmark, number of ranks and set of options, in the
 * order of first appearance. A result that only one launch has is that launch's. Otherwise each
 * number of a point is the median over the launches that have it, if these are at least half of
 * them, and "launches" is their number. A time's interval is the one over launches: the smallest
 * and the largest of their medians, and from 6 launches on by ranks. Interrupted results count
 * only if there is no complete one. The sentence is that of the launch in the middle. The caller
 * releases the array.
 */
json_t *launches_medians(const json_t *launches);

#endif
