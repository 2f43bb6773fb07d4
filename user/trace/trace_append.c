/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * -EFBIG is reserved for max_bytes. A system limit on the file's size (ulimit -f) becomes -EDQUOT.
 */
#include "trace/trace_append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/person.h"

#define REPLACE_TRIES 100

/* ---- creating a file ---- */

/*
 * Everything here runs with the rights of the user that the file is for. A link leads nowhere that
 * this user could not go, and new files belong to this user from the start.
 */

static int create_failed(const char *path, const struct person *as, int err)
{
	if (as && (err == EACCES || err == EPERM || err == EROFS))
		log_error("trace: cannot create %s as %s: %s; name a place that %s may write to "
			  "(-o), or let it be root's (--user root)",
			  path, as->name, strerror(err), as->name);
	else
		log_error("trace: cannot create %s: %s", path, strerror(err));
	return -err;
}

/* Returns true if another povtrace has a lock on the file, or if that is unknown. */
static bool may_be_written(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	bool written;

	if (fd < 0)
		return errno == EACCES;
	written = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return written;
}

/*
 * Returns the first of FILE.old, FILE.old.2 … to which no recording is being written; fresh: that
 * does not exist. The caller frees it.
 */
static char *old_name(const char *path, bool fresh)
{
	char *name = xasprintf("%s.old", path);
	struct stat st;

	for (unsigned int i = 2; fresh ? !lstat(name, &st) : may_be_written(name); i++) {
		free(name);
		name = xasprintf("%s.old.%u", path, i);
	}
	return name;
}

/*
 * Renames a former recording, so that a mistyped command does not destroy hours of work. One that
 * is not complete yet is continued under its new name, and replaces none.
 */
static void old_keep(struct trace_file *file)
{
	bool written = may_be_written(file->path);
	struct stat st;

	if (lstat(file->path, &st) || !S_ISREG(st.st_mode) || (!st.st_size && !written))
		return;
	if (file->old)
		log_info("%s existed and is kept as %s", file->path, file->old);
	free(file->old);
	file->old = old_name(file->path, written);
	if (!rename(file->path, file->old))
		return;
	log_warn("%s existed and could not be kept as %s: %s", file->path, file->old,
		 strerror(errno));
	free(file->old);
	file->old = NULL;
}

/* True if our output, or the command's, goes to this file. */
static bool file_is_output(const struct stat *st)
{
	struct stat output;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &output) && output.st_dev == st->st_dev &&
		    output.st_ino == st->st_ino)
			return true;
	return false;
}

/*
 * Truncates the file only once it is known to be regular: opening a device or a pipe must not
 * affect it.
 */
static int file_open(struct trace_file *file, int *out)
{
	int fd = open(file->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -ENOTSUP;
	else if (file_is_output(&st))
		err = -EBUSY;
	else if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		err = -EAGAIN; /* another povtrace has just created it */
	else if (ftruncate(fd, 0) || fchmod(fd, 0600))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	*out = fd;
	return 0;
}

static int file_replace(struct trace_file *file, bool keep_old, int *fd)
{
	int err, tries = keep_old ? REPLACE_TRIES : 1;

	do {
		if (keep_old)
			old_keep(file);
		err = file_open(file, fd);
	} while (err == -EAGAIN && --tries);
	if (err && err != -EAGAIN && file->old)
		rename(file->old, file->path);
	if (err == -ENOTSUP) {
		log_error("trace: %s is not a regular file", file->path);
		return -EINVAL;
	}
	if (err == -EBUSY) {
		log_error("trace: standard output or error goes to %s, too; record to another file",
			  file->path);
		return err;
	}
	if (err)
		return create_failed(file->path, file->as, -err);
	if (file->old)
		log_info("%s existed and is kept as %s", file->path, file->old);
	return 0;
}

/* Duplicates the descriptor of an open file. */
static int fd_copy(int from, int *fd)
{
	*fd = fcntl(from, F_DUPFD_CLOEXEC, 0);
	if (*fd >= 0)
		return 0;
	log_error("trace: %s", strerror(errno));
	return -errno;
}

int trace_file_create(const char *path, const struct trace_writer_options *opt,
		      struct trace_file *file, int *fd)
{
	struct person_act act;
	struct stat st;
	bool is_link;
	char *real;
	int err;

	*file = (struct trace_file){.as = opt->as};
	if (opt->fd > 0)
		return fd_copy(opt->fd, fd);
	err = person_act_begin(opt->as, &act);
	if (err)
		return err;
	/*
	 * A link stays a link: its target is replaced, unless the kernel would not follow it
	 * (fs.protected_symlinks).
	 */
	is_link = !lstat(path, &st) && S_ISLNK(st.st_mode);
	real = is_link ? realpath(path, NULL) : NULL;
	file->path = xstrdup(real ? real : path);
	free(real);
	if (is_link && stat(path, &st) && errno != ENOENT)
		err = create_failed(path, opt->as, errno);
	else
		err = file_replace(file, opt->keep_old, fd);
	person_act_end(&act);
	if (err)
		trace_file_release(file);
	return err;
}

static bool is_it(const struct trace_file *file, const struct stat *st)
{
	return st->st_dev == file->dev && st->st_ino == file->ino;
}

/* The name that old_keep() of another recording gave the file. NULL: it has none of these. */
static char *renamed_to(const struct trace_file *file)
{
	char *name = xasprintf("%s.old", file->path);
	struct stat st;

	for (unsigned int i = 2; !lstat(name, &st); i++) {
		if (is_it(file, &st))
			return name;
		free(name);
		name = xasprintf("%s.old.%u", file->path, i);
	}
	free(name);
	return NULL;
}

bool trace_file_is_renamed(const struct trace_file *file)
{
	struct stat st;
	char *name;

	if (!file->path || lstat(file->path, &st) || is_it(file, &st))
		return false;
	name = renamed_to(file);
	if (name)
		log_warn("another recording was begun as %s: this one is kept as %s", file->path,
			 name);
	else
		log_warn("%s is another recording's file now; this one has another name, or was "
			 "removed",
			 file->path);
	free(name);
	return true;
}

void trace_file_undo(struct trace_file *file)
{
	struct person_act act;

	if (!file->path || trace_file_is_renamed(file) || person_act_begin(file->as, &act))
		return;
	if (file->old ? rename(file->old, file->path) : unlink(file->path))
		log_warn("cannot remove the empty %s: %s", file->path, strerror(errno));
	person_act_end(&act);
}

void trace_file_release(struct trace_file *file)
{
	free(file->path);
	free(file->old);
	*file = (struct trace_file){};
}

/* ---- appending to a file ---- */

static void append_set_error(struct append_file *f, int err, const char *what)
{
	if (atomic_load(&f->err))
		return;
	log_error("trace: %s %s: %s; %s", what, f->path, log_unwritten(err), f->fate);
	atomic_store(&f->err, err == EFBIG ? -EDQUOT : -err);
}

static int append_set_limit_error(struct append_file *f)
{
	if (!atomic_load(&f->err)) {
		log_error("trace: %s has reached its size limit; the remaining data does not fit",
			  f->path);
		atomic_store(&f->err, -EFBIG);
	}
	return -EFBIG;
}

int append_begin(struct append_file *f)
{
	struct trace_file_header h;
	struct stat st;
	ssize_t n;

	f->links = fstat(f->fd, &st) ? 0 : st.st_nlink;
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

/* Appends header and payload. On failure, leaves the file as it was. */
static int append_parts(struct append_file *f, const struct trace_block_header *h,
			const void *payload)
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
			append_set_error(f, n ? errno : EIO, "cannot write");
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

/*
 * Fails if others have touched the file: a job script may clean its directory, or the command may
 * write to the same name.
 */
static int append_check(struct append_file *f)
{
	struct stat st;

	if (atomic_load(&f->err) || fstat(f->fd, &st))
		return atomic_load(&f->err);
	if (!st.st_nlink && f->links) {
		log_error("trace: %s was deleted or replaced meanwhile, so its data is lost",
			  f->path);
		atomic_store(&f->err, -ENOENT);
	} else if ((uint64_t)st.st_size != f->bytes) {
		log_error("trace: another program has written to %s, too, so it is damaged",
			  f->path);
		atomic_store(&f->err, -EIO);
	}
	return atomic_load(&f->err);
}

int append_block(struct append_file *f, struct trace_block_header *h, const void *payload)
{
	uint64_t keep = h->type == TRACE_BLOCK_END ? 0 : TRACE_END_BYTES;
	int err = append_check(f);

	if (err)
		return err;
	if (f->bytes + sizeof(*h) + h->stored_len + keep > f->max_bytes)
		return append_set_limit_error(f);
	h->seq = f->seq;
	trace_block_header_seal(h, payload);
	err = append_parts(f, h, payload);
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
	append_check(f);
	if (close(f->fd) && !atomic_load(&f->err))
		append_set_error(f, errno, "cannot close");
	return atomic_load(&f->err);
}
