/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A file that is replaced by a finished one, or not at all. */
#ifndef POVPLOT_REPLACE_H
#define POVPLOT_REPLACE_H

/* Writes all of a file that is there and empty. 0, or -errno after printing why. */
typedef int (*replace_write)(void *ctx, const char *path);
/* 0, or -errno after printing why: path is then what it was. */
int replace_file(const char *path, replace_write write, void *ctx);

#endif
