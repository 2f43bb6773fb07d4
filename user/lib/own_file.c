/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Places are relative to the program itself, not to the directory that it is started in. */
#include "lib/own_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/log.h"

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

char *own_file_find(const char *name)
{
	char dir[PATH_MAX], *path;

	if (own_directory(dir, sizeof(dir)))
		return NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		path = xasprintf("%s%s%s", dir, places[i], name);
		if (!access(path, F_OK))
			return path;
		free(path);
	}
	return NULL;
}
