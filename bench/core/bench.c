/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "core/bench.h"

#include <string.h>

bool bench_is(const struct bench *b, const char *name)
{
	return !strcmp(b->name, name) || (b->alias && !strcmp(b->alias, name));
}

const struct bench *bench_find(const char *name)
{
	size_t i;

	for (i = 0; benches[i]; i++) {
		if (bench_is(benches[i], name))
			return benches[i];
	}
	return NULL;
}
