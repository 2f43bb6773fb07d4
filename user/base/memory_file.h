/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* Memory that processes share by a descriptor. */
#ifndef POV_BASE_MEMORY_FILE_H
#define POV_BASE_MEMORY_FILE_H

#include <stddef.h>

/*
 * A memfd of that length that can be sealed; close-on-exec. Returns it, or -errno. It is no file: `ulimit -f` is lifted for it if that
 * is allowed, else -EFBIG.
 */
int memory_file_make(size_t bytes);

#endif
