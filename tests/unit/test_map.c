/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* The hash map compared with a plain array that does the same slowly. */
#include "unit/test.h"
#include "lib/map.h"
#include "unit/trace_help.h"

TEST(replace)
{
	struct map m = {0};
	size_t at = 0;
	int a, b;

	assert_null(map_get(&m, 0));
	assert_null(map_remove(&m, 0));
	assert_null(map_next(&m, &at, NULL));
	assert_null(map_set(&m, 0, &a));
	assert_ptr_equal(map_set(&m, 0, &b), &a);
	assert_ptr_equal(map_get(&m, 0), &b);
	assert_null(map_set(&m, UINT64_MAX, &a));
	assert_int_equal(m.cnt, 2);
	assert_ptr_equal(map_remove(&m, 0), &b);
	assert_null(map_get(&m, 0));
	assert_ptr_equal(map_get(&m, UINT64_MAX), &a);
	map_release(&m);
	assert_int_equal(m.cnt, 0);
}

TEST(make)
{
	struct map m = {0};
	int *a = map_make(&m, 7, sizeof(*a));

	assert_int_equal(*a, 0);
	assert_ptr_equal(map_make(&m, 7, sizeof(*a)), a);
	assert_ptr_not_equal(map_make(&m, 8, sizeof(*a)), a);
	map_free(&m, free);
	assert_int_equal(m.cnt, 0);
}

#define KEYS 1009
#define STEPS 200000

/* Random sets and removals of few keys, so that runs form, wrap around and are split. */
TEST(against_array)
{
	static char *truth[KEYS];
	static char objects[KEYS];
	struct map m = {0};
	uint64_t x = 88172645463325252u, key;
	size_t cnt = 0, at, i;
	char *v;

	for (i = 0; i < STEPS; i++) {
		size_t k;

		k = random_next(&x) % KEYS;
		key = (uint64_t)k << 12;
		assert_ptr_equal(map_get(&m, key), truth[k]);
		if (x >> 32 & 1) {
			assert_ptr_equal(map_set(&m, key, &objects[k]), truth[k]);
			cnt += !truth[k];
			truth[k] = &objects[k];
		} else {
			assert_ptr_equal(map_remove(&m, key), truth[k]);
			cnt -= !!truth[k];
			truth[k] = NULL;
		}
		assert_int_equal(m.cnt, cnt);
	}
	for (at = 0; (v = map_next(&m, &at, &key)); cnt--)
		assert_ptr_equal(truth[key >> 12], v);
	assert_int_equal(cnt, 0);
	map_release(&m);
}
