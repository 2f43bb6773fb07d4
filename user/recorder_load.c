/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Looks for the recording half beside the program (as built) and in ../lib/povtrace (as installed), nowhere else: it is
 * run as root.
 */
#include "collect/recorder.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "version.h"

#define FILE_NAME "povtrace-record.so"

static const char *const places[] = {"", "../lib/povtrace/"};

/* Directory of this program, with a slash. */
static int own_directory(char *dir, size_t bytes)
{
	ssize_t n = readlink("/proc/self/exe", dir, bytes - 1);

	if (n <= 0)
		return -1;
	dir[n] = '\0';
	*(strrchr(dir, '/') + 1) = '\0';
	return 0;
}

/* The caller frees. NULL: it is in none of the places. */
static char *find(void)
{
	char dir[PATH_MAX], *path;

	if (own_directory(dir, sizeof(dir)))
		return NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		path = xasprintf("%s%s" FILE_NAME, dir, places[i]);
		if (!access(path, F_OK))
			return path;
		free(path);
	}
	return NULL;
}

static const struct recorder *load(const char *command, const char *path)
{
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct recorder *r = file ? dlsym(file, RECORDER_SYMBOL) : NULL;

	if (!r)
		log_error(
			"%s needs libraries that reading a trace does not (libbpf, libelf, Zydis, hwloc); one "
			"is to be installed: %s",
			command, dlerror());
	else if (strcmp(r->version, POV_VERSION))
		log_error("%s: %s is of version %s, this program of %s: install both again",
			  command, path, r->version, POV_VERSION);
	else
		return r;
	return NULL;
}

const struct recorder *recorder_load(const char *command)
{
	const struct recorder *r;
	char *path = find();

	if (!path) {
		log_error("%s needs the file " FILE_NAME
			  ", which is neither beside this program nor in "
			  "../lib/povtrace: run `make install`",
			  command);
		return NULL;
	}
	r = load(command, path);
	free(path);
	return r;
}
