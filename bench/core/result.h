/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A benchmark's result as JSON (kmod-docs/BENCH_FORMAT.md). A result is a list of points. A point
 * has parameters (settings), times (summaries of samples) and values (derived from the times).
 */
#ifndef POVBENCH_RESULT_H
#define POVBENCH_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/stats.h"

enum result_kind {
	RESULT_CURVE,	  /* times over message size */
	RESULT_PROTOCOL,  /* eager or rendezvous, by message size */
	RESULT_MAP,	  /* overhead ratio over message size × computation time */
	RESULT_LOAD,	  /* relative delay over message size × threads */
	RESULT_BROADCAST, /* latency by method over tasks */
	RESULT_STENCIL,	  /* T_comp, T_comm, T_full over message size and ranks per core */
	RESULT_TIMERS,	  /* readings of several clocks for the same work */
	RESULT_COST,	  /* cost of a clock's operation */
};

struct result;
struct result_point;

/* Adds a point. The pointer is valid until the next call. */
struct result_point *result_point_add(struct result *r);
void result_param(struct result_point *p, const char *name, uint64_t value);
void result_param_text(struct result_point *p, const char *name, const char *value);
/*
 * Adds a time by name ("measured", "comm" …), in ns. Copies the samples if they are to be kept.
 * Without samples nothing is written.
 */
void result_time(struct result_point *p, const char *name, const struct samples *s);
void result_value(struct result_point *p, const char *name, double value); /* NaN is left out */

/* Sorts the points by two parameters. */
void result_sort(struct result *r, const char *first, const char *second);
/* A point's coordinate: one of its integer parameters. */
struct result_axis {
	const char *name;
	uint64_t value;
};
/* True if an interrupted run left a point with these coordinates (result_file.h). */
bool result_point_known(const struct result *r, const struct result_axis *axis, size_t axis_cnt);
/* Adds that point to the result; false if there is none. */
bool result_point_take(struct result *r, const struct result_axis *axis, size_t axis_cnt);

/* Read access for the classification and the self-test. Index 0 … result_point_cnt - 1. */
size_t result_point_cnt(const struct result *r);
const struct result_point *result_point_at(const struct result *r, size_t idx);
/*
 * NaN if the name is unknown. A time's name gives its median; "name.p99" etc. other figures of it.
 */
double result_number(const struct result_point *p, const char *name);

/* Sets the sentence that states what the result means, by a rule of classify.h. */
void result_sentence_set(struct result *r, const char *text);

#endif
