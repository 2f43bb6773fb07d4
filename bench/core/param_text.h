/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Parameters in words, as they were set: trailing zeros after the decimal point are left out. */
#ifndef POVBENCH_PARAM_TEXT_H
#define POVBENCH_PARAM_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/human.h"

/* Writes "64 KiB", or "8255 B" if a unit would hide bytes. buf has HUMAN_BYTES; it is returned. */
char *param_bytes(char *buf, size_t bytes, uint64_t value);
/* Writes "80 us", "1.28 ms", "1.5 s". buf has HUMAN_BYTES; it is returned. */
char *param_ns(char *buf, size_t bytes, uint64_t ns);
/* The value of a parameter whose name ends in its unit, "bytes" or "_ns"; null if it has none. */
char *param_named(char *buf, size_t bytes, const char *name, int64_t value);
/*
 * True for a member of a point that is a parameter, unless the benchmark chooses or finds its value
 * itself, so that it differs in each launch.
 */
bool param_is_given(const char *name, const json_t *value);
/* The given parameters of a point, with sorted names. The caller frees the text. */
char *params_key(const json_t *point);
/* "s" for any number but 1. */
const char *plural_s(double cnt);

#endif
