/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * -EFBIG is kept for max_bytes. A limit of the system on the file's size (ulimit -f) becomes
 * -EDQUOT.
 */
#include "trace/trace_append.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/log.h"

static void set_error(struct append_file *f, int err, const char *what)
{
	if (atomic_load(&f->err))
		return;
	log_error("trace: %s %s: %s; %s", what, f->path, log_unwritten(err), f->fate);
	atomic_store(&f->err, err == EFBIG ? -EDQUOT : -err);
}

static int set_limit_error(struct append_file *f)
{
	if (!atomic_load(&f->err)) {
		log_error("trace: %s has reached its size limit, and more than was foreseen was to "
			  "follow",
			  f->path);
		atomic_store(&f->err, -EFBIG);
	}
	return -EFBIG;
}

int append_begin(struct append_file *f)
{
	struct trace_file_header h;
	ssize_t n;

	trace_file_header_init(&h);
	n = pwrite(f->fd, &h, sizeof(h), 0);
	if (n == (ssize_t)sizeof(h)) {
		f->bytes = sizeof(h);
		return 0;
	}
	n = n < 0 ? -errno : -ENOSPC;
	log_error("trace: cannot write %s: %s", f->path, strerror((int)-n));
	return (int)n;
}

/* Appends header and payload, or leaves the file as it was. */
static int append(struct append_file *f, const struct trace_block_header *h, const void *payload)
{
	struct iovec iov[2] = {
		{(void *)h, sizeof(*h)},
		{(void *)payload, h->stored_len},
	};
	struct iovec *v = iov;
	uint64_t at = f->bytes;
	ssize_t n;

	while (v < iov + 2) {
		if (!v->iov_len) {
			v++;
			continue;
		}
		n = pwritev(f->fd, v, (int)(iov + 2 - v), (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			set_error(f, n ? errno : EIO, "cannot write");
			if (ftruncate(f->fd, (off_t)f->bytes))
				log_warn("trace: cannot cut %s back: %s", f->path, strerror(errno));
			return atomic_load(&f->err);
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

int append_block(struct append_file *f, struct trace_block_header *h, const void *payload)
{
	uint64_t keep = h->type == TRACE_BLOCK_END ? 0 : TRACE_END_BYTES;
	int err = atomic_load(&f->err);

	if (err)
		return err;
	if (f->bytes + sizeof(*h) + h->stored_len + keep > f->max_bytes)
		return set_limit_error(f);
	h->seq = f->seq;
	trace_block_header_seal(h, payload);
	err = append(f, h, payload);
	if (err)
		return err;
	f->seq++;
	f->bytes += sizeof(*h) + h->stored_len;
	return 0;
}

int append_end(struct append_file *f)
{
	struct trace_block_header end = {.type = TRACE_BLOCK_END};

	return append_block(f, &end, NULL);
}

int append_close(struct append_file *f)
{
	if (close(f->fd) && !atomic_load(&f->err))
		set_error(f, errno, "cannot close");
	return atomic_load(&f->err);
}
