/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The results that povbench wrote (kmod-docs/BENCH_FORMAT.md), and the traffic of a povtrace report (REPORT.md), for reading only. Files come from anywhere: whatever
 * a member is not of the type that it should be of, it counts as not there; only what makes the whole file unusable
 * is an error. Strings and points belong to the data and live as long as it does.
 */
#ifndef POVPLOT_DATA_H
#define POVPLOT_DATA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct data_file {
	char *path;
	json_t *root;
	const json_t *factors; /* of the launch that is shown, or of the first; NULL: none */
	json_t *medians;       /* results made of several launches (launches.h); owned */
};

struct data_result {
	const struct data_file *file;
	const char *benchmark, *group, *kind;
	const char *sentence; /* what it means, in words; "" if it was not said */
	unsigned int ranks;
	bool disturbed;	      /* its numbers are doubtful, and the sentence says why */
	size_t launch_cnt;    /* that it is the median of; 1: it is one launch's */
	const json_t **point; /* those that are wanted; owned */
	size_t point_cnt;
};

struct data {
	struct data_file **file;
	size_t file_cnt;
	struct data_result *result; /* of all files, in their order */
	size_t result_cnt;
};

/*
 * Adds a file's results: of that launch (from 1), or, with 0, of all, their medians. 0, or -errno after printing what is
 * wrong with it.
 */
int data_read(struct data *d, const char *path, size_t launch);
void data_release(struct data *d);

/* Keeps only points whose parameter is so: "bytes=64K", "algorithm=binomial". */
void data_keep(struct data *d, const char *condition);
/* 0, or -EINVAL after printing that it is none. */
int data_check_condition(const char *condition);

/* True if one of the points is such. */
bool data_has(const struct data_result *r, bool (*is_such)(const json_t *point));
/* Prints that there is no point to draw. Returns -ENODATA. */
int data_refuse_empty(const struct data_result *r);

/* A point's parameters as text: what is alike is the same point in another launch or file. Caller frees. */
char *data_point_key(const json_t *point);
/* NaN, or NULL, if it is not there. */
double data_param(const json_t *point, const char *name);
const char *data_param_text(const json_t *point, const char *name);
double data_time(const json_t *point, const char *name,
		 const char *figure); /* "median", "ci_low" … */
/* A list of a time's, "samples" or "quantiles", if it has one that is not empty. */
const json_t *data_list(const json_t *point, const char *name, const char *list);
double data_value(const json_t *point, const char *name);

/* Where it was measured: "Open MPI v4.1.4, vader, node7, 2026-11-21". Caller frees. */
char *data_origin(const struct data_file *f);
/* The library and how it communicates, for a row of a grid. Caller frees. */
char *data_library(const struct data_file *f);
/* "sender-side overlap" for "sender": what a benchmark is called in the papers. Caller frees. */
char *data_title(const char *benchmark);

#endif
