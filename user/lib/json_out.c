/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * The streaming JSON writer. Text gathers in a buffer of its own, because stdio locks and checks on
 * every call and timelines have tens of millions of values. Errors are kept until the end.
 */
#include "lib/json_out.h"

#include "lib/log.h"
#include "lib/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JSON_BUFFER_BYTES (64 * 1024)
#define JSON_PIECE_BYTES 1024 /* bytes of a string that are processed at once */
#define JSON_NUMBER_BYTES 40  /* more than any one number, escape or indentation step */

struct json_out {
	FILE *out;
	enum json_out_style style;
	int err;
	unsigned int depth;
	bool keyed;				/* a key waits for its value */
	bool is_object[JSON_OUT_DEPTH_MAX + 1]; /* by depth */
	bool any[JSON_OUT_DEPTH_MAX + 1];	/* has a member already */
	size_t used;
	char buf[JSON_BUFFER_BYTES];
};

static void drain(struct json_out *j)
{
	errno = 0;
	if (!j->err && fwrite(j->buf, 1, j->used, j->out) != j->used)
		j->err = errno ? -errno : -EIO;
	j->used = 0;
}

/* Returns a place in the buffer with room for JSON_NUMBER_BYTES. */
static char *room(struct json_out *j)
{
	if (j->used + JSON_NUMBER_BYTES > JSON_BUFFER_BYTES)
		drain(j);
	return j->buf + j->used;
}

static void put_char(struct json_out *j, char c)
{
	*room(j) = c;
	j->used++;
}

static void put(struct json_out *j, const char *s, size_t len)
{
	while (len) {
		size_t part = JSON_BUFFER_BYTES - j->used;

		if (part > len)
			part = len;
		memcpy(j->buf + j->used, s, part);
		j->used += part;
		s += part;
		len -= part;
		if (j->used == JSON_BUFFER_BYTES)
			drain(j);
	}
}

static void break_line(struct json_out *j)
{
	put_char(j, '\n');
	for (unsigned int i = 0; j->style == JSON_OUT_PRETTY && i < j->depth; i++)
		put(j, "  ", 2);
}

static bool breaks_here(const struct json_out *j)
{
	return j->style == JSON_OUT_PRETTY || (j->style == JSON_OUT_LINES && j->depth <= 2);
}

/* Writes what separates the next value from the one before. */
static void separate(struct json_out *j)
{
	if (j->any[j->depth])
		put_char(j, ',');
	j->any[j->depth] = true;
	if (j->depth && breaks_here(j))
		break_line(j);
}

static void begin_value(struct json_out *j)
{
	if (j->is_object[j->depth] != j->keyed || (!j->depth && j->any[0]))
		die("bug: JSON value where none can be");
	if (!j->keyed)
		separate(j);
	j->keyed = false;
}

static void open_level(struct json_out *j, bool object)
{
	begin_value(j);
	if (j->depth == JSON_OUT_DEPTH_MAX)
		die("bug: JSON nested too deeply");
	j->depth++;
	j->is_object[j->depth] = object;
	j->any[j->depth] = false;
	put_char(j, object ? '{' : '[');
}

static void close_level(struct json_out *j, bool object)
{
	bool some = j->any[j->depth], breaks = breaks_here(j);

	if (!j->depth || j->is_object[j->depth] != object || j->keyed)
		die("bug: JSON end where none can be");
	j->depth--;
	if (some && breaks)
		break_line(j);
	put_char(j, object ? '}' : ']');
}

/* Bytes of the next piece; a character that would be cut in two is left for the one after it. */
static size_t piece_bytes(const char *text, size_t len)
{
	size_t n = len < JSON_PIECE_BYTES ? len : JSON_PIECE_BYTES;

	for (int back = 0; n < len && back < 3 && ((unsigned char)text[n] & 0xc0) == 0x80; back++)
		n--;
	return n;
}

static void put_string(struct json_out *j, const char *text, size_t len)
{
	size_t n;

	put_char(j, '"');
	for (; len; text += n, len -= n) {
		n = piece_bytes(text, len);
		if (j->used + TEXT_JSON_BYTES(n) > JSON_BUFFER_BYTES)
			drain(j);
		j->used = (size_t)(text_json_part(j->buf + j->used, text, n) - j->buf);
	}
	put_char(j, '"');
}

struct json_out *json_out_new(FILE *out, enum json_out_style style)
{
	struct json_out *j = xmalloc(sizeof(*j));

	/* all but the buffer */
	memset(j, 0, offsetof(struct json_out, buf));
	j->out = out;
	j->style = style;
	return j;
}

int json_out_finish(struct json_out *j)
{
	int err;

	if (!j)
		return 0;
	if (j->depth || j->keyed)
		die("bug: JSON document not ended");
	put_char(j, '\n');
	drain(j);
	err = j->err;
	free(j);
	return err;
}

void json_out_object_begin(struct json_out *j)
{
	open_level(j, true);
}

void json_out_object_end(struct json_out *j)
{
	close_level(j, true);
}

void json_out_array_begin(struct json_out *j)
{
	open_level(j, false);
}

void json_out_array_end(struct json_out *j)
{
	close_level(j, false);
}

void json_out_key(struct json_out *j, const char *key)
{
	if (!j->is_object[j->depth] || j->keyed)
		die("bug: JSON key where none can be");
	separate(j);
	put_string(j, key, strlen(key));
	put_char(j, ':');
	if (j->style == JSON_OUT_PRETTY)
		put_char(j, ' ');
	j->keyed = true;
}

void json_out_string_n(struct json_out *j, const char *s, size_t len)
{
	begin_value(j);
	put_string(j, s, len);
}

void json_out_string(struct json_out *j, const char *s)
{
	if (s)
		json_out_string_n(j, s, strlen(s));
	else
		json_out_null(j);
}

static void put_until(struct json_out *j, const char *end)
{
	j->used = (size_t)(end - j->buf);
}

void json_out_int(struct json_out *j, int64_t value)
{
	begin_value(j);
	put_until(j, text_i64(room(j), value));
}

void json_out_uint(struct json_out *j, uint64_t value)
{
	begin_value(j);
	put_until(j, text_u64(room(j), value));
}

void json_out_hex(struct json_out *j, uint64_t value)
{
	begin_value(j);
	put_char(j, '"');
	put_until(j, text_hex(room(j), value));
	put_char(j, '"');
}

void json_out_double(struct json_out *j, double value)
{
	char *to;
	int n;

	if (!isfinite(value)) {
		json_out_null(j);
		return;
	}
	begin_value(j);
	to = room(j);
	/* the shorter form, if it reads back as the same number */
	n = snprintf(to, JSON_NUMBER_BYTES, "%.15g", value);
	if (strtod(to, NULL) != value)
		n = snprintf(to, JSON_NUMBER_BYTES, "%.17g", value);
	j->used += (size_t)n;
}

void json_out_bool(struct json_out *j, bool value)
{
	begin_value(j);
	put(j, value ? "true" : "false", value ? 4 : 5);
}

void json_out_null(struct json_out *j)
{
	begin_value(j);
	put(j, "null", 4);
}

/* A value of each type with its key before it. */
#define KEY_AND_VALUE(name, type)                                                 \
	void json_out_key_##name(struct json_out *j, const char *key, type value) \
	{                                                                         \
		json_out_key(j, key);                                             \
		json_out_##name(j, value);                                        \
	}

KEY_AND_VALUE(string, const char *)
KEY_AND_VALUE(int, int64_t)
KEY_AND_VALUE(uint, uint64_t)
KEY_AND_VALUE(double, double)
KEY_AND_VALUE(bool, bool)

#define KNOWN(name, type)                                                                       \
	void json_out_known_##name(struct json_out *j, const char *key, bool known, type value) \
	{                                                                                       \
		json_out_key(j, key);                                                           \
		if (known)                                                                      \
			json_out_##name(j, value);                                              \
		else                                                                            \
			json_out_null(j);                                                       \
	}

KNOWN(int, int64_t)
KNOWN(uint, uint64_t)
KNOWN(bool, bool)

void json_out_key_object(struct json_out *j, const char *key)
{
	json_out_key(j, key);
	json_out_object_begin(j);
}

void json_out_key_array(struct json_out *j, const char *key)
{
	json_out_key(j, key);
	json_out_array_begin(j);
}
