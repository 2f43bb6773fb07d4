/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A list of lines. */
#ifndef POV_TESTS_POVMAKE_LINES_H
#define POV_TESTS_POVMAKE_LINES_H

#include <stddef.h>

struct script {
	char **line;
	size_t cnt;
};

/* Adds a copy of the line. */
void script_add(struct script *s, const char *line);
void script_release(struct script *s);

#endif
