/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Writing and reading of CPU lists. */
#include "unit/test.h"
#include "core/cpu_list.h"

TEST(lists)
{
	static const struct {
		const char *read, *written;
	} rows[] = {{"0", "0"},
		    {"0,2,4-7", "0,2,4-7"},
		    {"1-3,1022-1023", "1-3,1022-1023"},
		    {"5,3-4,5", "3-5"},
		    {"1022-99999999999", "1022-1023"}};
	char text[64];
	cpu_set_t set;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(cpu_set_read(&set, rows[i].read));
		cpu_set_text(&set, text, sizeof(text));
		assert_string_equal(text, rows[i].written);
	}
}

TEST(no_lists)
{
	static const char *const texts[] = {"", ",", "0,", "1-", "-1", "0 1", "0,,1", "a", "1-2-3"};
	cpu_set_t set;

	for (size_t i = 0; i < COUNT(texts); i++)
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
