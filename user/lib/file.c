/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/table.h"

/* ---- files of this program ---- */

/* Relative to the program itself, not to the current directory. */
static const char *const own_places[] = {"", "../lib/povtrace/"};

/* Directory of this program, including a final slash. */
static int own_directory(char *dir, size_t bytes)
{
	ssize_t n = readlink("/proc/self/exe", dir, bytes - 1);

	if (n <= 0)
		return -1;
	dir[n] = '\0';
	*(strrchr(dir, '/') + 1) = '\0';
	return 0;
}

char *own_file_find(const char *name)
{
	char dir[PATH_MAX], *path;

	if (own_directory(dir, sizeof(dir)))
		return NULL;
	for (size_t i = 0; i < sizeof(own_places) / sizeof(*own_places); i++) {
		path = xasprintf("%s%s%s", dir, own_places[i], name);
		if (!access(path, F_OK))
			return path;
		free(path);
	}
	return NULL;
}

/* ---- files of /proc ---- */

char *proc_file_read(pid_t pid, const char *name, size_t max, size_t *len)
{
	char path[64], *buf = NULL;
	size_t cap = 0, n = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	do { /* until the end, as the kernel generates the file while it is read */
		if (cap - n < 4096)
			buf = xrealloc(buf, cap = cap ? 2 * cap : 16384);
		got = read(fd, buf + n, cap - n - 1);
		if (got > 0)
			n += got;
	} while (got > 0 && n < max);
	close(fd);
	if (got < 0) {
		free(buf);
		return NULL;
	}
	buf[n] = '\0';
	*len = n;
	return buf;
}

/* ---- memory ---- */

static int memory_file_grow(int fd, size_t bytes)
{
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	struct rlimit was, soft;
	bool lifted = false;
	int err = 0;

	if (!getrlimit(RLIMIT_FSIZE, &was) && was.rlim_cur < bytes) {
		soft = (struct rlimit){was.rlim_max, was.rlim_max};
		lifted = !setrlimit(RLIMIT_FSIZE, &none) || !setrlimit(RLIMIT_FSIZE, &soft);
	}
	if (ftruncate(fd, (off_t)bytes))
		err = -errno;
	if (lifted)
		setrlimit(RLIMIT_FSIZE, &was);
	return err;
}

int memory_file_make(size_t bytes)
{
	int fd = memfd_create("povtrace", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	err = memory_file_grow(fd, bytes);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* ---- descriptors ---- */

TABLE_ORDER(fd_order, int, table_compare(*a, *b))

/* One call closes the range between two of the kept descriptors. */
void fd_close_others(const int *keep, size_t cnt)
{
	int *fd = xcalloc(cnt + 1, sizeof(*fd));
	unsigned int next = 0;

	if (cnt)
		memcpy(fd, keep, cnt * sizeof(*fd));
	qsort(fd, cnt, sizeof(*fd), fd_order);
	for (size_t i = 0; i < cnt; i++) {
		if (fd[i] < 0 || (unsigned int)fd[i] < next)
			continue;
		if ((unsigned int)fd[i] > next)
			close_range(next, (unsigned int)fd[i] - 1, 0);
		next = (unsigned int)fd[i] + 1;
	}
	close_range(next, UINT_MAX, 0);
	free(fd);
}

/* ---- standard output ---- */

int flush_stdout(int status)
{
	bool some = __fpending(stdout) > 0;
	bool bad = ferror(stdout) != 0;
	int err = 0;

	/*
	 * the C library does not keep the error of an earlier write; another write meets the same
	 * obstacle
	 */
	if (bad && write(STDOUT_FILENO, "\n", 1) < 0)
		err = errno;
	errno = 0;
	/* a stdout that was closed from the start matters only if there is output */
	if (fclose(stdout) && (some || errno != EBADF))
		bad = true;
	if (!bad)
		return status;
	if (errno)
		err = errno;
	log_error("stdout: %s", err ? log_unwritten(err) : "could not be written");
	return status ? status : 1;
}
