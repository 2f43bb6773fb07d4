/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "tool/povmake/lines.h"

#include <stdlib.h>

#include "lib/log.h"

void script_add(struct script *s, const char *line)
{
	s->line = xrealloc(s->line, (s->cnt + 1) * sizeof(*s->line));
	s->line[s->cnt++] = xstrdup(line);
}

void script_release(struct script *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		free(s->line[i]);
	free(s->line);
	*s = (struct script){0};
}
