/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/table.h"
#include "lib/person.h"

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
	do { /* one read() may return less than the whole file */
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

/* True if the device has another mount, or if the file system has no device (tmpfs, overlay). */
static bool device_stays_mounted(dev_t dev)
{
	FILE *f = major(dev) ? fopen("/proc/self/mountinfo", "re") : NULL;
	unsigned int first, second, mounts = 0;
	char *line = NULL;
	size_t room = 0;

	while (f && mounts < 2 && getline(&line, &room, f) > 0)
		mounts += sscanf(line, "%*d %*d %u:%u ", &first, &second) == 2 &&
			  makedev(first, second) == dev;
	free(line);
	if (f)
		fclose(f);
	return !major(dev) || mounts > 1;
}

int file_own_mount(const char *path)
{
	struct stat st;
	long fd;

	if (stat(path, &st))
		return -errno;
	if (!device_stays_mounted(st.st_dev))
		return -EBUSY;
	/* glibc has no function for it before 2.36 */
	fd = syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
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

/* ---- output files ---- */

#define FILE_MODE 0600 /* until it gets the recording's */

static int fail(const char *what, const struct output_file *o, int err)
{
	if (o->as && (err == EACCES || err == EPERM || err == EROFS))
		log_error("%s: cannot %s %s as %s: %s; name a place that %s may write to (-o), or "
			  "run povtrace without sudo's variables: sudo env -u SUDO_UID povtrace …",
			  o->who, what, o->path, o->as->name, strerror(err), o->as->name);
	else
		log_error("%s: cannot %s %s: %s", o->who, what, o->path, strerror(err));
	return -err;
}

/* Only a new or regular file is replaced as a whole; pipes and devices are written to. */
static bool written_in_place(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

static int output_open_tmp(struct output_file *o)
{
	char *copy = xstrdup(o->path);
	int fd;

	o->tmp = xasprintf("%s.XXXXXX", o->path);
	fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, FILE_MODE);
	o->nameless = fd >= 0;
	if (fd < 0)
		fd = mkostemp(o->tmp, O_CLOEXEC);
	free(copy);
	return fd;
}

static int output_open(struct output_file *o)
{
	int fd;

	if (!strcmp(o->path, "-")) {
		o->file = stdout;
		return 0;
	}
	fd = written_in_place(o->path) ? open(o->path, O_WRONLY | O_CLOEXEC) : output_open_tmp(o);
	if (fd < 0) {
		fd = fail("create", o, errno);
		free(o->tmp);
		return fd;
	}
	o->file = fdopen(fd, "w");
	if (!o->file)
		die("%s: out of memory", o->who);
	return 0;
}

/* A nameless file gets its temporary name: linkat() cannot replace what is there. */
static int output_link(struct output_file *o)
{
	char fd_path[64];

	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fileno(o->file));
	for (int tries = 0; tries < 100; tries++) {
		char *x = o->tmp + strlen(o->tmp) - 6;

		snprintf(x, 7, "%06x",
			 ((unsigned int)getpid() * 100 + (unsigned int)tries) & 0xffffff);
		if (!linkat(AT_FDCWD, fd_path, AT_FDCWD, o->tmp, AT_SYMLINK_FOLLOW)) {
			o->nameless = false;
			return 0;
		}
		if (errno != EEXIST)
			break;
	}
	return fail("name", o, errno);
}

/* Gives the output the recording's mode, because it shows what the recording contains. */
static void output_mode_set(struct output_file *o, const char *like)
{
	struct stat st;

	if (!o->tmp || stat(like, &st) || !S_ISREG(st.st_mode))
		return;
	if (fchmod(fileno(o->file), st.st_mode & 0666))
		log_warn("%s: %s keeps its own mode: %s", o->who, o->path, strerror(errno));
}

/* Gives the file its name if all went well, else removes it. Returns the first error. */
static int output_close(struct output_file *o, int err)
{
	bool replaced;

	if (o->file == stdout)
		return err;
	if (!err && o->nameless)
		err = output_link(o);
	if (fclose(o->file) && !err)
		err = fail("write", o, errno);
	replaced = !err && o->tmp && !access(o->path, F_OK);
	if (!err && o->tmp && rename(o->tmp, o->path))
		err = fail("name", o, errno);
	else if (replaced)
		log_info("%s existed and was replaced", o->path);
	if (err && o->tmp && !o->nameless)
		unlink(o->tmp);
	free(o->tmp);
	return err;
}

int output_file_begin(struct output_file *o, const char *who, const char *like, const char *path,
		      const struct person *as)
{
	struct person_act act;
	int err;

	*o = (struct output_file){.who = who, .path = path, .as = as};
	err = person_act_begin(as, &act);
	if (err)
		return err;
	err = output_open(o);
	person_act_end(&act);
	if (!err)
		output_mode_set(o, like);
	return err;
}

int output_file_end(struct output_file *o, int err)
{
	struct person_act act;
	int e = person_act_begin(o->as, &act);

	err = output_close(o, err ? err : e);
	person_act_end(&act);
	return err;
}

bool output_file_is_recording(const char *who, const char *path, const char *recording)
{
	struct stat a, b;

	if (stat(path, &a) || stat(recording, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
		return false;
	log_error("%s: %s is the recording itself; name another output", who, path);
	return true;
}
