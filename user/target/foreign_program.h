/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
#ifndef POV_TARGET_FOREIGN_PROGRAM_H
#define POV_TARGET_FOREIGN_PROGRAM_H

#include <stdbool.h>

/*
 * Returns true if the program, or a script's interpreter, is for another machine or has 32 bits:
 * its loader complains about a library for this machine in LD_PRELOAD. A file that cannot be read
 * is not foreign.
 */
bool program_is_foreign(const char *path);

#endif
