/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * What a test writes down while the code under test calls back, and the text that it compares it with.
 */
#ifndef POV_TESTS_STORY_H
#define POV_TESTS_STORY_H

#include <stdio.h>

#include "unit/test.h"

static struct {
	char text[65536];
	size_t used;
} story;

static void __attribute__((format(printf, 1, 2))) note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	story.used += (size_t)vsnprintf(story.text + story.used, sizeof(story.text) - story.used,
					fmt, ap);
	va_end(ap);
	assert_true(story.used < sizeof(story.text));
}

static void story_clear(void)
{
	story.used = 0;
	story.text[0] = 0;
}

static void expect(const char *want)
{
	assert_string_equal(story.text, want);
	story_clear();
}

#endif
