/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Which files a command will load, from artificial directories and an artificial ld.so.cache. The
 * visitor derives each file's contents from its name, such as "libx needs liby". The search uses
 * nothing else.
 */
#include <unistd.h>

#include "unit/test.h"
#include "target/predict_libraries.h"
#include "target/helper/inspect.h"
#include "unit/trace_help.h"

static char dir[128];	   /* without symbolic links */
static char visited[2048]; /* names below dir, with a blank before each */

static const char *at(const char *name)
{
	static char path[4][256];
	static unsigned int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static bool visited_add(const char *path)
{
	char *real = realpath(path, NULL);
	char *name = xasprintf(" %s",
			       strncmp(real, dir, strlen(dir)) ? real : real + strlen(dir) + 1);
	const char *found = strstr(visited, name);
	bool seen = found && strchr(" ", found[strlen(name)]);

	assert_true(strlen(visited) + strlen(name) < sizeof(visited));
	if (!seen)
		strcat(visited, name);
	free(real);
	free(name);
	return !seen;
}

static int visit(void *ctx, const char *path, struct inspected *in)
{
	const char *base = strrchr(path, '/') + 1;

	memset(in, 0, sizeof(*in));
	if (!visited_add(path))
		return 0;
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

/* Writes a cache in the present format with one name for two files. */
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

	strcpy(c.text, "libcached.so");
	strcpy(c.text + 16, at("other/libcached.so"));
	strcpy(c.text + 200, at("cached/libcached.so"));
	for (int i = 0; i < 2; i++) {
		c.entry[i].key = (uint32_t)((char *)c.text - (char *)&c);
		c.entry[i].value = c.entry[i].key + (i ? 200 : 16);
	}
	file_store(at("ld.so.cache"), &c, sizeof(c));
}

static int setup(void **state)
{
	static const char files[] =
		"mkdir bin lib cached other path && printf '#!/bin/sh\ncd .\nexec launcher -n 2 \"./bin/app\"\n' >job.sh && "
		"for f in bin/app bin/launcher lib/libnear.so cached/libcached.so other/libcached.so "
		"path/libpath.so ld.so sh data.txt; do echo x >$f; done && chmod +x */* *";

	assert_non_null(realpath(temp_path(""), dir));
	cache_make();
	return chdir(dir) || system(files);
}

static void predict_test_is(const char *argv, const char *preload, const char *wanted)
{
	json_t *command = json_pack("{s:o,s:{s:s,s:s,s:s*},s:s}", "argv", json_loads(argv, 0, NULL),
				    "env", "PATH", at("bin"), "LD_LIBRARY_PATH", at("path"),
				    "LD_PRELOAD", preload, "cwd", dir);

	assert_non_null(command);
	*visited = '\0';
	predict_libraries(command, at("ld.so.cache"), visit, NULL);
	json_decref(command);
	assert_string_equal(visited, wanted);
}

/* The cache does not record its libraries' machine, so both are visited. */
#define APP " bin/app ld.so lib/libnear.so path/libpath.so other/libcached.so cached/libcached.so"

TEST(commands)
{
	predict_test_is("[\"launcher\", \"-np\", \"app\"]", NULL, " bin/launcher" APP);
	predict_test_is("[\"sh\", \"-c\", \"set -m; launcher ./bin/app & wait\"]", NULL,
			" sh bin/launcher" APP);
	predict_test_is("[\"--wrapper=bin/app\"]", NULL, APP);
	predict_test_is("[\"./job.sh\"]", NULL, " job.sh sh bin/launcher" APP);
	/* The others may reach the limit of files. */
	predict_test_is("[\"launcher\"]", at("lib/libnear.so"),
			" lib/libnear.so path/libpath.so bin/launcher");
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
		file_store(at("damaged"), damaged[i], strlen(damaged[i]));
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

ALL_TESTS(setup, NULL);
