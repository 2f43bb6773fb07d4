/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the writer for a path or a format name.
 */
#include "writer/writer.h"

#include <string.h>

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(s + len - n, end, n);
}

const struct writer *writer_find(const char *path_or_name, bool *gzip)
{
	size_t len = strlen(path_or_name);
	bool zip = ends_with(path_or_name, len, ".gz");

	if (zip)
		len -= 3;
	for (uint32_t i = 0; writers[i]; i++) {
		const struct writer *w = writers[i];
		bool hit = strlen(w->name) == len && !memcmp(path_or_name, w->name, len);

		for (uint32_t j = 0; !hit && w->endings[j]; j++)
			hit = ends_with(path_or_name, len, w->endings[j]);
		if (hit) {
			*gzip = zip;
			return w;
		}
	}
	return NULL;
}
