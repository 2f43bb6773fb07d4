/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Builds JSON. Only lack of memory can fail, and that ends the program. */
#ifndef POVBENCH_JSON_PUT_H
#define POVBENCH_JSON_PUT_H

#include <jansson.h>

/* Takes ownership of value, which must not be null. Ends the program if memory runs out. */
void json_put(json_t *object, const char *key, json_t *value);
/* The current time as "2026-11-21T12:00:00Z". */
json_t *json_date_now(void);

#endif
