/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A comment such as "# curve: latency, bandwidth; suite.json", each name once. */
#include "table.h"

#include "lib/log.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char *join(char *list, const char *between, const char *name)
{
	char *longer = xasprintf("%s%s%s", list, between, name);

	free(list);
	return longer;
}

/* Whether one of the results before has the same. */
static bool had_before(const struct data_result *const *result, size_t i, bool file)
{
	size_t k;

	for (k = 0; k < i; k++) {
		if (file ? result[k]->file == result[i]->file :
			   !strcmp(result[k]->benchmark, result[i]->benchmark))
			return true;
	}
	return false;
}

void table_begin(struct script *s, const struct data_result *const *result, size_t cnt,
		 const char *columns)
{
	char *about = xstrdup("");
	size_t i;

	for (i = 0; i < cnt; i++) {
		if (!had_before(result, i, false))
			about = join(about, i ? ", " : "", result[i]->benchmark);
	}
	for (i = 0; i < cnt; i++) {
		if (!had_before(result, i, true))
			about = join(about, i ? ", " : "; ", result[i]->file->path);
	}
	script_table(s, about, columns);
	free(about);
}
