/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Shows how a program scales: the efficiencies of several runs in one table (report --scaling), as
 * text and JSON. kmod-docs/REPORT_SCALING.md describes the members of the JSON.
 */
#ifndef POV_REPORT_SCALING_H
#define POV_REPORT_SCALING_H

#include <stdio.h>

#include "analysis/efficiency.h"
#include "report/figure.h"

/*
 * Reads one run from its recordings and adds each of its jobs to s. Keeps nothing of a recording
 * after it returns. Returns 0 or -errno (printed). The sources must outlive s.
 */
int scaling_read(struct scaling *s, const struct trace_source *source, size_t nsources);
void scaling_text(const struct scaling *s, FILE *out);
int scaling_json(const struct scaling *s, FILE *out); /* 0 or -errno */

/* Figures of a struct scaling_run relative to the first run, for text and JSON. */
extern const struct figure scaling_figures[];

#endif
