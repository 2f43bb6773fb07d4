/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Replaces a file by a finished one, or not at all. */
#ifndef POVPLOT_REPLACE_H
#define POVPLOT_REPLACE_H

/* Writes the content of an existing empty file. Returns 0, or -errno after printing why. */
typedef int (*replace_write)(void *ctx, const char *path);
/* Returns 0, or -errno after printing why; path is then unchanged. */
int replace_file(const char *path, replace_write write, void *ctx);

#endif
