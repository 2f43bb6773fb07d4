/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Memory of JSON texts as objects: never more than the estimate before parsing. */
#include <stdbool.h>

#include <jansson.h>

#include "unit/test.h"
#include "trace/trace_limit.h"

#define HEADER 16 /* header of each allocation, with its size */

static uint64_t used, most;

/* Rounds as glibc's malloc does: one word of its own, multiples of 16 bytes. */
static size_t rounded(size_t bytes)
{
	return bytes < 24 ? 32 : (bytes + 8 + 15) & ~(size_t)15;
}

static void *counted_malloc(size_t bytes)
{
	char *p = xmalloc(bytes + HEADER);

	memcpy(p, &bytes, sizeof(bytes));
	used += rounded(bytes);
	if (used > most)
		most = used;
	return p + HEADER;
}

static void counted_free(void *at)
{
	char *p = (char *)at - HEADER;
	size_t bytes;

	if (!at)
		return;
	memcpy(&bytes, p, sizeof(bytes));
	used -= rounded(bytes);
	free(p);
}

/* Parses n copies of a part, in an array or object, like a recording's meta object. */
static void check(const char *part, int n, bool keys)
{
	char *text = xmalloc(strlen(part) * (size_t)n + (size_t)n * 12 + 64), *p = text;
	json_t *json;

	p = stpcpy(p, keys ? "{\"a\":{" : "{\"a\":[");
	for (int i = 0; i < n; i++) {
		p = stpcpy(p, i ? "," : "");
		p += keys ? sprintf(p, "\"%x\":", i) : 0;
		p = stpcpy(p, part);
	}
	p = stpcpy(p, keys ? "}}" : "]}");
	used = most = 0;
	json = json_loadb(text, (size_t)(p - text), 0, NULL);
	assert_non_null(json);
	if (most > trace_json_bytes(text, (size_t)(p - text)))
		fail_msg("%d times %s: %llu bytes, not %llu", n, part, (unsigned long long)most,
			 (unsigned long long)trace_json_bytes(text, (size_t)(p - text)));
	json_decref(json);
	assert_int_equal(used, 0);
	free(text);
}

TEST(json_bytes)
{
	static const char *const part[] = {
		"1",
		"{}",
		"[]",
		"\"\"",
		"1.5",
		"true",
		"[[1]]",
		"{\"a\":1}",
		"[1,2,3]",
		"\"\\u00e4\"",
		"[\"MPI_INT\",1140851653,4]",
		"{\"a\":{\"b\":{}}}",
		"\"text of some length\"",
	};
	static const int n[] = {1, 101, 1000, 1025, 4097};

	json_set_alloc_funcs(counted_malloc, counted_free);
	for (size_t i = 0; i < COUNT(part); i++) {
		for (size_t k = 0; k < COUNT(n); k++) {
			check(part[i], n[k], false);
			check(part[i], n[k], true);
		}
	}
	json_set_alloc_funcs(malloc, free);
}

TEST(limit)
{
	assert_int_equal(trace_limit(10, 3, 0), 10);
	assert_int_equal(trace_limit(10, 3, 5), 25);
	assert_true(trace_limit(10, 64, UINT64_MAX) >= UINT64_MAX / 2);
}
