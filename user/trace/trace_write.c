/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The writer's front: the thread that empties the rings encodes records into its streams' open
 * blocks and hands full ones to the writing thread (trace_store.c). Buffers go round between the
 * two; the adding thread waits only when all of them are on their way to the disk, and counts
 * that.
 *
 * max_bytes is kept without losing anything accepted: what is not yet on disk is counted at its
 * size before compression, and when that would exceed the limit, open blocks are written out and
 * measured.
 */
#include "trace/trace_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/event.h"
#include "base/log.h"
#include "trace/trace_create.h"
#include "trace/trace_store.h"

#define STREAM_CNT 65536
#define BLOCK_BYTES_MIN (sizeof(struct trace_block_header) + CODEC_PREFIX_BYTES)
/* Nearer to max_bytes than this, blocks become too small to be worth it. */
#define LIMIT_GAIN_MIN 4096
#define LIMIT_META_MAX (64u << 10)

struct stream {
	uint16_t id;
	struct store_job *open; /* NULL between blocks */
	struct codec_encoder enc;
};

struct trace_writer {
	struct trace_file file;
	struct store *store;
	struct stream **stream; /* by id; owned */
	uint32_t *ids;		/* of the streams there are, owned */
	uint32_t nstreams;
	struct trace_tally accepted;
	uint64_t event_limit; /* file size at which events stop; UINT64_MAX = never */
	uint64_t room;	      /* bytes that can be encoded before the limit has to be looked at */
	bool full;	      /* event_limit reached */
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int trace_writer_open(const char *path, const struct trace_writer_options *opt,
		      struct trace_writer **out)
{
	struct trace_writer *w = xcalloc(1, sizeof(*w));
	uint64_t reserve;
	int fd = -1, err;

	err = trace_file_create(path, opt, &w->file, &fd);
	if (!err)
		err = store_start(fd, path, opt, &w->store);
	if (err) {
		trace_file_release(&w->file);
		free(w);
		return err;
	}
	w->stream = xcalloc(STREAM_CNT, sizeof(*w->stream));
	w->event_limit = UINT64_MAX;
	w->room = UINT64_MAX;
	if (opt->max_bytes) {
		reserve = opt->max_bytes / 4 < LIMIT_META_MAX ? opt->max_bytes / 4 : LIMIT_META_MAX;
		w->event_limit = opt->max_bytes - reserve;
		w->room = 0;
	}
	*out = w;
	return 0;
}

static void stream_hand_over(struct trace_writer *w, struct stream *s)
{
	store_put(w->store, s->open);
	s->open = NULL;
}

/* Worst size of the file if all that was accepted is written uncompressed. */
static uint64_t worst_bytes(const struct trace_writer *w)
{
	uint64_t bytes = store_worst_bytes(w->store);

	for (uint32_t i = 0; i < w->nstreams; i++) {
		const struct store_job *job = w->stream[w->ids[i]]->open;

		if (job)
			bytes += sizeof(struct trace_block_header) + codec_block_bytes(&job->block);
	}
	return bytes;
}

/* Called when `need` more bytes may exceed the limit. 0 or -EFBIG. */
static int limit_make_room(struct trace_writer *w, uint64_t need)
{
	uint64_t worst = worst_bytes(w);

	if (worst + need > w->event_limit) {
		trace_writer_drain(w);
		worst = store_worst_bytes(w->store);
		need += LIMIT_GAIN_MIN;
	}
	if (worst + need > w->event_limit) {
		w->full = true;
		return -EFBIG;
	}
	w->room = w->event_limit - worst;
	return 0;
}

static struct stream *stream_new(struct trace_writer *w, uint16_t id)
{
	struct stream *s = xcalloc(1, sizeof(*s));

	s->id = id;
	w->ids = xrealloc(w->ids, (w->nstreams + 1) * sizeof(*w->ids));
	w->ids[w->nstreams++] = id;
	w->stream[id] = s;
	store_grow(w->store);
	return s;
}

static void stream_begin(struct trace_writer *w, struct stream *s)
{
	s->open = store_get(w->store);
	s->open->stream = s->id;
	s->open->opened_ns = now_ns();
	s->open->tally = (struct trace_tally){};
	codec_encode_begin(&s->enc, &s->open->block);
}

static void tally_add(struct trace_tally *t, const struct pov_hdr *rec)
{
	const struct pov_spin *spin = (const struct pov_spin *)rec;

	t->records++;
	switch (rec->kind) {
	case POV_KIND_CALL:
		t->calls++;
		break;
	case POV_KIND_SWITCH:
		t->switches++;
		break;
	case POV_KIND_SPIN:
		t->spins++;
		for (size_t i = 0;
		     sizeof(*spin) + (i + 1) * sizeof(*spin->func) <= rec->size && i < spin->nfuncs;
		     i++)
			t->polls += spin->func[i].cnt;
		break;
	}
}

int trace_writer_add(struct trace_writer *w, unsigned int id, const struct pov_hdr *rec)
{
	uint64_t need = codec_worst_bytes(rec->size) + BLOCK_BYTES_MIN;
	int err = store_error(w->store);
	struct stream *s;

	if (err || w->full)
		return err ? err : -EFBIG;
	if (rec->size < TRACE_RECORD_MIN || rec->size > TRACE_RECORD_MAX || rec->size % 8 ||
	    id >= STREAM_CNT)
		return -EINVAL;
	if (w->room < need) {
		err = limit_make_room(w, need);
		if (err)
			return err;
	}
	s = w->stream[id];
	if (!s)
		s = stream_new(w, (uint16_t)id);
	if (s->open && codec_encode_full(&s->enc, &s->open->block, rec->size))
		stream_hand_over(w, s);
	if (!s->open)
		stream_begin(w, s);
	codec_encode(&s->enc, &s->open->block, rec);
	if (w->event_limit != UINT64_MAX)
		w->room -= need;
	tally_add(&w->accepted, rec);
	tally_add(&s->open->tally, rec);
	return 0;
}

int trace_writer_meta(struct trace_writer *w, const char *json)
{
	size_t len = strlen(json);
	int err = store_error(w->store);

	if (err)
		return err;
	if (len > TRACE_RAW_MAX) {
		log_error("trace: a meta object of %zu bytes exceeds the format's limit", len);
		return -E2BIG;
	}
	store_put_meta(w->store, json, len);
	if (w->event_limit != UINT64_MAX)
		w->room = 0;
	return 0;
}

void trace_writer_flush(struct trace_writer *w, uint64_t begun_until_ns)
{
	for (uint32_t i = 0; i < w->nstreams; i++) {
		struct stream *s = w->stream[w->ids[i]];

		if (s->open && s->open->opened_ns <= begun_until_ns)
			stream_hand_over(w, s);
	}
}

void trace_writer_drain(struct trace_writer *w)
{
	trace_writer_flush(w, UINT64_MAX);
	store_drain(w->store);
}

void trace_writer_get_stats(const struct trace_writer *w, struct trace_writer_stats *out)
{
	memset(out, 0, sizeof(*out));
	out->accepted = w->accepted;
	store_get_stats(w->store, out);
}

static int writer_end(struct trace_writer *w, bool undo)
{
	int err;

	if (!w)
		return 0;
	trace_writer_flush(w, UINT64_MAX);
	err = store_finish(w->store);
	if (undo)
		trace_file_undo(&w->file);
	trace_file_release(&w->file);
	for (uint32_t i = 0; i < w->nstreams; i++)
		free(w->stream[w->ids[i]]);
	free(w->stream);
	free(w->ids);
	free(w);
	return err;
}

int trace_writer_finish(struct trace_writer *w)
{
	return writer_end(w, false);
}

void trace_writer_undo(struct trace_writer *w)
{
	writer_end(w, true);
}
