/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Arithmetic of times and counts that must not wrap below zero, and their order; and words in
 * memory that need not be aligned.
 */
#ifndef POV_LIB_U64_H
#define POV_LIB_U64_H

#include <stdint.h>
#include <string.h>

static inline uint64_t u64_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t u64_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* a - b, at least 0 */
static inline uint64_t u64_minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Which of two numbers comes first. "u64_compare(a, b) ?: u64_compare(c, d)" is an order. */
static inline int u64_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* The same for qsort. */
static inline int u64_order(const void *a, const void *b)
{
	return u64_compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

static inline uint64_t u64_at(const void *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

#endif
