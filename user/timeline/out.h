/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Buffered output of a writer, optionally through gzip. Errors are sticky: after the first one all
 * output is dropped and out_finish() returns the error, so the many small appends need no checks.
 */
#ifndef POV_TIMELINE_OUT_H
#define POV_TIMELINE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OUT_ROOM_BYTES 8192 /* most that one out_room() can provide */

struct out;

/* The caller keeps file, and ends the output with out_finish(). */
struct out *out_new(FILE *file, bool gzip);

/*
 * Returns space for at least OUT_ROOM_BYTES bytes. Pass the end of the written data to
 * out_advance().
 */
char *out_room(struct out *o);
void out_advance(struct out *o, char *end);

void out_write(struct out *o, const void *data, size_t bytes);
void out_text(struct out *o, const char *text);

/* Bytes appended so far, before compression. */
uint64_t out_raw_bytes(const struct out *o);

/* The sticky error so far: 0 or -errno. */
int out_error(const struct out *o);

/* Flushes to the file and frees o. *bytes: size written. 0 or the first -errno (not printed). */
int out_finish(struct out *o, uint64_t *bytes);

#endif
