/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Edit distance with swaps of neighbours (optimal string alignment), three rows at a time, on names
 * short enough for the stack.
 */
#include "lib/suggest.h"

#include <stdint.h>
#include <string.h>

#define SUGGEST_NAME_MAX 63

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

size_t suggest_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b), i, j;
	size_t rows[3][SUGGEST_NAME_MAX + 1];

	if (na > SUGGEST_NAME_MAX || nb > SUGGEST_NAME_MAX)
		return SIZE_MAX;
	for (j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (i = 1; i <= na; i++) {
		size_t *row = rows[i % 3];
		const size_t *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];

		row[0] = i;
		for (j = 1; j <= nb; j++) {
			row[j] = min3(up[j] + 1, row[j - 1] + 1,
				      up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    up2[j - 2] + 1 < row[j])
				row[j] = up2[j - 2] + 1;
		}
	}
	return rows[na % 3][nb];
}

const char *suggest_better(const char *typed, const char *best, const char *candidate)
{
	size_t far = suggest_distance(typed, candidate);
	size_t typed_len = strlen(typed);
	size_t limit = typed_len < 4 ? 1 : typed_len / 3 + 1;

	/* The beginning of a name is meant as that name, however long the rest. */
	if (typed_len >= 2 && !strncmp(typed, candidate, typed_len))
		far = 0;
	if (far > limit)
		return best;
	if (best && suggest_distance(typed, best) <= far)
		return best;
	return candidate;
}
