/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Small ELF files, compiled while the test runs. */
#ifndef POV_TESTS_ELF_FIXTURE_H
#define POV_TESTS_ELF_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* Skips the running test, aloud, where a program is not installed. */
void fixture_need(const char *program);
/*
 * Compiles source ("x.c", "x.S": name's ending is the language) with flags ("-shared …"), or copies what an earlier call
 * made of the same. Skips the test without a compiler, and fails it if the source does not compile.
 * Returns the path of the output; the caller frees.
 */
char *fixture_build(const char *name, const char *source, const char *flags);
struct elf_file *fixture_open(const char *name, const char *source, const char *flags);
/* The bytes of the output; the caller frees. */
uint8_t *fixture_image(const char *name, const char *source, const char *flags, size_t *cnt);
/* NULL if it cannot be opened. */
struct elf_file *fixture_open_bytes(const void *bytes, size_t cnt);
/* A file beside the others; the caller frees. */
char *fixture_write(const char *name, const void *bytes, size_t cnt);

#endif
