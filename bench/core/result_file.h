/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Creates results and the file that holds them (kmod-docs/BENCH_FORMAT.md): for each launch, its
 * factors and one result for each benchmark. The file on disk is complete and valid at all times.
 */
#ifndef POVBENCH_RESULT_FILE_H
#define POVBENCH_RESULT_FILE_H

#include "core/result.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct result_about {
	const char *benchmark, *group, *brief, *source;
	enum result_kind kind;
	int ranks;
	json_t *options; /* decide whether two runs measured the same; borrowed; may be null */
	bool keep_samples;
};

struct result *result_new(const struct result_about *about);
void result_free(struct result *r); /* null is allowed */
/* Sets the duration, and the time all ranks together waited for a core (NaN: unknown), in ns. */
void result_effort(struct result *r, double took_ns, double core_wait_ns);
/*
 * Adds a reason to doubt the numbers, such as "its ranks waited for a core 9 % of the time". It is
 * shown wherever the result is.
 */
void result_disturbed(struct result *r, const char *what);
/* Adds a point from a file unchanged. */
void result_point_read(struct result *r, json_t *point);
/* Borrowed; valid until result_free. */
const json_t *result_json(const struct result *r);

/*
 * Adds the points of an interrupted result, which resume_has takes instead of measuring, and the
 * time at which it began. result_effort adds its took_ns. Call it before the first point.
 */
void result_go_on(struct result *r, const json_t *part);

struct result_file;

/*
 * Opens the file at path, or prepares a new one, which is written with the first result. Starts a
 * new launch in it, or resumes the last one. Takes ownership of factors. Prints an error and
 * returns -EEXIST if it has launches with other relevant factors (result_same), -EINVAL if it is
 * no result file, or another -errno if it cannot be written.
 */
int result_file_open(const char *path, json_t *factors, bool resume, struct result_file **out);
/* Reports results that could not be written. Null is allowed. */
void result_file_free(struct result_file *f);
/* True if this run's launch is already in the file, because it is resumed. */
bool result_file_holds(const struct result_file *f);
/* Number of this run's launch in the file, from 1. */
size_t result_file_launch(const struct result_file *f);
/* Returns -EEXIST after printing if a launch has this benchmark and ranks with other options. */
int result_file_check(const struct result_file *f, const struct result_about *about);
/* True if this run's launch has a complete result of that benchmark on as many ranks. */
bool result_file_has(const struct result_file *f, const struct result_about *about);
/* The interrupted result of that benchmark; borrowed; null if there is none. */
const json_t *result_file_part(const struct result_file *f, const struct result_about *about);
/*
 * Adds a result and replaces the file. Launches that another run has added meanwhile are kept. If
 * that run's factors differ, the results go to a second file, with a warning. Returns 0, or
 * -errno after printing; the next call writes this result too.
 */
int result_file_add(struct result_file *f, const struct result *r);
/* Writes the points of an unfinished benchmark. result_file_free reports a failure. */
void result_file_keep(struct result_file *f, const struct result *r, uint64_t took_ns);

/*
 * Returns 0 if all factors that decide a measurement are equal, otherwise -EEXIST after printing
 * the difference. Ranks that both runs have must be at the same places; one run may have more
 * ranks.
 */
int result_same(const char *path, const json_t *old, const json_t *new);
/* The same check for a benchmark's options. */
int result_same_options(const char *path, const char *benchmark, const json_t *old,
			const json_t *new);

/* ---- reading (result_read.c) ---- */

/*
 * Reads a result file of any version into memory. Callers always get the form of the newest version
 * (kmod-docs/BENCH_FORMAT.md).
 */

#define RESULT_FORMAT "povbench"
#define RESULT_VERSION 2

/*
 * Reads the whole file; the caller releases it. Its launches are objects, each with an array of
 * results that are objects. If it is no result file, prints why, followed by `hint`, and returns
 * -EINVAL.
 */
int result_read(const char *path, const char *hint, json_t **out);

/* True if a result has this benchmark and ranks. */
bool result_is_of(const json_t *r, const char *benchmark, json_int_t ranks);
/* True if the result was interrupted and has only some of its points. */
bool result_is_part(const json_t *r);

/* ---- tables for people (result_print.c) ---- */

/* Times are medians in microseconds. */

/*
 * Prints the result with its head and its sentence, one row for each point. all: print every time
 * and value, including the figures of other suites. Otherwise maps only get the most important
 * columns.
 */
void result_print(const struct result *r, bool all, FILE *out);

/* ---- building JSON (result.c) ---- */

/* Builds JSON. Only lack of memory can fail, and that ends the program. */

/* Takes ownership of value, which must not be null. Ends the program if memory runs out. */
void json_put(json_t *object, const char *key, json_t *value);
/* The current time as "2026-11-21T12:00:00Z". */
json_t *json_date_now(void);

#endif
