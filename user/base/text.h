/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Looking at text. */
#ifndef POV_BASE_TEXT_H
#define POV_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The first len bytes of text end in end. */
bool text_ends_in(const char *text, size_t len, const char *end);
/* Bytes of the well-formed UTF-8 character at s, of which left > 0 bytes are there; 0 if there is none (Unicode, table 3-7). */
size_t text_utf8_bytes(const char *s, size_t left);

#endif
