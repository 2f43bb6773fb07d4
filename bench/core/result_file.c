/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The file is written as a whole after each benchmark, to a name beside it, and then renamed: an interruption
 * leaves either the file before or the file after. Another run may have replaced it meanwhile: whoever writes
 * looks, and adds to what is there. A lock on the directory keeps two from doing so at once; it leaves nothing behind.
 */
#include "core/result_file.h"

#include "base/log.h"
#include "core/result_same.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FORMAT "povbench"
#define FORMAT_VERSION 1
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 50000000

struct result_file {
	char *path;
	json_t *json, *results; /* results is borrowed */
	json_t *factors;	/* of this run */
	struct stat seen;	/* the file as it was last read or written; st_ino 0: none */
	bool shared;		/* another run was seen to write to it; said once */
	size_t unwritten_cnt;	/* of the results, the last so many are not in the file */
};

static int file_check(const char *path, const json_t *json, const json_t *factors)
{
	const char *format = json_string_value(json_object_get(json, "format"));
	json_int_t version = json_integer_value(json_object_get(json, "version"));

	if (!format || strcmp(format, FORMAT) || !json_is_array(json_object_get(json, "results"))) {
		log_error("%s: is no result of povbench; name another file", path);
		return -EINVAL;
	}
	if (version != FORMAT_VERSION) {
		log_error("%s: is of version %d, this povbench writes version %d", path,
			  (int)version, FORMAT_VERSION);
		return -EINVAL;
	}
	return result_same(path, json_object_get(json, "factors"), factors);
}

static json_t *file_new(json_t *factors)
{
	return json_pack("{s:s, s:i, s:O, s:[]}", "format", FORMAT, "version", FORMAT_VERSION,
			 "factors", factors, "results");
}

/* 0: it is a file; -ENOENT, unsaid: there is none. */
static int file_look(const char *path, struct stat *out)
{
	struct stat st;

	memset(out, 0, sizeof(*out));
	if (stat(path, &st)) {
		if (errno == ENOENT && path[0])
			return -ENOENT;
		log_error("%s: %s; name another file", path, strerror(errno));
		return -EINVAL;
	}
	if (!S_ISREG(st.st_mode)) {
		log_error("%s: is no regular file; name another one", path);
		return -EINVAL;
	}
	*out = st;
	return 0;
}

/* The file knows the places of as many ranks as any run of it had. */
static void ranks_extend(json_t *json, const json_t *factors)
{
	json_t *old = json_object_get(json, "factors"), *ranks = json_object_get(factors, "ranks");

	if (json_array_size(ranks) > json_array_size(json_object_get(old, "ranks")))
		json_object_set(old, "ranks", ranks);
}

static int file_load(const char *path, json_t *factors, json_t **out)
{
	json_error_t error;
	json_t *json = json_load_file(path, 0, &error);
	int err;

	if (!json) {
		log_error("%s: %s (line %d); name another file", path, error.text, error.line);
		return -EINVAL;
	}
	err = file_check(path, json, factors);
	if (err) {
		json_decref(json);
		return err;
	}
	ranks_extend(json, factors);
	*out = json;
	return 0;
}

/* Beside the file: to be renamed to it. The caller frees. */
static char *fresh_name(const char *path)
{
	return xasprintf("%s.%d.tmp", path, (int)getpid());
}

/* Hours of measuring must not end at a name that cannot be written. */
static int file_probe(const char *path)
{
	char *fresh = fresh_name(path);
	int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), err = 0;

	if (fd < 0) {
		err = -errno;
		log_error("%s: cannot be written: %s; nothing is measured", path, strerror(errno));
	} else {
		close(fd);
		unlink(fresh);
	}
	free(fresh);
	return err;
}

static void file_set(struct result_file *f, json_t *json)
{
	json_decref(f->json);
	f->json = json;
	f->results = json_object_get(json, "results");
}

int result_file_open(const char *path, json_t *factors, struct result_file **out)
{
	struct result_file *f = xcalloc(1, sizeof(*f));
	json_t *json = NULL;
	int err = file_look(path, &f->seen);

	f->path = xstrdup(path);
	f->factors = factors;
	if (!err)
		err = file_load(path, factors, &json);
	else if (err == -ENOENT) {
		json = file_new(factors);
		err = 0;
	}
	if (!err) {
		file_set(f, json);
		err = file_probe(path);
	}
	if (err) {
		result_file_free(f);
		return err;
	}
	*out = f;
	return 0;
}

void result_file_free(struct result_file *f)
{
	if (!f)
		return;
	if (f->unwritten_cnt)
		log_error("%s: %zu result%s could not be written and %s lost", f->path,
			  f->unwritten_cnt, f->unwritten_cnt > 1 ? "s" : "",
			  f->unwritten_cnt > 1 ? "are" : "is");
	json_decref(f->json);
	json_decref(f->factors);
	free(f->path);
	free(f);
}

bool result_file_has(const struct result_file *f, const struct result_about *about)
{
	json_t *r;
	size_t i;

	json_array_foreach(f->results, i, r)
	{
		const char *name = json_string_value(json_object_get(r, "benchmark"));

		if (name && !strcmp(name, about->benchmark) &&
		    json_integer_value(json_object_get(r, "ranks")) == about->ranks &&
		    json_equal(json_object_get(r, "options"), about->options))
			return true;
	}
	return false;
}

static int file_write(const struct result_file *f, const char *path)
{
	/* Nine digits: a nanosecond in a second; more would be noise. */
	size_t flags = JSON_INDENT(1) | JSON_REAL_PRECISION(9);
	FILE *out = fopen(path, "w");
	int err = 0;

	if (!out)
		return -errno;
	if (json_dumpf(f->json, out, flags) || fputc('\n', out) == EOF || fflush(out) ||
	    fsync(fileno(out)))
		err = -(errno ? errno : EIO);
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

/* ---- several runs ---- */

/* Of the directory that the file is in; -1: none, as where the file system knows no locks. */
static int lock_take(const char *path)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	char *copy = xstrdup(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC), i;

	free(copy);
	for (i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		if (errno != EWOULDBLOCK && errno != EINTR)
			break;
		nanosleep(&pause, NULL);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static void lock_give(int fd)
{
	if (fd >= 0)
		close(fd);
}

static bool file_changed(const struct stat *a, const struct stat *b)
{
	return a->st_dev != b->st_dev || a->st_ino != b->st_ino || a->st_size != b->st_size ||
	       a->st_mtim.tv_sec != b->st_mtim.tv_sec || a->st_mtim.tv_nsec != b->st_mtim.tv_nsec;
}

/* Somebody else's file took the place of ours, and cannot be added to: ours goes beside it. */
static void file_move(struct result_file *f)
{
	char *other = xasprintf("%s.%d", f->path, (int)getpid());

	log_warn("%s: another run put it there meanwhile; results go to %s", f->path, other);
	free(f->path);
	f->path = other;
}

/* What another run has written since comes first, what is not written yet behind it. */
static void file_catch_up(struct result_file *f)
{
	size_t i, cnt = json_array_size(f->results);
	struct stat now;
	json_t *json;
	int err = file_look(f->path, &now);

	if (err == -ENOENT || (!err && !file_changed(&now, &f->seen)))
		return;
	if (!err)
		err = file_load(f->path, f->factors, &json);
	if (err) {
		file_move(f);
		return;
	}
	if (!f->shared)
		log_warn("%s: another run writes to it, too; its results are kept", f->path);
	f->shared = true;
	for (i = cnt - f->unwritten_cnt; i < cnt; i++)
		json_array_append(json_object_get(json, "results"), json_array_get(f->results, i));
	file_set(f, json);
}

int result_file_add(struct result_file *f, const struct result *r)
{
	int lock = lock_take(f->path), err;
	char *fresh;

	if (json_array_append_new(f->results, json_deep_copy(result_json(r))))
		die("out of memory (a result)");
	f->unwritten_cnt++;
	file_catch_up(f);
	fresh = fresh_name(f->path);
	err = file_write(f, fresh);
	if (!err && rename(fresh, f->path))
		err = -errno;
	if (err) {
		log_error("%s: %s; it has no result of %s", f->path, strerror(-err),
			  json_string_value(json_object_get(result_json(r), "benchmark")));
		unlink(fresh);
	} else {
		f->unwritten_cnt = 0;
		stat(f->path, &f->seen);
	}
	lock_give(lock);
	free(fresh);
	return err;
}
