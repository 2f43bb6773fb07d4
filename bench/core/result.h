/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a benchmark found, as JSON (kmod-docs/BENCH_FORMAT.md). A result is a list of points; a point has parameters
 * (what was set), times (summaries of samples) and values (derived from the times).
 */
#ifndef POVBENCH_RESULT_H
#define POVBENCH_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/stats.h"

enum result_kind {
	RESULT_CURVE,	  /* times over message size */
	RESULT_PROTOCOL,  /* what a message's size decides: eager or rendezvous */
	RESULT_MAP,	  /* overhead ratio over message size × computation time */
	RESULT_LOAD,	  /* relative delay over message size × threads */
	RESULT_BROADCAST, /* latency by method over tasks */
	RESULT_STENCIL,	  /* T_comp, T_comm, T_full over message size and ranks per core */
	RESULT_TIMERS,	  /* what clocks say of the same work */
	RESULT_COST,	  /* what an operation of a clock takes */
};

struct result;
struct result_point;

/* A new point; valid until the next one. */
struct result_point *result_point_add(struct result *r);
void result_param(struct result_point *p, const char *name, uint64_t value);
void result_param_text(struct result_point *p, const char *name, const char *value);
/* name: "measured", "comm" …; the samples are copied if they are to be kept. ns. Without samples nothing is written. */
void result_time(struct result_point *p, const char *name, const struct samples *s);
void result_value(struct result_point *p, const char *name, double value); /* NaN is left out */

/* Puts the points in the order of two parameters. */
void result_sort(struct result *r, const char *first, const char *second);
/* A point's place: one of its whole-numbered parameters. */
struct result_axis {
	const char *name;
	uint64_t value;
};
/* Whether there is a point at that place from before the run was broken off (result_file.h). */
bool result_point_known(const struct result *r, const struct result_axis *axis, size_t axis_cnt);
/* Takes it; false: there is none. */
bool result_point_take(struct result *r, const struct result_axis *axis, size_t axis_cnt);

/* Reading back: what the classification and the self-test go by. Index 0 … result_point_cnt - 1. */
size_t result_point_cnt(const struct result *r);
const struct result_point *result_point_at(const struct result *r, size_t idx);
/* NaN if there is none of that name. A time's is its median; "name.p99" and so on name another figure of it. */
double result_number(const struct result_point *p, const char *name);

/* One sentence that says what the result means, by a rule stated where it is made (classify.h). */
void result_sentence_set(struct result *r, const char *text);

#endif
