/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Labels are written one by one: gnuplot's own formats know neither powers of 1024 with their units nor microseconds.
 */
#include "axis.h"

#include "lib/human.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#define LINEAR_TICS 6

struct range range_empty(void)
{
	return (struct range){INFINITY, -INFINITY};
}

bool range_is_empty(const struct range *r)
{
	return !(r->low <= r->high);
}

void range_widen(struct range *r, double value)
{
	if (!isfinite(value))
		return;
	r->low = fmin(r->low, value);
	r->high = fmax(r->high, value);
}

void range_widen_log(struct range *r, double value)
{
	if (value > 0)
		range_widen(r, value);
}

static const char *time_text(double ns, int digits, char *buf, size_t bytes)
{
	static const struct {
		double ns;
		const char *name;
	} unit[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
	int i = 0;

	while (i < 3 && fabs(ns) < unit[i].ns * 0.9999)
		i++;
	if (ns == 0)
		snprintf(buf, bytes, "0");
	else
		snprintf(buf, bytes, "%s%.*g %s", ns < 0 ? "−" : "", digits, fabs(ns) / unit[i].ns,
			 unit[i].name);
	return buf;
}

const char *axis_time_text(double ns, char *buf, size_t bytes)
{
	return time_text(ns, 3, buf, bytes);
}

static void put_tic(struct script *s, const char *text, double at, bool *first)
{
	fprintf(s->out, "%s'%s' %.9g", *first ? "" : ", ", text, at);
	*first = false;
}

void axis_bytes(struct script *s, const char *name, const struct range *r, double tics, bool labels)
{
	/* Sizes beyond what 64 bits count are no sizes. */
	int low = (int)ceil(fmax(log2(r->low), 0) - 1e-9);
	int high = (int)floor(fmin(log2(r->high), 62) + 1e-9);
	int step = (int)fmax(ceil(log2(r->high / r->low) / fmax(tics, 1)), 1), at;
	char text[HUMAN_BYTES];
	bool first = true;

	script_line(s, "set logscale %s 2\nset %srange [%.9g:%.9g]", name, name, r->low, r->high);
	fprintf(s->out, "set %stics (", name);
	/* On multiples of the step, and 1 KiB and 1 MiB are of those that fit. */
	for (at = low; at <= high; at++) {
		if (at % step)
			continue;
		human_bytes(text, sizeof(text), (uint64_t)exp2(at));
		put_tic(s, labels ? text : "", exp2(at), &first);
	}
	script_line(s, ")");
}

/* Labels at multiples of a step that differ in the digits that are shown. */
static void put_steps(struct script *s, const char *name, const struct range *r, double step,
		      bool labels)
{
	double largest = fmax(fabs(r->low), fabs(r->high));
	int digits = (int)fmin(fmax(floor(log10(largest / step)) + 2, 3), 9);
	char text[AXIS_TEXT_BYTES];
	bool first = true;
	double at = ceil(r->low / step - 1e-6) * step;
	int i;

	fprintf(s->out, "set %stics (", name);
	for (i = 0; i < 6 * LINEAR_TICS && at + i * step <= r->high; i++) {
		/* Not the rounding that is left of 0. */
		double value = fabs(at + i * step) < step / 2 ? 0 : at + i * step;

		put_tic(s, labels ? time_text(value, digits, text, sizeof(text)) : "", value,
			&first);
	}
	script_line(s, ")");
}

/* 1, 2 or 5 times a power of ten, for about LINEAR_TICS labels. */
static double step_of(const struct range *r)
{
	double length = fmax(r->high - r->low, fabs(r->high) * 1e-6);
	double step = pow(10, floor(log10(length / LINEAR_TICS)));

	if (length / step > 4 * LINEAR_TICS)
		return 5 * step;
	return length / step > 1.5 * LINEAR_TICS ? 2 * step : step;
}

void axis_time(struct script *s, const char *name, const struct range *r, bool labels)
{
	int low = (int)floor(log10(r->low) + 1e-9), high = (int)ceil(log10(r->high) - 1e-9);
	/* Within few decades, 1 alone would leave an axis with hardly a label. */
	static const int few[] = {1, 2, 5, 0}, many[] = {1, 0};
	const int *digit = r->high / r->low < 100 ? few : many;
	char text[AXIS_TEXT_BYTES];
	bool first = true;
	int at, i, k;

	script_line(s, "set logscale %s 10\nset %srange [%.9g:%.9g]", name, name, r->low, r->high);
	if (r->high / r->low < 5) {
		put_steps(s, name, r, step_of(r), labels);
		return;
	}
	fprintf(s->out, "set %stics (", name);
	for (at = low; at <= high; at++) {
		for (i = 0; digit[i]; i++)
			put_tic(s,
				labels ?
					axis_time_text(digit[i] * pow(10, at), text, sizeof(text)) :
					"",
				digit[i] * pow(10, at), &first);
		for (k = 2; k < 10; k++)
			fprintf(s->out, ", '' %.9g 1", k * pow(10, at));
	}
	script_line(s, ")");
}

void axis_time_linear(struct script *s, const char *name, const struct range *r)
{
	script_line(s, "unset logscale %s\nset %srange [%.9g:%.9g]", name, name, r->low, r->high);
	put_steps(s, name, r, step_of(r), true);
}
