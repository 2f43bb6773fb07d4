/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Small ELF files, compiled while the test runs, in a directory that is gone at its end. */
#ifndef POV_TESTS_ELF_FIXTURE_H
#define POV_TESTS_ELF_FIXTURE_H

#include <stddef.h>

struct elf_file;

/* Skips the running test, aloud, where there is no compiler. */
void fixture_need_compiler(void);
/*
 * Compiles source ("x.c", "x.S": name's ending is the language) with flags ("-shared …"), or copies what an earlier call
 * made of the same. Fails the test if that does not work. Path of the output; the caller frees.
 */
char *fixture_build(const char *name, const char *source, const char *flags);
struct elf_file *fixture_open(const char *name, const char *source, const char *flags);
/* NULL if it cannot be opened. */
struct elf_file *fixture_open_bytes(const void *bytes, size_t cnt);
char *fixture_write(const char *name, const void *bytes, size_t cnt);
void *fixture_read(const char *path, size_t *cnt);
/* For cmocka's group teardown. */
int fixture_remove_all(void **state);

#endif
