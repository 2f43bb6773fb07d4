/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* How a program scales: the efficiencies of several runs in one table (report --scaling), as text and JSON. kmod-docs/REPORT.md has its members. */
#ifndef POV_REPORT_SCALING_H
#define POV_REPORT_SCALING_H

#include <stdio.h>

#include "analysis/scaling.h"
#include "report/figure.h"

/*
 * Reads one run, whose recordings are read together, and adds each of its jobs. 0 or -errno (printed). Runs are read one after the other,
 * and nothing of a recording is kept. The sources must outlive it.
 */
int scaling_read(struct scaling *s, const struct trace_source *source, size_t nsources);
void scaling_text(const struct scaling *s, FILE *out);
int scaling_json(const struct scaling *s, FILE *out); /* 0 or -errno */

/* For both forms: of a struct scaling_run, what relates it to the first. */
extern const struct figure scaling_figures[];

#endif
