/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Temporary files and the bytes of files. */
#ifndef POV_TESTS_FILES_H
#define POV_TESTS_FILES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns a path in a directory of this process, which is removed at exit. The same name gives the
 * same path.
 */
const char *temp_path(const char *name);
void file_load(const char *path, uint8_t **data, size_t *len);
void file_store(const char *path, const void *data, size_t len);

#endif
