/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Creates the file for a trace and handles a file that already has its name. Private to user/trace.
 */
#ifndef POV_TRACE_CREATE_H
#define POV_TRACE_CREATE_H

#include "trace/trace_write.h"

struct trace_file {
	/* Path after following links; owned. NULL: the file was open already. */
	char *path;
	char *old; /* new name of the former file; owned, or NULL */
	const struct person *as;
};

/*
 * Creates the file as user opt->as. A former file with content is renamed to FILE.old if
 * opt->keep_old; otherwise it is truncated. With opt->fd nothing is created. 0 and *fd, or -errno
 * (printed).
 */
int trace_file_create(const char *path, const struct trace_writer_options *opt,
		      struct trace_file *file, int *fd);
/* Undoes the creation: removes the new file, and the former one gets its name back. */
void trace_file_undo(struct trace_file *file);
void trace_file_release(struct trace_file *file);

#endif
