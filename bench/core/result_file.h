/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Making results, and the file that holds them (kmod-docs/BENCH_FORMAT.md): what measured, its factors, and one result
 * for each benchmark that was run, launch by launch. The file on disk is complete and valid at every moment.
 */
#ifndef POVBENCH_RESULT_FILE_H
#define POVBENCH_RESULT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "core/result.h"

struct result_about {
	const char *benchmark, *group, *brief, *source;
	enum result_kind kind;
	int ranks;
	json_t *options; /* borrowed; what decides whether two runs are of the same thing; null allowed */
	bool keep_samples;
};

struct result *result_new(const struct result_about *about);
void result_free(struct result *r); /* null is allowed */
/* How long it was measured, and how much of that all ranks together waited for a core; NaN: unknown. ns. */
void result_effort(struct result *r, double took_ns, double core_wait_ns);
/* What makes the numbers doubtful, such as "its ranks waited for a core 9 % of the time"; said wherever the result is. */
void result_disturbed(struct result *r, const char *what);
/* A point that was read from a file, as it is. */
void result_point_read(struct result *r, json_t *point);
/* Borrowed; valid until result_free. */
const json_t *result_json(const struct result *r);

/*
 * The points of a broken-off result, to be taken instead of measured (resume.h), and when it began; its took_ns is added by
 * result_effort. Before the first point.
 */
void result_go_on(struct result *r, const json_t *part);

struct result_file;

/*
 * The file at path, or a new one if there is none (written with the first result), and in it a new launch, or, to
 * resume, the last one that it has. Takes over factors. After printing, -EEXIST: it holds launches with other factors
 * that matter (result_same.h); -EINVAL: something else lies there; another -errno: it cannot be written.
 */
int result_file_open(const char *path, json_t *factors, bool resume, struct result_file **out);
/* Says what could not be written. Null is allowed. */
void result_file_free(struct result_file *f);
/* Whether this run's launch is one of the file's: it is resumed. */
bool result_file_holds(const struct result_file *f);
/* The number of this run's launch in the file, from 1. */
size_t result_file_launch(const struct result_file *f);
/* 0, or -EEXIST after printing: a launch has that benchmark with the same ranks and other options. */
int result_file_check(const struct result_file *f, const struct result_about *about);
/* Whether this run's launch has a whole result of that benchmark with the same ranks. */
bool result_file_has(const struct result_file *f, const struct result_about *about);
/* Part of one, broken off; borrowed; null: there is none. */
const json_t *result_file_part(const struct result_file *f, const struct result_about *about);
/*
 * Adds and writes: a new file takes the place of the old one. What another run has added to it meanwhile is kept; if that
 * run's factors are others, the results go to a file beside it, aloud. 0, or -errno after printing: the next one tries again.
 */
int result_file_add(struct result_file *f, const struct result *r);
/* Writes what there is of a benchmark that is under way. That it cannot be written is said at its end. */
void result_file_keep(struct result_file *f, const struct result *r, uint64_t took_ns);

#endif
