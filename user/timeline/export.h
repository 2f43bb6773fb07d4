/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Converts a .pov file to a timeline file in one call, for `povtrace export`, and for `povtrace
 * record` with a timeline as its output. Includes nothing of the model.
 */
#ifndef POV_TIMELINE_EXPORT_H
#define POV_TIMELINE_EXPORT_H

#include <stdio.h>

#include "timeline/writer.h"

struct person;
struct scaling;
struct trace_source;

struct export_options {
	/* "json", "json.gz", "pftrace", …; NULL: chosen by the output's file name */
	const char *format;
	struct writer_select select;
	const struct person *as; /* creator and owner of the output; NULL: the caller */
};

/*
 * Exports recordings, read together as in trace/trace_join.h, to out ("-": stdout). A file appears
 * under its name only when complete, with the first recording's mode. It replaces an existing file
 * (printed). A failure leaves nothing behind. 0 or -errno (printed); -ENOTSUP if the output's
 * format is unknown. *totals is written only on success.
 */
int export_timeline(const struct trace_source *source, size_t cnt, const char *out,
		    const struct export_options *opt, struct writer_totals *totals);

/*
 * Prints what was written to out, in one line to stderr, and warns about what could not be shown.
 */
void export_report(const char *out, const char *format, const struct writer_totals *totals);

/* Exports a whole recording as that user (NULL: the caller) and prints the report. */
int export_file(const char *pov, const char *out, const struct person *as);

/* True if the file name of out selects a timeline format (not .pov). */
bool export_wants(const char *out);

/*
 * How a program scales, as a picture: efficiencies against ranks. One SVG file without scripts or
 * references.
 */

/* s must have a known run. 0 or -errno (not printed). */
int svg_scaling_write(const struct scaling *s, FILE *file);

#endif
