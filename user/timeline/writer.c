/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Writers by path or format name, what they are to select, and their output. */
#include "timeline/writer.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/human.h"
#include "lib/log.h"
#include "lib/table.h"
#include "lib/text.h"
#include "model/model.h"

const struct writer *writer_find(const char *path_or_name, bool *gzip)
{
	size_t len = strlen(path_or_name);
	bool zip = text_ends_in(path_or_name, len, ".gz");

	if (zip)
		len -= 3;
	for (uint32_t i = 0; writers[i]; i++) {
		const struct writer *w = writers[i];
		bool hit = strlen(w->name) == len && !memcmp(path_or_name, w->name, len);

		for (uint32_t j = 0; !hit && w->endings[j]; j++)
			hit = text_ends_in(path_or_name, len, w->endings[j]);
		if (hit) {
			*gzip = zip;
			return w;
		}
	}
	return NULL;
}

/* ---- selecting ---- */

/*
 * An empty selection is a spelling mistake, which is reported before anything is written. Selecting
 * something that the recording knows but did not call is no mistake.
 */

uint32_t select_ranks(const struct model *m, const struct writer_select *sel, uint32_t *nranks)
{
	uint32_t chosen = 0;

	*nranks = 0;
	for (uint32_t i = 0; i < model_process_count(m); i++) {
		const struct model_process *p = model_process_get(m, i);

		if (!p->is_rank)
			continue;
		(*nranks)++;
		chosen += rank_list_has(&sel->ranks, p->job_idx, p->rank);
	}
	return chosen;
}

bool select_process(const struct writer_select *sel, const struct model_process *p)
{
	if (!sel || !sel->ranks.n)
		return true;
	return p && p->is_rank && rank_list_has(&sel->ranks, p->job_idx, p->rank);
}

bool *select_processes(const struct model *m, const struct writer_select *sel)
{
	uint32_t n = model_process_count(m);
	bool *chosen = xcalloc(n + 1, sizeof(*chosen));

	for (uint32_t i = 0; i < n; i++)
		chosen[i] = select_process(sel, model_process_get(m, i));
	return chosen;
}

static bool pattern_matches(const struct model *m, const char *pattern)
{
	return table_any(model_func_count(m), i, !fnmatch(pattern, model_func_get(m, i)->name, 0));
}

static int times_check(const struct model *m, const char *path, const struct writer_select *sel)
{
	const struct model_info *info = model_get_info(m);
	uint64_t ns = info->end_ns - info->start_ns;

	if (sel->from_ns <= ns)
		return 0;
	log_error("export: --from %g is past the end of %s (%s)", (double)sel->from_ns / 1e9, path,
		  ROUND_NS_TEXT(ns));
	return -ENOENT;
}

int select_check(const struct model *m, const char *path, const struct writer_select *sel)
{
	uint32_t nranks;

	if (sel->ranks.n && !select_ranks(m, sel, &nranks)) {
		log_error("export: none of the ranks asked for is in %s; it has %u: \"povtrace "
			  "info\" lists them",
			  path, nranks);
		return -ENOENT;
	}
	for (uint32_t i = 0; i < sel->nfunctions && model_func_count(m); i++) {
		if (pattern_matches(m, sel->functions[i]))
			continue;
		log_error("export: --function \"%s\" matches no function that %s knows; capitals "
			  "matter: try 'MPI_*[Ss]end'",
			  sel->functions[i], path);
		return -ENOENT;
	}
	return times_check(m, path, sel);
}

/* ---- output ---- */

/* One buffer in front of the file, and a second one after zlib when compressing. */

#define OUT_BUFFER_BYTES (256 * 1024)
#define OUT_GZIP_LEVEL 5	  /* half the time of the default, for a few percent more bytes */
#define OUT_GZIP_WINDOW (15 + 16) /* +16: gzip header instead of zlib's */

struct out {
	FILE *file;
	char *buf, *pos, *end;
	z_stream *zip;
	unsigned char *zbuf;
	uint64_t bytes, flushed; /* bytes: written to the file; flushed: taken out of buf */
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
