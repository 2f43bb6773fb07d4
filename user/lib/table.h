/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Growable arrays of rows, and the sums of rows. Many arrays are indexed by process or thread: the
 * model may add some during the replay.
 */
#ifndef POV_LIB_TABLE_H
#define POV_LIB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/u64.h"

/* Makes array[idx] valid; new rows are zero. Returns the array and writes its new length to *n. */
static inline void *table_reserve(void *array, uint32_t *n, uint32_t idx, size_t row_bytes)
{
	uint32_t want;

	if (idx < *n)
		return array;
	want = *n * 2 > idx ? *n * 2 : idx + 4;
	array = xrealloc(array, want * row_bytes);
	memset((char *)array + *n * row_bytes, 0, (want - *n) * row_bytes);
	*n = want;
	return array;
}

/* The row with this idx, which becomes valid if it was not. */
#define table_row(array, n, idx) \
	(&((array) = table_reserve((array), &(n), (idx), sizeof(*(array))))[idx])

/*
 * Adds a row to the n rows of an array with space for `room`, and returns it. It is zero unless
 * there was a row in its place before.
 */
#define table_add(array, n, room) ((void)table_row(array, room, n), &(array)[(n)++])

/*
 * Adds a row, which is zero, to an array of n rows, and returns it. The array always has space for
 * a power of two of rows, so nothing else may have added any.
 *
 *	*table_append(list->row, list->n) = (struct row){…};
 */
#define table_append(array, n)                                                                  \
	({                                                                                      \
		if (!((n) & ((n)-1)))                                                           \
			(array) = xrealloc((array), (2 * (size_t)(n) ?: 1) * sizeof(*(array))); \
		memset(&(array)[n], 0, sizeof(*(array)));                                       \
		&(array)[(n)++];                                                                \
	})

/* Which of two numbers of any one type comes first, as u64_compare. */
#define table_compare(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * An order of rows for table_sort: up to eight comparisons of the rows a and b, earlier ones first.
 *
 *	TABLE_ORDER(by_cost, struct row, u64_compare(b->ns, a->ns), table_compare(a->x, b->x))
 */
#define TABLE_ORDER(name, type, ...)                                     \
	static int name(const void *va, const void *vb)                  \
	{                                                                \
		type const *a = va;                                      \
		type const *b = vb;                                      \
                                                                         \
		return table_not_0(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0); \
	}

/* Sorts n rows; the array may be NULL if n is 0. */
#define table_sort(array, n, compare) \
	((n) ? qsort((array), (n), sizeof(*(array)), (compare)) : (void)0)

/*
 * Binary search: the first index from lo on for which `is` holds, or hi. `i` names the index in
 * `is`, which must hold for all later ones, too.
 *
 *	table_first(0, n, i, row[i].end_ns > ts_ns)
 */
#define table_first(lo, hi, i, is)                               \
	({                                                       \
		size_t first_ = (lo), end_ = (hi);               \
                                                                 \
		while (first_ < end_) {                          \
			size_t i = first_ + (end_ - first_) / 2; \
                                                                 \
			if (is)                                  \
				end_ = i;                        \
			else                                     \
				first_ = i + 1;                  \
		}                                                \
		first_;                                          \
	})

/* True if `is` holds for any index below n. `i` names the index in `is`. */
#define table_any(n, i, is)                                            \
	({                                                             \
		bool any_ = false;                                     \
                                                                       \
		for (__typeof__((n) + 0) i = 0; i < (n) && !any_; i++) \
			any_ = (is);                                   \
		any_;                                                  \
	})

/* The sum of `value` over all indices below n. `i` names the index in `value`. */
#define table_sum(n, i, value)                                \
	({                                                    \
		uint64_t sum_ = 0;                            \
                                                              \
		for (__typeof__((n) + 0) i = 0; i < (n); i++) \
			sum_ += (value);                      \
		sum_;                                         \
	})

/* The first of n rows for which `is` holds, as in table_any, or NULL. */
#define table_where(array, n, i, is)                                     \
	({                                                               \
		__typeof__((array) + 0) found_ = NULL;                   \
                                                                         \
		for (__typeof__((n) + 0) i = 0; i < (n) && !found_; i++) \
			if (is)                                          \
				found_ = &(array)[i];                    \
		found_;                                                  \
	})

/* The row with this idx of an array of n rows, or one of zeros. */
#define table_get(array, n, idx)                         \
	({                                               \
		static const __typeof__(*(array)) none_; \
                                                         \
		(idx) < (n) ? &(array)[idx] : &none_;    \
	})

static inline void table_sums_add(void *to, const void *from, size_t at, size_t end)
{
	for (; at < end; at += sizeof(uint64_t))
		*(uint64_t *)((char *)to + at) += *(const uint64_t *)((const char *)from + at);
}

/*
 * Adds one row to another: the members from `first` to the last one. All of these must be uint64_t.
 */
#define table_row_add(to, from, first) \
	table_sums_add((to), (from), offsetof(__typeof__(*(to)), first), sizeof(*(to)))

/* The first of up to eight numbers that is not 0. */
#define table_not_0(c, d, e, f, g, h, i, j, ...) \
	((c) ?: (d) ?: (e) ?: (f) ?: (g) ?: (h) ?: (i) ?: (j))

#endif
