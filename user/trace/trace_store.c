/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The writing thread: compresses blocks and appends each with one pwritev, so that whatever
 * happens the file is whole up to its last complete block. The first failure is sticky: the file
 * is cut back to the last complete block, and all that comes later is counted as lost.
 */
#include "trace/trace_store.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

#include "base/log.h"

#define POOL_BASE \
	64 /* buffers beyond two per stream: half a second of a slow disk; touched only then */
#define ZSTD_LEVEL 1

struct store {
	int fd;
	char *path;
	uint64_t max_bytes; /* UINT64_MAX = no limit */

	/* The writing thread's own. */
	ZSTD_CCtx *cctx;
	uint8_t *packed; /* TRACE_RAW_MAX bytes */
	uint64_t seq;

	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t work;  /* queue or stopping changed */
	pthread_cond_t done;  /* a job was written, or a buffer came back */
	struct store_job *head, **tail;
	struct store_job *pool;
	uint64_t queued_bytes; /* of queue and the block in hand, uncompressed, with headers */
	uint64_t file_bytes;
	struct trace_tally lost;
	uint64_t waits;
	bool stopping;
	atomic_int err; /* read without the lock on the hot path */
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
		job->block.col[c] = (uint8_t *)job + at[c];
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

/* EFBIG is kept for max_bytes: a file that the system lets grow no further is a full disk. */
static void set_error(struct store *s, int err, const char *what)
{
	if (atomic_load(&s->err))
		return;
	log_error("trace: %s %s: %s; the file ends with its last complete block", what, s->path,
		  strerror(err));
	atomic_store(&s->err, err == EFBIG ? -ENOSPC : -err);
}

static int set_limit_error(struct store *s)
{
	if (!atomic_load(&s->err)) {
		log_error("trace: %s has reached its size limit, and more than was foreseen was to "
			  "follow",
			  s->path);
		atomic_store(&s->err, -EFBIG);
	}
	return -EFBIG;
}

/* Appends header and payload, or leaves the file as it was. */
static int append(struct store *s, const struct trace_block_header *h, const void *payload)
{
	struct iovec iov[2] = {
		{(void *)h, sizeof(*h)},
		{(void *)payload, h->stored_len},
	};
	struct iovec *v = iov;
	uint64_t at = s->file_bytes;
	ssize_t n;

	while (v < iov + 2) {
		if (!v->iov_len) {
			v++;
			continue;
		}
		n = pwritev(s->fd, v, (int)(iov + 2 - v), (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			set_error(s, n ? errno : EIO, "cannot write");
			if (ftruncate(s->fd, (off_t)s->file_bytes))
				log_warn("trace: cannot cut %s back: %s", s->path, strerror(errno));
			return atomic_load(&s->err);
		}
		at += (uint64_t)n;
		for (; v < iov + 2 && (size_t)n >= v->iov_len; v++)
			n -= (ssize_t)v->iov_len;
		if (v < iov + 2) {
			v->iov_base = (char *)v->iov_base + n;
			v->iov_len -= (size_t)n;
		}
	}
	return 0;
}

/* Seals and appends one block whose lengths and payload are final. */
static int write_block(struct store *s, struct trace_block_header *h, const void *payload)
{
	uint64_t keep = h->type == TRACE_BLOCK_END ? 0 : TRACE_END_BYTES;
	int err;

	if (s->file_bytes + sizeof(*h) + h->stored_len + keep > s->max_bytes)
		return set_limit_error(s);
	h->seq = s->seq;
	trace_block_header_seal(h, payload);
	err = append(s, h, payload);
	if (err)
		return err;
	s->seq++;
	pthread_mutex_lock(&s->lock);
	s->file_bytes += sizeof(*h) + h->stored_len;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/*
 * Compresses the parts into one zstd frame, each part but the first, which is a few bytes, ending a
 * block, so that its bytes get their own statistics. Returns the size, or 0 if it would not become
 * smaller.
 */
static size_t pack(struct store *s, const ZSTD_inBuffer *part, int nparts, size_t raw_len)
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

static int write_meta(struct store *s, const struct store_job *job)
{
	struct trace_block_header h = {.type = TRACE_BLOCK_META,
				       .raw_len = (uint32_t)job->text_len};
	ZSTD_inBuffer part = {job->text, job->text_len, 0};
	size_t n = pack(s, &part, 1, h.raw_len);

	h.flags = n ? TRACE_FLAG_ZSTD : 0;
	h.stored_len = n ? (uint32_t)n : h.raw_len;
	return write_block(s, &h, n ? s->packed : (void *)job->text);
}

static int write_events(struct store *s, const struct store_job *job)
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
	ZSTD_inBuffer part[1 + CODEC_COL_CNT] = {{b->len, CODEC_PREFIX_BYTES, 0}};
	size_t n;

	for (int c = 0; c < CODEC_COL_CNT; c++)
		part[1 + c] = (ZSTD_inBuffer){b->col[c], b->len[c], 0};
	n = pack(s, part, 1 + CODEC_COL_CNT, h.raw_len);
	if (!n)
		codec_block_store(b, s->packed);
	h.flags = n ? TRACE_FLAG_ZSTD : 0;
	h.stored_len = n ? (uint32_t)n : h.raw_len;
	return write_block(s, &h, s->packed);
}

static int write_job(struct store *s, const struct store_job *job)
{
	return job->type == TRACE_BLOCK_META ? write_meta(s, job) : write_events(s, job);
}

static void tally_sum(struct trace_tally *to, const struct trace_tally *t)
{
	to->records += t->records;
	to->calls += t->calls;
	to->spins += t->spins;
	to->polls += t->polls;
	to->switches += t->switches;
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
			tally_sum(&s->lost, &job->tally);
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
	struct trace_block_header end = {.type = TRACE_BLOCK_END};
	struct store *s = arg;
	struct store_job *job;

	while ((job = job_next(s)))
		job_done(s, job, !atomic_load(&s->err) && !write_job(s, job));
	if (!atomic_load(&s->err))
		write_block(s, &end, NULL);
	return NULL;
}

/*
 * The thread takes no signals: they are the main thread's, and a file size limit shall be an error
 * code.
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

static int file_begin(struct store *s)
{
	struct trace_file_header h;
	ssize_t n;

	trace_file_header_init(&h);
	n = pwrite(s->fd, &h, sizeof(h), 0);
	if (n == (ssize_t)sizeof(h)) {
		s->file_bytes = sizeof(h);
		return 0;
	}
	n = n < 0 ? -errno : -ENOSPC;
	log_error("trace: cannot write %s: %s", s->path, strerror((int)-n));
	return (int)n;
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

int store_start(int fd, const char *path, const struct trace_writer_options *opt,
		struct store **out)
{
	struct store *s = xcalloc(1, sizeof(*s));
	int err;

	s->fd = fd;
	s->path = xstrdup(path);
	s->max_bytes = opt->max_bytes ? opt->max_bytes : UINT64_MAX;
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
	err = file_begin(s);
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

void store_put_meta(struct store *s, const char *text, size_t len)
{
	struct store_job *job = xcalloc(1, sizeof(*job));

	job->type = TRACE_BLOCK_META;
	job->text = xmalloc(len + 1);
	memcpy(job->text, text, len);
	job->text_len = len;
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
	bytes = s->file_bytes + s->queued_bytes;
	pthread_mutex_unlock(&s->lock);
	return bytes;
}

int store_error(struct store *s)
{
	return atomic_load_explicit(&s->err, memory_order_relaxed);
}

void store_get_stats(struct store *s, struct trace_writer_stats *out)
{
	pthread_mutex_lock(&s->lock);
	out->file_bytes = s->file_bytes;
	out->lost = s->lost;
	out->waits = s->waits;
	pthread_mutex_unlock(&s->lock);
}

int store_finish(struct store *s)
{
	int err;

	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	pthread_cond_signal(&s->work);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	if (close(s->fd) && !atomic_load(&s->err))
		set_error(s, errno, "cannot close");
	err = atomic_load(&s->err);
	store_free(s);
	return err;
}
