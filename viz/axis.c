/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Labels are written one by one: gnuplot's own formats know neither powers of 1024 with their units nor microseconds.
 */
#include "axis.h"

#include "base/human.h"

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

const char *axis_time_text(double ns, char *buf, size_t bytes)
{
	static const struct {
		double ns;
		const char *name;
	} unit[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {0, "ns"}};
	int i = 0;

	while (ns < unit[i].ns * 0.9999)
		i++;
	snprintf(buf, bytes, "%.3g %s", unit[i].ns > 0 ? ns / unit[i].ns : ns, unit[i].name);
	return buf;
}

static void put_tic(struct script *s, const char *text, double at, bool *first)
{
	fprintf(s->out, "%s'%s' %.9g", *first ? "" : ", ", text, at);
	*first = false;
}

void axis_bytes(struct script *s, const char *name, const struct range *r, int tics, bool labels)
{
	/* Sizes beyond what 64 bits count are no sizes. */
	int low = (int)ceil(fmax(log2(r->low), 0) - 1e-9);
	int high = (int)floor(fmin(log2(r->high), 62) + 1e-9);
	int step = high > low ? (high - low) / tics + 1 : 1, at;
	char text[HUMAN_BYTES];
	bool first = true;

	script_line(s, "set logscale %s 2\nset %srange [%.9g:%.9g]", name, name, r->low, r->high);
	fprintf(s->out, "set %stics (", name);
	/* On multiples of the step, so that 1 KiB and 1 MiB are among them more often than not. */
	for (at = low; at <= high; at++) {
		if (at % step)
			continue;
		human_bytes(text, sizeof(text), (uint64_t)exp2(at));
		put_tic(s, labels ? text : "", exp2(at), &first);
	}
	script_line(s, ")");
}

void axis_time(struct script *s, const char *name, const struct range *r, bool labels)
{
	int low = (int)floor(log10(r->low) + 1e-9), high = (int)ceil(log10(r->high) - 1e-9);
	/* Within a decade or two, 1 alone would leave an axis without labels. */
	static const int few[] = {1, 2, 5, 0}, many[] = {1, 0};
	const int *digit = high - low > 2 ? many : few;
	char text[AXIS_TEXT_BYTES];
	bool first = true;
	int at, i, k;

	script_line(s, "set logscale %s 10\nset %srange [%.9g:%.9g]", name, name, r->low, r->high);
	fprintf(s->out, "set %stics (", name);
	for (at = low; at <= high; at++) {
		for (i = 0; digit[i]; i++)
			put_tic(s,
				labels ?
					axis_time_text(digit[i] * pow(10, at), text, sizeof(text)) :
					"",
				digit[i] * pow(10, at), &first);
		for (k = 2; k < 10 && digit == many; k++)
			fprintf(s->out, ", '' %.9g 1", k * pow(10, at));
	}
	script_line(s, ")");
}

void axis_time_linear(struct script *s, const char *name, double high_ns)
{
	double step = pow(10, floor(log10(high_ns / LINEAR_TICS)));
	char text[AXIS_TEXT_BYTES];
	bool first = true;
	int i;

	if (high_ns / step > 5 * LINEAR_TICS)
		step *= 5;
	else if (high_ns / step > 2 * LINEAR_TICS)
		step *= 2;
	script_line(s, "set %srange [0:%.9g]", name, high_ns);
	fprintf(s->out, "set %stics (", name);
	for (i = 0; i * step <= high_ns; i++)
		put_tic(s, i ? axis_time_text(i * step, text, sizeof(text)) : "0", i * step,
			&first);
	script_line(s, ")");
}
