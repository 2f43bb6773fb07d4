/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Compiles ELF files for tests with the compiler that built the tests (CC, else gcc, else cc). */
#include "unit/elf_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "elf/elf_file.h"

static char dir[64];

static const char *fixture_dir(void)
{
	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "/tmp/povtrace-elf-XXXXXX");
		assert_non_null(mkdtemp(dir));
	}
	return dir;
}

static const char *compiler(void)
{
	static const char *const tries[] = {"gcc", "cc", "clang"};
	static const char *found;
	char cmd[128];

	for (size_t i = 0; !found && i < sizeof(tries) / sizeof(tries[0]); i++) {
		snprintf(cmd, sizeof(cmd), "command -v %s >/dev/null 2>&1", tries[i]);
		if (system(cmd) == 0)
			found = tries[i];
	}
	return found;
}

void fixture_need_compiler(void)
{
	if (compiler())
		return;
	print_message("SKIP: no C compiler to make ELF files with\n");
	skip();
}

char *fixture_write(const char *name, const void *bytes, size_t cnt)
{
	char *path = xasprintf("%s/%s", fixture_dir(), name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, cnt, f), cnt);
	assert_int_equal(fclose(f), 0);
	return path;
}

void *fixture_read(const char *path, size_t *cnt)
{
	FILE *f = fopen(path, "re");
	char *buf;
	long end;

	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	end = ftell(f);
	assert_true(end > 0);
	rewind(f);
	buf = xmalloc((size_t)end);
	*cnt = fread(buf, 1, (size_t)end, f);
	assert_int_equal(*cnt, end);
	fclose(f);
	return buf;
}

/* What was built before: a test may change its file, so that a copy stays here. */
struct built {
	char *source, *flags;
	void *image;
	size_t bytes;
	struct built *next;
};
static struct built *all_built;

static struct built *built_find(const char *source, const char *flags)
{
	struct built *b = all_built;

	while (b && (strcmp(b->source, source) != 0 || strcmp(b->flags, flags) != 0))
		b = b->next;
	return b;
}

static struct built *built_new(const char *name, const char *source, const char *flags)
{
	char *src = fixture_write(name, source, strlen(source));
	char *out = xasprintf("%s/%s.elf", fixture_dir(), name);
	char *cmd = xasprintf("cd %s && %s %s -w -o %s %s", fixture_dir(), compiler(), src, out,
			      flags);
	struct built *b = xcalloc(1, sizeof(*b));

	if (system(cmd))
		fail_msg("did not compile: %s", cmd);
	*b = (struct built){.source = xstrdup(source), .flags = xstrdup(flags), .next = all_built};
	b->image = fixture_read(out, &b->bytes);
	all_built = b;
	free(cmd);
	free(src);
	free(out);
	return b;
}

char *fixture_build(const char *name, const char *source, const char *flags)
{
	struct built *b = built_find(source, flags);
	char *file = xasprintf("%s.elf", name), *out;

	if (!b)
		b = built_new(name, source, flags);
	else
		free(fixture_write(name, source, strlen(source)));
	out = fixture_write(file, b->image, b->bytes);
	assert_int_equal(chmod(out, 0755), 0);
	free(file);
	return out;
}

struct elf_file *fixture_open(const char *name, const char *source, const char *flags)
{
	char *path = fixture_build(name, source, flags);
	struct elf_file *f = NULL;

	assert_int_equal(elf_file_open(path, &f), 0);
	free(path);
	return f;
}

struct elf_file *fixture_open_bytes(const void *bytes, size_t cnt)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct elf_file *f;

	assert_int_equal(write(fd, bytes, cnt), cnt);
	if (elf_file_open_fd(fd, &f))
		f = NULL;
	close(fd);
	return f;
}

int fixture_remove_all(void **state)
{
	char cmd[128];

	(void)state;
	for (struct built *b; (b = all_built);) {
		all_built = b->next;
		free(b->source);
		free(b->flags);
		free(b->image);
		free(b);
	}
	if (!dir[0])
		return 0;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	dir[0] = 0;
	return system(cmd);
}
