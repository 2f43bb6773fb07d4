/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Text: looking at it, and numbers and names as text. */
#ifndef POV_LIB_TEXT_H
#define POV_LIB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first len bytes of text end in end. */
bool text_ends_in(const char *text, size_t len, const char *end);

/*
 * Numbers and names as text, appended at a cursor. Every function writes at p, adds no terminating 0 and
 * returns the end; the caller provides room: TEXT_NUMBER_BYTES for a number, TEXT_JSON_BYTES(n) for a
 * JSON string of n bytes. Names come from other people's programs: whatever is no UTF-8 becomes U+FFFD.
 */
#define TEXT_NUMBER_BYTES 32
#define TEXT_JSON_BYTES(n) (6 * (size_t)(n) + 2)
#define TEXT_UTF8_BYTES(n) (3 * (size_t)(n))

char *text_u64(char *p, uint64_t v);
char *text_i64(char *p, int64_t v);
char *text_hex(char *p, uint64_t v);   /* 0x1f */
char *text_us(char *p, uint64_t ns);   /* 1.234: microseconds, exact */
char *text_count(char *p, uint64_t v); /* 1,234 */

/* How many bytes of s, of n, are printable ASCII other than " and \, counted from its start. */
size_t text_plain_len(const char *s, size_t n);
/* Whether s is UTF-8 (RFC 3629: no surrogates, no overlong forms) as a whole. */
bool text_utf8_valid(const char *s, size_t n);
char *text_utf8(char *p, const char *s, size_t n);
char *text_json(char *p, const char *s, size_t n);	/* with its quotes */
char *text_json_part(char *p, const char *s, size_t n); /* without */
/*
 * A thread's name for a line of ftrace text: that syntax separates with blanks and '=', so these, and all
 * that is not printable ASCII, become '_'; an empty name becomes "?".
 */
char *text_ftrace_comm(char *p, const char *s, size_t n);

/* Characters of UTF-8. */
unsigned int text_chars(const char *s);
/* Foreign text with what is not printable UTF-8 as '?', at most max characters ("…" marks a cut). Caller frees. */
char *text_printable(const char *text, unsigned int max);

#endif
