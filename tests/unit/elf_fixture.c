/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#include "unit/elf_fixture.h"

#include "target/elf/elf_file.h"
#include "unit/test.h"
#include "unit/trace_help.h"

#define COMPILER "$(for c in gcc cc clang; do command -v $c && break; done)"

static void need(const char *condition, const char *what)
{
	if (system(condition))
		skip_because("%s is not installed", what);
}

void fixture_need(const char *program)
{
	char condition[64];

	snprintf(condition, sizeof(condition), "command -v %s >/dev/null", program);
	need(condition, program);
}

char *fixture_write(const char *name, const void *bytes, size_t cnt)
{
	char *path = xstrdup(temp_path(name));

	file_store(path, bytes, cnt);
	return path;
}

/* Returns the number of the output for this source and these flags; *cnt if it is new. */
static size_t built_find(const char *source, const char *flags, size_t *cnt)
{
	static char *built[64];
	char *key = xasprintf("%s\n%s", flags, source);
	size_t i = 0;

	while (i < *cnt && strcmp(built[i], key) != 0)
		i++;
	assert_true(i < COUNT(built));
	if (i < *cnt)
		free(key);
	else
		built[i] = key;
	return i;
}

char *fixture_build(const char *name, const char *source, const char *flags)
{
	static size_t cnt;
	size_t i = built_find(source, flags, &cnt);
	char *path = fixture_write(name, source, strlen(source)), *cmd;

	if (i == cnt) {
		need("test -n \"" COMPILER "\"", "a C compiler");
		cmd = xasprintf("cd %s && " COMPILER " %s -w -o %zu.built %s", temp_path(""), path,
				i, flags);
		if (system(cmd))
			fail_msg("did not compile: %s", cmd);
		free(cmd);
		cnt++;
	}
	free(path);
	path = xasprintf("%s.elf", temp_path(name));
	cmd = xasprintf("cp %s/%zu.built %s", temp_path(""), i, path);
	assert_int_equal(system(cmd), 0);
	free(cmd);
	return path;
}

struct elf_file *fixture_open(const char *name, const char *source, const char *flags)
{
	char *path = fixture_build(name, source, flags);
	struct elf_file *f = NULL;

	assert_int_equal(elf_file_open(path, &f), 0);
	free(path);
	return f;
}

uint8_t *fixture_image(const char *name, const char *source, const char *flags, size_t *cnt)
{
	char *path = fixture_build(name, source, flags);
	uint8_t *image;

	file_load(path, &image, cnt);
	free(path);
	return image;
}
