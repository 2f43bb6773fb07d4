/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * A file that blocks are appended to, each with one pwritev: after any crash it is whole up to its
 * last complete block. The first failure is sticky. It cuts the file back to the last complete
 * block, and the file accepts nothing more. Private to user/trace.
 */
#ifndef POV_TRACE_APPEND_H
#define POV_TRACE_APPEND_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/trace_format.h"
#include "trace/trace_write.h"

struct append_file {
	int fd;
	const char *path;
	const char *fate;	/* printed after a write error: what becomes of the file */
	uint64_t max_bytes;	/* UINT64_MAX = no limit */
	uint64_t seq;		/* number of the next block */
	nlink_t links;		/* number of names when it was created; 0: a nameless file */
	_Atomic uint64_t bytes; /* may be read by other threads at any time, like err */
	atomic_int err;
};

/* Writes the file header. 0 or -errno (printed). */
int append_begin(struct append_file *f);
/*
 * Seals and appends one block. Its lengths and payload must be final. 0 or the sticky -errno
 * (printed once).
 */
int append_block(struct append_file *f, struct trace_block_header *h, const void *payload);
/* Appends the end block. */
int append_end(struct append_file *f);
/* Closes the file. 0, or the first -errno; -ENOENT or -EIO if others deleted or changed it. */
int append_close(struct append_file *f);

/*
 * Creates the file for a trace and handles a file that already has its name. Private to user/trace.
 */

struct trace_file {
	/* Path after following links; owned. NULL: the file was open already. */
	char *path;
	char *old; /* new name of the former file; owned, or NULL */
	uint64_t dev, ino;
	const struct person *as;
};

/*
 * Creates the file as user opt->as. A former file with content is renamed to FILE.old if
 * opt->keep_old (FILE.old.2 … if a recording goes to that, or if the former file is still being
 * written); otherwise it is truncated. With opt->fd nothing is created. 0 and *fd, or -errno
 * (printed).
 */
int trace_file_create(const char *path, const struct trace_writer_options *opt,
		      struct trace_file *file, int *fd);
/* Returns true, and warns, if another file has the path now. */
bool trace_file_is_renamed(const struct trace_file *file);
/* Undoes the creation: removes the new file, and the former one gets its name back. */
void trace_file_undo(struct trace_file *file);
void trace_file_release(struct trace_file *file);

#endif
