/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Formulas of cases.txt. A formula has numbers, the operators of C from ?: to unary - (no bitwise
 * ones, no shifts), and names. A name is the first of these that exists: `want` (the formula of the
 * case), a definition by `let`, a number of the point, a setting of the machine. param:word is 1 if
 * the point's text parameter is that word, else 0. Functions:
 *
 *   min max ceil log2 round   as in C; min and max take several values
 *   known(X)                  X is not NaN
 *   sum(X, Y)                 the sum of X over the points that have the same Y as this one
 *   finish(TASK) last_finish() reduced() reduce_path(TASK)   see pattern.h
 */
#ifndef POVBENCH_FORMULA_H
#define POVBENCH_FORMULA_H

#include "core/bench.h"
#include "model/model.h"

/* A definition in cases.txt: its line, and the indented lines below it. */
struct definition {
	struct definition *next;
	char *kind, *name, *text;
};

/* The case that runs. */
struct selftest {
	const struct definition *definitions;
	const struct bench *bench;
	struct model_settings model;
	struct bench_options opt;
	struct result *result;
	size_t point;	  /* index of the point that formulas refer to */
	const char *want; /* the formula of the case */
	char *tasks;	  /* text of opt.tasks; owned */
};

/* Returns NULL if there is none. */
const struct definition *definition_find(const struct selftest *t, const char *kind,
					 const char *name);
/* Ends the program if the formula is wrong. */
double formula_value(const struct selftest *t, const char *formula);
/* Sets one setting of the machine or option of the benchmark. */
void setting_set(struct selftest *t, const char *name, const char *formula);

#endif
