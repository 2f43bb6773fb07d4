/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Axes of sizes and times with the units in the labels: "64 KiB" at powers of two, "10 µs" at
 * powers of ten. The data stays in bytes and ns.
 */
#ifndef POVPLOT_AXIS_H
#define POVPLOT_AXIS_H

#include "script.h"

#include <stdbool.h>

struct range {
	double low, high;
};

/* Returns an empty range, to be widened. */
struct range range_empty(void);
bool range_is_empty(const struct range *r);
void range_widen(struct range *r, double value);     /* ignores NaN */
void range_widen_log(struct range *r, double value); /* also ignores values without a logarithm */

/* Writes "307 µs", with three digits. Needs AXIS_TEXT_BYTES; returns buf. */
#define AXIS_TEXT_BYTES 32
const char *axis_time_text(double ns, char *buf, size_t bytes);

/*
 * Logarithmic axes named "x" or "y", from low to high, both above 0. `tics` is the number of
 * labels that fit. Without `labels` there are marks only.
 */
void axis_bytes(struct script *s, const char *name, const struct range *r, double tics,
		bool labels);
void axis_time(struct script *s, const char *name, const struct range *r, bool labels);
void axis_time_linear(struct script *s, const char *name, const struct range *r);

#endif
