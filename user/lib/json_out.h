/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Writes JSON as a stream: only the nesting is stored, so a document of any size needs the same
 * memory. The writer adds commas, quotes and line breaks; the caller says what comes next.
 *
 *	struct json_out *j = json_out_new(stdout, JSON_OUT_PRETTY);
 *
 *	json_out_object_begin(j);
 *	json_out_key_string(j, "function", "MPI_Send");	    // a member in one call,
 *	json_out_key(j, "address");			    // or its key and then its value
 *	json_out_hex(j, 1234);				    // written as "0x4d2"
 *	json_out_key(j, "peers");
 *	json_out_array_begin(j);
 *	json_out_uint(j, 3);
 *	json_out_array_end(j);
 *	json_out_object_end(j);
 *	err = json_out_finish(j);			    // the only place that can fail
 *
 * Inside an object, each value needs a key before it. Nesting is limited to JSON_OUT_DEPTH_MAX.
 * Breaking these rules is a bug in the caller and ends the program with a message.
 *
 * Strings may hold anything up to their NUL. Control characters are escaped, and each byte that is
 * not part of well-formed UTF-8 becomes U+FFFD, so that the document is always valid. Integers are
 * written in full. JavaScript readers lose bits above 2^53, so addresses and handles are better
 * written with json_out_hex ("0x…").
 */
#ifndef POV_LIB_JSON_OUT_H
#define POV_LIB_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_out;

#define JSON_OUT_DEPTH_MAX 32

enum json_out_style {
	JSON_OUT_COMPACT = 0, /* no blanks at all */
	/* compact, but each element of the two outermost levels has its own line */
	JSON_OUT_LINES = 1,
	JSON_OUT_PRETTY = 2, /* indented by two blanks */
};

/* out remains the caller's, who must not write to it until json_out_finish. */
struct json_out *json_out_new(FILE *out, enum json_out_style style);
/*
 * Ends the document with a line break, passes all data to out, and frees j (which may be NULL). 0,
 * or -errno of the first write that failed; not printed. Does not flush out: its owner checks that.
 */
int json_out_finish(struct json_out *j);

void json_out_object_begin(struct json_out *j);
void json_out_object_end(struct json_out *j);
void json_out_array_begin(struct json_out *j);
void json_out_array_end(struct json_out *j);

void json_out_key(struct json_out *j, const char *key);

void json_out_string(struct json_out *j, const char *s); /* NULL is written as null */
void json_out_string_n(struct json_out *j, const char *s, size_t len);
void json_out_int(struct json_out *j, int64_t value);
void json_out_uint(struct json_out *j, uint64_t value);
void json_out_hex(struct json_out *j, uint64_t value);	/* the string "0x1f" */
void json_out_double(struct json_out *j, double value); /* reads back as the same; NaN, inf: null */
void json_out_bool(struct json_out *j, bool value);
void json_out_null(struct json_out *j);

void json_out_key_string(struct json_out *j, const char *key, const char *value);
void json_out_key_int(struct json_out *j, const char *key, int64_t value);
void json_out_key_uint(struct json_out *j, const char *key, uint64_t value);
/* null unless known */
void json_out_known_int(struct json_out *j, const char *key, bool known, int64_t value);
void json_out_known_uint(struct json_out *j, const char *key, bool known, uint64_t value);
void json_out_known_bool(struct json_out *j, const char *key, bool known, bool value);
void json_out_key_double(struct json_out *j, const char *key, double value);
void json_out_key_bool(struct json_out *j, const char *key, bool value);
/* Write a key and begin its object or array. */
void json_out_key_object(struct json_out *j, const char *key);
void json_out_key_array(struct json_out *j, const char *key);

#endif
