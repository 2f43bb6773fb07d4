/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/* A forked process's treatment of the descriptors that it inherits. */
#ifndef POV_LIB_FD_H
#define POV_LIB_FD_H

#include <stddef.h>

/* Closes all descriptors but these, in any order; negative ones and repetitions are ignored. */
void fd_close_others(const int *keep, size_t cnt);

#endif
