/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* "Did you mean …?" for names that people type. */
#ifndef POV_LIB_SUGGEST_H
#define POV_LIB_SUGGEST_H

#include <stddef.h>

/*
 * Number of single-character changes (insert, delete, replace, swap of neighbours) between two names.
 * Names longer than 63 characters count as infinitely far (SIZE_MAX).
 */
size_t suggest_distance(const char *a, const char *b);

/*
 * Keeps the better of two suggestions: returns candidate if it is nearer to typed than best is (best
 * may be NULL) and near enough to be meant, else best. Strings stay the caller's.
 */
const char *suggest_better(const char *typed, const char *best, const char *candidate);

#endif
