/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Files that belong to the program and are used when they are needed: beside it (as built) or in ../lib/povtrace (as
 * installed), nowhere else, for the program may be run as root.
 */
#ifndef POV_LIB_OWN_FILE_H
#define POV_LIB_OWN_FILE_H

/* The path of such a file. NULL: it is in neither place. The caller frees. */
char *own_file_find(const char *name);

#endif
