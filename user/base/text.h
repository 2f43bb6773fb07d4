/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Looking at text. */
#ifndef POV_BASE_TEXT_H
#define POV_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The first len bytes of text end in end. */
bool text_ends_in(const char *text, size_t len, const char *end);

#endif
