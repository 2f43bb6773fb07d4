/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Making of JSON that cannot fail but for memory. */
#ifndef POVBENCH_JSON_PUT_H
#define POVBENCH_JSON_PUT_H

#include <jansson.h>

/* Takes over value, which must be there; ends the program if the object cannot grow. */
void json_put(json_t *object, const char *key, json_t *value);
/* "2026-11-21T12:00:00Z" */
json_t *json_date_now(void);

#endif
