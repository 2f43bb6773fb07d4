/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* What a forked process does with the descriptors that it inherits. */
#ifndef POV_LIB_FD_H
#define POV_LIB_FD_H

#include <stddef.h>

/* Closes all descriptors but these, which may stand in any order; negative ones and repetitions do no harm. */
void fd_close_others(const int *keep, size_t cnt);

#endif
