/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Follows names like execvp, the shell and ld.so, as far as this is possible without running
 * anything.
 */
#include "target/predict_libraries.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/table.h"
#include "target/helper/inspect.h"

#define FILES_MAX 1024
#define WORDS_MAX 400 /* per script or command string */
#define SCRIPT_BYTES 32768
#define DEPTH_MAX 3	      /* scripts that name scripts */
#define DIRECTORY_DEPTH_MAX 2 /* directories of plug-ins */

/* Separators of words in a shell's input, except those that are common in file names. */
static const char word_ends[] = " \t\r\n;|&()<>\"'`{}[]=:,";

struct foresight {
	predict_visit_fn *visit;
	void *ctx;
	const char *path, *library_path, *cwd;
	struct ld_cache cache;
	unsigned int files;
	char **plug_in_dir; /* followed after all programs, which decide how plug-ins are probed */
	size_t plug_in_dir_cnt;
};

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

static void file_follow(struct foresight *f, const char *path, int depth);

/* ---- libraries ---- */

/*
 * Finds and visits the first file of this name in a list of directories. $ORIGIN is the directory
 * of the file that needs it.
 */
static bool needed_find(struct foresight *f, const char *dirs, const char *origin, const char *name)
{
	char path[PATH_MAX], *list = xstrdup(dirs ? dirs : ""), *rest = list, *dir;
	bool found = false;

	while (!found && (dir = strsep(&rest, ":"))) {
		const char *tail = !strncmp(dir, "$ORIGIN", 7)	 ? dir + 7 :
				   !strncmp(dir, "${ORIGIN}", 9) ? dir + 9 :
								   NULL;

		if (!*dir)
			continue;
		snprintf(path, sizeof(path), "%s%s/%s", tail ? origin : "", tail ? tail : dir,
			 name);
		found = is_file(path);
	}
	free(list);
	if (found)
		file_follow(f, path, DEPTH_MAX);
	return found;
}

static void needed_follow(struct foresight *f, const struct inspected *in, const char *origin,
			  const char *name)
{
	static const char standard[] = "/lib64:/usr/lib64:/lib:/usr/lib";
	const char *path;

	if (strchr(name, '/')) {
		file_follow(f, name, DEPTH_MAX);
		return;
	}
	if (needed_find(f, f->library_path, origin, name) ||
	    needed_find(f, in->runpath, origin, name))
		return;
	/*
	 * A name may have files for several machines. Those for other machines are noted as files
	 * with nothing to trace.
	 */
	for (size_t i = 0; (path = ld_cache_find(&f->cache, name, i)); i++)
		file_follow(f, path, DEPTH_MAX);
	if (!ld_cache_find(&f->cache, name, 0))
		needed_find(f, standard, origin, name);
}

/* ---- plug-ins ---- */

/* Libraries that load everything in a directory beside them. */
static const struct {
	const char *library, *directory;
} plug_ins[] = {
	{"libopen-pal.so", "openmpi"},	 {"libopen-pal.so", "pmix"},	{"libpmix.so", "pmix"},
	{"libpmix.so", "pmix2"},	 {"libhwloc.so", "hwloc"},	{"libucs.so", "ucx"},
	{"libibverbs.so", "libibverbs"}, {"libfabric.so", "libfabric"},
};

static void directory_follow(struct foresight *f, const char *path, int depth)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char *name;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		name = xasprintf("%s/%s", path, e->d_name);
		if (e->d_type == DT_DIR && depth < DIRECTORY_DEPTH_MAX)
			directory_follow(f, name, depth + 1);
		else if (e->d_type == DT_REG && strstr(e->d_name, ".so"))
			file_follow(f, name, DEPTH_MAX);
		free(name);
	}
	if (d)
		closedir(d);
}

/* Notes the plug-in directories of a library, whose real directory is given. */
static void plug_ins_note(struct foresight *f, const char *real, const char *name)
{
	for (size_t i = 0; i < sizeof(plug_ins) / sizeof(*plug_ins); i++) {
		if (strncmp(name, plug_ins[i].library, strlen(plug_ins[i].library)))
			continue;
		*table_append(f->plug_in_dir,
			      f->plug_in_dir_cnt) = xasprintf("%s/%s", real, plug_ins[i].directory);
	}
}

/* Visits the plug-ins. These may need libraries that have plug-ins of their own. */
static void plug_ins_follow(struct foresight *f)
{
	char *path;

	for (size_t i = 0; i < f->plug_in_dir_cnt; i++) {
		path = f->plug_in_dir[i];
		directory_follow(f, path, 0);
		free(path);
	}
	free(f->plug_in_dir);
}

static void libraries_follow(struct foresight *f, const struct inspected *in, const char *path)
{
	char real[PATH_MAX], *slash;
	json_t *name;
	size_t i;

	if (!in->needed || !realpath(path, real))
		return;
	slash = strrchr(real, '/');
	*slash = '\0';
	json_array_foreach(in->needed, i, name) needed_follow(f, in, real, json_string_value(name));
	plug_ins_note(f, real, slash + 1);
}

/* ---- words ---- */

static void word_follow(struct foresight *f, const char *word, int depth)
{
	char path[PATH_MAX], *dirs, *rest, *dir;

	if (!*word || *word == '-')
		return;
	snprintf(path, sizeof(path), "%s%s%s", *word == '/' ? "" : f->cwd, *word == '/' ? "" : "/",
		 word);
	if (is_file(path))
		file_follow(f, path, depth);
	if (strchr(word, '/'))
		return;
	dirs = rest = xstrdup(f->path);
	while ((dir = strsep(&rest, ":"))) {
		snprintf(path, sizeof(path), "%s/%s", *dir ? dir : f->cwd, word);
		if (!access(path, X_OK) && is_file(path)) {
			file_follow(f, path, depth);
			break;
		}
	}
	free(dirs);
}

static void words_follow(struct foresight *f, const char *text, int depth)
{
	char *copy = xstrdup(text), *rest;
	unsigned int n = 0;

	for (char *word = strtok_r(copy, word_ends, &rest); word && n < WORDS_MAX;
	     word = strtok_r(NULL, word_ends, &rest), n++)
		word_follow(f, word, depth);
	free(copy);
}

static void script_follow(struct foresight *f, const char *path, int depth)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text;
	ssize_t n;

	if (fd < 0)
		return;
	text = xmalloc(SCRIPT_BYTES);
	n = read(fd, text, SCRIPT_BYTES - 1);
	close(fd);
	if (n > 0 && !memchr(text, 0, (size_t)n)) {
		text[n] = '\0';
		words_follow(f, text, depth);
	}
	free(text);
}

static void file_follow(struct foresight *f, const char *path, int depth)
{
	struct inspected in;
	int err;

	if (f->files++ >= FILES_MAX)
		return;
	err = f->visit(f->ctx, path, &in);
	if (err == -ENOEXEC && depth < DEPTH_MAX) /* perhaps a script for sh */
		script_follow(f, path, depth + 1);
	if (!err) {
		if (in.interpreter[0])
			file_follow(f, in.interpreter, DEPTH_MAX);
		if (in.is_script && depth < DEPTH_MAX)
			script_follow(f, path, depth + 1);
		libraries_follow(f, &in, path);
	}
	inspected_release(&in);
}

/* ---- */

static const char *text_of(const json_t *o, const char *name, const char *otherwise)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s ? s : otherwise;
}

void predict_libraries(const json_t *command, const char *ld_cache, predict_visit_fn *visit,
		       void *ctx)
{
	const json_t *env = json_object_get(command, "env");
	struct foresight f = {
		.visit = visit,
		.ctx = ctx,
		.path = text_of(env, "PATH", "/usr/local/bin:/usr/bin:/bin"),
		.library_path = text_of(env, "LD_LIBRARY_PATH", ""),
		.cwd = text_of(command, "cwd", "/"),
	};
	const char *text;
	json_t *word;
	size_t i;

	ld_cache_open(ld_cache, &f.cache);
	/*
	 * LD_PRELOAD comes first, because the limit of files may be reached: processes use a
	 * preloaded library to wait for all files that are not inspected beforehand.
	 */
	words_follow(&f, text_of(env, "LD_PRELOAD", ""), 0);
	json_array_foreach(json_object_get(command, "argv"), i, word)
	{
		text = json_string_value(word) ?: "";
		word_follow(&f, text, 0);
		words_follow(&f, text, 0); /* --option=file, or a shell command string */
	}
	json_array_foreach(json_object_get(command, "libraries"), i, word)
		needed_follow(&f, &(struct inspected){0}, "", json_string_value(word) ?: "");
	plug_ins_follow(&f);
	ld_cache_close(&f.cache);
}

/* ---- cache ---- */

/*
 * Reads the format since glibc 2.2, alone or after the old one. Offsets count from its own header.
 */

#define MAGIC "glibc-ld.so.cache1.1"
#define CACHE_BYTES_MAX (16u << 20)

struct cache_header {
	char magic[20];
	uint32_t cnt, string_bytes;
	uint32_t unused[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* offsets of the name and of the path */
	uint32_t os_version;
	uint64_t hardware;
};

static char *file_read(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *bytes = NULL;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= CACHE_BYTES_MAX) {
		bytes = xmalloc((size_t)st.st_size + 1);
		n = read(fd, bytes, (size_t)st.st_size);
	}
	close(fd);
	if (n < 0) {
		free(bytes);
		return NULL;
	}
	bytes[n] = '\0';
	*size = (size_t)n;
	return bytes;
}

void ld_cache_open(const char *path, struct ld_cache *out)
{
	struct cache_header h;
	const char *at;

	memset(out, 0, sizeof(*out));
	out->bytes = file_read(path, &out->size);
	if (!out->bytes)
		return;
	at = memmem(out->bytes, out->size, MAGIC, sizeof(MAGIC) - 1);
	out->table = at ? (size_t)(at - out->bytes) : out->size;
	if (out->size - out->table < sizeof(h)) {
		ld_cache_close(out);
		return;
	}
	memcpy(&h, at, sizeof(h));
	out->cnt = (out->size - out->table - sizeof(h)) / sizeof(struct cache_entry);
	if (h.cnt < out->cnt)
		out->cnt = h.cnt;
}

static const char *text_at(const struct ld_cache *cache, uint32_t offset)
{
	return offset < cache->size - cache->table ? cache->bytes + cache->table + offset : "";
}

const char *ld_cache_find(const struct ld_cache *cache, const char *name, size_t i)
{
	const size_t first = cache->table + sizeof(struct cache_header);
	struct cache_entry e;

	for (size_t at = 0; cache->bytes && at < cache->cnt; at++) {
		memcpy(&e, cache->bytes + first + at * sizeof(e), sizeof(e));
		if (!strcmp(text_at(cache, e.key), name) && !i--)
			return text_at(cache, e.value);
	}
	return NULL;
}

void ld_cache_close(struct ld_cache *cache)
{
	free(cache->bytes);
	memset(cache, 0, sizeof(*cache));
}
