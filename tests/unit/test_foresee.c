/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a command will load, told from made directories and a made ld.so.cache. What files hold is made up by the visitor
 * here, by their names: "libx needs liby" is all that the search has to go by.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/test.h"
#include "attach/foresee.h"
#include "attach/inspect.h"
#include "attach/ld_cache.h"
#include "base/log.h"

#define VISITS_MAX 64

struct visits {
	char *path[VISITS_MAX];
	size_t cnt;
};

static char dir[64];

static const char *at(const char *name)
{
	static char path[4][256];
	static unsigned int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static void file_make(const char *name, const char *text)
{
	FILE *f = fopen(at(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	chmod(at(name), 0755);
}

static int visit(void *ctx, const char *path, struct inspected *in)
{
	struct visits *v = ctx;
	const char *base = strrchr(path, '/') + 1;

	memset(in, 0, sizeof(*in));
	for (size_t i = 0; i < v->cnt; i++)
		if (!strcmp(v->path[i], path))
			return 0;
	assert_true(v->cnt < VISITS_MAX);
	v->path[v->cnt++] = xstrdup(path);
	if (!strcmp(base, "app")) {
		in->needed = json_pack("[s,s]", "libnear.so", "libcached.so");
		in->runpath = xstrdup("$ORIGIN/../lib:/nowhere");
		snprintf(in->interpreter, sizeof(in->interpreter), "%s", at("ld.so"));
	} else if (!strcmp(base, "libnear.so")) {
		in->needed = json_pack("[s]", "libpath.so");
	} else if (strstr(base, ".sh")) {
		in->is_script = true;
		snprintf(in->interpreter, sizeof(in->interpreter), "%s", at("sh"));
	}
	return 0;
}

static bool visited(const struct visits *v, const char *name)
{
	char *real = realpath(at(name), NULL), *seen;
	bool found = false;

	for (size_t i = 0; i < v->cnt && real; i++) {
		seen = realpath(v->path[i], NULL);
		found |= seen && !strcmp(seen, real);
		free(seen);
	}
	free(real);
	return found;
}

/* A cache in today's format with one name for two files. */
static void cache_make(void)
{
	struct {
		char magic[20];
		uint32_t cnt, bytes, unused[5];
		struct {
			int32_t flags;
			uint32_t key, value, os;
			uint64_t hw;
		} entry[2];
		char text[400];
	} c = {.magic = {"glibc-ld.so.cache1.1"}, .cnt = 2};
	FILE *f = fopen(at("ld.so.cache"), "w");

	strcpy(c.text, "libcached.so");
	strcpy(c.text + 16, at("other/libcached.so"));
	strcpy(c.text + 200, at("cached/libcached.so"));
	for (int i = 0; i < 2; i++) {
		c.entry[i].key = (uint32_t)((char *)c.text - (char *)&c);
		c.entry[i].value = c.entry[i].key + (i ? 200 : 16);
	}
	assert_non_null(f);
	fwrite(&c, sizeof(c), 1, f);
	fclose(f);
}

static int setup(void **state)
{
	static const char *const dirs[] = {"bin", "lib", "cached", "other", "path"};
	static const char *const files[] = {"bin/app",
					    "lib/libnear.so",
					    "cached/libcached.so",
					    "other/libcached.so",
					    "path/libpath.so",
					    "ld.so",
					    "sh",
					    "bin/launcher",
					    "data.txt"};

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_foresee.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		mkdir(at(dirs[i]), 0755);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		file_make(files[i], "x");
	file_make("job.sh", "#!/bin/sh\ncd .\nexec launcher -n 2 \"./bin/app\"\n");
	cache_make();
	return 0;
}

static int teardown(void **state)
{
	char *command = xasprintf("rm -r %s", dir);
	int status = system(command);

	(void)state;
	free(command);
	return status;
}

static void foresee(struct visits *v, json_t *argv)
{
	json_t *command = json_pack("{s:o,s:{s:s,s:s},s:s}", "argv", argv, "env", "PATH", at("bin"),
				    "LD_LIBRARY_PATH", at("path"), "cwd", dir);

	memset(v, 0, sizeof(*v));
	foresee_command(command, at("ld.so.cache"), visit, v);
	json_decref(command);
}

static void visits_free(struct visits *v)
{
	for (size_t i = 0; i < v->cnt; i++)
		free(v->path[i]);
}

TEST(libraries)
{
	struct visits v;

	foresee(&v, json_pack("[s,s,s]", "launcher", "-np", "app"));
	assert_true(visited(&v, "bin/launcher"));
	assert_true(visited(&v, "bin/app"));
	assert_true(visited(&v, "ld.so"));
	assert_true(visited(&v, "lib/libnear.so"));
	assert_true(visited(&v, "path/libpath.so"));
	assert_true(visited(&v, "cached/libcached.so"));
	assert_true(visited(&v, "other/libcached.so")); /* whose machine is not told by the cache */
	assert_false(visited(&v, "sh"));
	assert_false(visited(&v, "data.txt"));
	visits_free(&v);
}

TEST(words)
{
	struct visits v;

	foresee(&v, json_pack("[s,s,s]", "sh", "-c", "set -m; launcher ./bin/app & wait"));
	assert_true(visited(&v, "bin/launcher"));
	assert_true(visited(&v, "lib/libnear.so"));
	visits_free(&v);
	foresee(&v, json_pack("[s]", "--wrapper=bin/app"));
	assert_true(visited(&v, "bin/app"));
	visits_free(&v);
}

TEST(script)
{
	struct visits v;

	foresee(&v, json_pack("[s]", "./job.sh"));
	assert_true(visited(&v, "sh"));
	assert_true(visited(&v, "bin/launcher"));
	assert_true(visited(&v, "lib/libnear.so"));
	visits_free(&v);
}

TEST(no_cache)
{
	static const char *const damaged[] = {
		"", "glibc-ld.so.cache1.1",
		"ld.so-1.7.0 glibc-ld.so.cache1.1\1\2\3\4 and so on and on"};
	struct ld_cache c;

	ld_cache_open("/does/not/exist", &c);
	assert_null(ld_cache_find(&c, "libcached.so", 0));
	ld_cache_close(&c);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		file_make("damaged", damaged[i]);
		ld_cache_open(at("damaged"), &c);
		assert_null(ld_cache_find(&c, "libcached.so", 0));
		ld_cache_close(&c);
	}
	ld_cache_open(at("ld.so.cache"), &c);
	assert_string_equal(ld_cache_find(&c, "libcached.so", 1), at("cached/libcached.so"));
	assert_null(ld_cache_find(&c, "libcached.so", 2));
	assert_null(ld_cache_find(&c, "libcached", 0));
	ld_cache_close(&c);
}

ALL_TESTS(setup, teardown);
