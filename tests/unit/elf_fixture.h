/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Small ELF files that are compiled during the test. */
#ifndef POV_TESTS_ELF_FIXTURE_H
#define POV_TESTS_ELF_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;

/* Skips the running test with a message if the program is not installed. */
void fixture_need(const char *program);
/*
 * Compiles source with flags ("-shared …"). The ending of name ("x.c", "x.S") is the language.
 * Copies the output of an earlier call with the same source and flags. Skips the test if there is
 * no compiler, and fails it if the source does not compile. Returns the path of the output; caller
 * frees.
 */
char *fixture_build(const char *name, const char *source, const char *flags);
struct elf_file *fixture_open(const char *name, const char *source, const char *flags);
/* Returns the bytes of the output; caller frees. */
uint8_t *fixture_image(const char *name, const char *source, const char *flags, size_t *cnt);
/* Writes a file next to the others and returns its path; caller frees. */
char *fixture_write(const char *name, const void *bytes, size_t cnt);

#endif
