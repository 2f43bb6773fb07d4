/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * One buffer in front of the file, and a second one behind zlib when compressing. Knows no format.
 */
#include "timeline/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/log.h"

#define OUT_BUFFER_BYTES (256 * 1024)
#define OUT_GZIP_LEVEL 5	  /* half the time of the default for a few percent more bytes */
#define OUT_GZIP_WINDOW (15 + 16) /* +16: gzip header instead of zlib's */

struct out {
	FILE *file;
	char *buf, *pos, *end;
	z_stream *zip;
	unsigned char *zbuf;
	uint64_t bytes, flushed; /* written to the file; taken out of buf */
	int err;
};

struct out *out_new(FILE *file, bool gzip)
{
	struct out *o = xcalloc(1, sizeof(*o));

	o->file = file;
	o->buf = xmalloc(OUT_BUFFER_BYTES);
	o->pos = o->buf;
	o->end = o->buf + OUT_BUFFER_BYTES;
	if (!gzip)
		return o;
	o->zip = xcalloc(1, sizeof(*o->zip));
	o->zbuf = xmalloc(OUT_BUFFER_BYTES);
	if (deflateInit2(o->zip, OUT_GZIP_LEVEL, Z_DEFLATED, OUT_GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		die("export: zlib could not be started");
	return o;
}

static void out_file_write(struct out *o, const void *data, size_t bytes)
{
	if (o->err || !bytes)
		return;
	errno = 0;
	if (fwrite(data, 1, bytes, o->file) != bytes)
		o->err = errno ? -errno : -EIO;
	else
		o->bytes += bytes;
}

static void out_zip(struct out *o, const void *data, size_t bytes, int flush)
{
	o->zip->next_in = (unsigned char *)data;
	o->zip->avail_in = (unsigned int)bytes;
	do {
		o->zip->next_out = o->zbuf;
		o->zip->avail_out = OUT_BUFFER_BYTES;
		deflate(o->zip, flush);
		out_file_write(o, o->zbuf, OUT_BUFFER_BYTES - o->zip->avail_out);
	} while (!o->zip->avail_out && !o->err);
}

static void out_flush(struct out *o)
{
	size_t bytes = (size_t)(o->pos - o->buf);

	if (o->zip)
		out_zip(o, o->buf, bytes, Z_NO_FLUSH);
	else
		out_file_write(o, o->buf, bytes);
	o->flushed += bytes;
	o->pos = o->buf;
}

char *out_room(struct out *o)
{
	if (o->end - o->pos < OUT_ROOM_BYTES)
		out_flush(o);
	return o->pos;
}

void out_advance(struct out *o, char *end)
{
	o->pos = end;
}

void out_write(struct out *o, const void *data, size_t bytes)
{
	const char *from = data;

	while (bytes) {
		size_t room = (size_t)(o->end - o->pos);
		size_t part = bytes < room ? bytes : room;

		memcpy(o->pos, from, part);
		o->pos += part;
		from += part;
		bytes -= part;
		if (o->pos == o->end)
			out_flush(o);
	}
}

void out_text(struct out *o, const char *text)
{
	out_write(o, text, strlen(text));
}

uint64_t out_raw_bytes(const struct out *o)
{
	return o->flushed + (uint64_t)(o->pos - o->buf);
}

int out_error(const struct out *o)
{
	return o->err;
}

int out_finish(struct out *o, uint64_t *bytes)
{
	int err;

	out_flush(o);
	if (o->zip) {
		out_zip(o, NULL, 0, Z_FINISH);
		deflateEnd(o->zip);
		free(o->zip);
		free(o->zbuf);
	}
	errno = 0;
	if (fflush(o->file) && !o->err)
		o->err = errno ? -errno : -EIO;
	err = o->err;
	if (!err)
		*bytes = o->bytes;
	free(o->buf);
	free(o);
	return err;
}
