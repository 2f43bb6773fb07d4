/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Everything here is done with the rights of the user that the file is for, so a link leads nowhere where that user
 * could not go, and what is created belongs to that user without being given away.
 */
#include "trace/trace_create.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/person.h"

static int fail(const char *path, const struct person *as, int err)
{
	if (as && (err == EACCES || err == EPERM || err == EROFS))
		log_error(
			"trace: cannot create %s as %s: %s; name a place that %s may write to (-o), "
			"or let it be root's (--user root)",
			path, as->name, strerror(err), as->name);
	else
		log_error("trace: cannot create %s: %s", path, strerror(err));
	return -err;
}

/* Renames a former recording, so that a mistyped command does not cost an hour's. */
static void old_keep(struct trace_file *file)
{
	struct stat st;

	if (lstat(file->path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return;
	file->old = xasprintf("%s.old", file->path);
	if (!rename(file->path, file->old))
		return;
	log_warn("%s existed and could not be kept as %s: %s", file->path, file->old,
		 strerror(errno));
	free(file->old);
	file->old = NULL;
}

/* Truncated only when it is known to be a file: opening a device or a pipe must not do anything to it. */
static int file_open(const char *path, int *out)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -ENOTSUP;
	else if (ftruncate(fd, 0) || fchmod(fd, 0600))
		err = -errno;
	if (err)
		close(fd);
	else
		*out = fd;
	return err;
}

static int file_replace(struct trace_file *file, bool keep_old, int *fd)
{
	int err;

	if (keep_old)
		old_keep(file);
	err = file_open(file->path, fd);
	if (err && file->old)
		rename(file->old, file->path);
	if (err == -ENOTSUP) {
		log_error("trace: %s is not a regular file", file->path);
		return -EINVAL;
	}
	if (err)
		return fail(file->path, file->as, -err);
	if (file->old)
		log_info("%s existed and is kept as %s", file->path, file->old);
	return 0;
}

/* Another descriptor of a file that is open. */
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
	/* A link stays a link: what it leads to is replaced, unless the kernel would not follow it (fs.protected_symlinks). */
	is_link = !lstat(path, &st) && S_ISLNK(st.st_mode);
	real = is_link ? realpath(path, NULL) : NULL;
	file->path = xstrdup(real ? real : path);
	free(real);
	if (is_link && stat(path, &st) && errno != ENOENT)
		err = fail(path, opt->as, errno);
	else
		err = file_replace(file, opt->keep_old, fd);
	person_act_end(&act);
	if (err)
		trace_file_release(file);
	return err;
}

void trace_file_undo(struct trace_file *file)
{
	struct person_act act;

	if (!file->path || person_act_begin(file->as, &act))
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
