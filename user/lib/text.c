/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "lib/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/table.h"

bool text_ends_in(const char *text, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len >= end_len && !memcmp(text + len - end_len, end, end_len);
}

/*
 * Bytes of the well-formed UTF-8 character at text (left > 0 bytes are available); 0 if there is
 * none (Unicode, table 3-7).
 */
static size_t text_utf8_bytes(const char *text, size_t left)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len;

	if (s[0] < 0x80)
		return 1;
	len = s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
	if (!len || len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, beyond Unicode */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

/* ---- appending; with printf(), that would be most of the cost of writing JSON ---- */

static const char digit_pairs[] = "0001020304050607080910111213141516171819"
				  "2021222324252627282930313233343536373839"
				  "4041424344454647484950515253545556575859"
				  "6061626364656667686970717273747576777879"
				  "8081828384858687888990919293949596979899";
static const char hex_digits[] = "0123456789abcdef";

char *text_u64(char *p, uint64_t v)
{
	char tmp[20], *t = tmp + sizeof(tmp);

	while (v >= 100) {
		t -= 2;
		memcpy(t, &digit_pairs[2 * (v % 100)], 2);
		v /= 100;
	}
	if (v >= 10) {
		t -= 2;
		memcpy(t, &digit_pairs[2 * v], 2);
	} else {
		*--t = (char)('0' + v);
	}
	memcpy(p, t, (size_t)(tmp + sizeof(tmp) - t));
	return p + (tmp + sizeof(tmp) - t);
}

char *text_i64(char *p, int64_t v)
{
	if (v >= 0)
		return text_u64(p, (uint64_t)v);
	*p++ = '-';
	return text_u64(p, 0 - (uint64_t)v);
}

char *text_hex(char *p, uint64_t v)
{
	int shift = v ? (63 - __builtin_clzll(v)) / 4 * 4 : 0;

	*p++ = '0';
	*p++ = 'x';
	for (; shift >= 0; shift -= 4)
		*p++ = hex_digits[v >> shift & 15];
	return p;
}

char *text_us(char *p, uint64_t ns)
{
	unsigned int frac = (unsigned int)(ns % 1000);

	p = text_u64(p, ns / 1000);
	*p++ = '.';
	*p++ = (char)('0' + frac / 100);
	memcpy(p, &digit_pairs[2 * (frac % 100)], 2);
	return p + 2;
}

char *text_count(char *p, uint64_t v)
{
	char tmp[20];
	size_t n = (size_t)(text_u64(tmp, v) - tmp);

	for (size_t i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = tmp[i];
	}
	return p;
}

size_t text_plain_len(const char *s, size_t n)
{
	static const bool is_plain[256] = {
		[0x20 ... '"' - 1] = true,
		['"' + 1 ... '\\' - 1] = true,
		['\\' + 1 ... 0x7e] = true,
	};
	size_t i = 0;

	while (i < n && is_plain[(unsigned char)s[i]])
		i++;
	return i;
}

bool text_utf8_valid(const char *s, size_t n)
{
	size_t i = text_plain_len(s, n);

	while (i < n) {
		size_t len = text_utf8_bytes(s + i, n - i);

		if (!len)
			return false;
		i += len;
	}
	return true;
}

char *text_utf8(char *p, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t len = text_utf8_bytes(s + i, n - i);

		if (len) {
			memcpy(p, s + i, len);
			p += len;
			i += len;
		} else {
			memcpy(p, "\xef\xbf\xbd", 3);
			p += 3;
			i++;
		}
	}
	return p;
}

static char *json_escape(char *p, unsigned char c)
{
	static const char letters[128] = {
		['"'] = '"',  ['\\'] = '\\', ['\n'] = 'n', ['\t'] = 't',
		['\b'] = 'b', ['\f'] = 'f',  ['\r'] = 'r',
	};

	*p++ = '\\';
	if (letters[c]) {
		*p++ = letters[c];
		return p;
	}
	memcpy(p, "u00", 3);
	p[3] = hex_digits[c >> 4];
	p[4] = hex_digits[c & 15];
	return p + 5;
}

char *text_json_part(char *p, const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t plain = text_plain_len(s + i, n - i);
		unsigned char c;

		memcpy(p, s + i, plain);
		p += plain;
		i += plain;
		if (i == n)
			break;
		c = (unsigned char)s[i];
		if (c < 0x80) {
			p = json_escape(p, c);
			i++;
		} else {
			size_t len = text_utf8_bytes(s + i, n - i);

			p = text_utf8(p, s + i, len ? len : 1);
			i += len ? len : 1;
		}
	}
	return p;
}

char *text_json(char *p, const char *s, size_t n)
{
	*p++ = '"';
	p = text_json_part(p, s, n);
	*p++ = '"';
	return p;
}

char *text_ftrace_comm(char *p, const char *s, size_t n)
{
	if (!n)
		*p++ = '?';
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		bool plain = c > 0x20 && c < 0x7f && c != '=' && c != '"' && c != '\\';

		*p++ = plain ? (char)c : '_';
	}
	return p;
}

/* Bytes of the UTF-8 character at s; 0 if it is malformed or not printable. */
static size_t char_bytes(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = text_utf8_bytes(text, strnlen(text, 4));

	if (n == 1 && (s[0] < 0x20 || s[0] == 0x7f))
		return 0;
	return n == 2 && s[0] == 0xc2 && s[1] < 0xa0 ? 0 : n; /* C1 controls */
}

char *text_printable(const char *text, unsigned int max)
{
	char *copy = xmalloc(strlen(text) + 4), *p = copy, *cut = copy;
	unsigned int chars = 0;
	size_t n;

	while (*text && chars < max) {
		n = char_bytes(text);
		if (chars == max - 1)
			cut = p;
		if (n) {
			memcpy(p, text, n);
			p += n;
		} else {
			*p++ = '?';
		}
		text += n ? n : 1;
		chars++;
	}
	if (*text)
		p = stpcpy(cut, "…");
	*p = 0;
	return copy;
}

unsigned int text_chars(const char *s)
{
	unsigned int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

char *text_joined(char *text, const char *between, char *more)
{
	char *both;

	if (!text)
		return more;
	both = xasprintf("%s%s%s", text, *text && *more ? between : "", more);
	free(text);
	free(more);
	return both;
}

const char *text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *text_module_name(const char *path)
{
	const char *name = text_base_name(path), *tag = strstr(name, ".cpython-");
	const char *suffix = strrchr(name, '.');

	if (!tag || strcmp(suffix, ".so"))
		return xstrdup(name);
	return xasprintf("%.*s%s", (int)(tag - name), name, suffix);
}

/* True for a blank between a number and its unit, which stay on one line. */
static bool is_before_unit(const char *text, const char *blank)
{
	static const char *const units[] = {"%", "s", "ms", "us", "ns", "B", "KiB", "MiB", "GiB"};
	size_t bytes = strspn(blank + 1, "%BGKMimnsu");

	if (blank == text || blank[-1] < '0' || blank[-1] > '9' ||
	    isalpha((unsigned char)blank[1 + bytes]))
		return false;
	return table_any(sizeof(units) / sizeof(*units), i,
			 strlen(units[i]) == bytes && !memcmp(units[i], blank + 1, bytes));
}

const char *text_line_cut(const char *text, unsigned int most, int *bytes)
{
	const char *blank = NULL, *p = text;
	unsigned int n = 0;

	for (; *p && n < most; p++) {
		if (*p == ' ' && !is_before_unit(text, p))
			blank = p;
		n += ((unsigned char)p[1] & 0xc0) != 0x80;
	}
	if (*p && blank && (*p != ' ' || is_before_unit(text, p)))
		p = blank;
	*bytes = (int)(p - text);
	return *p == ' ' ? p + 1 : p;
}

void text_wrapped_print(FILE *out, const char *before, const char *text, unsigned int most)
{
	unsigned int indent = text_chars(before);
	int bytes;

	for (const char *first = text; *text;) {
		const char *next = text_line_cut(text, most, &bytes);

		fprintf(out, "%s%*s%.*s\n", text == first ? before : "",
			text == first ? 0 : (int)indent, "", bytes, text);
		text = next;
	}
}

/* ---- suggestions ---- */

#define SUGGEST_NAME_MAX 63

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/*
 * Edit distance with swaps of neighbours (optimal string alignment). Uses three rows, on names
 * short enough for the stack.
 */
static size_t suggest_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	size_t rows[3][SUGGEST_NAME_MAX + 1];

	if (na > SUGGEST_NAME_MAX || nb > SUGGEST_NAME_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *row = rows[i % 3];
		const size_t *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] = min3(up[j] + 1, row[j - 1] + 1,
				      up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    up2[j - 2] + 1 < row[j])
				row[j] = up2[j - 2] + 1;
		}
	}
	return rows[na % 3][nb];
}

const char *suggest_better(const char *typed, const char *best, const char *candidate)
{
	size_t far = suggest_distance(typed, candidate);
	size_t typed_len = strlen(typed);
	size_t limit = typed_len < 4 ? 1 : typed_len / 3 + 1;

	/* the start of a name means that name, however long the rest is */
	if (typed_len >= 2 && !strncmp(typed, candidate, typed_len))
		far = 0;
	if (far > limit)
		return best;
	if (best && suggest_distance(typed, best) <= far)
		return best;
	return candidate;
}

/* ---- pools of texts ---- */

/* Keeps texts in a list until all of them are freed. */

char *text_pool_take(struct text_pool *pool, char *text)
{
	return *table_append(pool->text, pool->n) = text;
}

char *text_pool_format(struct text_pool *pool, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	return text_pool_take(pool, text);
}

void text_pool_release(struct text_pool *pool)
{
	for (size_t i = 0; i < pool->n; i++)
		free(pool->text[i]);
	free(pool->text);
}
