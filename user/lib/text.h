/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Text: tests, and conversion of numbers and names. */
#ifndef POV_LIB_TEXT_H
#define POV_LIB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* True if a text begins with another one. */
static inline bool text_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* True if a text begins with any of these, which end with NULL. */
static inline bool text_begins_any(const char *text, const char *const *with)
{
	while (*with && !text_begins(text, *with))
		with++;
	return *with;
}

/* True if the first len bytes of text end in `end`. */
bool text_ends_in(const char *text, size_t len, const char *end);

/*
 * Numbers and names as text, appended at a cursor. Each function writes at p, adds no terminating 0
 * and returns the end. The caller provides room: TEXT_NUMBER_BYTES for a number, TEXT_JSON_BYTES(n)
 * for a JSON string of n bytes. Names come from foreign programs: bytes that are not UTF-8 become
 * U+FFFD.
 */
#define TEXT_NUMBER_BYTES 32
#define TEXT_JSON_BYTES(n) (6 * (size_t)(n) + 2)
#define TEXT_UTF8_BYTES(n) (3 * (size_t)(n))

char *text_u64(char *p, uint64_t v);
char *text_i64(char *p, int64_t v);
char *text_hex(char *p, uint64_t v);   /* 0x1f */
char *text_us(char *p, uint64_t ns);   /* 1.234: microseconds, exact */
char *text_count(char *p, uint64_t v); /* 1,234 */

/* Length of the longest prefix of s (n bytes) of printable ASCII other than " and \. */
size_t text_plain_len(const char *s, size_t n);
/* True if all of s is UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool text_utf8_valid(const char *s, size_t n);
char *text_utf8(char *p, const char *s, size_t n);
char *text_json(char *p, const char *s, size_t n);	/* with its quotes */
char *text_json_part(char *p, const char *s, size_t n); /* without quotes */
/*
 * Writes a thread's name for ftrace text. Blanks, '=' and bytes that are not printable ASCII become
 * '_'; an empty name becomes "?".
 */
char *text_ftrace_comm(char *p, const char *s, size_t n);

/* Number of UTF-8 characters. */
unsigned int text_chars(const char *s);
/*
 * Foreign text of at most max characters, with '?' for what is not printable UTF-8 ("…" marks a
 * cut). Caller frees.
 */
char *text_printable(const char *text, unsigned int max);
/*
 * Appends `more` to text, with `between` unless one of them is empty. text may be NULL. Frees both;
 * the caller frees the result.
 */
char *text_joined(char *text, const char *between, char *more);
/* Returns the part of path after its last slash. */
const char *text_base_name(const char *path);
/*
 * Returns a program's or library's name for sentences: without the tag of Python's extension
 * modules, which is longer than their names ("_gpaw.cpython-311-x86_64-linux-gnu.so" is
 * "_gpaw.so"). The caller frees it.
 */
char *text_module_name(const char *path);
/*
 * Cuts text at a blank so that the part has at most `most` characters, and no number is cut off
 * from its unit. *bytes: length of the part.
 * Returns the next part.
 */
const char *text_line_cut(const char *text, unsigned int most, int *bytes);
/*
 * Prints `before` and then text, in lines of at most `most` characters. Further lines are indented
 * by the width of `before`.
 */
void text_wrapped_print(FILE *out, const char *before, const char *text, unsigned int most);

/* ---- "Did you mean …?" for names that people type ---- */

/*
 * Chooses the better of two suggestions: candidate if it is close enough to typed and closer than
 * best (which may be NULL), else best. Strings remain the caller's.
 */
const char *suggest_better(const char *typed, const char *best, const char *candidate);

/*
 * Texts that are freed together. A sentence made of several phrases needs no owner for each of
 * them.
 *
 *	struct text_pool pool = {0};
 *
 *	puts(text_pool_format(&pool, "%s waits", text_pool_format(&pool, "rank %d", 3)));
 *	text_pool_release(&pool);
 */

struct text_pool {
	char **text; /* owned */
	uint32_t n;
};

/* Takes over text and returns it. It lasts until text_pool_release(). */
char *text_pool_take(struct text_pool *pool, char *text);
char *text_pool_format(struct text_pool *pool, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void text_pool_release(struct text_pool *pool);

#endif
