/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What was set rather than measured, in words: digits behind the point that say nothing are left out. */
#ifndef POVBENCH_PARAM_TEXT_H
#define POVBENCH_PARAM_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/human.h"

/* "64 KiB", and "8255 B" where a unit would hide bytes. buf has HUMAN_BYTES; it is returned. */
char *param_bytes(char *buf, size_t bytes, uint64_t value);
/* "80 us", "1.28 ms", "1.5 s". buf has HUMAN_BYTES; it is returned. */
char *param_ns(char *buf, size_t bytes, uint64_t ns);
/* "s" behind everything but one. */
const char *plural_s(double cnt);

#endif
