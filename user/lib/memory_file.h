/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Memory that processes share through a descriptor. */
#ifndef POV_LIB_MEMORY_FILE_H
#define POV_LIB_MEMORY_FILE_H

#include <stddef.h>

/*
 * Makes a memfd of this size, close-on-exec, that can be sealed. Returns the descriptor or -errno.
 * The limit of a file's size (ulimit -f) holds for memfds too: it is lifted meanwhile. Where that
 * is not allowed, the result is -EFBIG.
 */
int memory_file_make(size_t bytes);

#endif
