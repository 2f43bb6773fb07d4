/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * From a .pov file to a timeline file, in one call: for `povtrace export`, and for `povtrace record` when it
 * is asked for a timeline. Includes nothing of the model.
 */
#ifndef POV_TIMELINE_EXPORT_H
#define POV_TIMELINE_EXPORT_H

#include "timeline/writer.h"

struct person;
struct trace_source;

struct export_options {
	const char *format; /* "json", "json.gz", "pftrace", …; NULL: by the output's ending */
	struct writer_select select;
	const struct person *as; /* who creates the output, and owns it; NULL: the caller */
};

/*
 * Exports recordings, that are read together (trace/trace_join.h), to out ("-": stdout). A file appears under its name only when it is whole, with
 * the first recording's mode, and replaces another (said); nothing is left behind otherwise. 0 or -errno (printed); -ENOTSUP for an output whose
 * format is unknown. *totals only on success.
 */
int export_timeline(const struct trace_source *source, size_t cnt, const char *out,
		    const struct export_options *opt, struct writer_totals *totals);

/* One line to stderr: what went to out. Warnings about what could not be shown. */
void export_report(const char *out, const char *format, const struct writer_totals *totals);

/* All of it, as that user (NULL: the caller), and the report. */
int export_file(const char *pov, const char *out, const struct person *as);

/* Whether out is known by its ending as a timeline (and not a .pov). */
bool export_wants(const char *out);

#endif
