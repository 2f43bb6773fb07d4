/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The front of the writer: the thread that empties the rings encodes records into the open blocks
 * of its streams and hands full ones to the writing thread (trace_store.c). Buffers circulate
 * between the two. The adding thread waits only if all buffers are on their way to the disk; such
 * waits are counted.
 * max_bytes is obeyed without losing accepted records. Data that is not yet on disk counts with its
 * size before compression. If that would exceed the limit, open blocks are written and measured.
 */
#include "trace/trace_write.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "abi/event.h"
#include "lib/clock.h"
#include "lib/json_get.h"
#include "lib/log.h"
#include "lib/table.h"
#include "trace/trace_append.h"
#include "trace/trace_store.h"

/* ---- counting records ---- */

/* Counts a record that is no call by its kind. */
static void trace_tally_add_other(struct trace_tally *t, const struct pov_hdr *rec)
{
	const struct pov_spin *spin = (const struct pov_spin *)rec;

	switch (rec->kind) {
	case POV_KIND_SWITCH:
		t->switches++;
		break;
	case POV_KIND_COUNTED:
		t->counted += ((const struct pov_counted *)rec)->calls;
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

static void trace_tally_add(struct trace_tally *t, const struct pov_hdr *rec)
{
	t->records++;
	if (rec->kind == POV_KIND_CALL) /* most are */
		t->calls++;
	else
		trace_tally_add_other(t, rec);
}

/* ---- writing ---- */

#define STREAM_CNT 65536
#define BLOCK_BYTES_MIN (sizeof(struct trace_block_header) + CODEC_PREFIX_BYTES)
/* Closer to max_bytes than this, blocks become too small to be worthwhile. */
#define LIMIT_GAIN_MIN 4096
#define LIMIT_META_MAX (64u << 10)

struct stream {
	uint16_t id;
	struct keep_tag tag;	/* tag of its blocks */
	struct store_job *open; /* NULL between blocks */
	struct codec_encoder enc;
};

struct trace_writer {
	struct trace_file file;
	struct store *store;
	struct keep *keep; /* NULL: everything is written at once; owned */
	struct dump *dump; /* file being written, or NULL; owned */
	enum trace_place place;
	struct stream **stream; /* by id */
	/* All streams, including those of other places and of older segments; owned. */
	struct stream **streams;
	uint32_t nstreams;
	const atomic_int *failed;    /* the store's error */
	struct trace_tally accepted; /* in blocks that were handed over */
	uint64_t event_limit;	     /* file size at which events stop; UINT64_MAX = never */
	uint64_t room; /* bytes that can be encoded before the limit must be checked again */
	bool full;     /* event_limit reached */
};

int trace_writer_open(const char *path, const struct trace_writer_options *opt,
		      struct trace_writer **out)
{
	struct trace_writer *w = xcalloc(1, sizeof(*w));
	uint64_t reserve;
	int fd = -1, err;

	if (opt->keep_ns || opt->keep_bytes)
		w->keep = keep_new(opt->keep_ns, opt->keep_bytes);
	err = trace_file_create(path, opt, &w->file, &fd);
	if (!err)
		err = store_start(fd, path, opt, w->keep, &w->store);
	if (err) {
		trace_file_release(&w->file);
		keep_free(w->keep);
		free(w);
		return err;
	}
	w->failed = store_failed(w->store);
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
	table_row_add(&w->accepted, &s->open->tally, records);
	store_put(w->store, s->open);
	s->open = NULL;
}

/* Size of the file if everything accepted is written uncompressed. */
static uint64_t writer_worst_bytes(const struct trace_writer *w)
{
	uint64_t bytes = store_worst_bytes(w->store);

	for (uint32_t i = 0; i < w->nstreams; i++) {
		const struct store_job *job = w->streams[i]->open;

		if (job)
			bytes += sizeof(struct trace_block_header) + codec_block_bytes(&job->block);
	}
	return bytes;
}

/* Called when `need` more bytes may exceed the limit. 0 or -EFBIG. */
static int limit_make_room(struct trace_writer *w, uint64_t need)
{
	uint64_t worst = writer_worst_bytes(w);

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
	*table_append(w->streams, w->nstreams) = s;
	store_grow(w->store);
	return s;
}

static inline struct stream *stream_of(struct trace_writer *w, unsigned int id)
{
	if (!w->stream[id])
		w->stream[id] = stream_new(w, (uint16_t)id);
	return w->stream[id];
}

/*
 * The stream for what does not go into the newest segment: records of an older segment, or of
 * another place (trace_writer_place()). Each block belongs to one place and segment.
 */
static struct stream *stream_aside(struct trace_writer *w, uint16_t id, uint64_t segment)
{
	struct stream *s = NULL;

	for (uint32_t i = 0; i < w->nstreams && !s; i++)
		if (w->streams[i]->id == id && w->streams[i]->tag.place == w->place &&
		    w->streams[i] != w->stream[id])
			s = w->streams[i];
	if (!s)
		s = stream_new(w, id);
	if (s->open && s->tag.segment != segment)
		stream_hand_over(w, s);
	s->tag = (struct keep_tag){.place = w->place, .segment = segment};
	return s;
}

/*
 * The stream of a record while only the newest part is kept. NULL: the record is older than
 * everything stored.
 */
static struct stream *stream_find_kept(struct trace_writer *w, unsigned int id, uint64_t ts_ns,
				       uint64_t *segment)
{
	uint64_t newest = keep_newest(w->keep);

	*segment = newest;
	if (!w->place && !keep_segment_of(w->keep, ts_ns, segment))
		return NULL;
	if (w->place || *segment != newest)
		return stream_aside(w, (uint16_t)id, *segment);
	stream_of(w, id)->tag.segment = newest;
	return w->stream[id];
}

static void stream_begin(struct trace_writer *w, struct stream *s)
{
	s->open = store_get(w->store);
	s->open->stream = s->id;
	s->open->tag = s->tag;
	s->open->opened_ns = clock_now_ns();
	s->open->tally = (struct trace_tally){};
	codec_encode_begin(&s->enc, &s->open->block);
}

/* 0, or -errno if the writer cannot take a record of this size now. */
static inline int writer_refuses(struct trace_writer *w, uint32_t size, uint64_t need)
{
	int err = atomic_load_explicit(w->failed, memory_order_relaxed);

	if (err || w->full)
		return err ? err : -EFBIG;
	if (size < TRACE_RECORD_MIN || size > TRACE_RECORD_MAX || size % 8)
		return -EINVAL;
	return w->room < need ? limit_make_room(w, need) : 0;
}

int trace_writer_add(struct trace_writer *w, unsigned int id, const struct pov_hdr *rec)
{
	bool limited = w->event_limit != UINT64_MAX;
	uint64_t need = limited ? codec_worst_bytes(rec->size) + BLOCK_BYTES_MIN : 0, segment;
	int err = id < STREAM_CNT ? writer_refuses(w, rec->size, need) : -EINVAL;
	struct stream *s;

	if (err)
		return err;
	s = w->keep ? stream_find_kept(w, id, rec->ts_ns, &segment) : stream_of(w, id);
	if (!s)
		return 0;
	if (s->open && codec_encode_full(&s->enc, &s->open->block, rec->size))
		stream_hand_over(w, s);
	if (!s->open)
		stream_begin(w, s);
	codec_encode(&s->enc, &s->open->block, rec);
	trace_tally_add(&s->open->tally, rec);
	w->room -= need;
	if (w->keep && !w->place)
		trace_tally_add(keep_tally(w->keep, segment), rec);
	return 0;
}

int trace_writer_meta_text(struct trace_writer *w, const char *json, uint32_t pid)
{
	struct keep_tag tag = {.place = w->place, .pid = pid};
	size_t len = strlen(json);
	int err = atomic_load(w->failed);

	if (err)
		return err;
	if (len > TRACE_RAW_MAX) {
		log_error("trace: a meta object of %zu bytes exceeds the format's limit", len);
		return -E2BIG;
	}
	if (w->keep)
		tag.segment = keep_newest(w->keep);
	store_put_meta(w->store, &tag, json, len);
	if (w->event_limit != UINT64_MAX)
		w->room = 0;
	return 0;
}

/* Returns the process that a meta object describes as of a certain time, else 0. */
static uint32_t process_of(const json_t *meta)
{
	return json_is_type(meta, "process") || json_is_type(meta, "target") ||
			       json_is_type(meta, "late") ?
		       json_get_u32(meta, "pid") :
		       0;
}

int trace_writer_meta(struct trace_writer *w, json_t *meta)
{
	char *text = json_dumps(meta, JSON_COMPACT);
	int err = text ? trace_writer_meta_text(w, text, process_of(meta)) : -ENOMEM;

	json_decref(meta);
	free(text);
	return err;
}

void trace_writer_flush(struct trace_writer *w, uint64_t begun_until_ns)
{
	for (uint32_t i = 0; i < w->nstreams; i++) {
		struct stream *s = w->streams[i];

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
	for (uint32_t i = 0; i < w->nstreams; i++)
		if (w->streams[i]->open)
			table_row_add(&out->accepted, &w->streams[i]->open->tally, records);
	store_get_stats(w->store, out);
}

/* ---- storing the newest part ---- */

void trace_writer_segment(struct trace_writer *w, uint64_t now_ns, bool whole)
{
	if (!w->keep)
		return;
	trace_writer_flush(w, UINT64_MAX);
	keep_segment_begin(w->keep, now_ns, whole);
}

void trace_writer_place(struct trace_writer *w, enum trace_place place)
{
	if (w->keep)
		w->place = place;
}

bool trace_writer_segment_full(struct trace_writer *w)
{
	return w->keep && keep_newest_full(w->keep);
}

void trace_writer_gone(struct trace_writer *w, bool (*is_gone)(void *ctx, uint32_t pid), void *ctx,
		       uint64_t ts_ns)
{
	if (w->keep)
		keep_gone(w->keep, is_gone, ctx, ts_ns);
}

void trace_writer_kept(struct trace_writer *w, bool ended, struct trace_kept *out)
{
	keep_sum(w->keep, ended ? keep_newest(w->keep) : UINT64_MAX, out);
}

int trace_writer_dump_open(struct trace_writer *w, const char *path,
			   const struct trace_writer_options *opt)
{
	return dump_new(path, opt, &w->dump);
}

void trace_writer_dump(struct trace_writer *w)
{
	trace_writer_flush(w, UINT64_MAX);
	store_put_dump(w->store, w->dump, keep_newest(w->keep));
}

int trace_writer_dumped(struct trace_writer *w, bool wait, uint64_t *file_bytes)
{
	int err = wait ? dump_wait(w->dump, file_bytes) : dump_poll(w->dump, file_bytes);

	if (err != -EAGAIN)
		w->dump = NULL;
	return err;
}

static int writer_end(struct trace_writer *w, bool undo, uint64_t *file_bytes)
{
	uint64_t bytes;
	int err;

	if (file_bytes)
		*file_bytes = 0;
	if (!w)
		return 0;
	trace_writer_flush(w, UINT64_MAX);
	err = store_finish(w->store, &bytes);
	if (file_bytes)
		*file_bytes = bytes;
	if (w->dump)
		dump_wait(w->dump, &bytes);
	keep_free(w->keep);
	if (undo)
		trace_file_undo(&w->file);
	else
		trace_file_is_renamed(&w->file);
	trace_file_release(&w->file);
	for (uint32_t i = 0; i < w->nstreams; i++)
		free(w->streams[i]);
	free(w->stream);
	free(w->streams);
	free(w);
	return err;
}

int trace_writer_finish(struct trace_writer *w, uint64_t *file_bytes)
{
	return writer_end(w, false, file_bytes);
}

void trace_writer_undo(struct trace_writer *w)
{
	writer_end(w, true, NULL);
}
