/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The recording half, where files of the program's own are (lib/own_file.h). */
#include "record/recorder.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/own_file.h"
#include "version.h"

#define FILE_NAME "povtrace-record.so"

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
	char *path = own_file_find(FILE_NAME);

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
