/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Lists of CPUs are written and read. */

#include <string.h>

#include "unit/test.h"
#include "core/cpu_set.h"

static void same(const char *list)
{
	char text[64];
	cpu_set_t set;

	assert_true(cpu_set_read(&set, list));
	cpu_set_text(&set, text, sizeof(text));
	assert_string_equal(text, list);
}

TEST(read_as_written)
{
	same("0");
	same("0,2,4-7");
	same("1-3,1022-1023");
}

TEST(other_forms)
{
	char text[64];
	cpu_set_t set;

	assert_true(cpu_set_read(&set, "5,3-4,5"));
	cpu_set_text(&set, text, sizeof(text));
	assert_string_equal(text, "3-5");
	assert_true(cpu_set_read(&set, "1022-99999999999"));
	assert_int_equal(CPU_COUNT(&set), 2);
}

TEST(no_lists)
{
	static const char *const texts[] = {"", ",", "0,", "1-", "-1", "0 1", "0,,1", "a", "1-2-3"};
	cpu_set_t set;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(cpu_set_read(&set, texts[i]));
}

TEST(little_room)
{
	char text[5];
	cpu_set_t set;

	assert_true(cpu_set_read(&set, "0,2,4"));
	cpu_set_text(&set, text, sizeof(text));
	assert_int_equal(strlen(text), 4);
}
