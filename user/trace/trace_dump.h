/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A file that is made of what is kept, by a thread of its own. Private to user/trace. */
#ifndef POV_TRACE_DUMP_H
#define POV_TRACE_DUMP_H

#include <stdint.h>

#include "trace/trace_write.h"

struct dump;
struct keep;

/* Creates the file, as the options say. 0 or -errno (printed). */
int dump_new(const char *path, const struct trace_writer_options *opt, struct dump **out);
/* Takes what is kept of the segments before until, and starts writing it. 0 or -errno (printed): dump_poll tells it, too. */
int dump_start(struct dump *d, struct keep *k, uint64_t until);
/* -EAGAIN while it is written; else as dump_wait. */
int dump_poll(struct dump *d, uint64_t *file_bytes);
/* Waits until it is written, and frees it. 0 and the file's size, or -errno (printed): then the file has been removed. */
int dump_wait(struct dump *d, uint64_t *file_bytes);

#endif
