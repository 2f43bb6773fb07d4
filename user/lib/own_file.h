/* SPDX-License-Identifier: (LGPL-2.1-only OR BSD-2-Clause) */
/*
 * Files that belong to the program and are loaded at run time. They lie beside it (as built) or in
 * ../lib/povtrace (as installed). No other place is searched, as the program may run as root.
 */
#ifndef POV_LIB_OWN_FILE_H
#define POV_LIB_OWN_FILE_H

/* Path of such a file; the caller frees it. NULL: it is in neither place. */
char *own_file_find(const char *name);

#endif
