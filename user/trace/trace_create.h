/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The file that a trace is written to, and what becomes of one that was there before. Private to user/trace.
 */
#ifndef POV_TRACE_CREATE_H
#define POV_TRACE_CREATE_H

#include "trace/trace_write.h"

struct trace_file {
	char *path; /* behind all links; owned, as is the next; NULL: it was open already */
	char *old;  /* the name that a former file got, or NULL */
	const struct person *as;
};

/*
 * Creates the file, as opt->as. A former one that holds something gets the name FILE.old if opt->keep_old, and is else
 * emptied. With opt->fd nothing is created. 0 and *fd, or -errno (printed).
 */
int trace_file_create(const char *path, const struct trace_writer_options *opt,
		      struct trace_file *file, int *fd);
/* As if it had never been created. */
void trace_file_undo(struct trace_file *file);
void trace_file_release(struct trace_file *file);

#endif
