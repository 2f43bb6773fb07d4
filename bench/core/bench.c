/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "core/bench.h"

#include <string.h>

const struct bench *bench_find(const char *name)
{
	size_t i;

	for (i = 0; benches[i]; i++) {
		if (!strcmp(benches[i]->name, name))
			return benches[i];
	}
	return NULL;
}
