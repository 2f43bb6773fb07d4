/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Writes a file from the blocks in memory in a thread of its own. Private to user/trace. */
#ifndef POV_TRACE_DUMP_H
#define POV_TRACE_DUMP_H

#include <stdint.h>

#include "trace/trace_write.h"

struct dump;
struct keep;

/* Creates the file according to opt. 0 or -errno (printed). */
int dump_new(const char *path, const struct trace_writer_options *opt, struct dump **out);
/*
 * Takes the stored blocks of all segments before `until` and starts writing them. 0 or -errno
 * (printed). dump_poll() returns the same error.
 */
int dump_start(struct dump *d, struct keep *k, uint64_t until);
/* -EAGAIN while the file is being written; then the result of dump_wait(). */
int dump_poll(struct dump *d, uint64_t *file_bytes);
/*
 * Waits until the file is written, and frees d. 0 and the file's size, or -errno (printed): then
 * the file has been removed.
 */
int dump_wait(struct dump *d, uint64_t *file_bytes);

#endif
