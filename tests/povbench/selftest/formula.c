/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * See formula.h. Formulas are evaluated while they are parsed, with one function per operator
 * level.
 */
#include "selftest/formula.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "core/classify.h"
#include "selftest/pattern.h"

#define NAME_BYTES 32
#define ARGS_MAX 5

/* ---- settings ---- */

static const struct setting {
	const char *name;
	enum { DOUBLE, INT, U64, BOOL, TEXT } type;
	size_t offset; /* in struct selftest */
} settings[] = {
#define MODEL(type, name)                                          \
	{                                                          \
#name, type, offsetof(struct selftest, model.name) \
	}
#define OPTION(type, name)                                       \
	{                                                        \
#name, type, offsetof(struct selftest, opt.name) \
	}
	MODEL(INT, ranks),
	MODEL(DOUBLE, latency_ns),
	MODEL(DOUBLE, far_ns),
	MODEL(DOUBLE, byte_ns),
	MODEL(DOUBLE, send_ns),
	MODEL(DOUBLE, recv_ns),
	MODEL(DOUBLE, isend_ns),
	MODEL(U64, eager_bytes),
	MODEL(DOUBLE, overlap_send),
	MODEL(DOUBLE, overlap_recv),
	MODEL(DOUBLE, overlap_strided),
	MODEL(DOUBLE, pack_byte_ns),
	MODEL(DOUBLE, slow),
	MODEL(BOOL, handshake),
	MODEL(BOOL, shared_link),
	MODEL(INT, bcast),
	MODEL(BOOL, coll_in_wait),
	MODEL(INT, cores),
	MODEL(DOUBLE, load_delay_ns),
	MODEL(DOUBLE, steal),
	MODEL(DOUBLE, slice_ns),
	MODEL(DOUBLE, compute_drift),
	MODEL(DOUBLE, drift_period_ns),
	MODEL(DOUBLE, compute_noise),
	MODEL(DOUBLE, tick_ns),
	MODEL(DOUBLE, tick_period_ns),
	MODEL(DOUBLE, poll_slow),
	MODEL(DOUBLE, cold_ns),
	MODEL(DOUBLE, clock_ns),
	MODEL(DOUBLE, test_ns),
	MODEL(INT, nodes),
	MODEL(DOUBLE, clock_skew_ns),
	MODEL(DOUBLE, clock_drift),
	MODEL(DOUBLE, wtime_pace),
	OPTION(U64, bytes_min),
	OPTION(U64, bytes_max),
	OPTION(U64, compute_min_ns),
	OPTION(U64, compute_max_ns),
	{"compute_kind", INT, offsetof(struct selftest, opt.compute.kind)},
	OPTION(DOUBLE, step),
	OPTION(U64, samples),
	OPTION(U64, samples_max),
	OPTION(U64, warmup),
	OPTION(U64, window),
	OPTION(U64, pairs),
	OPTION(U64, repeat),
	OPTION(TEXT, tasks),
};

static const struct setting *setting_find(const char *name)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (!strcmp(settings[i].name, name))
			return &settings[i];
	return NULL;
}

static double setting_value(const struct selftest *t, const struct setting *s)
{
	const char *at = s ? (const char *)t + s->offset : NULL;

	switch (s ? s->type : TEXT) {
	case DOUBLE:
		return *(const double *)at;
	case INT:
		return *(const int *)at;
	case U64:
		return (double)*(const uint64_t *)at;
	case BOOL:
		return *(const bool *)at;
	case TEXT:
		break;
	}
	return NAN;
}

void setting_set(struct selftest *t, const char *name, const char *formula)
{
	const struct setting *s = setting_find(name);
	char *at = (char *)t + (s ? s->offset : 0);

	if (!s)
		die("cases.txt: no setting is called %s", name);
	switch (s->type) {
	case DOUBLE:
		*(double *)at = formula_value(t, formula);
		break;
	case INT:
		*(int *)at = (int)formula_value(t, formula);
		break;
	case U64:
		*(uint64_t *)at = (uint64_t)formula_value(t, formula);
		break;
	case BOOL:
		*(bool *)at = formula_value(t, formula) != 0;
		break;
	case TEXT:
		free(t->tasks);
		t->tasks = xstrdup(formula);
		*(const char **)at = t->tasks;
		break;
	}
}

/* ---- names and functions ---- */

const struct definition *definition_find(const struct selftest *t, const char *kind,
					 const char *name)
{
	const struct definition *d = t->definitions;

	while (d && (strcmp(d->kind, kind) || strcmp(d->name, name)))
		d = d->next;
	return d;
}

static double name_value(const struct selftest *t, const char *name)
{
	const struct definition *let = definition_find(t, "let", name);
	const struct result *r = t->result;

	if (!strcmp(name, "want"))
		return formula_value(t, t->want);
	if (let)
		return formula_value(t, let->text);
	/* A number counts if any point has it; this point may lack it. */
	for (size_t i = 0; r && i < result_point_cnt(r); i++)
		if (!isnan(result_number(result_point_at(r, i), name)))
			return result_number(result_point_at(r, t->point), name);
	return setting_value(t, setting_find(name));
}

static double function_value(const struct selftest *t, const char *name, const double *arg, int n)
{
	double value = n ? arg[0] : NAN;

	if (!strcmp(name, "min") || !strcmp(name, "max")) {
		for (int i = 1; i < n; i++)
			value = name[1] == 'i' ? fmin(value, arg[i]) : fmax(value, arg[i]);
		return value;
	}
	if (!strcmp(name, "known"))
		return !isnan(value);
	if (!strcmp(name, "ceil"))
		return ceil(value);
	if (!strcmp(name, "log2"))
		return log2(value);
	if (!strcmp(name, "round"))
		return round(value);
	return pattern_value(t, name, value);
}

/* ---- reading ---- */

struct reader {
	const struct selftest *t;
	const char *at, *all;
};

static double choice_read(struct reader *r);

static bool taken(struct reader *r, const char *token)
{
	r->at += strspn(r->at, " ");
	if (strncmp(r->at, token, strlen(token)) != 0)
		return false;
	r->at += strlen(token);
	return true;
}

static void expect(struct reader *r, const char *token)
{
	if (!taken(r, token))
		die("cases.txt: %s: expected \"%s\" before \"%s\"", r->all, token, r->at);
}

/* Parses the rest after "sum(". Both formulas are parsed again for each point. */
static double sum_read(struct reader *r)
{
	const char *begin = r->at;
	double sum = 0, same, value, key;
	struct selftest other = *r->t;
	struct reader again = {&other, begin, r->all};

	choice_read(r);
	expect(r, ",");
	same = choice_read(r);
	expect(r, ")");
	for (other.point = 0; other.point < result_point_cnt(other.result); other.point++) {
		again.at = begin;
		value = choice_read(&again);
		expect(&again, ",");
		key = choice_read(&again);
		sum += key == same ? value : 0;
	}
	return sum;
}

static double name_read(struct reader *r)
{
	char name[NAME_BYTES], word[NAME_BYTES];
	double arg[ARGS_MAX];
	int n = 0, bytes;

	if (sscanf(r->at, "%31[a-z0-9_.]%n", name, &bytes) != 1)
		die("cases.txt: %s: a value is missing before \"%s\"", r->all, r->at);
	r->at += bytes;
	if (sscanf(r->at, ":%31[a-z_]%n", word, &bytes) == 1) {
		r->at += bytes;
		return !strcmp(classify_text(r->t->result, r->t->point, name), word);
	}
	if (!taken(r, "("))
		return name_value(r->t, name);
	if (!strcmp(name, "sum"))
		return sum_read(r);
	while (!taken(r, ")")) {
		if (n)
			expect(r, ",");
		if (n == ARGS_MAX)
			die("cases.txt: %s: too many arguments", r->all);
		arg[n++] = choice_read(r);
	}
	return function_value(r->t, name, arg, n);
}

static double value_read(struct reader *r)
{
	double value;
	char *end;

	if (taken(r, "-"))
		return -value_read(r);
	if (taken(r, "!"))
		return !value_read(r);
	if (taken(r, "(")) {
		value = choice_read(r);
		expect(r, ")");
		return value;
	}
	if (!isdigit((unsigned char)*r->at) && *r->at != '.')
		return name_read(r);
	value = strtod(r->at, &end);
	r->at = end;
	return value;
}

static double product_read(struct reader *r)
{
	double value = value_read(r);

	for (;;) {
		if (taken(r, "*"))
			value *= value_read(r);
		else if (taken(r, "/"))
			value /= value_read(r);
		else
			return value;
	}
}

static double terms_read(struct reader *r)
{
	double value = product_read(r);

	for (;;) {
		if (taken(r, "+"))
			value += product_read(r);
		else if (taken(r, "-"))
			value -= product_read(r);
		else
			return value;
	}
}

static double compare_read(struct reader *r)
{
	double value = terms_read(r);

	if (taken(r, "<="))
		return value <= terms_read(r);
	if (taken(r, ">="))
		return value >= terms_read(r);
	if (taken(r, "=="))
		return value == terms_read(r);
	if (taken(r, "<"))
		return value < terms_read(r);
	if (taken(r, ">"))
		return value > terms_read(r);
	return value;
}

/*
 * && and || have the same precedence, from left to right. Formulas that mix them have parentheses.
 */
static double choice_read(struct reader *r)
{
	double value = compare_read(r), other, yes, no;

	for (;;) {
		if (taken(r, "&&")) {
			other = compare_read(r);
			value = value && other;
		} else if (taken(r, "||")) {
			other = compare_read(r);
			value = value || other;
		} else if (taken(r, "?")) {
			yes = choice_read(r);
			expect(r, ":");
			no = choice_read(r);
			return value ? yes : no;
		} else {
			return value;
		}
	}
}

double formula_value(const struct selftest *t, const char *formula)
{
	struct reader r = {t, formula, formula};
	double value = choice_read(&r);

	if (*r.at)
		die("cases.txt: %s: junk at \"%s\"", formula, r.at);
	return value;
}
