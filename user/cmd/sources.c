/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* "run.pov=-1500" belongs to the argument "run.pov". */
#include "cmd/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/log.h"

static int offset_apply(struct trace_source *source, int cnt, const char *text)
{
	const char *value = strrchr(text, '=');
	char *end;
	long long ns;

	for (int i = 0; value && i < cnt; i++) {
		if (strlen(source[i].path) != (size_t)(value - text) ||
		    strncmp(source[i].path, text, (size_t)(value - text)))
			continue;
		errno = 0;
		ns = strtoll(value + 1, &end, 10);
		if (errno || end == value + 1 || *end)
			break;
		source[i].offset_ns += ns;
		source[i].offset_given = true;
		return 0;
	}
	log_error("--offset: \"%s\" is not one of the files, = and a number of nanoseconds", text);
	return -EINVAL;
}

/* A file that is named twice would count twice. */
static int twice_check(char *const *path, int cnt)
{
	struct stat a, b;

	for (int i = 0; i < cnt; i++)
		for (int k = 0; k < i && !stat(path[i], &a); k++)
			if (!stat(path[k], &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
				log_error("%s and %s are one file", path[k], path[i]);
				return -EINVAL;
			}
	return 0;
}

struct trace_source *sources_parse(char *const *path, int cnt, const struct option_list *offsets,
				   bool one_run)
{
	struct trace_source *source;

	if (twice_check(path, cnt))
		return NULL;
	source = xcalloc((size_t)cnt, sizeof(*source));
	for (int i = 0; i < cnt; i++) {
		source[i].path = path[i];
		source[i].one_run = one_run;
	}
	for (size_t i = 0; i < offsets->cnt; i++) {
		if (offset_apply(source, cnt, offsets->item[i])) {
			free(source);
			return NULL;
		}
	}
	return source;
}
