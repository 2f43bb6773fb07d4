/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The writing thread compresses blocks and appends them to the file (trace_append.c). Blocks after
 * a failure are counted as lost. With a keep, it stores blocks in memory (trace_keep.c) instead.
 * Then a separate thread writes each file, because this one must go on taking blocks.
 */
#include "trace/trace_store.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "lib/log.h"
#include "lib/table.h"
#include "trace/trace_append.h"

/* Buffers beyond two per stream: half a second of a slow disk. Touched only then. */
#define POOL_BASE 64
#define ZSTD_LEVEL 1

struct store {
	struct append_file file;
	char *path;
	struct keep *keep; /* borrowed; NULL: blocks go to the file at once */

	/* Used by the writing thread only. */
	ZSTD_CCtx *cctx;
	uint8_t *packed; /* TRACE_RAW_MAX bytes */

	pthread_t thread;
	pthread_mutex_t lock; /* guards the following members */
	pthread_cond_t work;  /* the queue or `stopping` changed */
	pthread_cond_t done;  /* a job was written, or a buffer came back */
	struct store_job *head, **tail;
	struct store_job *pool;
	uint64_t queued_bytes; /* queue and current block, uncompressed, including headers */
	struct trace_tally lost;
	uint64_t waits;
	bool stopping;
};

static size_t align64(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

static struct store_job *job_new(void)
{
	size_t at[CODEC_COL_CNT], bytes = align64(sizeof(struct store_job));
	struct store_job *job;

	for (int c = 0; c < CODEC_COL_CNT; c++) {
		at[c] = bytes;
		bytes += align64(codec_col_bytes(c));
	}
	job = xmalloc(bytes);
	memset(job, 0, sizeof(*job));
	job->type = TRACE_BLOCK_EVENTS;
	for (int c = 0; c < CODEC_COL_CNT; c++)
		job->block.col[c].begin = job->block.col[c].end = (uint8_t *)job + at[c];
	return job;
}

static void pool_add(struct store *s)
{
	struct store_job *job = job_new();

	pthread_mutex_lock(&s->lock);
	job->next = s->pool;
	s->pool = job;
	pthread_mutex_unlock(&s->lock);
}

static uint64_t job_worst_bytes(const struct store_job *job)
{
	uint64_t payload = job->type == TRACE_BLOCK_META ? job->text_len :
							   codec_block_bytes(&job->block);

	return sizeof(struct trace_block_header) + payload;
}

static int block_write(struct store *s, const struct store_job *job, struct trace_block_header *h,
		       const void *payload)
{
	if (!s->keep)
		return append_block(&s->file, h, payload);
	keep_add(s->keep, &job->tag, h, payload);
	return 0;
}

/*
 * Compresses the parts into one zstd frame. Each part ends a zstd block, so that its bytes get
 * their own statistics; the first part does not, being only a few bytes. Returns the size, or 0 if
 * compression does not help.
 */
static size_t parts_compress(struct store *s, const ZSTD_inBuffer *part, int nparts, size_t raw_len)
{
	ZSTD_outBuffer out = {s->packed, raw_len, 0};
	ZSTD_EndDirective then;
	size_t left;

	ZSTD_CCtx_reset(s->cctx, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(s->cctx, raw_len);
	for (int i = 0; i < nparts; i++) {
		ZSTD_inBuffer in = part[i];

		then = i == nparts - 1 ? ZSTD_e_end : i ? ZSTD_e_flush : ZSTD_e_continue;
		left = ZSTD_compressStream2(s->cctx, &out, &in, then);
		if (ZSTD_isError(left) || in.pos < in.size || (then != ZSTD_e_continue && left))
			return 0; /* out is full */
	}
	return out.pos;
}

static int meta_write(struct store *s, const struct store_job *job)
{
	struct trace_block_header h = {.type = TRACE_BLOCK_META,
				       .raw_len = (uint32_t)job->text_len};
	ZSTD_inBuffer part = {job->text, job->text_len, 0};
	size_t n = parts_compress(s, &part, 1, h.raw_len);

	h.flags = n ? TRACE_FLAG_ZSTD : 0;
	h.stored_len = n ? (uint32_t)n : h.raw_len;
	return block_write(s, job, &h, n ? s->packed : (void *)job->text);
}

static int events_write(struct store *s, const struct store_job *job)
{
	const struct codec_block *b = &job->block;
	struct trace_block_header h = {
		.type = TRACE_BLOCK_EVENTS,
		.stream = job->stream,
		.raw_len = codec_block_bytes(b),
		.nrecords = b->nrecords,
		.record_bytes = b->record_bytes,
		.min_ts = b->min_ts,
		.max_ts = b->max_ts,
	};
	uint32_t len[CODEC_COL_CNT];
	ZSTD_inBuffer part[1 + CODEC_COL_CNT] = {{len, CODEC_PREFIX_BYTES, 0}};
	size_t n;

	for (int c = 0; c < CODEC_COL_CNT; c++) {
		len[c] = codec_col_len(b, c);
		part[1 + c] = (ZSTD_inBuffer){b->col[c].begin, len[c], 0};
	}
	n = parts_compress(s, part, 1 + CODEC_COL_CNT, h.raw_len);
	if (!n)
		codec_block_store(b, s->packed);
	h.flags = n ? TRACE_FLAG_ZSTD : 0;
	h.stored_len = n ? (uint32_t)n : h.raw_len;
	return block_write(s, job, &h, s->packed);
}

static int job_write(struct store *s, const struct store_job *job)
{
	if (job->dump)
		return dump_start(job->dump, s->keep, job->tag.segment);
	return job->type == TRACE_BLOCK_META ? meta_write(s, job) : events_write(s, job);
}

static void job_done(struct store *s, struct store_job *job, bool written)
{
	pthread_mutex_lock(&s->lock);
	s->queued_bytes -= job_worst_bytes(job);
	if (job->type == TRACE_BLOCK_META) {
		free(job->text);
		free(job);
	} else {
		if (!written)
			table_row_add(&s->lost, &job->tally, records);
		job->next = s->pool;
		s->pool = job;
	}
	pthread_cond_signal(&s->done);
	pthread_mutex_unlock(&s->lock);
}

static struct store_job *job_next(struct store *s)
{
	struct store_job *job;

	pthread_mutex_lock(&s->lock);
	while (!s->head && !s->stopping)
		pthread_cond_wait(&s->work, &s->lock);
	job = s->head;
	if (job) {
		s->head = job->next;
		if (!s->head)
			s->tail = &s->head;
	}
	pthread_mutex_unlock(&s->lock);
	return job;
}

static void *store_thread(void *arg)
{
	struct store *s = arg;
	struct kept_list all;
	struct store_job *job;

	while ((job = job_next(s)))
		job_done(s, job, !atomic_load(&s->file.err) && !job_write(s, job));
	if (s->keep) {
		keep_take(s->keep, UINT64_MAX, &all);
		kept_write(&all, &s->file);
	} else {
		append_end(&s->file);
	}
	return NULL;
}

/*
 * The thread takes no signals: they belong to the main thread, and exceeding a file size limit must
 * return an error code.
 */
static int thread_start(struct store *s)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&s->thread, NULL, store_thread, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		log_error("trace: cannot start the writing thread: %s", strerror(err));
	return -err;
}

static void store_free(struct store *s)
{
	struct store_job *job;

	while ((job = s->pool)) {
		s->pool = job->next;
		free(job);
	}
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->work);
	pthread_cond_destroy(&s->done);
	ZSTD_freeCCtx(s->cctx);
	free(s->packed);
	free(s->path);
	free(s);
}

int store_start(int fd, const char *path, const struct trace_writer_options *opt, struct keep *keep,
		struct store **out)
{
	struct store *s = xcalloc(1, sizeof(*s));
	int err;

	s->path = xstrdup(path);
	s->file = (struct append_file){
		.fd = fd,
		.path = s->path,
		.fate = "the file ends with its last complete block",
		.max_bytes = opt->max_bytes ? opt->max_bytes : UINT64_MAX,
	};
	s->keep = keep;
	s->tail = &s->head;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->done, NULL);
	s->packed = xmalloc(TRACE_RAW_MAX);
	s->cctx = ZSTD_createCCtx();
	if (!s->cctx)
		die("out of memory");
	ZSTD_CCtx_setParameter(s->cctx, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	for (int i = 0; i < POOL_BASE; i++)
		pool_add(s);
	err = append_begin(&s->file);
	if (!err)
		err = thread_start(s);
	if (err) {
		close(fd);
		store_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void store_grow(struct store *s)
{
	pool_add(s);
	pool_add(s);
}

struct store_job *store_get(struct store *s)
{
	struct store_job *job;

	pthread_mutex_lock(&s->lock);
	if (!s->pool)
		s->waits++;
	while (!s->pool)
		pthread_cond_wait(&s->done, &s->lock);
	job = s->pool;
	s->pool = job->next;
	pthread_mutex_unlock(&s->lock);
	return job;
}

void store_put(struct store *s, struct store_job *job)
{
	job->next = NULL;
	pthread_mutex_lock(&s->lock);
	*s->tail = job;
	s->tail = &job->next;
	s->queued_bytes += job_worst_bytes(job);
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&s->lock);
}

void store_put_meta(struct store *s, const struct keep_tag *tag, const char *text, size_t len)
{
	struct store_job *job = xcalloc(1, sizeof(*job));

	job->type = TRACE_BLOCK_META;
	job->tag = *tag;
	job->text = xmalloc(len + 1);
	memcpy(job->text, text, len);
	job->text_len = len;
	store_put(s, job);
}

void store_put_dump(struct store *s, struct dump *dump, uint64_t until)
{
	struct store_job *job = xcalloc(1, sizeof(*job));

	job->type = TRACE_BLOCK_META;
	job->dump = dump;
	job->tag.segment = until;
	store_put(s, job);
}

void store_drain(struct store *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->queued_bytes)
		pthread_cond_wait(&s->done, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

uint64_t store_worst_bytes(struct store *s)
{
	uint64_t bytes;

	pthread_mutex_lock(&s->lock);
	bytes = s->file.bytes + s->queued_bytes;
	pthread_mutex_unlock(&s->lock);
	return bytes;
}

const atomic_int *store_failed(const struct store *s)
{
	return &s->file.err;
}

void store_get_stats(struct store *s, struct trace_writer_stats *out)
{
	pthread_mutex_lock(&s->lock);
	out->file_bytes = s->keep ? keep_bytes(s->keep) : s->file.bytes;
	out->lost = s->lost;
	out->waits = s->waits;
	pthread_mutex_unlock(&s->lock);
}

int store_finish(struct store *s, uint64_t *file_bytes)
{
	int err;

	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	err = append_close(&s->file);
	*file_bytes = s->file.bytes;
	store_free(s);
	return err;
}
