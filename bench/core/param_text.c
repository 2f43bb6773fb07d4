/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* human_ns always prints three places to align columns of times. A parameter needs none of them. */
#include "core/param_text.h"

#include "lib/log.h"
#include "lib/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *param_ns(char *buf, size_t bytes, uint64_t ns)
{
	char *point = strchr(human_ns(buf, bytes, ns), '.'), *unit, *end;

	if (!point)
		return buf;
	unit = strchr(point, ' ');
	if (!unit)
		return buf;
	for (end = unit; end[-1] == '0'; end--)
		;
	if (end[-1] == '.')
		end--;
	memmove(end, unit, strlen(unit) + 1);
	return buf;
}

char *param_bytes(char *buf, size_t bytes, uint64_t value)
{
	uint64_t unit = 1;

	while (value / unit >= 1024)
		unit *= 1024;
	if (value % unit == 0)
		return human_bytes(buf, bytes, value);
	snprintf(buf, bytes, "%" PRIu64 " B", value);
	return buf;
}

char *param_named(char *buf, size_t bytes, const char *name, int64_t value)
{
	if (value >= 0 && text_ends_in(name, strlen(name), "bytes"))
		return param_bytes(buf, bytes, (uint64_t)value);
	if (value >= 0 && text_ends_in(name, strlen(name), "_ns"))
		return param_ns(buf, bytes, (uint64_t)value);
	return NULL;
}

bool param_is_given(const char *name, const json_t *value)
{
	return (json_is_number(value) || json_is_string(value)) && strcmp(name, "delay_ns") &&
	       strcmp(name, "blank");
}

char *params_key(const json_t *point)
{
	json_t *params = json_object(), *value;
	const char *name;
	char *key;

	json_object_foreach((json_t *)point, name, value)
	{
		if (param_is_given(name, value))
			json_object_set(params, name, value);
	}
	key = json_dumps(params, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(params);
	if (!key)
		die("out of memory (a point)");
	return key;
}

const char *plural_s(double cnt)
{
	return cnt == 1 ? "" : "s";
}
