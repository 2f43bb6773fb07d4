/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Names of sections. The time in them is tested in cases/threads.txt. */
#include "unit/test.h"
#include "analysis/program_section.h"
#include "unit/model_fixture.h"

TEST(parse)
{
	static const char *const bad[] = {
		"",	 "..",	  "...",    "1.5..1", "1..1", "a..b..c", "a#0..b",
		"a#..b", "-1..2", "a b..c", "1x..",   "..#2", "0x1..2",
	};
	struct section s;

	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(section_parse(bad[i], &s), -EINVAL);
	assert_int_equal(section_parse("solve", &s), 0);
	assert_true(s.is_name);
	assert_int_equal(section_parse("MPI_Barrier#2..MPI_Send", &s), 0);
	assert_false(s.is_name);
	assert_int_equal(s.from.kind, EDGE_CALL);
	assert_string_equal(s.from.func, "MPI_Barrier");
	assert_int_equal(s.from.number, 2);
	assert_string_equal(s.to.func, "MPI_Send");
	assert_int_equal(s.to.number, 1);
	assert_int_equal(section_parse("1.5..10m", &s), 0);
	assert_int_equal(s.from.at_ns, 1500000000);
	assert_int_equal(s.to.kind, EDGE_TIME);
	assert_int_equal(s.to.at_ns, 600000000000);
	assert_int_equal(section_parse("1..2", &s), 0);
	assert_int_equal(s.from.at_ns, 1000000000);
	assert_int_equal(section_parse("..MPI_Init", &s), 0);
	assert_int_equal(s.from.kind, EDGE_NONE);
	assert_int_equal(s.to.kind, EDGE_CALL);
}
