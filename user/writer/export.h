/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * From a .pov file to a timeline file, in one call: for `povtrace export`, and for `povtrace record` when it
 * is asked for a timeline. Includes nothing of the model.
 */
#ifndef POV_WRITER_EXPORT_H
#define POV_WRITER_EXPORT_H

#include "writer/writer.h"

struct export_options {
	const char *format; /* "json", "json.gz", "pftrace", …; NULL: by the output's ending */
	struct writer_select select;
	bool own; /* the output stays owned by whoever runs this; else it gets the recording's owner */
};

/*
 * Exports the recording at pov to out ("-": stdout). A file appears under its name only when it is whole, with
 * the recording's mode; nothing is left behind otherwise. 0 or -errno (printed); -ENOTSUP for an output whose
 * format is unknown. *totals only on success.
 */
int export_timeline(const char *pov, const char *out, const struct export_options *opt,
		    struct writer_totals *totals);

/* One line to stderr: what went to out. Warnings about what could not be shown. */
void export_report(const char *out, const struct writer_totals *totals);

/* All of it, with the recording's owner, and the report. */
int export_file(const char *pov, const char *out);

/* Whether out is known by its ending as a timeline (and not a .pov). */
bool export_wants(const char *out);

#endif
