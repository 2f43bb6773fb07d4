/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The file is rewritten as a whole after each benchmark, under a temporary name, and then renamed.
 * So an interruption leaves either the old file or the new one. Another run may have replaced the
 * file meanwhile. So the writer reads it again and puts its own launch, known by its id, among the
 * others. A lock on the directory serialises writers and leaves nothing behind.
 */
#include "core/result_file.h"

#include "lib/log.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_ANOTHER "; name another file"
#define LOCK_TRIES 100
#define LOCK_PAUSE_NS 50000000

struct result_file {
	char *path;
	json_t *json;	      /* content of the file: all launches */
	json_t *launch;	      /* this run's launch; part of json from its first result on */
	json_t *factors;      /* of this run */
	struct stat seen;     /* the file as it was last read or written; st_ino 0: none */
	bool shared;	      /* another run writes to the file; the warning is printed once */
	size_t unwritten_cnt; /* results that are not in the file */
};

static json_t *file_new(void)
{
	return json_pack("{s:s, s:i, s:[]}", "format", RESULT_FORMAT, "version", RESULT_VERSION,
			 "launches");
}

static json_t *launches_of(const struct result_file *f)
{
	return json_object_get(f->json, "launches");
}

static json_t *results_of(const struct result_file *f)
{
	return json_object_get(f->launch, "results");
}

/* Returns 0 for a regular file, or -ENOENT, without a message, if there is none. */
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

/* Loads the file. Fails if a launch in it was measured with other relevant factors. */
static int file_load(const char *path, const json_t *factors, json_t **out)
{
	json_t *json, *launch;
	size_t i;
	int err = result_read(path, NAME_ANOTHER, &json);

	if (err)
		return err;
	json_array_foreach(json_object_get(json, "launches"), i, launch)
	{
		err = result_same(path, json_object_get(launch, "factors"), factors);
		if (err) {
			json_decref(json);
			return err;
		}
	}
	*out = json;
	return 0;
}

/* Name of the temporary file in the same directory; the caller frees it. */
static char *fresh_name(const char *path)
{
	return xasprintf("%s.%d.tmp", path, (int)getpid());
}

/* Checks now that the file can be written, before hours of measuring. */
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

/* ---- the launch of this run ---- */

static json_t *new_id(void)
{
	uint64_t id;

	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) != sizeof(id))
		id = (uint64_t)time(NULL) << 32 ^ (uint64_t)getpid();
	return json_sprintf("%016" PRIx64, id);
}

static json_t *launch_new(json_t *factors)
{
	return json_pack("{s:o, s:O, s:[]}", "id", new_id(), "factors", factors, "results");
}

/*
 * Resumes a launch. Its factors keep the longest list of ranks that any part had, and the date is
 * added to the launch's list "resumed".
 */
static json_t *launch_resumed(json_t *launch, const json_t *factors)
{
	json_t *old = json_object_get(launch, "factors"),
	       *ranks = json_object_get(factors, "ranks");
	json_t *date = json_object_get(factors, "date"),
	       *dates = json_object_get(launch, "resumed");

	if (json_array_size(ranks) > json_array_size(json_object_get(old, "ranks")))
		json_object_set(old, "ranks", ranks);
	if (!json_is_string(json_object_get(launch, "id")))
		json_put(launch, "id", new_id());
	if (!json_is_array(dates))
		json_put(launch, "resumed", dates = json_array());
	if (date)
		json_array_append(dates, date);
	return json_incref(launch);
}

static size_t place_of(const struct result_file *f)
{
	const json_t *id = json_object_get(f->launch, "id");
	json_t *launch;
	size_t i;

	json_array_foreach(launches_of(f), i, launch)
	{
		if (json_equal(json_object_get(launch, "id"), id))
			return i;
	}
	return json_array_size(launches_of(f));
}

static void launch_put(struct result_file *f)
{
	size_t at = place_of(f), cnt = json_array_size(launches_of(f));

	if (at < cnt ? json_array_set(launches_of(f), at, f->launch) :
		       json_array_append(launches_of(f), f->launch))
		die("out of memory (a launch)");
}

bool result_file_holds(const struct result_file *f)
{
	return place_of(f) < json_array_size(launches_of(f));
}

size_t result_file_launch(const struct result_file *f)
{
	return place_of(f) + 1;
}

int result_file_open(const char *path, json_t *factors, bool resume, struct result_file **out)
{
	struct result_file *f = xcalloc(1, sizeof(*f));
	size_t cnt;
	int err = file_look(path, &f->seen);

	f->path = xstrdup(path);
	f->factors = factors;
	if (!err)
		err = file_load(path, factors, &f->json);
	else if (err == -ENOENT) {
		f->json = file_new();
		err = 0;
	}
	if (!err)
		err = file_probe(path);
	if (err) {
		result_file_free(f);
		return err;
	}
	cnt = json_array_size(launches_of(f));
	if (resume && cnt)
		f->launch = launch_resumed(json_array_get(launches_of(f), cnt - 1), factors);
	else
		f->launch = launch_new(factors);
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
	json_decref(f->launch);
	json_decref(f->json);
	json_decref(f->factors);
	free(f->path);
	free(f);
}

/* In every launch, the same benchmark on as many ranks must have the same options. */
int result_file_check(const struct result_file *f, const struct result_about *about)
{
	json_t *launch, *r;
	size_t i, k;
	int err;

	json_array_foreach(launches_of(f), i, launch)
	{
		json_array_foreach(json_object_get(launch, "results"), k, r)
		{
			if (!result_is_of(r, about->benchmark, about->ranks))
				continue;
			err = result_same_options(f->path, about->benchmark,
						  json_object_get(r, "options"), about->options);
			if (err)
				return err;
		}
	}
	return 0;
}

/* Index among the launch's results; the number of results if there is none. */
static size_t find_result(const struct result_file *f, const char *benchmark, json_int_t ranks)
{
	json_t *r;
	size_t i;

	json_array_foreach(results_of(f), i, r)
	{
		if (result_is_of(r, benchmark, ranks))
			return i;
	}
	return json_array_size(results_of(f));
}

static const json_t *result_of(const struct result_file *f, const struct result_about *about)
{
	return json_array_get(results_of(f), find_result(f, about->benchmark, about->ranks));
}

bool result_file_has(const struct result_file *f, const struct result_about *about)
{
	const json_t *r = result_of(f, about);

	return r && !result_is_part(r);
}

const json_t *result_file_part(const struct result_file *f, const struct result_about *about)
{
	const json_t *r = result_of(f, about);

	return result_is_part(r) ? r : NULL;
}

static int file_write(const struct result_file *f, const char *path)
{
	/* Nine digits resolve a nanosecond in a second. More would be noise. */
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

/* Locks the file's directory; -1 if it cannot be locked, as on file systems without locks. */
static int lock_take(const char *path)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	char *copy = xstrdup(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	free(copy);
	for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
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

/* Another run's file has replaced ours and cannot be extended. Writes to a new file next to it. */
static void file_move(struct result_file *f)
{
	char *other = xasprintf("%s.%d", f->path, (int)getpid());

	log_warn("%s: another run replaced this file meanwhile; results go to %s", f->path, other);
	free(f->path);
	f->path = other;
}

/* Loads what another run has written since. This run's launch stays in memory as it is. */
static void file_catch_up(struct result_file *f)
{
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
		log_warn("%s: another run also writes to this file; its results are kept", f->path);
	f->shared = true;
	json_decref(f->json);
	f->json = json;
}

/* Takes ownership of the result, which replaces an older one of the same benchmark. */
static void launch_set(struct result_file *f, json_t *r)
{
	size_t at = find_result(f, json_string_value(json_object_get(r, "benchmark")),
				json_integer_value(json_object_get(r, "ranks")));
	size_t cnt = json_array_size(results_of(f));

	if (at < cnt ? json_array_set_new(results_of(f), at, r) :
		       json_array_append_new(results_of(f), r))
		die("out of memory (a result)");
}

/* Returns 0 or -errno and prints nothing. */
static int file_replace(struct result_file *f)
{
	int lock = lock_take(f->path), err;
	char *fresh;

	file_catch_up(f);
	launch_put(f);
	fresh = fresh_name(f->path);
	err = file_write(f, fresh);
	if (!err && rename(fresh, f->path))
		err = -errno;
	if (err)
		unlink(fresh);
	else
		stat(f->path, &f->seen);
	lock_give(lock);
	free(fresh);
	return err;
}

int result_file_add(struct result_file *f, const struct result *r)
{
	int err;

	launch_set(f, json_deep_copy(result_json(r)));
	f->unwritten_cnt++;
	err = file_replace(f);
	if (err)
		log_error("%s: %s; it has no result of %s", f->path, log_unwritten(-err),
			  json_string_value(json_object_get(result_json(r), "benchmark")));
	else
		f->unwritten_cnt = 0;
	return err;
}

void result_file_keep(struct result_file *f, const struct result *r, uint64_t took_ns)
{
	json_t *part = json_deep_copy(result_json(r));

	json_put(part, "partial", json_true());
	json_put(part, "took_ns", json_integer((json_int_t)took_ns));
	launch_set(f, part);
	file_replace(f);
}
