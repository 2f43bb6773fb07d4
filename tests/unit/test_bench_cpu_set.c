/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Lists of CPUs are written and read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/cpu_set.h"

static void same(const char *list)
{
	char text[64];
	cpu_set_t set;

	assert_true(cpu_set_read(&set, list));
	cpu_set_text(&set, text, sizeof(text));
	assert_string_equal(text, list);
}

static void test_read_as_written(void **state)
{
	(void)state;
	same("0");
	same("0,2,4-7");
	same("1-3,1022-1023");
}

static void test_other_forms(void **state)
{
	char text[64];
	cpu_set_t set;

	(void)state;
	assert_true(cpu_set_read(&set, "5,3-4,5"));
	cpu_set_text(&set, text, sizeof(text));
	assert_string_equal(text, "3-5");
	assert_true(cpu_set_read(&set, "1022-99999999999"));
	assert_int_equal(CPU_COUNT(&set), 2);
}

static void test_no_lists(void **state)
{
	static const char *const texts[] = {"", ",", "0,", "1-", "-1", "0 1", "0,,1", "a", "1-2-3"};
	cpu_set_t set;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(cpu_set_read(&set, texts[i]));
}

static void test_little_room(void **state)
{
	char text[5];
	cpu_set_t set;

	(void)state;
	assert_true(cpu_set_read(&set, "0,2,4"));
	cpu_set_text(&set, text, sizeof(text));
	assert_int_equal(strlen(text), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_as_written),
		cmocka_unit_test(test_other_forms),
		cmocka_unit_test(test_no_lists),
		cmocka_unit_test(test_little_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
