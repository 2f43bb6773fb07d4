/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Finds the writer for a path or a format name.
 */
#include "timeline/writer.h"

#include "lib/text.h"

#include <string.h>

const struct writer *writer_find(const char *path_or_name, bool *gzip)
{
	size_t len = strlen(path_or_name);
	bool zip = text_ends_in(path_or_name, len, ".gz");

	if (zip)
		len -= 3;
	for (uint32_t i = 0; writers[i]; i++) {
		const struct writer *w = writers[i];
		bool hit = strlen(w->name) == len && !memcmp(path_or_name, w->name, len);

		for (uint32_t j = 0; !hit && w->endings[j]; j++)
			hit = text_ends_in(path_or_name, len, w->endings[j]);
		if (hit) {
			*gzip = zip;
			return w;
		}
	}
	return NULL;
}
