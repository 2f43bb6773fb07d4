/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Members of JSON objects that may lack them, or have something else there: what is not as it should be counts as nothing.
 * The object that is asked may be NULL.
 */
#ifndef POV_LIB_JSON_GET_H
#define POV_LIB_JSON_GET_H

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

/* "" if it is no text. Borrowed. */
static inline const char *json_get_text(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? s : "";
}

/* 0 if it is no integer. */
static inline int64_t json_get_int(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* The same of what cannot be below 0: then it is 0. */
static inline uint64_t json_get_u64(const json_t *object, const char *key)
{
	int64_t v = json_get_int(object, key);

	return v < 0 ? 0 : (uint64_t)v;
}

/* The same; 0 also if it does not fit. */
static inline uint32_t json_get_u32(const json_t *object, const char *key)
{
	uint64_t v = json_get_u64(object, key);

	return v <= UINT32_MAX ? (uint32_t)v : 0;
}

static inline bool json_get_bool(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

/* Whether an array has that text; none has NULL. */
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

/* Text of other people's making, which need not be UTF-8. */
static inline json_t *json_text(const char *text)
{
	json_t *s = json_string(text);

	return s ? s : json_string("(not UTF-8)");
}

/* "0x1f": what need not fit into JSON's numbers. */
static inline json_t *json_hex(uint64_t value)
{
	return json_sprintf("0x%" PRIx64, value);
}

static inline void json_set_int(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

/* Whether a meta object of a trace is of a type. */
static inline bool json_is_type(const json_t *meta, const char *type)
{
	return !strcmp(json_get_text(meta, "type"), type);
}

#endif
