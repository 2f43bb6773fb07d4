/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "core/json_put.h"

#include "lib/log.h"

#include <time.h>

void json_put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		die("out of memory (%s)", key);
}

json_t *json_date_now(void)
{
	char text[32];
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}
