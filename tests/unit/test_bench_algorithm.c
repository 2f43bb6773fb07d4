/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Algorithms in descriptions of variables, as versions of MPICH print them. */
#include "unit/test.h"
#include "core/algorithm.h"

#define AUTO \
	"auto - Internal algorithm selection (can be overridden with MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE)"

static void read_is(const char *text, const char *const *names)
{
	struct algorithm_list l = {0};
	size_t i;

	algorithm_read_text(&l, text);
	for (i = 0; names[i]; i++) {
		assert_true(i < l.cnt);
		assert_string_equal(l.item[i].value, names[i]);
		assert_ptr_equal(algorithm_find(&l, names[i]), &l.item[i]);
	}
	assert_int_equal(l.cnt, i);
	assert_null(algorithm_find(&l, "none"));
	algorithm_list_release(&l);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(one_line)
{
	read_is("Variable to select bcast algorithm" AUTO
		"binomial                                - Force Binomial Tree"
		"nb                                      - Force nonblocking algorithm"
		"smp                                     - Force smp algorithm"
		"scatter_recursive_doubling_allgather    - Force Scatter Recursive-Doubling Allgather"
		"scatter_ring_allgather                  - Force Scatter Ring",
		NAMES("binomial", "nb", "smp", "scatter_recursive_doubling_allgather",
		      "scatter_ring_allgather"));
	read_is("Variable to select scatter algorithm" AUTO
		"binomial - Force binomial algorithmnb       - Force nonblocking algorithm",
		NAMES("binomial", "nb"));
}

TEST(lines)
{
	read_is("Variable to select barrier algorithm\n" AUTO "\n"
		"nb            - Force nonblocking algorithm\n"
		"dissemination - Force dissemination algorithm",
		NAMES("nb", "dissemination"));
}

TEST(nothing)
{
	read_is("", NAMES(NULL));
	read_is("auto - ", NAMES(NULL));
	read_is("auto - )", NAMES(NULL));
	read_is("auto - ) - ", NAMES(NULL));
	read_is("Which algorithm is used: 0 ignore, 1 linear", NAMES(NULL));
	read_is(AUTO "One - Two - Three", NAMES(NULL));
}
