/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * cmocka, with tests that register themselves. All files are one program; its argument names the
 * file whose tests to run.
 *
 *   TEST(name) { … }                        a test
 *   TEST_WITH(name, setup, teardown) { … }  a test with its own fixture; setup sets *state
 *   EACH_TEST(setup, teardown);             once: a fixture for each TEST of this file
 *   ALL_TESTS(setup, teardown);             once: a fixture around all tests of this file together
 *
 * setup and teardown are int f(void **state), or NULL for none. They return 0 or fail the test.
 * Tests need not include what this file includes.
 */
#ifndef POV_UNIT_TEST_H
#define POV_UNIT_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/log.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum unit_kind { UNIT_TEST, UNIT_EACH, UNIT_ALL };

struct unit_entry {
	enum unit_kind kind;
	const char *file; /* path as passed to the compiler */
	struct CMUnitTest test;
	struct unit_entry *next;
};

void unit_register(struct unit_entry *e);

/* Skips the running test and prints the reason. */
#define skip_because(format, ...)                                   \
	do {                                                        \
		print_message("SKIP: " format "\n", ##__VA_ARGS__); \
		skip();                                             \
	} while (0)

/* Runs statements that print to `out`, and asserts what they print. */
#define assert_prints(wanted, out, ...)                      \
	do {                                                 \
		char *text_ = NULL;                          \
		size_t bytes_;                               \
		FILE *out = open_memstream(&text_, &bytes_); \
                                                             \
		__VA_ARGS__;                                 \
		fclose(out);                                 \
		assert_string_equal(text_, wanted);          \
		free(text_);                                 \
	} while (0)

#define UNIT_REGISTER(id, kind_, name_, func, up, down)                                  \
	static struct unit_entry unit_##id = {                                           \
		.kind = kind_, .file = __FILE__, .test = {name_, func, up, down, NULL}}; \
	__attribute__((constructor)) static void unit_register_##id(void)                \
	{                                                                                \
		unit_register(&unit_##id);                                               \
	}                                                                                \
	_Static_assert(1, "takes the semicolon")

#define TEST_WITH(id, up, down)                                 \
	static void test_##id(void **state);                    \
	UNIT_REGISTER(id, UNIT_TEST, #id, test_##id, up, down); \
	static void test_##id(void **state __attribute__((unused)))
#define TEST(id) TEST_WITH(id, NULL, NULL)
#define EACH_TEST(up, down) UNIT_REGISTER(each, UNIT_EACH, "", NULL, up, down)
#define ALL_TESTS(up, down) UNIT_REGISTER(all, UNIT_ALL, "", NULL, up, down)

#endif
