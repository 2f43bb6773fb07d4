/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Buffered output of a writer, optionally through gzip. Errors stick: after the first one everything is
 * dropped and out_finish() returns it, so that the many small appends need no checks.
 */
#ifndef POV_TIMELINE_OUT_H
#define POV_TIMELINE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OUT_ROOM_BYTES 8192 /* most that one out_room() can promise */

struct out;

/* file stays the caller's. The caller ends it with out_finish(). */
struct out *out_new(FILE *file, bool gzip);

/* A place for at least OUT_ROOM_BYTES bytes; out_advance() says where writing ended. */
char *out_room(struct out *o);
void out_advance(struct out *o, char *end);

void out_write(struct out *o, const void *data, size_t bytes);
void out_text(struct out *o, const char *text);

/* Of what was appended: before it is compressed. */
uint64_t out_raw_bytes(const struct out *o);

/* The sticky error so far: 0 or -errno. */
int out_error(const struct out *o);

/* Flushes down to the file. 0 or the first -errno met (not printed); *bytes = written to file. Frees o. */
int out_finish(struct out *o, uint64_t *bytes);

#endif
