/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Reads members of JSON objects. A member that is missing or has another type counts as empty. The
 * object may be NULL.
 */
#ifndef POV_LIB_JSON_GET_H
#define POV_LIB_JSON_GET_H

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

/* "" if the member is not a string. Borrowed. */
static inline const char *json_get_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

/* 0 if the member is not an integer. */
static inline int64_t json_get_int(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* As json_get_int; negative numbers count as 0. */
static inline uint64_t json_get_u64(const json_t *object, const char *key)
{
	int64_t v = json_get_int(object, key);

	return v < 0 ? 0 : (uint64_t)v;
}

/* As json_get_u64; numbers that do not fit count as 0. */
static inline uint32_t json_get_u32(const json_t *object, const char *key)
{
	uint64_t v = json_get_u64(object, key);

	return v <= UINT32_MAX ? (uint32_t)v : 0;
}

static inline bool json_get_bool(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* Appends a number to an array that does not contain it yet. */
static inline void json_append_int_once(json_t *array, json_int_t number)
{
	const json_t *known;
	size_t i;

	json_array_foreach(array, i, known)
	{
		if (json_integer_value(known) == number)
			return;
	}
	json_array_append_new(array, json_integer(number));
}

/* True if the array contains that text; false if text is NULL. */
static inline bool json_has_text(const json_t *array, const char *text)
{
	const char *item;

	for (size_t i = 0; text && i < json_array_size(array); i++) {
		item = json_string_value(json_array_get(array, i));
		if (item && !strcmp(item, text))
			return true;
	}
	return false;
}

/* Makes a JSON string of foreign text, which may not be UTF-8. */
static inline json_t *json_text(const char *text)
{
	json_t *s = json_string(text);

	return s ? s : json_string("(not UTF-8)");
}

/* Makes the string "0x1f", for values that may not fit into JSON's numbers. */
static inline json_t *json_hex(uint64_t value)
{
	return json_sprintf("0x%" PRIx64, value);
}

static inline void json_set_int(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

/* True if a trace's meta object has this type. */
static inline bool json_is_type(const json_t *meta, const char *type)
{
	return !strcmp(json_get_text(meta, "type"), type);
}

#endif
